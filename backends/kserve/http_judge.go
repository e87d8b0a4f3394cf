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
	// previewSize is how much of a body is looked at when nothing is expected of it: an error object, what stands in front of raw
	// tensors, and the JSON of small ones.
	previewSize = 1 << 10
	// shortObject is the JSON of the generate extension that is read whenever it comes.
	shortObject = 256
	// sampledSize is how much is looked at of the few of which more is.
	sampledSize = 64 << 10
	// maxReply bounds what is kept of a reply that is compared, whatever Call.MaxReply says.
	maxReply = 2 << 30
	// maxKept is as much of a reply as a sample keeps (backends.MaxText), and its head.
	maxKept = backends.MaxText
)

// httpJudge says what a reply over HTTP means. The first row that fits counts:
//
//	status is not 200, nor one that the plan names     status; the note is the server's words, or where it points to
//	a status that the plan names, other than 2xx       ok
//	a body that is {"error": …}, or has such a key     server; the note is the body
//	a body that is no inference reply                  decode; see check
//	expected outputs or fields missing or different    mismatch; the note names output and element, or field
//
// A compressed reply is taken for what it holds, up to Call.MaxReply bytes. One that was not asked for, that cannot be undone or
// that holds more is decode.
type httpJudge struct {
	keep       bool // replies, in Sample.Text
	c          comparison
	outputs    []output
	hasOutputs bool   // there is a list of outputs
	hasError   bool   // there is an "error"
	id         [2]int // where the value of "id" lies
	model      []byte // that the reply names; nil: none
	version    []byte
	names      [2]escapedText // of model and version
	known      knownReply
	found      bool   // an output is one of the model's
	other      []byte // the name of one that is not; nil: there is none
	detail     []byte // of a note
	counts     []byte // in it
	length     jsonLengthCache
	decoder    decoder
}

// jsonLengthCache is what the head of an edition says about the length of the JSON in front of raw tensors.
type jsonLengthCache struct {
	edition uint64
	size    int64
	ok      bool
}

// Keep implements http1.Judge.
func (j *httpJudge) Keep(c *backends.Call, status int, s *backends.Sample) int {
	switch e := c.Impl.(*expectation); {
	case status/100 != 2 || !e.accepts(status, 200):
	case e.compares(s):
		return maxReply
	case j.keep:
		return maxKept
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
		s.AddText() // only its place
	}
}

// judge judges what a reply with a good status holds, as much of it as is there.
func (j *httpJudge) judge(e *expectation, h *http1.Header, text []byte, whole bool, s *backends.Sample) {
	switch {
	case j.checkRefused(text, s):
	case e.compares(s):
		j.compare(e, h, text, whole, s)
	default:
		j.check(e, h, text, whole, s)
	}
}

// decoded gives what a reply holds, with its coding undone, as much of it as was kept; whole: that is all. Not good: the reply has
// been judged by its status, or cannot be read.
func (j *httpJudge) decoded(c *backends.Call, status int, h *http1.Header, body []byte, s *backends.Sample) (text []byte, whole, good bool) {
	accepted := c.Impl.(*expectation).accepts(status, 200)
	coded := j.decoder.isCoded(h)
	whole = h.BodySize() == int64(len(body))
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
		j.status(status, h, body, s)
		return nil, false, false
	case status/100 != 2:
		s.SetNote(nil)
		return nil, false, false
	}
	return body, whole, true
}

const unasked = "the reply is compressed, which the target does not ask for with `compression`: "

// decompress undoes the coding of a reply, of as much of it as was kept.
func (j *httpJudge) decompress(c *backends.Call, status int, h *http1.Header, body []byte, whole bool, s *backends.Sample) (plain []byte, all bool) {
	if !c.Impl.(*expectation).mayBeCoded {
		if status/100 == 2 {
			j.c.fail(s, backends.Decode, unasked, h.Get(contentCodingLower))
		}
		return []byte(unasked), false
	}
	limit, most := int64(j.Keep(c, status, s)), cmp.Or(c.MaxReply, backends.ReplyLimit)
	plain, ok := j.decoder.decode(body, min(limit, most+1), !whole)
	switch {
	case !ok:
		j.c.fail(s, backends.Decode, "the reply is not compressed as its header says: ", h.Get(contentCodingLower))
	case int64(len(plain)) > most:
		j.counts = strconv.AppendInt(j.counts[:0], most, 10)
		j.c.fail(s, backends.Decode, "decompressed the reply has more bytes than `max_message`: ", j.counts)
	}
	return plain, whole && int64(len(plain)) < limit
}

// checkRefused fails a reply whose body says that the server could not answer, or is no JSON object.
func (j *httpJudge) checkRefused(body []byte, s *backends.Sample) bool {
	start := body
	if len(start) == 0 || start[0] != '{' {
		start = bytes.TrimLeft(body, " \t\r\n")
	}
	switch {
	case isError(start):
		j.c.fail(s, backends.Server, "", body)
	case len(start) == 0 || start[0] != '{':
		j.c.fail(s, backends.Decode, "the reply is no JSON object: ", body)
	default:
		return false
	}
	return true
}

// redirected is what to do about a status of 300 to 399.
const redirected = "the server redirects, and requests are sent to nobody else: write the right address into `url`; "

const jsonLengthLower = "inference-header-content-length"

// status fails a reply for its status. The wire has noted the body for 400 and above; where there is none, the status is all that
// there is to say.
func (j *httpJudge) status(status int, h *http1.Header, body []byte, s *backends.Sample) {
	s.Class = backends.Status
	if location := h.Get("location"); status/100 == 3 && location != nil {
		j.c.fail(s, backends.Status, redirected+"it points to ", location)
	} else if status < 400 {
		j.c.fail(s, backends.Status, "", body)
	}
	if len(s.Note) == 0 {
		j.c.note = strconv.AppendInt(append(j.c.note[:0], "an empty reply with status "...), int64(status), 10)
		s.SetNote(j.c.note)
	}
}

// isError reports whether body starts with {"error": as Triton answers, with status 200, where it cannot use another. One that is
// null is none.
func isError(body []byte) bool {
	if len(body) > 2 && body[1] == '"' && body[2] != 'e' && body[2] != '\\' {
		return false // the first key is another one
	}
	sc := jsonscan.Lenient(body)
	sc.Enter('{')
	return sc.More('}') && string(sc.Key()) == "error" && sc.Peek() != 'n' && sc.OK()
}

// jsonSize is the length of the JSON in front of raw tensors; -1 when all of the body is JSON. A head that says again
// what the one before said is not searched again.
func (j *httpJudge) jsonSize(h *http1.Header) (n int64, ok bool) {
	if l := &j.length; l.edition != h.Edition() {
		l.edition = h.Edition()
		l.size, l.ok = readJSONSize(h)
	}
	return j.length.size, j.length.ok
}

func readJSONSize(h *http1.Header) (n int64, ok bool) {
	text := h.Get(jsonLengthLower)
	if text == nil {
		return -1, true
	}
	v, err := strconv.ParseUint(string(text), 10, 62)
	return int64(v), err == nil
}

// compare parses the reply and holds it against e.
func (j *httpJudge) compare(e *expectation, h *http1.Header, body []byte, whole bool, s *backends.Sample) {
	size, ok := j.jsonSize(h)
	if size < 0 {
		size = int64(len(body))
	}
	if !ok || size > int64(len(body)) || !whole {
		j.c.fail(s, backends.Decode, "the reply is not as long as its header says: ", h.Get(jsonLengthLower))
		return
	}
	j.c.begin(e)
	if !j.parseReply(body[:size], s) {
		return
	}
	if !j.checkIdentity(e, body, s) {
		return
	}
	if !j.c.fields(e, body[:size]) {
		j.c.mismatch(s)
		return
	}
	j.each(e, body[size:], s)
}

// each compares output after output; raw is what follows the JSON.
func (j *httpJudge) each(e *expectation, raw []byte, s *backends.Sample) {
	for i := range j.outputs {
		o := &j.outputs[i]
		var data []byte
		if o.size >= 0 {
			if o.size > int64(len(raw)) {
				j.c.fail(s, backends.Decode, "the reply is too short for output ", o.name)
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
		if !j.c.output(e, want, o.datatype, shape, data) {
			j.c.mismatch(s)
			return
		}
	}
	if len(raw) > 0 {
		j.c.fail(s, backends.Decode, "bytes follow the last output of the reply", nil)
	} else if j.checkAnyOutput(e, s) && !j.c.end(e) {
		j.c.mismatch(s)
	}
}
