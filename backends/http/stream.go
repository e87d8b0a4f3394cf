package http

import (
	"bytes"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/buffer"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/sse"
)

// streamJudge counts the responses of a stream: the events of text/event-stream, except [DONE], else
// the chunks, each at the read that completes it, or the reads where the reply has no chunks. A reply
// with a length is one response. Of the responses the last one is compared.
type streamJudge struct {
	judge
	events  sse.Scanner
	streams bool
	isSSE   bool
	left    int64  // bytes of the chunk that have not come
	text    []byte // of the chunk, if it is compared
	at      int64  // time of the last response; 0: none
	ended   bool   // by [DONE]
}

// Streams implements http1.Streamer.
func (j *streamJudge) Streams(c *backends.Call, status int, h *http1.Header) bool {
	j.events.Reset()
	j.left, j.text, j.at, j.ended = 0, buffer.Reuse(j.text), 0, false
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
			j.response(c, j.events.Data, at, s)
		}
	}
	if over = j.events.TooLong; over {
		j.fail(s, backends.Decode, "an event of the stream is too long", nil)
	}
	return n, isFull(s), over
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
	if e := c.Impl.(*expected); e.compares(s) {
		s.Class, s.Note = backends.OK, s.Note[:0]
		j.compare(e, text, true, s)
	}
}

// Reply implements http1.Judge. Bytes after the last response do not belong to the reply.
func (j *streamJudge) Reply(c *backends.Call, status int, h *http1.Header, body []byte, s *backends.Sample) {
	if !j.streams {
		j.judge.Reply(c, status, h, body, s)
		return
	}
	if j.isSSE && j.events.End() && !j.ended && string(j.events.Data) != "[DONE]" {
		j.response(c, j.events.Data, s.LastByte, s)
	}
	if j.at != 0 {
		s.LastByte = j.at
	} else if c.Impl.(*expected).compares(s) {
		j.fail(s, backends.Mismatch, "the stream has no response", nil)
	}
}
