package http1

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
)

// FailStatus fails a reply for its status. The note is the body, the target of a redirect, or for an
// empty reply the status; for status 400 and above the wire has set it already.
func FailStatus(s *backends.Sample, status int, h *Header, body []byte) {
	s.Class = backends.Status
	switch location := h.Get("location"); {
	case status/100 == 3 && location != nil:
		s.SetNote(append([]byte("the server redirects, which requests do not follow: write the right "+
			"address into `url`; it points to "), location...))
	case status < 400:
		s.SetNote(body)
	}
	if len(s.Note) == 0 {
		s.SetNote(fmt.Appendf(nil, "an empty reply with status %d", status))
	}
}
