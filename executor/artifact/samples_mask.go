package artifact

// Bounds of the texts whose masked form is kept for the next sample with the same one.
const (
	maxMasked     = 1024 // of them
	maxMaskedText = 1024 // bytes of each
)

// mask takes secrets out of a text. It belongs to the writing goroutine: no request waits for it.
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
