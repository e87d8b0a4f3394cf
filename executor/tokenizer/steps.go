package tokenizer

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalizer returns the normalizer of a step.
func (s *step) normalizer() (normalizer, error) {
	switch s.Type {
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "Lowercase":
		return lower, nil
	case "Strip":
		return strip(s.StripLeft, s.StripRight), nil
	case "StripAccents":
		return func(text string) string { return without(text, unicode.M) }, nil
	case "Prepend":
		return prepend(s.Prepend), nil
	case "Replace":
		find, err := s.Pattern.finder()
		return replaceAll(find, s.Content), err
	case "BertNormalizer":
		b := bert{clean: s.CleanText, chinese: s.ChineseChars, stripAccents: s.Lowercase, lower: s.Lowercase}
		if s.StripAccents != nil {
			b.stripAccents = *s.StripAccents
		}
		return b.apply, nil
	case "Precompiled":
		return parsePrecompiled(s.Precompiled)
	}
	return nil, fmt.Errorf("type %q is not known", s.Type)
}

// splitter returns the splitter of a step.
func (s *step) splitter() (splitter, error) {
	switch s.Type {
	case "ByteLevel":
		var words splitter
		if s.UseRegex == nil || *s.UseRegex {
			p, err := compile(gpt2)
			if err != nil {
				return nil, err
			}
			words = splitBy(p.find, isolated, false)
		}
		return byteLevel(s.AddPrefixSpace != nil && *s.AddPrefixSpace, words), nil
	case "Metaspace":
		return s.metaspace()
	case "Split":
		find, err := s.Pattern.finder()
		if err == nil && !s.Behavior.known() {
			err = fmt.Errorf("behavior %q is not known", s.Behavior)
		}
		return splitBy(find, s.Behavior, s.Invert), err
	case "Whitespace":
		p, err := compile(`\w+|[^\w\s]+`)
		if err != nil {
			return nil, err
		}
		return splitBy(p.find, removed, true), nil
	case "WhitespaceSplit":
		return splitBy(each(unicode.IsSpace), removed, false), nil
	case "BertPreTokenizer":
		white, marks := splitBy(each(unicode.IsSpace), removed, false), splitBy(each(isPunctuation), isolated, false)
		return func(list []piece, p piece) []piece {
			for _, word := range white(nil, p) {
				list = marks(list, word)
			}
			return list
		}, nil
	case "Punctuation":
		b := s.Behavior
		if b == "" {
			b = isolated
		}
		if !b.known() {
			return nil, fmt.Errorf("behavior %q is not known", b)
		}
		return splitBy(each(isPunctuation), b, false), nil
	case "Digits":
		b := contiguous
		if s.IndividualDigits {
			b = isolated
		}
		return splitBy(each(unicode.IsNumber), b, false), nil
	case "CharDelimiterSplit":
		return splitBy(literal(s.Delimiter), removed, false), nil
	}
	return nil, fmt.Errorf("type %q is not known", s.Type)
}

func (s *step) metaspace() (splitter, error) {
	scheme := s.PrependScheme
	if scheme == "" {
		scheme = "always"
		if s.AddPrefixSpace != nil && !*s.AddPrefixSpace {
			scheme = "never"
		}
	}
	if utf8.RuneCountInString(s.Replacement) != 1 {
		return nil, fmt.Errorf("the replacement of Metaspace is %q: it must be one character", s.Replacement)
	}
	return metaspace(s.Replacement, scheme, s.Split == nil || *s.Split), nil
}
