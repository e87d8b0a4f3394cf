package tokenizer

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// The expressions that cut texts into words for a list of ranks, which does not contain one.
const (
	cl100k = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|` +
		`\s++$|\s*[\r\n]|\s+(?!\S)|\s`
	llama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
		`\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|` +
		`\s*[\r\n]+|\s+(?!\S)|\s+`
	o200k = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// rankFiles are the published lists of ranks: words of their names, their sizes and their expressions.
var rankFiles = [...]struct {
	name    string
	size    int
	pattern string
}{
	{"o200k", 199998, o200k},
	{"cl100k", 100256, cl100k},
	{"qwen", 151643, qwen},
	{"llama3", 128000, llama3},
	{"llama-3", 128000, llama3},
	{"p50k", 50280, gpt2},
	{"r50k", 50256, gpt2},
	{"gpt2", 50256, gpt2},
}

// patternOf returns the expression of a list of ranks, by its name or else by its size.
func patternOf(name string, size int) (string, error) {
	base := strings.ToLower(filepath.Base(name))
	for _, f := range rankFiles {
		if strings.Contains(base, f.name) {
			return f.pattern, nil
		}
	}
	for _, f := range rankFiles {
		if f.size == size {
			return f.pattern, nil
		}
	}
	return "", errors.New("a list of ranks does not say how texts are cut into words: name the file after its " +
		"encoding (cl100k, o200k, p50k, r50k, qwen or llama3), or use the model's tokenizer.json")
}

// parseRanks reads a file of tiktoken: in each line a token in base64 and its rank.
func parseRanks(name string, data []byte) (*Tokenizer, error) {
	m := &bpe{vocab: map[string]int{}, bytes: true, wholeWords: true, unknown: -1}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		text, rank, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
		if text == "" {
			continue
		}
		token, err := base64.StdEncoding.DecodeString(text)
		id, bad := strconv.Atoi(rank)
		if !ok || err != nil || bad != nil || id < 0 || len(token) == 0 {
			return nil, fmt.Errorf("line %d is not a token in base64 and its rank: %.40q: the file must be a "+
				"tokenizer.json of Hugging Face or a list of ranks of tiktoken", number, line)
		}
		m.vocab[string(token)] = id
	}
	if len(m.vocab) < 256 {
		return nil, fmt.Errorf("the list has %d tokens, less than there are bytes", len(m.vocab))
	}
	own, err := patternOf(name, len(m.vocab))
	if err != nil {
		return nil, err
	}
	p, err := compile(own)
	if err != nil {
		return nil, err
	}
	m.deriveMerges()
	return &Tokenizer{model: m, split: []splitter{splitBy(p.find, isolated, false)}}, nil
}

// maxDerived bounds the tokens of which the merges are derived, bytes.
const maxDerived = 512

// deriveMerges makes the merges of a list of ranks: any two tokens that are one together.
func (m *bpe) deriveMerges() {
	m.merges = make(map[[2]int]merge, 4*len(m.vocab))
	for text, id := range m.vocab {
		if len(text) > maxDerived {
			continue
		}
		for i := 1; i < len(text); i++ {
			a, ok := m.vocab[text[:i]]
			b, also := m.vocab[text[i:]]
			if ok && also {
				m.merges[[2]int{a, b}] = merge{id, id}
			}
		}
	}
}
