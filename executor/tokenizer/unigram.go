package tokenizer

import (
	"math"
	"slices"
	"unicode/utf8"
)

// unigram cuts a word into the tokens whose scores have the greatest sum.
type unigram struct {
	scores       []float64
	unknown      int // id
	unknownScore float64
	byteFallback bool
	spelled      [256]int
	// trie of the tokens: from a node and a byte to a node; ids of those that end a token
	steps map[uint64]uint32
	ends  []int // by node; -1: none
}

// unknownPenalty is how much worse than the worst token an unknown character is.
const unknownPenalty = 10

func newUnigram(pieces []string, scores []float64, unknown int) *unigram {
	u := &unigram{scores: scores, unknown: unknown, steps: map[uint64]uint32{}, ends: []int{-1}}
	worst := math.Inf(1)
	for id, text := range pieces {
		worst = min(worst, scores[id])
		node := uint32(0)
		for i := range len(text) {
			key := uint64(node)<<8 | uint64(text[i])
			to, ok := u.steps[key]
			if !ok {
				to = uint32(len(u.ends))
				u.ends = append(u.ends, -1)
				u.steps[key] = to
			}
			node = to
		}
		if text != "" {
			u.ends[node] = id // of equal ones the last
		}
	}
	u.unknownScore = worst - unknownPenalty
	return u
}

// ending is the best way to an offset of a word: its last token begins at from.
type ending struct {
	from, id int
	score    float64
	known    bool
}

func (u *unigram) tokens(ids []int, word string) []int {
	best := make([]ending, len(word)+1)
	best[0].known = true
	reach := func(to int, e ending) {
		if b := &best[to]; !b.known || e.score > b.score {
			*b = e
		}
	}
	for at := 0; at < len(word); {
		_, size := utf8.DecodeRuneInString(word[at:])
		single, node := false, uint32(0)
		for i := at; i < len(word); i++ {
			to, ok := u.steps[uint64(node)<<8|uint64(word[i])]
			if !ok {
				break
			}
			node = to
			if id := u.ends[node]; id >= 0 {
				reach(i+1, ending{at, id, best[at].score + u.scores[id], true})
				single = single || i+1-at == size
			}
		}
		if !single {
			reach(at+size, ending{at, u.unknown, best[at].score + u.unknownScore, true})
		}
		at += size
	}
	return u.collect(ids, word, best)
}

// collect appends the tokens of the best way. Unknown characters in a row are one token.
func (u *unigram) collect(ids []int, word string, best []ending) []int {
	var way []span // from the end; found: known
	for at := len(word); at > 0; at = best[at].from {
		e := best[at]
		if n := len(way); e.id == u.unknown && n > 0 && !way[n-1].found {
			way[n-1].from = e.from
			continue
		}
		way = append(way, span{e.from, at, e.id != u.unknown})
	}
	for _, s := range slices.Backward(way) {
		if s.found {
			ids = append(ids, best[s.to].id)
			continue
		}
		if u.byteFallback {
			var spelled bool
			if ids, spelled = appendBytes(ids, &u.spelled, word[s.from:s.to]); spelled {
				continue
			}
		}
		ids = append(ids, u.unknown)
	}
	return ids
}
