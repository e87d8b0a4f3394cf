package measure

import (
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
)

// moreCauses limits the texts of further causes that are kept of a class of failures besides the first.
const moreCauses = 4

// addCause keeps a text of a failure of a class unless one of the same cause is there.
func addCause[T string | []byte](a *Aggregate, class backends.ErrorClass, text T) {
	first, more := a.Examples[class], a.Causes[class]
	switch {
	case first == "":
		a.Examples[class] = string(text)
	case len(more) < moreCauses && !sameCause(text, first) &&
		!slices.ContainsFunc(more, func(other string) bool { return sameCause(text, other) }):
		a.Causes[class] = append(slices.Clip(more), string(text))
	}
}

// sameCause reports whether two texts of failures differ at most in words with digits: ids, numbers,
// times and addresses.
func sameCause[T string | []byte](a T, b string) bool {
	for len(a) > 0 && len(b) > 0 {
		n, numberA := word(a)
		m, numberB := word(b)
		if (!numberA || !numberB) && string(a[:n]) != b[:m] {
			return false
		}
		a, b = a[n:], b[m:]
	}
	return len(a)+len(b) == 0
}

// word returns the length of the first word of a text that is not empty, or of the one byte between two,
// and whether the word has a digit.
func word[T string | []byte](text T) (n int, number bool) {
	for n < len(text) {
		c := text[n]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.' || c >= 0x80
		digit := c >= '0' && c <= '9'
		if !letter && !digit {
			break
		}
		number = number || digit
		n++
	}
	return max(n, 1), number
}

// moreMismatches limits the distinct texts of mismatching replies that are kept besides the first.
const moreMismatches = 4

// keepExample keeps the first text of a class, and one of each of a few further causes. Of mismatching
// replies a few distinct texts are kept, each with its row.
func (a *Aggregate) keepExample(s *backends.Sample) {
	if s.Class != backends.Mismatch {
		addCause(a, s.Class, s.Note)
		return
	}
	// the row that was answered wrongly, or with batches the number of the batch
	var space [backends.NoteSize + 32]byte
	text := append(space[:0], "row "...)
	if s.Items > 1 {
		text = append(space[:0], "batch "...)
	}
	text = strconv.AppendUint(text, uint64(s.Row), 10)
	a.addMismatch(append(append(text, ": "...), s.Note...))
}

// addMismatch keeps a distinct text of a mismatching reply.
func (a *Aggregate) addMismatch(text []byte) {
	is := func(other string) bool { return other == string(text) }
	switch first := &a.Examples[backends.Mismatch]; {
	case *first == "":
		*first = string(text)
	case !is(*first) && len(a.Mismatches) < moreMismatches && !slices.ContainsFunc(a.Mismatches, is):
		a.Mismatches = append(slices.Clip(a.Mismatches), string(text))
	}
}
