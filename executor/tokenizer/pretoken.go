package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// splitter cuts a piece into pieces and appends them.
type splitter func(list []piece, p piece) []piece

// behaviour says what becomes of the parts of a text that a finder finds.
type behaviour string

const (
	removed            behaviour = "Removed"
	isolated           behaviour = "Isolated"
	mergedWithPrevious behaviour = "MergedWithPrevious"
	mergedWithNext     behaviour = "MergedWithNext"
	contiguous         behaviour = "Contiguous"
)

func (b behaviour) known() bool {
	switch b {
	case removed, isolated, mergedWithPrevious, mergedWithNext, contiguous:
		return true
	}
	return false
}

// finder returns the first match in a text, nil without one.
type finder func(text string) []int

// span is a part of a text, and whether it was found.
type span struct {
	from, to int
	found    bool
}

// splitBy returns a splitter by what a finder finds; invert: by what is between.
func splitBy(find finder, b behaviour, invert bool) splitter {
	return func(list []piece, p piece) []piece {
		for _, s := range b.join(spans(p.text, find, invert)) {
			if s.to > s.from {
				list = append(list, piece{p.text[s.from:s.to], p.first && s.from == 0})
			}
		}
		return list
	}
}

// spans covers a text with what is found and what is between.
func spans(text string, find finder, invert bool) (list []span) {
	at := 0
	for at < len(text) {
		m := find(text[at:])
		if m == nil || m[1] <= m[0] {
			break
		}
		if m[0] > 0 {
			list = append(list, span{at, at + m[0], invert})
		}
		list = append(list, span{at + m[0], at + m[1], !invert})
		at += m[1]
	}
	if at < len(text) {
		list = append(list, span{at, len(text), invert})
	}
	return list
}

// join applies a behaviour.
func (b behaviour) join(list []span) (out []span) {
	switch b {
	case removed:
		for _, s := range list {
			if !s.found {
				out = append(out, s)
			}
		}
	case contiguous:
		for _, s := range list {
			if n := len(out); n > 0 && out[n-1].found == s.found {
				out[n-1].to = s.to
				continue
			}
			out = append(out, s)
		}
	case mergedWithPrevious:
		for i, s := range list {
			if n := len(out); s.found && n > 0 && !list[i-1].found {
				out[n-1].to = s.to
				continue
			}
			out = append(out, s)
		}
	case mergedWithNext:
		for i, s := range list {
			if n := len(out); !s.found && n > 0 && list[i-1].found {
				out[n-1].to = s.to
				continue
			}
			out = append(out, s)
		}
	case isolated:
		return list
	}
	return out
}

// each finds single characters.
func each(is func(rune) bool) finder {
	return func(text string) []int {
		i := strings.IndexFunc(text, is)
		if i < 0 {
			return nil
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		return []int{i, i + size}
	}
}

// literal finds a text.
func literal(s string) finder {
	return func(text string) []int {
		if i := strings.Index(text, s); i >= 0 && s != "" {
			return []int{i, i + len(s)}
		}
		return nil
	}
}

// isPunctuation reports whether a character is punctuation, of ASCII all that is visible and no letter or
// digit.
func isPunctuation(r rune) bool {
	return r > ' ' && r < 0x7f && !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.Is(unicode.P, r)
}

// byteRunes are the characters by which a byte-level vocabulary spells bytes: visible ones are
// themselves, the others follow from 256 on.
func byteRunes() (table [256]string) {
	next := rune(256)
	for i := range table {
		r := rune(i)
		if (r < '!' || r > '~') && (r < 0xa1 || r > 0xac) && (r < 0xae || r > 0xff) {
			r = next
			next++
		}
		table[i] = string(r)
	}
	return table
}

// gpt2 is the expression of byte-level tokenizers that name none.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// byteLevel spells words in the characters of byteRunes. space: a word in front gets a space.
func byteLevel(space bool, words splitter) splitter {
	table := byteRunes()
	return func(list []piece, p piece) []piece {
		if space && !strings.HasPrefix(p.text, " ") {
			p.text = " " + p.text
		}
		from := len(list)
		if words == nil {
			list = append(list, p)
		} else {
			list = words(list, p)
		}
		for i := from; i < len(list); i++ {
			var b strings.Builder
			b.Grow(2 * len(list[i].text))
			for _, c := range []byte(list[i].text) {
				b.WriteString(table[c])
			}
			list[i].text = b.String()
		}
		return list
	}
}

// metaspace writes spaces as another character, with which words begin. scheme says which pieces get one
// in front: always, first or never.
func metaspace(replacement, scheme string, split bool) splitter {
	r, _ := utf8.DecodeRuneInString(replacement)
	words := splitBy(each(func(c rune) bool { return c == r }), mergedWithNext, false)
	return func(list []piece, p piece) []piece {
		p.text = strings.ReplaceAll(p.text, " ", replacement)
		if (scheme == "always" || scheme == "first" && p.first) && !strings.HasPrefix(p.text, replacement) {
			p.text = replacement + p.text
		}
		if split {
			return words(list, p)
		}
		return append(list, p)
	}
}
