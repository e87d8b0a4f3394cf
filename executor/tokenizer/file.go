package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// file is tokenizer.json. Its truncation, padding and post_processor are not read: texts are counted
// whole and as they are.
type file struct {
	Added        []added         `json:"added_tokens"`
	Normalizer   *step           `json:"normalizer"`
	PreTokenizer *step           `json:"pre_tokenizer"`
	Model        json.RawMessage `json:"model"`
}

// step is a normalizer or a pre-tokenizer; each type has some of these members.
type step struct {
	Type          string      `json:"type"`
	Normalizers   []step      `json:"normalizers"`
	PreTokenizers []step      `json:"pretokenizers"`
	Pattern       *expression `json:"pattern"`
	Behavior      behaviour   `json:"behavior"`
	Invert        bool        `json:"invert"`
	Content       string      `json:"content"`

	Prepend     string `json:"prepend"`
	Precompiled string `json:"precompiled_charsmap"`
	StripLeft   bool   `json:"strip_left"`
	StripRight  bool   `json:"strip_right"`

	CleanText    bool  `json:"clean_text"`
	ChineseChars bool  `json:"handle_chinese_chars"`
	StripAccents *bool `json:"strip_accents"`
	Lowercase    bool  `json:"lowercase"`

	AddPrefixSpace   *bool  `json:"add_prefix_space"`
	UseRegex         *bool  `json:"use_regex"`
	Replacement      string `json:"replacement"`
	PrependScheme    string `json:"prepend_scheme"`
	Split            *bool  `json:"split"`
	IndividualDigits bool   `json:"individual_digits"`
	Delimiter        string `json:"delimiter"`
}

// expression is a text or a regular expression.
type expression struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

func (e *expression) finder() (finder, error) {
	switch {
	case e != nil && e.String != nil:
		return literal(*e.String), nil
	case e != nil && e.Regex != nil:
		p, err := compile(*e.Regex)
		if err != nil {
			return nil, err
		}
		return p.find, nil
	}
	return nil, errors.New("a pattern is neither String nor Regex")
}

func parseJSON(data []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("this is no tokenizer.json: %w", err)
	}
	if len(f.Model) == 0 {
		return nil, errors.New(`this is no tokenizer.json: there is no "model"`)
	}
	t := &Tokenizer{}
	var err error
	if t.normalize, err = normalizers(f.Normalizer, 0); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	if t.split, err = splitters(f.PreTokenizer, 0); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if t.model, err = parseModel(f.Model); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	var outer, inner []added
	for _, a := range f.Added {
		switch {
		case a.ID < 0:
			return nil, fmt.Errorf("the id of added token %q is %d", a.Content, a.ID)
		case !a.Normalized:
			outer = append(outer, a)
		default:
			for _, n := range t.normalize {
				a.Content = n(a.Content)
			}
			inner = append(inner, a)
		}
	}
	t.outer, t.inner = newAdded(outer), newAdded(inner)
	return t, nil
}

// maxDepth limits sequences in sequences.
const maxDepth = 8

var errDepth = errors.New("sequences are nested too deep")

func normalizers(s *step, depth int) (list []normalizer, err error) {
	if s == nil {
		return nil, nil
	}
	if s.Type == "Sequence" {
		if depth > maxDepth {
			return nil, errDepth
		}
		for i := range s.Normalizers {
			some, err := normalizers(&s.Normalizers[i], depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, some...)
		}
		return list, nil
	}
	n, err := s.normalizer()
	return []normalizer{n}, err
}

func splitters(s *step, depth int) (list []splitter, err error) {
	if s == nil {
		return nil, nil
	}
	if s.Type == "Sequence" {
		if depth > maxDepth {
			return nil, errDepth
		}
		for i := range s.PreTokenizers {
			some, err := splitters(&s.PreTokenizers[i], depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, some...)
		}
		return list, nil
	}
	w, err := s.splitter()
	return []splitter{w}, err
}

// modelFile is the model of tokenizer.json.
type modelFile struct {
	Type         string          `json:"type"`
	Vocab        json.RawMessage `json:"vocab"`
	Merges       json.RawMessage `json:"merges"`
	Unknown      *string         `json:"unk_token"`
	UnknownID    *int            `json:"unk_id"`
	Prefix       *string         `json:"continuing_subword_prefix"`
	Suffix       *string         `json:"end_of_word_suffix"`
	FuseUnknown  bool            `json:"fuse_unk"`
	ByteFallback bool            `json:"byte_fallback"`
	IgnoreMerges bool            `json:"ignore_merges"`
	MaxChars     *int            `json:"max_input_chars_per_word"`
}

func parseModel(data []byte) (model, error) {
	var f modelFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	if f.Type == "" { // of old files
		switch {
		case len(f.Merges) > 0:
			f.Type = "BPE"
		case f.UnknownID != nil:
			f.Type = "Unigram"
		case f.MaxChars != nil:
			f.Type = "WordPiece"
		}
	}
	if f.Type == "Unigram" {
		return f.unigram()
	}
	var vocab map[string]int
	if err := json.Unmarshal(f.Vocab, &vocab); err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	unknown := -1
	for text, id := range vocab {
		if id < 0 {
			return nil, fmt.Errorf("vocab: the id of %q is %d", text, id)
		}
		if f.Unknown != nil && text == *f.Unknown {
			unknown = id
		}
	}
	switch f.Type {
	case "BPE":
		return f.bpe(vocab, unknown)
	case "WordPiece":
		w := &wordPiece{vocab: vocab, unknown: unknown, prefix: "##", most: 100}
		if f.Prefix != nil {
			w.prefix = *f.Prefix
		}
		if f.MaxChars != nil {
			w.most = *f.MaxChars
		}
		for text := range vocab {
			w.longest = max(w.longest, len(text))
		}
		if unknown < 0 {
			return nil, errors.New("unk_token is no token of the vocabulary")
		}
		return w, nil
	case "WordLevel":
		return &wordLevel{vocab, unknown}, nil
	}
	return nil, fmt.Errorf("type %q is not known: BPE, Unigram, WordPiece and WordLevel are", f.Type)
}

func (f *modelFile) bpe(vocab map[string]int, unknown int) (model, error) {
	m := &bpe{
		vocab: vocab, unknown: unknown, fuseUnknown: f.FuseUnknown, byteFallback: f.ByteFallback,
		wholeWords: f.IgnoreMerges, spelled: byteTokens(vocab),
	}
	if f.Prefix != nil {
		m.prefix = *f.Prefix
	}
	if f.Suffix != nil {
		m.suffix = *f.Suffix
	}
	pairs, err := readMerges(f.Merges)
	if err != nil {
		return nil, fmt.Errorf("merges: %w", err)
	}
	return m, m.setMerges(pairs)
}

// readMerges reads pairs in either way in which they are written: "a b" and ["a", "b"].
func readMerges(data []byte) (pairs [][2]string, err error) {
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	if first := bytes.TrimLeft(data[1:], " \t\r\n"); len(first) > 0 && first[0] == '[' {
		err := json.Unmarshal(data, &pairs)
		return pairs, err
	}
	var texts []string
	if err := json.Unmarshal(data, &texts); err != nil {
		return nil, err
	}
	pairs = make([][2]string, len(texts))
	for i, text := range texts {
		a, b, ok := strings.Cut(text, " ")
		if !ok {
			return nil, fmt.Errorf("%q is no pair", text)
		}
		pairs[i] = [2]string{a, b}
	}
	return pairs, nil
}

func (f *modelFile) unigram() (model, error) {
	var list [][]json.RawMessage
	if err := json.Unmarshal(f.Vocab, &list); err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	pieces, scores := make([]string, len(list)), make([]float64, len(list))
	vocab := map[string]int{}
	for i, entry := range list {
		if len(entry) != 2 || json.Unmarshal(entry[0], &pieces[i]) != nil || json.Unmarshal(entry[1], &scores[i]) != nil {
			return nil, fmt.Errorf("vocab: entry %d is no text with a score", i)
		}
		vocab[pieces[i]] = i
	}
	if f.UnknownID == nil || *f.UnknownID < 0 || *f.UnknownID >= len(list) {
		return nil, errors.New("unk_id is no token of the vocabulary")
	}
	u := newUnigram(pieces, scores, *f.UnknownID)
	u.byteFallback, u.spelled = f.ByteFallback, byteTokens(vocab)
	return u, nil
}
