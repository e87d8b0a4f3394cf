package grpc

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// judge classifies the messages of a reply whose status is OK (wire/http2 classifies other codes):
//
//	OK is not one of the codes that the plan names    status
//	a message is no protobuf message                  decode
//	expected fields missing or different              mismatch; the note names the field
//	fields expected of a stream without messages      mismatch
//
// Every message of a stream is judged; the first that fails decides.
type judge struct {
	scan protow.Scanner
	note []byte
}

// Accepts implements grpcraw.Judge.
func (*judge) Accepts(c *backends.Call, code int32) bool { return expected(c).accepts(code) }

// Whole implements grpcraw.Judge.
func (*judge) Whole(c *backends.Call, s *backends.Sample) bool { return expected(c).compares(s) }

func expected(c *backends.Call) *expectation { return grpcraw.Expected(c).(*expectation) }

// Reply implements grpcraw.Judge.
func (j *judge) Reply(c *backends.Call, pieces [][]byte, s *backends.Sample) {
	e := expected(c)
	ends := len(pieces) == 0 // a stream, whose status is known only then
	switch {
	case s.Class != backends.OK: // an earlier message of the stream failed
	case (ends || !e.streams) && !e.accepts(0):
		j.fail(s, backends.Status, "the server answered OK, which is not expected")
	case !ends && !j.readable(pieces):
		j.fail(s, backends.Decode, "the reply is no protobuf message")
	case !e.compares(s):
	case ends:
		if s.Responses == 0 {
			j.fail(s, backends.Mismatch, "the stream has no response")
		}
	default:
		if j.note = e.appendMismatch(j.note[:0], pieces[0]); len(j.note) > 0 {
			s.Class = backends.Mismatch
			s.SetNote(j.note)
		}
	}
}

// readable reports whether the fields of a message can be read.
func (j *judge) readable(pieces [][]byte) bool {
	if len(pieces) == 1 {
		w := protow.Walk(pieces[0])
		for w.Next() {
		}
		return w.Err() == nil
	}
	for j.scan.Begin(pieces); j.scan.Next(); {
	}
	return j.scan.Err() == nil
}

func (j *judge) fail(s *backends.Sample, class backends.ErrorClass, what string) {
	j.note = append(j.note[:0], what...)
	s.Class = class
	s.SetNote(j.note)
}

// appendMismatch appends how a message differs from what is expected; nothing if it does not.
func (e *expectation) appendMismatch(dst, message []byte) []byte {
	for i := range e.fields {
		f := &e.fields[i]
		found, ok := f.find(message)
		switch {
		case !ok && f.wantNone, ok && !f.wantNone && f.equals(found):
		case !ok:
			return fmt.Appendf(dst, "field %s is missing, want %s", f.path, f.wanted)
		default:
			return fmt.Appendf(dst, "field %s is %s, want %s", f.path, f.text(found), f.wanted)
		}
	}
	return dst
}
