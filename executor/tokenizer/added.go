package tokenizer

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// added is a token of which the model knows nothing: it is found in the text itself.
type added struct {
	Content    string `json:"content"`
	ID         int    `json:"id"`
	SingleWord bool   `json:"single_word"` // only between characters that are no part of a word
	LeftStrip  bool   `json:"lstrip"`      // takes the white space in front of it
	RightStrip bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"` // found in the normalized text
}

// addedTokens finds added tokens: the first in the text, of several the longest.
type addedTokens struct {
	byFirst [256][]added
}

// newAdded returns a finder of the tokens; nil without any.
func newAdded(list []added) *addedTokens {
	a := &addedTokens{}
	found := false
	for _, t := range list {
		if t.Content != "" {
			a.byFirst[t.Content[0]] = append(a.byFirst[t.Content[0]], t)
			found = true
		}
	}
	if !found {
		return nil
	}
	for _, l := range a.byFirst {
		slices.SortStableFunc(l, func(x, y added) int { return cmp.Compare(len(y.Content), len(x.Content)) })
	}
	return a
}

// part is a text, or an added token.
type part struct {
	text string
	id   int // -1: text
}

// cut returns the parts of a text; empty texts are left out.
func (a *addedTokens) cut(text string) (parts []part) {
	if a == nil {
		return []part{{text, -1}}
	}
	from := 0
	for at := 0; at < len(text); {
		t := a.at(text, at)
		if t == nil {
			at++
			continue
		}
		start, end := at, at+len(t.Content)
		if t.LeftStrip {
			start = from + len(strings.TrimRightFunc(text[from:at], unicode.IsSpace))
		}
		if t.RightStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		}
		if start > from {
			parts = append(parts, part{text[from:start], -1})
		}
		parts = append(parts, part{"", t.ID})
		from, at = end, end
	}
	if from < len(text) {
		parts = append(parts, part{text[from:], -1})
	}
	return parts
}

// at returns the longest token that begins at an offset.
func (a *addedTokens) at(text string, at int) *added {
	list := a.byFirst[text[at]]
	for i := range list {
		t := &list[i]
		if !strings.HasPrefix(text[at:], t.Content) {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(t.Content):])
		if t.SingleWord && (at > 0 && isWord(before) || at+len(t.Content) < len(text) && isWord(after)) {
			return nil // the longest match counts, and it is refused
		}
		return t
	}
	return nil
}

// isWord reports whether a character is one of \w.
func isWord(r rune) bool {
	return r == 0x200c || r == 0x200d ||
		unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic)
}
