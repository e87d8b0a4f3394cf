package tokenizer

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normalizer changes a text before it is cut into words.
type normalizer func(string) string

// bert is the normalizer of BERT.
type bert struct {
	clean, chinese, stripAccents, lower bool
}

func (b bert) apply(text string) string {
	if b.clean {
		text = strings.Map(cleaned, text)
	}
	if b.chinese {
		var out strings.Builder
		for _, r := range text {
			if isIdeograph(r) {
				out.WriteString(" " + string(r) + " ")
			} else {
				out.WriteRune(r)
			}
		}
		text = out.String()
	}
	if b.stripAccents {
		text = without(norm.NFD.String(text), unicode.Mn)
	}
	if b.lower {
		text = lower(text)
	}
	return text
}

// cleaned drops control characters and makes white space spaces.
func cleaned(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case r == 0 || r == unicode.ReplacementChar || unicode.Is(unicode.C, r):
		return -1
	case r > unicode.MaxLatin1 && !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z):
		return -1 // unassigned
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// isIdeograph reports whether BERT takes a character for a Chinese one.
func isIdeograph(r rune) bool {
	for _, in := range [...][2]rune{
		{0x4E00, 0x9FFF},
		{0x3400, 0x4DBF},
		{0x20000, 0x2A6DF},
		{0x2A700, 0x2B73F},
		{0x2B740, 0x2B81F},
		{0x2B920, 0x2CEAF},
		{0xF900, 0xFAFF},
		{0x2F800, 0x2FA1F},
	} {
		if r >= in[0] && r <= in[1] {
			return true
		}
	}
	return false
}

// without removes the characters of a table.
func without(text string, table *unicode.RangeTable) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(table, r) {
			return -1
		}
		return r
	}, text)
}

// lower is the lower case of each character by itself.
func lower(text string) string {
	if !strings.ContainsRune(text, 'İ') {
		return strings.ToLower(text)
	}
	return strings.ToLower(strings.ReplaceAll(text, "İ", "i̇")) // the one that becomes two
}

// replaceAll replaces all that a finder finds.
func replaceAll(find finder, with string) normalizer {
	return func(text string) string {
		var b strings.Builder
		for _, s := range spans(text, find, false) {
			if s.found {
				b.WriteString(with)
			} else {
				b.WriteString(text[s.from:s.to])
			}
		}
		return b.String()
	}
}

// prepend puts a text in front of any that is not empty.
func prepend(front string) normalizer {
	return func(text string) string {
		if text == "" {
			return text
		}
		return front + text
	}
}

func strip(left, right bool) normalizer {
	return func(text string) string {
		if left {
			text = strings.TrimLeftFunc(text, unicode.IsSpace)
		}
		if right {
			text = strings.TrimRightFunc(text, unicode.IsSpace)
		}
		return text
	}
}
