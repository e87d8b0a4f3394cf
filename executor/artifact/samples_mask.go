package artifact

// Limits of the texts whose masked form is kept for further samples with the same text.
const (
	maxMasked     = 1024 // number of texts
	maxMaskedText = 1024 // bytes of each
)

// mask removes secrets from a text. It runs in the writing goroutine, so that no request waits for
// it.
func (s *Samples) mask(text string) string {
	if s.o.Mask == nil || text == "" {
		return text
	}
	if out, ok := s.masked[text]; ok {
		return out
	}
	out := s.o.Mask(text)
	if s.masked == nil || len(s.masked) >= maxMasked {
		s.masked = make(map[string]string)
	}
	if len(text) <= maxMaskedText {
		s.masked[text] = out
	}
	return out
}
