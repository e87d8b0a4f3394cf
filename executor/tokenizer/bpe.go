package tokenizer

import (
	"container/heap"
	"fmt"
	"strings"
	"unicode/utf8"
)

// bpe joins the characters of a word by a list of merges, the best first.
type bpe struct {
	vocab        map[string]int
	merges       map[[2]int]merge
	unknown      int // id; -1: none, such characters are left out
	fuseUnknown  bool
	byteFallback bool // characters that are no token are their bytes
	wholeWords   bool // a word that is a token is one, whatever the merges
	bytes        bool // the vocabulary is of bytes, not of characters
	prefix       string
	suffix       string
	spelled      [256]int // ids of the bytes with byteFallback; -1: none
}

// merge joins two tokens to one; of several the one with the lowest rank is the first.
type merge struct{ rank, id int }

// byteTokens returns the ids of <0x00> … <0xFF>.
func byteTokens(vocab map[string]int) (ids [256]int) {
	for i := range ids {
		id, ok := vocab[fmt.Sprintf("<0x%02X>", i)]
		if !ok {
			id = -1
		}
		ids[i] = id
	}
	return ids
}

// appendBytes appends the tokens of a text's bytes; false: not all are tokens.
func appendBytes(ids []int, spelled *[256]int, text string) ([]int, bool) {
	from := len(ids)
	for _, c := range []byte(text) {
		if spelled[c] < 0 {
			return ids[:from], false
		}
		ids = append(ids, spelled[c])
	}
	return ids, true
}

func (m *bpe) tokens(ids []int, word string) []int {
	if id, ok := m.vocab[word]; ok && m.wholeWords {
		return append(ids, id)
	}
	from := len(ids)
	ids = m.characters(ids, word)
	if len(ids)-from < 2 {
		return ids
	}
	return m.join(ids, from)
}

// characters appends the tokens that the word begins with.
func (m *bpe) characters(ids []int, word string) []int {
	wasUnknown := false
	for at := 0; at < len(word); {
		size := 1
		if !m.bytes {
			_, size = utf8.DecodeRuneInString(word[at:])
		}
		character := word[at : at+size]
		text := character
		if at > 0 && m.prefix != "" {
			text = m.prefix + text
		}
		if at += size; at == len(word) && m.suffix != "" {
			text += m.suffix
		}
		id, ok := m.vocab[text]
		if !ok && m.byteFallback {
			var spelled bool
			if ids, spelled = appendBytes(ids, &m.spelled, character); spelled {
				wasUnknown = false
				continue
			}
		}
		if !ok {
			if m.unknown >= 0 && (!wasUnknown || !m.fuseUnknown) {
				ids = append(ids, m.unknown)
			}
			wasUnknown = true
			continue
		}
		ids, wasUnknown = append(ids, id), false
	}
	return ids
}

// candidate is a merge of the symbol at a place with the next one.
type candidate struct {
	merge
	at   int
	pair [2]int
}

type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	return c[i].rank < c[j].rank || c[i].rank == c[j].rank && c[i].at < c[j].at
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	old := *c
	x := old[len(old)-1]
	*c = old[:len(old)-1]
	return x
}

// join merges the tokens from an offset on.
func (m *bpe) join(ids []int, from int) []int {
	list := ids[from:]
	next, last := make([]int, len(list)), make([]int, len(list)) // neighbours; next len(list): none
	for i := range list {
		next[i], last[i] = i+1, i-1
	}
	var queue candidates
	consider := func(at int) {
		if at < 0 || next[at] >= len(list) {
			return
		}
		pair := [2]int{list[at], list[next[at]]}
		if way, ok := m.merges[pair]; ok {
			heap.Push(&queue, candidate{way, at, pair})
		}
	}
	for i := range list {
		consider(i)
	}
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		second := next[c.at]
		if list[c.at] != c.pair[0] || second >= len(list) || list[second] != c.pair[1] {
			continue // one of the two was merged before
		}
		list[c.at], list[second] = c.id, -1
		next[c.at] = next[second]
		if next[c.at] < len(list) {
			last[next[c.at]] = c.at
		}
		consider(last[c.at])
		consider(c.at)
	}
	kept := 0
	for _, id := range list {
		if id >= 0 {
			list[kept] = id
			kept++
		}
	}
	return ids[:from+kept]
}

// setMerges reads the pairs of tokens that are joined.
func (m *bpe) setMerges(pairs [][2]string) error {
	m.merges = make(map[[2]int]merge, len(pairs))
	for rank, p := range pairs {
		a, known := m.vocab[p[0]]
		b, also := m.vocab[p[1]]
		id, joined := m.vocab[p[0]+strings.TrimPrefix(p[1], m.prefix)]
		if !known || !also || !joined {
			return fmt.Errorf("merge %d joins %q and %q, and one of these or both joined are no token", rank, p[0], p[1])
		}
		if _, ok := m.merges[[2]int{a, b}]; !ok {
			m.merges[[2]int{a, b}] = merge{rank, id}
		}
	}
	return nil
}
