// Package prompt writes texts of exact lengths in tokens, and draws images and sounds. The same seed gives the
// same, whatever else is written.
//
// It is not: a tokenizer (executor/tokenizer), a reader of files (executor/feed/format).
//
// A text is words of a corpus with one space between: short sequences as they are in the corpus, and at the
// end words whose tokens make up what is left. Two texts joined by a space have as many tokens as both,
// since a text begins with a word that has the same number of tokens with a space in front and without, if
// the tokenizer has such words.
package prompt

import (
	_ "embed" // of the corpus
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Corpus is the text that prompts are cut from unless the plan names another: questions from the third
// book of Isaac Newton's Opticks (fourth edition, 1730), which is in the public domain.
//
//go:embed corpus.txt
var Corpus string

// Maker writes texts. It is safe for concurrent use.
type Maker struct {
	count   func(string) int
	words   []word
	leads   []int   // words that may begin a text
	fill    [][]int // words by cost, short ones, each text once
	makes   []bool  // whether words can have that number of tokens together; any larger number they can
	adds    bool    // the tokens of texts were those of their words
	checked atomic.Int64
}

// word is a word of the corpus.
type word struct {
	text  string
	cost  int // tokens, behind another word
	front int // tokens, at the beginning of a text
}

const (
	maxWord   = 48  // bytes of a word; longer ones are cut
	maxFill   = 16  // tokens of a word that fills up a text
	maxMakes  = 256 // any larger number of tokens is taken for possible
	maxCheck  = 4 << 20
	trials    = 24  // texts by which NewMaker finds whether the tokens of words add up
	trialSize = 150 // tokens of these
	minRun    = 6
	maxRun    = 18
	tries     = 8
)

// NewMaker returns a maker of texts whose tokens are counted by count; nil: each word is one token.
func NewMaker(count func(string) int, corpus string) (*Maker, error) {
	if count == nil {
		count = func(text string) int { return strings.Count(text, " ") + min(len(text), 1) }
	}
	m := &Maker{count: count}
	known := map[string]word{}
	front := ""
	for _, text := range cut(corpus) {
		if front == "" {
			front = text
		}
		w, ok := known[text]
		if !ok {
			w = word{text, count(front+" "+text) - count(front), count(text)}
			known[text] = w
			m.enter(w)
		}
		if w.cost > 0 && w.front > 0 {
			m.words = append(m.words, w)
		}
	}
	if len(m.words) == 0 {
		return nil, errors.New("the corpus has no word of which the tokenizer makes a token")
	}
	for i, w := range m.words {
		if w.cost == w.front {
			m.leads = append(m.leads, i)
		}
	}
	m.findMakes()
	m.adds = true
	for i := range trials {
		text, sum := m.write(trialSize, uint64(i), func(w word) int { return w.front })
		m.adds = m.adds && count(text) == sum
	}
	return m, nil
}

// cut returns the words of a corpus.
func cut(corpus string) (words []string) {
	plain := func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}
	for _, text := range strings.Fields(strings.Map(plain, strings.ToValidUTF8(corpus, ""))) {
		for len(text) > maxWord {
			end := maxWord
			for !utf8.RuneStart(text[end]) {
				end--
			}
			words = append(words, text[:end])
			text = text[end:]
		}
		words = append(words, text)
	}
	return words
}

// enter adds a word to those that fill up.
func (m *Maker) enter(w word) {
	if w.cost <= 0 || w.cost > maxFill || w.front <= 0 {
		return
	}
	for len(m.fill) <= w.cost {
		m.fill = append(m.fill, nil)
	}
	m.fill[w.cost] = append(m.fill[w.cost], len(m.words))
}

// findMakes finds which numbers of tokens the words that fill up can have together.
func (m *Maker) findMakes() {
	m.makes = make([]bool, maxMakes)
	m.makes[0] = true
	for n := range m.makes {
		for cost, list := range m.fill {
			if len(list) > 0 && cost <= n && m.makes[n-cost] {
				m.makes[n] = true
			}
		}
	}
}

func (m *Maker) possible(n int) bool { return n >= 0 && (n >= len(m.makes) || m.makes[n]) }

// Count returns the number of a text's tokens.
func (m *Maker) Count(text string) int { return m.count(text) }

// Text returns a text of n tokens and the number of its tokens, which is n unless the tokenizer has no
// words for it. A longer text of the same seed begins with the same words.
func (m *Maker) Text(n int, seed uint64) (text string, tokens int) { return m.behind("", n, seed) }

// After returns a text that has the given number of tokens together with the one in front of it, and reports whether
// it has exactly these.
func (m *Maker) After(front string, tokens int, seed uint64) (text string, exact bool) {
	text, got := m.behind(front, tokens, seed)
	return text, got == tokens
}

// behind returns a text for behind another one, and the number of tokens of both, which should be wanted.
func (m *Maker) behind(front string, wanted int, seed uint64) (best string, tokens int) {
	before := m.count(front)
	if wanted <= before {
		return "", before
	}
	first := func(w word) int { return w.front }
	if front != "" {
		first = func(w word) int { return w.cost }
		front += " "
	}
	best, n := m.write(wanted-before, seed, first)
	if m.adds && m.checked.Add(int64(wanted)) > maxCheck {
		return best, before + n
	}
	text := best
	tokens = m.count(front + best)
	for try, want := 0, wanted-before; tokens != wanted && try < tries; try++ {
		want += wanted - m.count(front+text)
		text, _ = m.write(max(want, 1), seed+uint64(try)<<56, first)
		if got := m.count(front + text); distance(got, wanted) < distance(tokens, wanted) {
			best, tokens = text, got
		}
	}
	return best, tokens
}

func distance(a, b int) int { return max(a-b, b-a) }

// write returns a text whose words have n tokens one by one, and how many they have; first counts those of
// the first word.
func (m *Maker) write(n int, seed uint64, first func(word) int) (string, int) {
	rng := rand.New(rand.NewPCG(seed, 0x5bd1e995))
	var b strings.Builder
	left := n
	add := func(w word, cost int) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
		left -= cost
	}
	at := m.begin(rng, n, first)
	if at < 0 {
		return "", 0
	}
	add(m.words[at], first(m.words[at]))
	run := minRun + rng.IntN(maxRun-minRun)
	for left > 0 {
		if run == 0 {
			at, run = rng.IntN(len(m.words)), minRun+rng.IntN(maxRun-minRun)
		} else {
			at = (at + 1) % len(m.words)
		}
		run--
		if w := m.words[at]; m.possible(left - w.cost) {
			add(w, w.cost)
			continue
		}
		i := m.filler(rng, left)
		if i < 0 {
			break
		}
		add(m.words[i], m.words[i].cost)
	}
	return b.String(), n - left
}

// begin returns the word that begins a text of n tokens; -1: none can.
func (m *Maker) begin(rng *rand.Rand, n int, first func(word) int) int {
	for range 64 {
		at := rng.IntN(len(m.words))
		if len(m.leads) > 0 {
			at = m.leads[rng.IntN(len(m.leads))]
		}
		if m.possible(n - first(m.words[at])) {
			return at
		}
	}
	best := -1
	for at, w := range m.words {
		switch {
		case m.possible(n - first(w)):
			return at
		case first(w) <= n && (best < 0 || first(w) > first(m.words[best])):
			best = at
		}
	}
	return best
}

// filler draws a word of at most left tokens after which what is left can be filled; -1: there is none.
func (m *Maker) filler(rng *rand.Rand, left int) int {
	total := 0
	for cost, list := range m.fill {
		if m.possible(left - cost) {
			total += len(list)
		}
	}
	if total == 0 {
		return -1
	}
	k := rng.IntN(total)
	for cost, list := range m.fill {
		if !m.possible(left - cost) {
			continue
		}
		if k < len(list) {
			return list[k]
		}
		k -= len(list)
	}
	return -1
}
