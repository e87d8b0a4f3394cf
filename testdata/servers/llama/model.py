#!/usr/bin/env python3
"""Writes a model of llama.cpp whose answers are known, and its tokenizer: model.py FOLDER makes scripted.gguf and
tokenizer.json.

It is a transformer of one layer whose attention and feed-forward weights are 0: the last token alone decides the next
one. Embeddings are unit vectors, and the column of a token in the output matrix names its successor. The last word of a
prompt chooses the answer (SCRIPTS). The zero weights are holes of the file, and cost time all the same: a token takes
one to two milliseconds.
"""

import json
import pathlib
import struct
import sys

# The last word of a prompt, the tokens of its answer, and whether the answer begins anew after them, up to the limit of
# the request; else it ends with the token of the end. A prompt that ends otherwise has the first answer. A text that is
# no word and no byte is a token of its own. No token is twice in all answers, since a token has one successor.
WORDS = "amber birch cedar dune elm fern gorse heath iris jade kelp lime moss nut oak pine"
SCRIPTS = {
    " count": ([" " + word for word in WORDS.split()], True),
    " stop": ([" ash", " bay", " cane", " dill", " fig", " grass"], False),
    " think": (["<think>", " hm", " so", " then", "</think>", " yes", " sir"], False),
    " call": (["<tool_call>", '\n{"name": "weather", "arguments": {"city"', ': "Ro', 'me"', "}}\n", "</tool_call>"],
              False),
    " spell": (["世", "好", "水", "猫", "語", "雨", "あ"], False),  # three tokens each, of a byte
}
SPECIAL = ["<|end|>", "<|im_start|>", "<|im_end|>"]
END, START = 0, 1
WIDTH, HIDDEN, CONTEXT = 512, 4096, 4096
HEAD = 64
TEMPLATE = pathlib.Path(__file__).with_name("template.jinja")


def letters():
    """The characters that stand for bytes in vocabularies of GPT-2, by byte."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [b for b in range(256) if b not in shown]
    return {b: chr(b) for b in shown} | {b: chr(256 + i) for i, b in enumerate(hidden)}


class Vocabulary:
    """Tokens and merges: special ones, all bytes, and of each word every beginning, so that merges lead to it."""

    def __init__(self):
        self.letter = letters()
        self.tokens, self.merges, self.own = {}, [], []
        for text in SPECIAL + [letter for _, letter in sorted(self.letter.items())]:
            self.add(text)
        for word, (answer, _) in SCRIPTS.items():
            for text in [word, *answer]:
                if not text.isascii():
                    continue  # its bytes
                if text[1:].isalpha():
                    self.add_word(text)
                else:
                    self.own.append(text)
                    self.add(text)

    def add(self, text):
        self.tokens.setdefault(text, len(self.tokens))

    def spelled(self, text):
        return "".join(self.letter[b] for b in text.encode())

    def add_word(self, word):
        word = self.spelled(word)
        for n in range(2, len(word) + 1):
            if word[:n] not in self.tokens:
                self.add(word[:n])
                self.merges.append((word[:n - 1], word[n - 1]))

    def ids(self, text):
        """The tokens of a text of a script: itself, or its bytes."""
        if text in self.own:
            return [self.tokens[text]]
        text = self.spelled(text)
        return [self.tokens[text]] if text in self.tokens else [self.tokens[letter] for letter in text]

    def successors(self):
        """The token after each: of a script as it says, else the first of the first answer."""
        after = {}
        for word, (answer, again) in SCRIPTS.items():
            chain = [n for text in [word, *answer] for n in self.ids(text)]
            for token, following in zip(chain, chain[1:] + [chain[1] if again else END]):
                if token in after:
                    sys.exit(f"token {token} is twice in the scripts, again in that of {word!r}")
                after[token] = following
        first = self.ids(SCRIPTS[" count"][0][0])[0]
        return dict.fromkeys(range(len(self.tokens)), first) | after


class GGUF:
    """A file of version 3: metadata, then tensors of which zeros are holes."""

    ALIGNMENT = 32

    def __init__(self):
        self.metadata, self.infos, self.data, self.size = [], [], [], 0

    @staticmethod
    def text(value):
        data = value.encode()
        return struct.pack("<Q", len(data)) + data

    def set(self, key, kind, value):
        forms = {"u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?")}
        if kind == "texts":
            data = struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(self.text, value))
        elif kind == "i32s":
            data = struct.pack("<IIQ", 9, 5, len(value)) + struct.pack(f"<{len(value)}i", *value)
        elif kind == "text":
            data = struct.pack("<I", 8) + self.text(value)
        else:
            data = struct.pack("<I", forms[kind][0]) + struct.pack(forms[kind][1], value)
        self.metadata.append(self.text(key) + data)

    def tensor(self, name, shape, values=None):
        """Adds a tensor of float32, whose first dimension is that of consecutive values; None: zeros."""
        count = 1
        for n in shape:
            count *= n
        self.infos.append(self.text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, self.size))
        if values is not None:
            self.data.append((self.size, struct.pack(f"<{count}f", *values)))
        self.size += -(-4 * count // self.ALIGNMENT) * self.ALIGNMENT

    def write(self, path):
        head = struct.pack("<4sIQQ", b"GGUF", 3, len(self.infos), len(self.metadata))
        head += b"".join(self.metadata) + b"".join(self.infos)
        head += bytes(-len(head) % self.ALIGNMENT)
        with open(path, "wb") as file:
            file.write(head)
            for at, data in self.data:
                file.seek(len(head) + at)
                file.write(data)
            file.truncate(len(head) + self.size)


def matrix(rows, columns, entries):
    values = [0.0] * (rows * columns)
    for (row, column), value in entries.items():
        values[row * columns + column] = value
    return values


def model(vocabulary):
    tokens = list(vocabulary.tokens)
    if len(tokens) > WIDTH:
        sys.exit(f"{len(tokens)} tokens, and no unit vector for more than {WIDTH}")
    file = GGUF()
    file.set("general.architecture", "text", "llama")
    file.set("general.name", "text", "scripted")
    for key, value in {
        "context_length": CONTEXT, "embedding_length": WIDTH, "block_count": 1, "feed_forward_length": HIDDEN,
        "attention.head_count": WIDTH // HEAD, "attention.head_count_kv": 1, "rope.dimension_count": HEAD,
        "vocab_size": len(tokens),
    }.items():
        file.set(f"llama.{key}", "u32", value)
    file.set("llama.attention.layer_norm_rms_epsilon", "f32", 1e-5)
    file.set("tokenizer.ggml.model", "text", "gpt2")
    file.set("tokenizer.ggml.pre", "text", "gpt-2")
    file.set("tokenizer.ggml.tokens", "texts", tokens)
    kinds = [3 if t in SPECIAL else 4 if t in vocabulary.own else 1 for t in tokens]
    file.set("tokenizer.ggml.token_type", "i32s", kinds)
    file.set("tokenizer.ggml.merges", "texts", [" ".join(pair) for pair in vocabulary.merges])
    file.set("tokenizer.ggml.bos_token_id", "u32", START)
    file.set("tokenizer.ggml.eos_token_id", "u32", END)
    file.set("tokenizer.ggml.add_bos_token", "bool", False)
    file.set("tokenizer.chat_template", "text", TEMPLATE.read_text())
    # The norm makes the unit vector of a token sqrt(WIDTH) long: its successor has 2 * sqrt(WIDTH), all others 0.
    own = {(token, token): 1.0 for token in range(len(tokens))}
    file.tensor("token_embd.weight", (WIDTH, len(tokens)), matrix(len(tokens), WIDTH, own))
    file.tensor("output_norm.weight", (WIDTH,), [1.0] * WIDTH)
    following = {(after, token): 2.0 for token, after in vocabulary.successors().items()}
    file.tensor("output.weight", (WIDTH, len(tokens)), matrix(len(tokens), WIDTH, following))
    file.tensor("blk.0.attn_norm.weight", (WIDTH,), [1.0] * WIDTH)
    file.tensor("blk.0.attn_q.weight", (WIDTH, WIDTH))
    file.tensor("blk.0.attn_k.weight", (WIDTH, HEAD))
    file.tensor("blk.0.attn_v.weight", (WIDTH, HEAD))
    file.tensor("blk.0.attn_output.weight", (WIDTH, WIDTH))
    file.tensor("blk.0.ffn_norm.weight", (WIDTH,), [1.0] * WIDTH)
    file.tensor("blk.0.ffn_gate.weight", (WIDTH, HIDDEN))
    file.tensor("blk.0.ffn_up.weight", (WIDTH, HIDDEN))
    file.tensor("blk.0.ffn_down.weight", (HIDDEN, WIDTH))
    return file


def tokenizer(vocabulary):
    """The same vocabulary in the form of Hugging Face."""
    added = [{"id": vocabulary.tokens[t], "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": t in SPECIAL} for t in SPECIAL + vocabulary.own]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": level, "post_processor": None, "decoder": level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": vocabulary.tokens, "merges": [" ".join(pair) for pair in vocabulary.merges]},
    }


def main(folder):
    folder = pathlib.Path(folder)
    vocabulary = Vocabulary()
    model(vocabulary).write(folder / "scripted.gguf")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(vocabulary), ensure_ascii=False))
    print(f"{len(vocabulary.tokens)} tokens")


if __name__ == "__main__":
    main(*sys.argv[1:])
