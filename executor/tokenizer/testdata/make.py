#!/usr/bin/env python3
"""Makes the vocabularies, the texts and the expected ids of this folder with the packages tokenizers,
tiktoken and sentencepiece: python3 make.py, in this folder. expected.txt has a line for each variant of a
vocabulary: its name, the number of all tokens, and a CRC-32 of the ids of each ten texts."""
import base64, json, os, random, zlib
import sentencepiece, tiktoken
from io import BytesIO
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

corpus = open("../../feed/prompt/corpus.txt").read()
tongues = """Ångström maß die Wellenlänge: «größer als 0,5 µm», sagte er – naïve Façade, cœur, ﬁne ½ Ⅷ ² ①.
Съешь же ещё этих мягких французских булок, да выпей чаю. Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία.
我能吞下玻璃而不伤身体。私はガラスを食べられます。ｶﾞﾗｽ　全角ＡＢＣ１２３ 나는 유리를 먹을 수 있어요.
אני יכול לאכול זכוכית أنا قادر على أكل الزجاج मैं काँच खा सकता हूँ ฉันกินกระจกได้ İstanbul ıĞ ŒǅǄ
e\u0301a\u0308o\u0302 \u1e9b\u0323 🙂👩‍👩‍👧‍👦🇩🇪👍🏽 \u200bzero\u00a0width\u2003em\u3000ideographic\u0085next \ufeff\u00ad\u0007\u0000
for (int i = 0; i < n; ++i) {\n\t\tsum += x[i]*1e-9; // 100% of 12345678 items\r\n}\n\n\n    return {"k": [1, 2.5, null]};
It's they'll WE'RE I'd You'VE don'T  o'clock 'tis  ...  !!?? --- ___ snake_case camelCaseHTTPServer v1.2.3 $9.99
https://example.com/a?b=c&d=%20#x user@example.org C:\\temp\\x  a  b   c    d     \t\t \n \n\n  end   
<s>special</s> <|user|>hi<|end|>  <mask>there <mask> [MASK] [SEP]x loud<LOUD>ly <LOUD> tokens ▁▁under▁lines""".split("\n")


def texts():
    draw = random.Random(7)
    yield from ("", " ", "  ", "\n", "a", " a", "a ", "\u0301", "🙂", "1", "12345", "'s", "\u2028 x")
    for i in range(13, 1000):
        parts = []
        for _ in range(draw.randint(1, 4)):
            source = corpus if draw.random() < 0.4 else draw.choice([x for x in tongues if x])
            at = draw.randrange(len(source))
            parts.append(source[at:at + draw.randint(1, 30)])
        yield draw.choice(["", " ", "", "\n"]).join(parts)


TEXTS = list(texts())
ADDED = [
    {"id": 0, "content": "<s>", "special": True}, {"id": 1, "content": "</s>", "special": True},
    {"id": 2, "content": "<|user|>", "special": True, "rstrip": True}, {"id": 3, "content": "<|end|>", "special": True},
    {"id": 4, "content": "<mask>", "special": True, "lstrip": True},
    {"id": 5, "content": "<LOUD>", "special": False, "normalized": True, "single_word": True},
]
for a in ADDED:
    for k in ("single_word", "lstrip", "rstrip", "normalized"):
        a.setdefault(k, False)
SPECIAL = [a["content"] for a in ADDED] + ["<unk>"]
GPT2 = pre_tokenizers.ByteLevel(add_prefix_space=False)
LINES = corpus.split("\n") + tongues * 3


def train(model, trainer, normalizer=None, pre=None):
    t = Tokenizer(model)
    if normalizer: t.normalizer = normalizer
    if pre: t.pre_tokenizer = pre
    t.train_from_iterator(LINES, trainer)
    return json.loads(t.to_str())


def base(name, doc):
    """The vocabulary of the folder; a new one, if it is not there: no two trainings give the same ids."""
    if os.path.exists(name + ".json"):
        return json.load(open(name + ".json"))
    doc["added_tokens"] = ADDED
    for k in ("version", "truncation", "padding", "post_processor", "decoder"):
        doc.pop(k, None)
    json.dump(doc, open(name + ".json", "w"), ensure_ascii=False, separators=(",", ":"))
    return doc


def regex(text, **more):
    return {"type": "Split", "pattern": {"Regex": text}, "behavior": "Isolated", "invert": False, **more}


BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN = LLAMA3.replace("{1,3}", "")
O200K = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
DEEPSEEK = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def seq(*steps): return {"type": "Sequence", "pretokenizers": list(steps)}
def norms(*steps): return {"type": "Sequence", "normalizers": list(steps)}


ARROW = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
def meta(scheme, split=True): return {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": split}
def bert(lower, accents, chinese=True):
    return {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": chinese, "strip_accents": accents, "lowercase": lower}


def charsmap():
    """A small table of replacements, as SentencePiece writes the large one of its rule nmt_nfkc."""
    open("/tmp/rule.tsv", "w").write("".join(
        " ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) + "\n"
        for a, b in (("ﬁ", "fi"), ("½", "1⁄2"), ("Ａ", "A"), ("Ｂ", "B"), ("１", "1"), ("ｶﾞ", "ガ"), ("ﾗ", "ラ"), ("\u3000", " "),
                     ("\u00a0", " "), ("e\u0301", "é"), ("\u0007", ""), ("\u0085", " "), ("\t", " "), ("\n", " "), ("①", "1"))))
    out = BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(LINES), model_writer=out, vocab_size=400,
        normalization_rule_tsv="/tmp/rule.tsv", hard_vocab_limit=False, minloglevel=2)
    from sentencepiece import sentencepiece_model_pb2 as pb
    m = pb.ModelProto()
    m.ParseFromString(out.getvalue())
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(m.normalizer_spec.precompiled_charsmap).decode()}


bytelevel = base("bytelevel", train(models.BPE(), trainers.BpeTrainer(
    vocab_size=620, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False), pre=GPT2))
hexes = [f"<0x{i:02X}>" for i in range(256)]
spbpe = train(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
    trainers.BpeTrainer(vocab_size=760, special_tokens=SPECIAL + hexes, limit_alphabet=60, show_progress=False),
    pre=pre_tokenizers.Metaspace())
spbpe["pre_tokenizer"], spbpe["normalizer"] = None, norms({"type": "Prepend", "prepend": "▁"}, ARROW)
spbpe = base("sentencepiece", spbpe)
unigram = train(models.Unigram(), trainers.UnigramTrainer(vocab_size=420, special_tokens=SPECIAL, unk_token="<unk>",
    show_progress=False), pre=pre_tokenizers.Metaspace())
for entry in unigram["model"]["vocab"]:
    entry[1] = round(entry[1], 4)
unigram["model"]["vocab"] = [e for i, e in enumerate(unigram["model"]["vocab"]) if i < len(SPECIAL) or e[0] not in SPECIAL]
unigram = base("unigram", unigram)
wordpiece = base("wordpiece", train(models.WordPiece(unk_token="<unk>", max_input_chars_per_word=20),
    trainers.WordPieceTrainer(vocab_size=520, special_tokens=SPECIAL, show_progress=False),
    normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()))

model = lambda doc, **more: {**doc["model"], **more}
patches = [
    ("bytelevel", "gpt2", {}),
    ("bytelevel", "prefix space", {"pre_tokenizer": {**BYTES, "use_regex": True, "add_prefix_space": True}}),
    ("bytelevel", "llama3", {"pre_tokenizer": seq(regex(LLAMA3), BYTES), "model": {"ignore_merges": True}}),
    ("bytelevel", "qwen", {"normalizer": {"type": "NFC"}, "pre_tokenizer": seq(regex(QWEN), BYTES)}),
    ("bytelevel", "o200k", {"pre_tokenizer": seq(regex(O200K), BYTES)}),
    ("bytelevel", "deepseek", {"normalizer": norms(), "pre_tokenizer": seq(regex(r"\p{N}{1,3}"), regex("[一-龥぀-ゟ゠-ヿ]+"), regex(DEEPSEEK), BYTES)}),
    ("bytelevel", "starcoder", {"pre_tokenizer": seq({"type": "Digits", "individual_digits": True}, {**BYTES, "use_regex": True})}),
    ("bytelevel", "falcon", {"pre_tokenizer": seq({"type": "Punctuation", "behavior": "Contiguous"}, {**BYTES, "use_regex": True},
        {"type": "Digits", "individual_digits": False}, regex("[0-9][0-9][0-9]"))}),
    ("sentencepiece", "llama2", {}),
    ("sentencepiece", "mistral", {"normalizer": None, "pre_tokenizer": meta("first", False)}),
    ("sentencepiece", "words", {"normalizer": None, "pre_tokenizer": meta("always")}),
    ("sentencepiece", "gemma", {"normalizer": ARROW, "pre_tokenizer": {"type": "Split", "pattern": {"String": " "},
        "behavior": "MergedWithPrevious", "invert": False}}),
    ("sentencepiece", "no bytes", {"model": {"byte_fallback": False, "fuse_unk": False}}),
    ("unigram", "albert", {"normalizer": norms({"type": "Replace", "pattern": {"String": "``"}, "content": '"'}, {"type": "NFKD"},
        {"type": "StripAccents"}, {"type": "Lowercase"}), "pre_tokenizer": meta("always")}),
    ("unigram", "t5", {"normalizer": charsmap(), "pre_tokenizer": seq({"type": "WhitespaceSplit"}, meta("always"))}),
    ("unigram", "xlnet", {"normalizer": norms({"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Replace",
        "pattern": {"Regex": " {2,}"}, "content": " "}, {"type": "NFKC"}), "pre_tokenizer": meta("never", False)}),
    ("wordpiece", "uncased", {}),
    ("wordpiece", "cased", {"normalizer": bert(False, None)}),
    ("wordpiece", "accents", {"normalizer": bert(True, False, False)}),
    ("wordpiece", "whitespace", {"normalizer": None, "pre_tokenizer": {"type": "Whitespace"}}),
]
docs = {"bytelevel": bytelevel, "sentencepiece": spbpe, "unigram": unigram, "wordpiece": wordpiece}


def line(name, ids):
    sums = []
    for i in range(0, len(ids), 10):
        sums.append(f"{zlib.crc32(json.dumps(ids[i:i + 10], separators=(',', ':')).encode()):08x}")
    return f"{name} {sum(map(len, ids))} {' '.join(sums)}\n"


with open("expected.txt", "w") as out:
    for of, name, patch in patches:
        patch["of"], patch["name"] = of, name.replace(" ", "-")
        doc = {**docs[of], **{k: v for k, v in patch.items() if k != "model"}}
        doc["model"] = {**docs[of]["model"], **patch.get("model", {})}
        doc.pop("of"); doc.pop("name")
        t = Tokenizer.from_str(json.dumps({"version": "1.0", "truncation": None, "padding": None, "post_processor": None, "decoder": None, **doc}))
        out.write(line(patch["name"], [t.encode(x, add_special_tokens=False).ids for x in TEXTS]))
    # ranks of tiktoken: the bytes, then the merges of the byte-level vocabulary
    spell = {}
    n = 0
    for i in range(256):
        c = i
        if not (33 <= i <= 126 or 161 <= i <= 172 or 174 <= i <= 255):
            c = 256 + n
            n += 1
        spell[chr(c)] = i
    ranks = {bytes([i]): i for i in range(256)}
    for a, b in bytelevel["model"]["merges"]:
        ranks.setdefault(bytes(spell[c] for c in a + b), len(ranks))
    with open("ranks.tiktoken", "w") as f:
        for token, rank in ranks.items():
            f.write(base64.b64encode(token).decode() + f" {rank}\n")
    CL100K = r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
    R50K = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
    for name, pattern in (("cl100k", CL100K), ("o200k", O200K), ("r50k", R50K), ("llama3", LLAMA3), ("qwen", QWEN)):
        e = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
        out.write(line("tiktoken-" + name, [e.encode_ordinary(x) for x in TEXTS]))
with open("variants.json", "w") as f:
    json.dump([p for _, _, p in patches], f, ensure_ascii=False, indent=0)
with open("texts.jsonl", "w") as f:
    for x in TEXTS:
        f.write(json.dumps(x, ensure_ascii=False) + "\n")
