package kserve

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

const (
	// previewSize is the number of bytes of a body that are checked if no values are expected: enough
	// for an error object, the JSON before raw tensors, and small JSON tensors.
	previewSize = 1 << 10
	// shortObject is the largest JSON of the generate extension, in bytes, that is read in every
	// reply.
	shortObject = 256
	// sampledSize is the number of bytes checked of replies in the share checkedShare.
	sampledSize = 64 << 10
	// maxReply bounds the bytes kept of a reply that is compared, whatever Call.MaxReply is.
	maxReply = 2 << 30
)

// httpJudge classifies replies over HTTP. The first matching row applies:
//
//	status is not 200, nor one that the plan names     status; note: the message, or a redirect's target
//	a status that the plan names, other than 2xx       ok
//	a body that is {"error": …}, or has such a key     server; the note is the body
//	a body that is not an inference reply              decode; see check
//	expected outputs or fields missing or different    mismatch; the note names output and element, or field
//
// A compressed reply is decoded, up to Call.MaxReply bytes. A reply with a coding that was not
// requested, that cannot be decoded or that is larger has class decode.
type httpJudge struct {
	keep       bool // keep replies in Sample.Text
	c          comparison
	outputs    []output
	hasOutputs bool   // there is a list of outputs
	hasError   bool   // there is an "error"
	id         [2]int // range of the value of "id"
	model      []byte // named in the reply; nil: none
	version    []byte
	names      [2]escapedText // of model and version
	known      knownReply
	decoder    decoder
}

// Keep implements http1.Judge.
func (j *httpJudge) Keep(c *backends.Call, status int, s *backends.Sample) int {
	switch e := c.Impl.(*expectation); {
	case status/100 != 2 || !e.accepts(status, 200):
	case e.compares(s):
		return maxReply
	case j.keep:
		return backends.MaxText
	case checkedShare.Has(s.N):
		return sampledSize
	}
	return previewSize
}

// Reply implements http1.Judge.
func (j *httpJudge) Reply(c *backends.Call, status int, h *http1.Header, body []byte, s *backends.Sample) {
	text, whole, good := j.decoded(c, status, h, body, s)
	if !good {
		return
	}
	j.judge(c.Impl.(*expectation), h, text, whole, s)
	switch {
	case !j.keep || s.Class != backends.OK:
	case whole:
		j.keepReply(h, text, s)
	default:
		s.AddText() // only a placeholder
	}
}

// judge classifies the content of a reply with a good status, as far as it is present.
func (j *httpJudge) judge(e *expectation, h *http1.Header, text []byte, whole bool, s *backends.Sample) {
	switch {
	case j.checkRefused(text, s):
	case e.compares(s):
		j.compare(e, h, text, whole, s)
	default:
		j.check(e, h, text, whole, s)
	}
}

// decoded returns the decoded content of a reply, as far as it was kept; whole: that is all of it.
// On good false the sample is already classified, by its status or as malformed.
func (j *httpJudge) decoded(
	c *backends.Call, status int, h *http1.Header, body []byte, s *backends.Sample,
) (text []byte, whole, good bool) {
	accepted := c.Impl.(*expectation).accepts(status, 200)
	coded := j.decoder.Coded(h)
	whole = h.Size == int64(len(body))
	if coded && (status/100 == 2 || !accepted) {
		if body, whole = j.decompress(c, status, h, body, whole, s); s.Class != backends.OK {
			return nil, false, false
		}
	}
	switch {
	case !accepted:
		if coded {
			s.SetNote(printable(body, backends.NoteSize))
		}
		http1.FailStatus(s, status, h, body)
		return nil, false, false
	case status/100 != 2:
		s.SetNote(nil)
		return nil, false, false
	}
	return body, whole, true
}

const unasked = "the reply is compressed, but the target does not set `compression`: "

// decompress decodes the kept part of a reply.
func (j *httpJudge) decompress(
	c *backends.Call, status int, h *http1.Header, body []byte, whole bool, s *backends.Sample,
) (plain []byte, all bool) {
	if !c.Impl.(*expectation).mayBeCoded {
		if status/100 == 2 {
			j.c.failDecode(s, unasked, h.Get(contentCodingLower))
		}
		return []byte(unasked), false
	}
	limit, most := int64(j.Keep(c, status, s)), cmp.Or(c.MaxReply, backends.ReplyLimit)
	plain, ok := j.decoder.Decode(body, min(limit, most+1), !whole)
	switch {
	case !ok:
		j.c.failDecode(s, "the reply is not compressed as its header says: ",
			h.Get(contentCodingLower))
	case int64(len(plain)) > most:
		j.c.failDecode(s, "the decompressed reply exceeds `max_message`: ", strconv.AppendInt(nil, most, 10))
	}
	return plain, whole && int64(len(plain)) < limit
}

// checkRefused fails a reply whose body contains an error or is not a JSON object.
func (j *httpJudge) checkRefused(body []byte, s *backends.Sample) bool {
	start := body
	if len(start) == 0 || start[0] != '{' {
		start = bytes.TrimLeft(body, " \t\r\n")
	}
	switch {
	case isError(start):
		j.c.fail(s, backends.Server, "", body)
	case len(start) == 0 || start[0] != '{':
		j.c.failDecode(s, "the reply is not a JSON object: ", body)
	default:
		return false
	}
	return true
}

// isError reports whether body starts with {"error": as Triton answers, with status 200, where it
// cannot set another status. An error of null does not count.
func isError(body []byte) bool {
	if len(body) > 2 && body[1] == '"' && body[2] != 'e' && body[2] != '\\' {
		return false // the first key is another one
	}
	sc := jsonscan.Lenient(body)
	sc.Enter('{')
	return sc.More('}') && string(sc.Key()) == "error" && sc.Peek() != 'n' && sc.OK()
}

// compare parses the reply and compares it with e.
func (j *httpJudge) compare(e *expectation, h *http1.Header, body []byte, whole bool, s *backends.Sample) {
	size, ok := j.decoder.jsonSize(h)
	if size < 0 {
		size = int64(len(body))
	}
	if !ok || size > int64(len(body)) || !whole {
		j.c.failDecode(s, "the length of the reply's JSON differs from its header: ",
			h.Get(jsonLengthLower))
		return
	}
	j.c.begin(e)
	if !j.parseReply(body[:size], s) || !j.identity(e, body, s) {
		return
	}
	if j.c.fields(e, body[:size], s) {
		j.each(e, body[size:], s)
	}
}

// each compares all outputs; raw is the content after the JSON.
func (j *httpJudge) each(e *expectation, raw []byte, s *backends.Sample) {
	for i := range j.outputs {
		o := &j.outputs[i]
		var data []byte
		if o.size >= 0 {
			if o.size > int64(len(raw)) {
				j.c.failDecode(s, "the reply is too short for output ", o.name)
				return
			}
			data, raw = raw[:o.size], raw[o.size:]
		}
		if !j.checkOutput(e, o, s) {
			return
		}
		want := j.c.find(e, o.name)
		if want == nil {
			continue
		}
		shape := j.c.shape[o.shape[0]:o.shape[1]]
		switch {
		case o.size < 0 && o.data == nil && e.shared != nil:
			var ok bool
			if data, ok = j.c.shared(e, want, o.datatype, shape, s); !ok {
				return
			}
		case o.size < 0:
			data, s.Class = j.elements(want, o)
		}
		if s.Class != backends.OK {
			j.c.fail(s, s.Class, "the data cannot be read of output ", o.name)
			return
		}
		if !j.c.output(e, want, o.datatype, shape, data, s) {
			return
		}
	}
	if len(raw) > 0 {
		j.c.failDecode(s, "bytes follow the last output of the reply", nil)
	} else if j.c.anyOutput(e, s) {
		j.c.end(e, s)
	}
}
