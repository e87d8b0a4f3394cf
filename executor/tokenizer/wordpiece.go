package tokenizer

import "unicode/utf8"

// wordPiece cuts a word into the longest tokens from its front; those behind the first have a prefix.
type wordPiece struct {
	vocab   map[string]int
	unknown int
	prefix  string
	most    int // characters of a word; a longer one is unknown
	longest int // bytes of a token
}

func (w *wordPiece) tokens(ids []int, word string) []int {
	if utf8.RuneCountInString(word) > w.most {
		return append(ids, w.unknown)
	}
	from := len(ids)
	for at := 0; at < len(word); {
		front, end := "", min(len(word), at+w.longest)
		if at > 0 {
			front = w.prefix
		}
		id, ok := 0, false
		for ; end > at && !ok; end-- {
			if end < len(word) && !utf8.RuneStart(word[end]) {
				continue
			}
			id, ok = w.vocab[front+word[at:end]]
			if ok {
				break
			}
		}
		if !ok {
			return append(ids[:from], w.unknown)
		}
		ids, at = append(ids, id), end
	}
	return ids
}

// wordLevel has whole words alone.
type wordLevel struct {
	vocab   map[string]int
	unknown int
}

func (w *wordLevel) tokens(ids []int, word string) []int {
	if id, ok := w.vocab[word]; ok {
		return append(ids, id)
	}
	if w.unknown < 0 {
		return ids
	}
	return append(ids, w.unknown)
}
