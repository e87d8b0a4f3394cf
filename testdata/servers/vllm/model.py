#!/usr/bin/env python3
"""Writes the scripted model of ../llama/model.py in the form of Hugging Face: model.py FOLDER."""

import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "llama"))
import model as scripted  # noqa: E402

WIDTH, HIDDEN, HEAD = scripted.WIDTH, scripted.HIDDEN, scripted.HEAD
TEMPLATE = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}{% endfor %}"


def weights(vocabulary):
    """The tensors by name: the shape, and the entries that are not 0."""
    count, layer = len(vocabulary.tokens), "model.layers.0."
    ones = {(0, i): 1.0 for i in range(WIDTH)}
    return {
        "model.embed_tokens.weight": ((count, WIDTH), {(i, i): 1.0 for i in range(count)}),
        "model.norm.weight": ((WIDTH,), ones),
        "lm_head.weight": ((count, WIDTH), {(after, token): 2.0 for token, after in vocabulary.successors().items()}),
        layer + "input_layernorm.weight": ((WIDTH,), ones),
        layer + "post_attention_layernorm.weight": ((WIDTH,), ones),
        layer + "self_attn.q_proj.weight": ((WIDTH, WIDTH), {}),
        layer + "self_attn.k_proj.weight": ((HEAD, WIDTH), {}),
        layer + "self_attn.v_proj.weight": ((HEAD, WIDTH), {}),
        layer + "self_attn.o_proj.weight": ((WIDTH, WIDTH), {}),
        layer + "mlp.gate_proj.weight": ((HIDDEN, WIDTH), {}),
        layer + "mlp.up_proj.weight": ((HIDDEN, WIDTH), {}),
        layer + "mlp.down_proj.weight": ((WIDTH, HIDDEN), {}),
    }


def write_weights(path, tensors):
    """Writes safetensors: the length of the header, the header, numbers; zeros are holes of the file."""
    header, at, values = {"__metadata__": {"format": "pt"}}, 0, []
    for name, (shape, entries) in tensors.items():
        size = 4
        for n in shape:
            size *= n
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        values += [(at + 4 * (row * shape[-1] + column), value) for (row, column), value in entries.items()]
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for place, value in values:
            file.seek(8 + len(text) + place)
            file.write(struct.pack("<f", value))
        file.truncate(8 + len(text) + at)


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = scripted.Vocabulary()
    write_weights(folder / "model.safetensors", weights(vocabulary))
    end, start = scripted.SPECIAL[:2]
    files = {
        "tokenizer.json": scripted.tokenizer(vocabulary),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": start, "eos_token": end, "pad_token": end,
            "clean_up_tokenization_spaces": False, "chat_template": TEMPLATE,
        },
        "config.json": {
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": WIDTH,
            "intermediate_size": HIDDEN, "num_hidden_layers": 1, "num_attention_heads": WIDTH // HEAD,
            "num_key_value_heads": 1, "head_dim": HEAD, "vocab_size": len(vocabulary.tokens),
            "max_position_embeddings": scripted.CONTEXT, "rms_norm_eps": 1e-5, "hidden_act": "silu",
            "tie_word_embeddings": False, "bos_token_id": scripted.START, "eos_token_id": scripted.END,
            "torch_dtype": "float32",
        },
        "generation_config.json": {"bos_token_id": scripted.START, "eos_token_id": scripted.END},
    }
    for name, value in files.items():
        (folder / name).write_text(json.dumps(value, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
