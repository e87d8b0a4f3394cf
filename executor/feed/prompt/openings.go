package prompt

import (
	"math/bits"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

// Openings are texts that begin a prompt and tell it from any other, so that no server has it in its cache:
// words of one length in bytes and in tokens, of which a few are drawn. Any of the words can take the place
// of another, in a request that is encoded.
type Openings struct {
	words []string // a power of two of them
	cost  int      // tokens of a word
}

const (
	maxWords    = 64
	minWords    = 4
	openingBits = 48
)

// Openings returns the openings that a tokenizer allows; nil: none.
func (m *Maker) Openings() *Openings {
	type key struct{ size, cost int }
	groups := map[key][]string{}
	order := []key{}
	known := map[string]bool{}
	consider := func(text string) {
		if known[text] || len(text) > 12 || strings.Trim(text, letters) != "" {
			return
		}
		known[text] = true
		cost := m.count("a "+text) - m.count("a")
		if cost <= 0 || m.count(text) != cost || m.count("a "+text+" "+text+" a") != m.count("a")+m.count("a "+text)+cost {
			return
		}
		k := key{len(text), cost}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], text)
	}
	for _, letter := range letters {
		consider(string(letter))
	}
	for _, w := range m.words {
		consider(w.text)
	}
	var best *Openings
	for _, k := range order {
		n := min(1<<(bits.Len(uint(len(groups[k])))-1), maxWords)
		if n < minWords {
			continue
		}
		o := &Openings{groups[k][:n], k.cost}
		if best == nil || o.bits()*best.cost > best.bits()*o.cost {
			best = o
		}
	}
	return best
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// bits returns the bits of information of a word.
func (o *Openings) bits() int { return bits.Len(uint(len(o.words))) - 1 }

// Text returns the opening of a text of n tokens by its seed; "" if there is no room for a word.
func (o *Openings) Text(n int, seed uint64) string {
	if o == nil {
		return ""
	}
	words := make([]string, 0, 24)
	for i := range min(n/o.cost, openingBits/o.bits()) {
		words = append(words, o.words[seed>>(i*o.bits())&uint64(len(o.words)-1)])
	}
	return strings.Join(words, " ")
}

// Holes returns an opening with a mark in place of each byte of its words, as backends.Vary has them.
func (o *Openings) Holes(opening string, mark byte) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' {
			return r
		}
		return rune(mark)
	}, opening)
}

// Vary returns how the words of openings are drawn for each request.
func (o *Openings) Vary(seed uint64) *backends.Vary {
	if o == nil {
		return nil
	}
	return &backends.Vary{Words: o.words, Bits: o.bits(), Seed: seed}
}
