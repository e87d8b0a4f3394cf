package openai

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/backends/wire/sse"
)

// judge classifies replies, and takes the times of tokens from streams. The first matching row
// applies:
//
//	status is not 200, nor one that the plan names   status; the note is the server's message
//	a status that the plan names, other than 2xx     ok
//	a compressed reply, or no stream in place of one decode
//	an event that is longer than sse.MaxEvent        decode
//	an event or reply that is an error               server; the note is the event
//	an event or reply that is no JSON                decode
//	no content in all of the reply                   decode
//	an expected value is missing or different        mismatch; the note is the first one
//	a stream that ends without [DONE], message_stop  protocol
//	or a finish_reason of each choice
//
// The status of a stream is sent before its first token, so an error comes with status 200, before or
// after tokens. After an error nothing of the stream counts.
//
// The parser decides what is content: an event that only names a role, is empty or reports usage is no
// response. An event of a choice without content whose usage has grown is progress
// (backends.EventProgress), unless it finishes the choice.
type judge struct {
	streaming bool // a stream was asked for
	keep      bool // keep replies in Sample.Text
	parser    parser
	events    sse.Scanner
	stream
	note [backends.NoteSize]byte
}

// stream is the state of one stream.
type stream struct {
	answer         bool   // keep the answer in Sample.Text
	output         int64  // output tokens by the usages so far
	seen, finished uint64 // choices by index
	delta          bool   // the part that is being streamed had content in deltas
	failed         bool
	ended          bool // by [DONE] or message_stop
}

// expectation describes a good reply; it is Call.Impl.
type expectation struct {
	statuses []int
	fields   []backends.Field
	share    backends.Share
	results  int // embeddings in the reply; 0: it is text, anyResults: a list of ranks
	length   exactLength
	front    []byte          // the part of the body with holes, which goes into the head
	holes    []backends.Hole // in front
	turn
}

const anyResults = -1

// expect takes what the plan says about a good reply; nil: nothing. A stream has no values to compare.
func (e *expectation) expect(x *backends.Expect, streaming bool) error {
	if x == nil {
		return nil
	}
	e.statuses, e.fields, e.share = x.Status, x.Fields, x.Share
	isGood := func(status int) bool { return status/100 == 2 }
	if streaming && len(e.fields) > 0 && (len(e.statuses) == 0 || slices.ContainsFunc(e.statuses, isGood)) {
		return errors.New("values of a stream cannot be compared: remove `fields` of `expect`, or `streaming`")
	}
	return nil
}

func (e *expectation) accepts(status int) bool {
	if len(e.statuses) == 0 {
		return status == 200
	}
	return slices.Contains(e.statuses, status)
}

// compares reports whether values of the reply to a request are compared.
func (e *expectation) compares(s *backends.Sample) bool { return len(e.fields) > 0 && e.share.Has(s.N) }

var (
	eventStream = []byte("text/event-stream")
	done        = []byte("[DONE]")
	eventStart  = []byte("data: ")
	eventEnd    = []byte("\n\n")
)

func isStream(h *http1.Header) bool { return bytes.HasPrefix(h.Get("content-type"), eventStream) }

// isCoded reports whether a reply is compressed, which is never asked for.
func isCoded(h *http1.Header) bool {
	coding := h.Get("content-encoding")
	return len(coding) > 0 && !bytes.EqualFold(coding, []byte("identity"))
}

// Streams implements http1.Streamer.
func (j *judge) Streams(c *backends.Call, status int, h *http1.Header) bool {
	j.events.Reset()
	j.stream = stream{answer: c.KeepAnswer && !j.keep}
	return status/100 == 2 && isStream(h) && !isCoded(h)
}

// Data implements http1.Streamer. All events of one read have the same time.
func (j *judge) Data(
	_ *backends.Call, b []byte, at int64, s *backends.Sample,
) (n int, full, over bool) {
	isFull := func() bool { return cap(s.Events) > 0 && len(s.Events) == cap(s.Events) }
	for n < len(b) {
		if isFull() {
			return n, true, false
		}
		used, ok := j.events.Next(b[n:])
		if n += used; ok {
			j.take(at, s)
		}
	}
	if over = j.events.TooLong && !j.ended; over && !j.failed {
		j.fail(s, backends.Decode, "an event of the stream is longer than "+
			strconv.Itoa(sse.MaxEvent>>20)+" MiB", nil)
	}
	return n, isFull(), over
}

// take takes the event at the scanner.
func (j *judge) take(at int64, s *backends.Sample) {
	text := bytes.TrimSpace(j.events.Data)
	switch {
	case j.failed || j.ended || len(text) == 0:
		return
	case bytes.Equal(text, done):
		j.ended = true
		return
	}
	p := &j.parser
	switch ok := p.read(text, j.events.Event); {
	case p.failed:
		j.fail(s, backends.Server, "", text)
		return
	case !ok:
		j.fail(s, backends.Decode, "an event of the stream is no JSON: ", text)
		return
	}
	if j.answer {
		s.Text = p.appendAnswer(s.Text, text)
		if len(s.Text) > maxAnswer { // endless
			s.Text, j.answer = s.Text[:0], false
			s.Text = append(s.Text, tagTooLong)
		}
	}
	p.usage.apply(s)
	j.seen, j.finished = j.seen|p.seen, j.finished|p.finished
	j.ended = string(p.kind) == "message_stop"
	grown := p.usage.output > j.output
	j.output = max(j.output, p.usage.output)
	switch {
	case j.repeats():
	case p.answer || p.reasoning:
		flags := backends.EventReasoning
		if p.answer {
			flags = backends.EventAnswer
		}
		s.AddToken(at, flags, backends.CountOf(p.usage.output))
		if j.keep {
			s.AddText(eventStart, j.events.Data, eventEnd)
		}
	case grown && p.choices && p.finished == 0:
		s.AddProgress(at, backends.CountOf(p.usage.output))
	}
}

// repeats reports whether an event only repeats what deltas have brought: the responses endpoint ends
// each part with all of its text.
func (j *judge) repeats() bool {
	p := &j.parser
	if !p.answer && !p.reasoning {
		return false
	}
	before := j.delta
	j.delta = !p.whole
	return p.whole && before
}

// Keep implements http1.Judge.
func (j *judge) Keep(c *backends.Call, status int, s *backends.Sample) int {
	if e := c.Impl.(*expectation); e.accepts(status) && (status/100 == 2 || e.compares(s)) {
		return backends.ReplyLimit
	}
	return backends.NoteSize
}

// Reply implements http1.Judge.
func (j *judge) Reply(c *backends.Call, status int, h *http1.Header, body []byte, s *backends.Sample) {
	e := c.Impl.(*expectation)
	switch {
	case !e.accepts(status):
		http1.FailStatus(s, status, h, body)
	case status/100 != 2:
		s.SetNote(nil)
		j.compare(e, body, s)
	case isCoded(h):
		j.fail(s, backends.Decode, "the reply is compressed, which was not asked for: ",
			h.Get("content-encoding"))
	case isStream(h):
		j.end(s)
	default:
		j.whole(e, h, body, s)
		if c.KeepAnswer && !j.keep && s.Class == backends.OK {
			s.Text = appendAnswer(s.Text, body)
		}
		j.compare(e, body, s)
	}
}

// compare fails a good reply with the first value that is not as expected.
func (j *judge) compare(e *expectation, body []byte, s *backends.Sample) {
	if s.Class != backends.OK || !e.compares(s) {
		return
	}
	sc := jsonscan.Lenient(body)
	if sc.Skip(); !sc.AtEnd() {
		j.fail(s, backends.Decode, "the reply is no JSON: ", body)
		return
	}
	for i := range e.fields {
		f := &e.fields[i]
		if note := jsonscan.AppendMismatch(j.note[:0], body, f.Path, f.Want); len(note) > 0 {
			s.Class = backends.Mismatch
			s.SetNote(note)
			return
		}
	}
}

// end ends a stream.
func (j *judge) end(s *backends.Sample) {
	if j.events.End() {
		j.take(s.LastByte, s)
	}
	switch {
	case j.failed:
	case s.Responses == 0:
		j.fail(s, backends.Decode, "the stream has no token", nil)
	case !j.ended && (j.finished == 0 || j.seen&^j.finished != 0):
		j.fail(s, backends.Protocol, "the stream ended without [DONE] and without a finish_reason", nil)
	default:
		dropZero(s)
	}
}

// whole judges a reply in one piece.
func (j *judge) whole(e *expectation, h *http1.Header, body []byte, s *backends.Sample) {
	j.stream = stream{}
	p := &j.parser
	ok := p.read(body, nil)
	switch {
	case p.failed:
		j.fail(s, backends.Server, "", body)
	case j.streaming:
		j.fail(s, backends.Decode, "the reply is no stream of events, its type is ", h.Get("content-type"))
	case !ok:
		j.fail(s, backends.Decode, "the reply is no JSON: ", body)
	case e.results == anyResults && p.results <= 0:
		j.fail(s, backends.Decode, "the reply has no results: ", body)
	case e.results > 0 && p.results != e.results:
		j.fail(s, backends.Decode, countText(p.results, e.results), body)
	case e.results == 0 && !p.answer && !p.reasoning:
		j.fail(s, backends.Decode, "the reply has no token: ", body)
	default:
		p.usage.apply(s)
		dropZero(s)
		if j.keep {
			s.AddText(body)
		}
	}
}

func countText(got, want int) string {
	return fmt.Sprintf("the reply has %d embeddings for %d texts: ", max(got, 0), want)
}

// fail fails a request: the note is what, then detail, cut to its room.
func (j *judge) fail(s *backends.Sample, class backends.ErrorClass, what string, detail []byte) {
	j.failed = true
	s.Class = class
	if s.FirstToken != 0 {
		s.Flags |= backends.NoFinal
		dropZero(s)
	}
	note := append(j.note[:0], what[:min(len(what), len(j.note))]...)
	if room := len(j.note) - len(note); len(detail) > room {
		for room > 0 && !utf8.RuneStart(detail[room]) {
			room--
		}
		detail = detail[:room]
	}
	s.SetNote(append(note, detail...))
}
