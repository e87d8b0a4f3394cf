package http

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

const (
	errorSize = 64 << 10 // bytes of a refusal that are read for its cause, which a traceback may come before
	maxReply  = 2 << 30  // bound of the bytes kept of a reply that is compared
)

// judge classifies replies. The first matching row applies:
//
//	status is not 200, nor one that the plan names     status; note: the cause, or a redirect's target
//	a coding that was not requested, or broken         decode
//	values are expected and the content is not JSON    decode
//	the member that each good reply has is missing     decode
//	the kind's own Reader refuses it                   as it says
//	expected values missing or different               mismatch; note: the first one
type judge struct {
	advise  func(status int, cause []byte) string // nil: nothing comes before a refusal's own words
	reader  Reader                                // nil: the kind has none
	decoder http1.Decoder
	note    []byte
	cause   []byte
}

// Keep implements http1.Judge.
func (j *judge) Keep(c *backends.Call, status int, s *backends.Sample) int {
	switch e := c.Impl.(*expected); {
	case !e.accepts(status):
		return errorSize
	case e.compares(s):
		return maxReply
	}
	return 0
}

// Reply implements http1.Judge.
func (j *judge) Reply(c *backends.Call, status int, h *http1.Header, body []byte, s *backends.Sample) {
	e := c.Impl.(*expected)
	coded, good := j.decoder.Coded(h), e.accepts(status)
	s.Note = s.Note[:0]
	if coded && good && !e.mayBeCoded {
		j.fail(s, backends.Decode, "the reply is compressed, but the target does not set `compression`", nil)
		return
	}
	if coded && len(body) > 0 {
		limit := min(int64(j.Keep(c, status, s)), cmp.Or(c.MaxReply, backends.ReplyLimit)+1)
		plain, ok := j.decoder.Decode(body, limit, h.Size > int64(len(body)))
		switch {
		case good && !ok:
			j.fail(s, backends.Decode, "the reply is not compressed as its header says", nil)
			return
		case good && int64(len(plain)) == limit:
			j.fail(s, backends.Decode, "the decompressed reply exceeds `max_message`", nil)
			return
		}
		body = plain
	}
	switch {
	case !good:
		j.refused(status, h, body, s)
	case e.compares(s):
		j.compare(e, body, status/100 == 2, s)
	}
}

// refused fails a reply for its status.
func (j *judge) refused(status int, h *http1.Header, body []byte, s *backends.Sample) {
	location := h.Get("location")
	j.cause = AppendCause(j.cause[:0], body)
	j.note = j.note[:0]
	if status/100 == 2 && len(j.cause) > 0 {
		j.note = append(strconv.AppendInt(append(j.note, "an unexpected status "...), int64(status), 10), ": "...)
	}
	if j.advise != nil {
		j.note = append(j.note, j.advise(status, j.cause)...)
	}
	if len(j.cause) == 0 {
		j.cause = strconv.AppendInt(append(j.cause, "an empty reply with status "...), int64(status), 10)
	}
	j.note = append(j.note, j.cause...)
	if status/100 == 3 && location != nil {
		j.fail(s, backends.Status, "the server redirects, which requests do not follow: write the right "+
			"address into `url` and `path`; it points to ", location)
		return
	}
	s.Class = backends.Status
	s.SetNote(j.note)
}

// compare compares values of the content with the expected ones. A refusal that the plan expects has
// not what each success has.
func (j *judge) compare(e *expected, text []byte, success bool, s *backends.Sample) {
	fields := e.fields
	if !e.share.Has(s.N) {
		fields = nil
	}
	success = success && len(e.member.Names) > 0
	if len(fields) == 0 && !success {
		return
	}
	sc := jsonscan.Lenient(text)
	if sc.Skip(); !sc.AtEnd() {
		j.fail(s, backends.Decode, "the reply is not JSON: ", text)
		return
	}
	if j.note = j.note[:0]; success {
		j.note = e.member.appendLack(j.note, text)
	}
	if len(j.note) > 0 {
		j.note = append(j.note, text[:min(len(text), backends.NoteSize)]...)
		s.Class = backends.Decode
		s.SetNote(j.note)
		return
	}
	if success && e.member.Want != nil {
		if j.reader.Read(e.member.Want, text, s); s.Class != backends.OK {
			return
		}
	}
	for i := range fields {
		f := &fields[i]
		if j.note = jsonscan.AppendMismatch(j.note[:0], text, f.Path, f.Want); len(j.note) > 0 {
			s.Class = backends.Mismatch
			s.SetNote(j.note)
			return
		}
	}
}

// Member is required in the JSON of each good reply: under one of the names, and with that many items in
// its list; 0: it may be any value.
type Member struct {
	Names []string // none: no member is known
	Items int
	Want  any // for the Reader; nil: it does not read the reply
}

// appendLack appends how the member of a reply is not as it must be; nothing if it is.
func (m *Member) appendLack(dst, text []byte) []byte {
	for _, name := range m.Names {
		sc := jsonscan.Lenient(text)
		switch {
		case !sc.Find(name):
			continue
		case m.Items == 0:
			return dst
		case sc.Peek() != '[':
			return fmt.Appendf(dst, "the reply has no list of %s: ", name)
		}
		n := 0
		for sc.Enter('['); sc.More(']'); n++ {
			sc.Skip()
		}
		if n != m.Items {
			return fmt.Appendf(dst, "the reply has a list of %d %s, want %d: ", n, name, m.Items)
		}
		return dst
	}
	return fmt.Appendf(dst, "the reply has no %s: ", strings.Join(m.Names, " or "))
}

// fail sets the class of a sample and its note.
func (j *judge) fail(s *backends.Sample, class backends.ErrorClass, what string, detail []byte) {
	s.Class = class
	j.note = append(append(j.note[:0], what...), detail[:min(len(detail), backends.NoteSize)]...)
	s.SetNote(j.note)
}
