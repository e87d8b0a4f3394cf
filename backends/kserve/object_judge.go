package kserve

import (
	"bytes"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/backends/wire/sse"
)

// objectJudge classifies replies of the generate extension: a JSON object whose members are the
// outputs, or a stream of them. Statuses are left to the httpJudge. The first matching row applies:
//
//	an event that is longer than sse.MaxEvent          decode
//	an object that is {"error": …}                     server; the note is the object. It ends a stream
//	content that is not a JSON object                  decode
//	a compressed stream of responses                   decode: its events have no separate times
//	expected outputs missing or different              mismatch; of several responses the last one counts
//
// The status of a stream is sent before its first response, and so is that of generate: an error
// comes with status 200.
type objectJudge struct {
	httpJudge
	events sse.Scanner
	at     int64 // time of the last event; 0: none
	failed bool
	ended  bool // by [DONE]
	noText bool // the last object has strings as outputs, and all are empty: it brings no token
}

var eventStream = []byte("text/event-stream")

// Streams implements http1.Streamer.
func (j *objectJudge) Streams(_ *backends.Call, status int, h *http1.Header) bool {
	j.events.Reset()
	j.at, j.failed, j.ended = 0, false, false
	return status/100 == 2 && isStream(h) && !j.decoder.Coded(h)
}

func isStream(h *http1.Header) bool { return bytes.HasPrefix(h.Get("content-type"), eventStream) }

// Data implements http1.Streamer. All events of one read have the same time.
func (j *objectJudge) Data(
	c *backends.Call, b []byte, at int64, s *backends.Sample,
) (n int, full, over bool) {
	for n < len(b) {
		if cap(s.Events) > 0 && len(s.Events) == cap(s.Events) {
			return n, true, false
		}
		used, ok := j.events.Next(b[n:])
		n += used
		if ok {
			j.event(c, at, s)
		}
	}
	if over = j.events.TooLong && !j.ended; over && !j.failed {
		j.c.failDecode(s, "an event of the stream is longer than "+strconv.Itoa(sse.MaxEvent>>20)+" MiB",
			nil)
		j.failed, j.at = true, at
	}
	return n, cap(s.Events) > 0 && len(s.Events) == cap(s.Events), over
}

var done = []byte("[DONE]")

// event handles the event at the scanner.
func (j *objectJudge) event(c *backends.Call, at int64, s *backends.Sample) {
	switch {
	case j.failed || j.ended:
		return
	case bytes.Equal(j.events.Data, done):
		j.ended = true
		return
	}
	if s.Responses == 0 {
		s.FirstByte = at
	}
	if bad := j.object(c, j.events.Data, s); bad {
		j.failed, j.at = true, at
		return
	}
	j.keepObject(j.events.Data, s)
	s.Responses++
	e := backends.Event{At: at}
	if !j.noText {
		e.Flags = backends.EventAnswer
		s.MarkToken(at, backends.EventAnswer, 0)
	}
	if cap(s.Events) > 0 {
		if at == j.at {
			e.Flags |= backends.EventCoalesced
			s.Flags |= backends.Coalesced
		}
		s.Events = append(s.Events, e)
	}
	j.at = at
}

// object judges one response. It returns true if that is an error or malformed.
func (j *objectJudge) object(c *backends.Call, text []byte, s *backends.Sample) (bad bool) {
	e := c.Impl.(*expectation)
	s.Class, s.Note = backends.OK, s.Note[:0]
	switch {
	case j.checkRefused(text, s):
		return true
	case !j.checkModelObject(e, text, s):
		return true
	case e.compares(s):
		return j.members(e, text, s)
	}
	return false
}

// checkModelObject fails an object that cannot be parsed, or that contradicts the model's metadata:
// its members are outputs, without datatypes and shapes.
func (j *objectJudge) checkModelObject(e *expectation, text []byte, s *backends.Sample) bool {
	j.model, j.version = nil, nil
	found, texts, chars := e.model == nil, 0, 0
	sc := jsonscan.Lenient(text)
	for sc.Enter('{'); sc.More('}'); {
		switch key := sc.Key(); {
		case string(key) == "model_name" && sc.Peek() == '"':
			j.model = j.names[0].read(&sc)
		case string(key) == "model_version" && sc.Peek() == '"':
			j.version = j.names[1].read(&sc)
		default:
			found = found || e.model.port(key) != nil
			if sc.Peek() != '"' || string(key) == "id" {
				sc.Skip()
				continue
			}
			raw, _ := sc.Raw()
			texts, chars = texts+1, chars+len(raw)
		}
	}
	j.noText = texts > 0 && chars == 0
	if !sc.AtEnd() {
		j.c.failDecode(s, "the reply's JSON cannot be read: ", text)
		return false
	}
	if !j.c.identity(e, j.model, j.version, s) {
		return false
	}
	e.flagIdentity(nil, len(j.model) > 0, s)
	j.c.found = found
	return j.c.anyOutput(e, s)
}

// members compares an object with the expected outputs. It has no shapes, so these are taken as
// expected.
func (j *objectJudge) members(e *expectation, text []byte, s *backends.Sample) (bad bool) {
	j.c.begin(e)
	sc := jsonscan.Lenient(text)
	for sc.Enter('{'); sc.More('}'); {
		want := j.c.find(e, sc.Key())
		sc.Peek()
		start := sc.Offset()
		sc.Skip()
		if want == nil || !sc.OK() {
			continue
		}
		data, ok := j.values(want.Type, sc.Since(start))
		if !ok {
			j.c.failDecode(s, "the data cannot be read of output ", []byte(want.Name))
			return true
		}
		if !j.c.output(e, want, []byte(want.Type), want.Shape, data, s) {
			return false
		}
	}
	if !sc.AtEnd() {
		j.c.failDecode(s, "the reply's JSON cannot be read: ", text)
		return true
	}
	if j.c.end(e, s) {
		j.c.fields(e, text, s)
	}
	return false
}

// values converts a value, or a list of them, to raw form.
func (j *objectJudge) values(t tensor.DataType, text []byte) ([]byte, bool) {
	j.c.data = j.c.data[:0]
	sc := jsonscan.Lenient(text)
	depth := 1 // as if in a list
	if sc.Peek() == '[' {
		depth = 0
	}
	j.flatten(&sc, t, depth)
	return j.c.data, sc.AtEnd()
}

// Reply implements http1.Judge.
func (j *objectJudge) Reply(c *backends.Call, status int, h *http1.Header, body []byte, s *backends.Sample) {
	stream := status/100 == 2 && isStream(h)
	coded := j.decoder.Coded(h)
	switch {
	case stream && coded:
		j.c.failDecode(s, "the responses are compressed and cannot be read one by one: ",
			h.Get(contentCodingLower))
		return
	case stream && c.Impl.(*expectation).accepts(status, 200):
		j.close(c, s)
		return
	}
	if text, whole, good := j.decoded(c, status, h, body, s); good {
		j.whole(c, h, text, whole, s)
	}
}

// whole judges a reply in one piece; without expected values only its first bytes may be present.
func (j *objectJudge) whole(c *backends.Call, h *http1.Header, text []byte, whole bool, s *backends.Sample) {
	e := c.Impl.(*expectation)
	switch {
	case !whole || len(text) > shortObject && !j.keep && !e.compares(s) && !checkedShare.Has(s.N):
		if !j.checkRefused(text, s) && !j.decoder.Coded(h) && h.Last != '}' {
			j.c.failDecode(s, "the reply's JSON does not end: ", text)
		}
	case !j.object(c, text, s) && s.Class == backends.OK:
		j.keepObject(text, s)
	}
}

// keepObject keeps a response as received.
func (j *objectJudge) keepObject(text []byte, s *backends.Sample) {
	if j.keep {
		s.AddText(text)
	}
}

// close ends a stream: bytes after the last event do not belong to the reply.
func (j *objectJudge) close(c *backends.Call, s *backends.Sample) {
	end := s.LastByte
	if j.events.End() {
		j.event(c, end, s)
	}
	if j.at != 0 {
		s.LastByte = j.at
	}
	if e := c.Impl.(*expectation); s.Responses == 0 && !j.failed && e.compares(s) && len(e.outputs) > 0 {
		j.c.begin(e)
		j.c.end(e, s)
	}
}
