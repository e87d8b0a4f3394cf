package tokenizer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBroken: a file that cannot be used is refused with the part that is wrong.
func TestBroken(t *testing.T) {
	const model = `"model":{"type":"WordLevel","vocab":{"a":0}}`
	ranks, err := os.ReadFile("testdata/ranks.tiktoken")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {" \n", "the file is empty"},
		"no JSON":           {"{", "no tokenizer.json"},
		"no model":          {`{"a":1}`, `there is no "model"`},
		"unknown model":     {`{"model":{"type":"X","vocab":{}}}`, `type "X" is not known`},
		"negative id":       {`{"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}}`, `the id of "a" is -1`},
		"merge of no token": {`{"model":{"type":"BPE","vocab":{"a":1},"merges":["a b"]}}`, "merge 0"},
		"merge of one":      {`{"model":{"type":"BPE","vocab":{"a":1},"merges":["a"]}}`, `"a" is no pair`},
		"no unknown token":  {`{"model":{"type":"WordPiece","vocab":{"a":1}}}`, "unk_token"},
		"no unk_id":         {`{"model":{"type":"Unigram","vocab":[["a",-1]],"unk_id":7}}`, "unk_id"},
		"no score":          {`{"model":{"type":"Unigram","vocab":[["a"]],"unk_id":0}}`, "entry 0"},
		"normalizer":        {`{"normalizer":{"type":"X"},` + model + `}`, `normalizer: type "X"`},
		"look-ahead": {
			`{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a(?=b)"},"behavior":"Isolated"},` + model + `}`,
			`the pattern "a(?=b)" cannot be used`,
		},
		"broken pattern": {
			`{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a)"},"behavior":"Isolated"},` + model + `}`, "unexpected )",
		},
		"behavior": {
			`{"pre_tokenizer":{"type":"Split","pattern":{"String":"a"},"behavior":"X"},` + model + `}`, `behavior "X"`,
		},
		"cut table":   {`{"normalizer":{"type":"Precompiled","precompiled_charsmap":"//8AAA=="},` + model + `}`, "cut"},
		"no ranks":    {"a b c", "line 1"},
		"few ranks":   {"YQ== 0\n", "1 tokens"},
		"no encoding": {string(ranks), "name the file after its encoding"},
	} {
		if _, err := Parse("tokenizer.model", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.json")); err == nil {
		t.Error("a file that is not there was opened")
	}
}

// FuzzParse: no file and no text ends the program, and each text has a number of tokens.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"added_tokens":[{"id":7,"content":"<s>","lstrip":true,"rstrip":true,"single_word":true}],` +
			`"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Prepend","prepend":"_"},` +
			`{"type":"Replace","pattern":{"Regex":" +"},"content":"_"}]},"pre_tokenizer":{"type":"Metaspace","replacement":"_"},` +
			`"model":{"type":"BPE","unk_token":"u","byte_fallback":true,"vocab":{"u":0,"a":1,"b":2,"ab":3,"<0x41>":4},"merges":[["a","b"]]}}`,
		`{"normalizer":{"type":"Precompiled","precompiled_charsmap":"CAAAAAAAAAAAAAAAYQA="},` +
			`"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-1],["ab",-1.5]]}}`,
		`{"normalizer":{"type":"BertNormalizer","clean_text":true,"lowercase":true,"handle_chinese_chars":true},` +
			`"pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","unk_token":"u","vocab":{"u":0,"a":1,"##b":2}}}`,
		`{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\s+(?!\\S)|[^\\S]?\\p{L}++"},"behavior":"MergedWithNext","invert":true},` +
			`"model":{"type":"WordLevel","vocab":{"a":1}}}`,
		"YQ== 1\nYg== 2\nYWI= 3\n",
	} {
		f.Add([]byte(seed), "ab <s> AB  c\xff ")
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		k, err := Parse("gpt2", file)
		if err != nil {
			return
		}
		if n := len(k.Encode(text)); k.Count(text) != n {
			t.Errorf("%q has %d tokens, and is counted as %d", text, n, k.Count(text))
		}
	})
}
