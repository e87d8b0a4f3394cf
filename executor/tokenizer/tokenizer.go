// Package tokenizer counts the tokens of texts as the tokenizer of a model does. It reads the files that
// models are published with, tokenizer.json of Hugging Face and the lists of ranks of tiktoken, and asks
// no network.
//
// It is not: a chat template, a maker of prompts (executor/feed/prompt). Tokens that a model's template
// adds around a text are not counted.
//
// The way of a text: added tokens are cut out (added.go), what is between them is normalized
// (normalize.go) and cut into words (pretoken.go, pattern.go), and a model (bpe.go, unigram.go,
// wordpiece.go) cuts each word into tokens.
package tokenizer

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/sluice-bench/sluice/scenario/regular"
)

// maxFile bounds the size of a file, bytes; the largest that are published have 35 MB.
const maxFile = 256 << 20

// Tokenizer cuts texts into tokens. It is safe for concurrent use.
type Tokenizer struct {
	outer     *addedTokens // matched in the text as it is
	inner     *addedTokens // matched in the normalized text
	normalize []normalizer
	split     []splitter
	model     model
	cache     cache
}

// model cuts a word into tokens and appends their ids.
type model interface {
	tokens(ids []int, word string) []int
}

// piece is a part of a text on its way to the model.
type piece struct {
	text  string
	first bool // it begins the text
}

// Open reads the file of a tokenizer.
func Open(name string) (*Tokenizer, error) {
	data, err := regular.Read(name, maxFile)
	if err != nil {
		return nil, err
	}
	return Parse(name, data)
}

// Parse reads the content of a file. The name of a tiktoken file says which pattern cuts texts into words.
func Parse(name string, data []byte) (*Tokenizer, error) {
	start := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(start) == 0:
		return nil, fmt.Errorf("the file is empty")
	case start[0] == '{':
		return parseJSON(data)
	}
	return parseRanks(name, data)
}

// Encode returns the ids of a text's tokens.
func (t *Tokenizer) Encode(text string) []int { return t.appendIDs(nil, text) }

// Count returns the number of a text's tokens.
func (t *Tokenizer) Count(text string) int {
	ids, _ := buffers.Get().(*[]int)
	if ids == nil {
		ids = new([]int)
	}
	*ids = t.appendIDs((*ids)[:0], text)
	n := len(*ids)
	buffers.Put(ids)
	return n
}

// buffers holds the ids of texts of which only the number is wanted.
var buffers sync.Pool

func (t *Tokenizer) appendIDs(ids []int, text string) []int {
	for at, part := range t.outer.cut(text) {
		if part.id >= 0 {
			ids = append(ids, part.id)
			continue
		}
		normal := part.text
		for _, n := range t.normalize {
			normal = n(normal)
		}
		for i, inner := range t.inner.cut(normal) {
			if inner.id >= 0 {
				ids = append(ids, inner.id)
				continue
			}
			ids = t.words(ids, piece{inner.text, at == 0 && i == 0})
		}
	}
	return ids
}

// words cuts a text without added tokens into words, and these into tokens.
func (t *Tokenizer) words(ids []int, p piece) []int {
	pieces := []piece{p}
	for _, s := range t.split {
		var next []piece
		for _, p := range pieces {
			next = s(next, p)
		}
		pieces = next
	}
	for _, p := range pieces {
		if p.text != "" {
			ids = t.cache.tokens(ids, t.model, p.text)
		}
	}
	return ids
}

// cache keeps the tokens of short words, of which texts repeat most.
type cache struct {
	mu    sync.Mutex
	known map[string][]int
}

const (
	maxCached     = 1 << 16
	maxCachedWord = 64
)

func (c *cache) tokens(ids []int, m model, word string) []int {
	if len(word) > maxCachedWord {
		return m.tokens(ids, word)
	}
	c.mu.Lock()
	known, ok := c.known[word]
	c.mu.Unlock()
	if ok {
		return append(ids, known...)
	}
	from := len(ids)
	ids = m.tokens(ids, word)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= maxCached {
		c.known = map[string][]int{}
	}
	c.known[string([]byte(word))] = append([]int(nil), ids[from:]...)
	return ids
}
