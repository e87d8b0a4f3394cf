package http

import (
	"bytes"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/buffer"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/backends/wire/sse"
)

// streamJudge counts the responses of a stream: the events of text/event-stream, except [DONE], else
// the chunks, each at the read that completes it, or the reads where the reply has no chunks. A reply
// with a length is one response. The first matching row applies to what the status has not failed:
//
//	an event named error, or an object with a member error   server; note: the cause
//	a response that is compared and not as expected          as judge says; the first one that fails
//	an event that is too long                                decode
//	no event at all                                          decode
//	no chunk, where values are expected                      mismatch
type streamJudge struct {
	judge
	events  sse.Scanner
	streams bool
	isSSE   bool
	success bool   // the status is 2xx
	left    int64  // bytes of the chunk that have not come
	text    []byte // of the chunk, if it is compared
	at      int64  // time of the last response; 0: none
	ended   bool   // by [DONE]
}

// Streams implements http1.Streamer.
func (j *streamJudge) Streams(c *backends.Call, status int, h *http1.Header) bool {
	j.events.Reset()
	j.left, j.text, j.at, j.ended = 0, buffer.Reuse(j.text), 0, false
	j.success = status/100 == 2
	j.isSSE = bytes.HasPrefix(h.Get("content-type"), []byte("text/event-stream"))
	j.streams = c.Impl.(*expected).accepts(status) && (j.isSSE || h.Get("content-length") == nil) &&
		!j.decoder.Coded(h)
	return j.streams
}

// Chunk implements http1.ChunkStreamer.
func (j *streamJudge) Chunk(size int64) { j.left = size }

func isFull(s *backends.Sample) bool { return cap(s.Events) > 0 && len(s.Events) == cap(s.Events) }

// Data implements http1.Streamer.
func (j *streamJudge) Data(
	c *backends.Call, b []byte, at int64, s *backends.Sample,
) (n int, full, over bool) {
	switch {
	case isFull(s):
		return 0, true, false
	case j.isSSE:
		return j.data(c, b, at, s)
	case c.Impl.(*expected).compares(s):
		j.text = buffer.Append(j.text, b, maxReply)
	}
	if j.left = max(j.left-int64(len(b)), 0); j.left == 0 {
		j.response(c, j.text, at, s)
		j.text = j.text[:0]
	}
	return len(b), isFull(s), false
}

// data takes bytes of server-sent events. All events of one read have the same time.
func (j *streamJudge) data(
	c *backends.Call, b []byte, at int64, s *backends.Sample,
) (n int, full, over bool) {
	for n < len(b) && !isFull(s) {
		used, ok := j.events.Next(b[n:])
		n += used
		j.ended = j.ended || ok && string(j.events.Data) == "[DONE]"
		if ok && !j.ended {
			j.event(c, at, s)
		}
	}
	if over = j.events.TooLong; over && s.Class == backends.OK {
		j.fail(s, backends.Decode, "an event of the stream is too long", nil)
	}
	return n, isFull(s), over
}

// event takes the event at the scanner. An error is no response.
func (j *streamJudge) event(c *backends.Call, at int64, s *backends.Sample) {
	if data := j.events.Data; !j.success || !isError(j.events.Event, data) {
		j.response(c, data, at, s)
		return
	}
	if s.Class == backends.OK {
		j.cause = AppendCause(j.cause[:0], j.events.Data)
		j.fail(s, backends.Server, "", j.cause)
	}
}

var errorKey = []byte(`"error"`)

// isError reports whether an event says that the server has failed: by its name, or by an object with a member
// error that is not null, false or empty.
func isError(name, data []byte) bool {
	if string(name) == "error" || !bytes.Contains(data, errorKey) {
		return string(name) == "error"
	}
	sc := jsonscan.Lenient(data)
	if !sc.Find("error") {
		return false
	}
	switch sc.Peek() {
	case 'n', 'f':
		return false
	case '"':
		return len(sc.Text()) > 0
	}
	return sc.OK()
}

// response counts one response.
func (j *streamJudge) response(c *backends.Call, text []byte, at int64, s *backends.Sample) {
	if s.Responses == 0 {
		s.FirstByte = at
	}
	s.Responses++
	if cap(s.Events) > 0 {
		e := backends.Event{At: at}
		if at == j.at {
			e.Flags = backends.EventCoalesced
			s.Flags |= backends.Coalesced
		}
		s.Events = append(s.Events, e)
	}
	j.at = at
	if e := c.Impl.(*expected); e.compares(s) && s.Class == backends.OK {
		j.compare(e, text, j.success, s)
	}
}

// Reply implements http1.Judge. Bytes after the last response do not belong to the reply.
func (j *streamJudge) Reply(c *backends.Call, status int, h *http1.Header, body []byte, s *backends.Sample) {
	if !j.streams {
		j.judge.Reply(c, status, h, body, s)
		return
	}
	if j.isSSE && j.events.End() && !j.ended && string(j.events.Data) != "[DONE]" {
		j.event(c, s.LastByte, s)
	}
	switch {
	case j.at != 0:
		s.LastByte = j.at
	case s.Class != backends.OK:
	case j.isSSE && j.success:
		j.fail(s, backends.Decode, "the stream has no event", nil)
	case c.Impl.(*expected).compares(s):
		j.fail(s, backends.Mismatch, "the stream has no response", nil)
	}
}
