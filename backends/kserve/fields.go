package kserve

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// fields compares values in the JSON text with the expected ones. The note describes the first
// difference.
func (c *comparison) fields(e *expectation, text []byte, s *backends.Sample) (equal bool) {
	for i := range e.fields {
		f := &e.fields[i]
		before := len(c.note)
		if c.note = jsonscan.AppendMismatch(c.note, text, f.Path, f.Want); len(c.note) > before {
			c.mismatch(s)
			return false
		}
	}
	return true
}
