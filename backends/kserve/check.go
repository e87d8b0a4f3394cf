package kserve

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// The check of every reply over HTTP, whether the plan expects values or not. Its JSON
//
//	equals that of the last valid reply, except for the id     is valid: raw tensors repeat it
//	is followed by raw tensors, or is short (previewSize)      is read, as far as it is present
//	is longer, and the reply is in the share checkedShare      is read, up to sampledSize bytes
//	is longer                                                  begins as an object, contains a
//	                                                           list of outputs and, if complete,
//	                                                           ends as an object
//
// JSON that is read must contain no error but a list of outputs, each with name, datatype, shape
// and as much data as these take, without strings if the datatype is numeric, and the outputs that
// the request names; raw tensors must have the announced total length; and the reply must match the
// model's metadata (see modelReply). Otherwise the reply has class decode.

// checkedShare is the share of replies that are checked completely, one in 64: the cost grows with
// their size.
const checkedShare backends.Share = 1 << (64 - 6)

var outputsKey = []byte(`"outputs"`)

// knownReply is the JSON of a valid reply.
type knownReply struct {
	text      []byte
	id        [2]int            // range of its id, which differs in each reply
	rest      int64             // bytes after the JSON
	requested []backends.Output // outputs named in its request
	model     *modelReply
	named     bool // it names its model
}

// matches reports whether this JSON equals the known one, except for the id.
func (k *knownReply) matches(text []byte, rest int64, e *expectation) bool {
	asked := e.requested
	if len(text) != len(k.text) || rest != k.rest || e.model != k.model || len(asked) != len(k.requested) ||
		len(asked) > 0 && &asked[0] != &k.requested[0] {
		return false
	}
	from, to := k.id[0], k.id[1]
	if !bytes.Equal(text[:from], k.text[:from]) || !bytes.Equal(text[to:], k.text[to:]) {
		return false
	}
	for _, c := range text[from:to] {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// check checks a reply without expected values.
func (j *httpJudge) check(e *expectation, h *http1.Header, text []byte, whole bool, s *backends.Sample) {
	length, ends := h.Size, h.Last == '}'
	if coded := j.decoder.Coded(h); coded && whole {
		length, ends = int64(len(text)), bytes.HasSuffix(bytes.TrimRight(text, " \t\r\n"), []byte("}"))
	} else if coded {
		length = -1 // known only at the end
	}
	size, ok := j.decoder.jsonSize(h)
	alone := size < 0
	if alone {
		size = length
	}
	there := size >= 0 && size <= int64(len(text))
	switch {
	case !ok || length >= 0 && size > length:
		j.c.failDecode(s, "the length of the reply's JSON differs from its header: ",
			h.Get(jsonLengthLower))
	case there && (!alone || size <= previewSize || checkedShare.Has(s.N)):
		j.read(e, text[:size], length-size, length >= 0, s)
	case alone && length >= 0 && !ends:
		j.c.failDecode(s, "the reply's JSON does not end: ", text)
	case there && !bytes.Contains(text, outputsKey):
		j.c.failDecode(s, "the reply has no outputs: ", text)
	}
}

// read checks JSON that is present completely; rest is the number of bytes after it, if known.
func (j *httpJudge) read(e *expectation, text []byte, rest int64, known bool, s *backends.Sample) {
	if known && j.known.matches(text, rest, e) {
		e.flagIdentity(text[j.known.id[0]:j.known.id[1]], j.known.named, s)
		return
	}
	if !j.parseReply(text, s) {
		return
	}
	if !j.hasOutputs {
		j.c.failDecode(s, "the reply has no outputs: ", text)
		return
	}
	if !j.identity(e, text, s) {
		return
	}
	left := rest
	for i := range j.outputs {
		o := &j.outputs[i]
		if !j.checkOutput(e, o, s) {
			return
		}
		left -= max(o.size, 0)
	}
	switch {
	case known && left < 0:
		j.c.failDecode(s, "the reply is too short for its outputs", nil)
	case known && left > 0:
		j.c.failDecode(s, "bytes follow the last output of the reply", nil)
	case j.checkRequested(e, s) && j.c.anyOutput(e, s) && known && len(text) <= previewSize:
		j.known = knownReply{
			text: append(j.known.text[:0], text...), id: j.id, rest: rest, requested: e.requested,
			model: e.model,
			named: len(j.model) > 0,
		}
	}
}

// parseReply parses a reply's JSON. It fails the sample if the JSON is malformed or contains an
// error.
func (j *httpJudge) parseReply(text []byte, s *backends.Sample) bool {
	switch {
	case !j.parse(text):
		j.c.failDecode(s, "the reply's JSON cannot be read: ", text)
	case j.hasError:
		j.c.fail(s, backends.Server, "", text)
	default:
		return true
	}
	return false
}

// checkOutput fails a reply with an output that lacks name, datatype, shape or data.
func (j *httpJudge) checkOutput(e *expectation, o *output, s *backends.Sample) bool {
	if o.name == nil || o.datatype == nil || o.shapeText == nil {
		j.c.failDecode(s, "the reply lacks name, datatype or shape of output ", o.name)
		return false
	}
	takes, err := tensor.Elements(j.c.shape[o.shape[0]:o.shape[1]])
	each := int64(tensor.DataType(o.datatype).Size())
	switch {
	case err != nil:
		j.failOutput(s, o, "has a shape that no tensor can have: %s", o.shapeText)
	case o.size < noRaw:
		j.failOutput(s, o, "has a binary_data_size that is no size")
	case o.size >= 0 && each > 0 && o.size != takes*each:
		j.failOutput(s, o, "has %d bytes, its shape takes %d", o.size, takes*each)
	case o.size == noRaw && o.data != nil && o.values < 0:
		j.failOutput(s, o, "has data that are no list")
	case o.size == noRaw && o.data != nil && o.values != takes:
		j.failOutput(s, o, "has %d values, its shape takes %d", o.values, takes)
	case o.size == noRaw && o.texts && each > 0:
		j.failOutput(s, o, "has texts as data, wanted numbers of %s", o.datatype)
	case o.size == noRaw && o.data == nil && !o.inSharedMemory && e.shared == nil && !e.wholeBody:
		j.failOutput(s, o, "has no data")
	default:
		return j.c.modelOutput(e, o.name, o.datatype, j.c.shape[o.shape[0]:o.shape[1]], s)
	}
	return false
}

// identity fails a reply from another model, and flags one with another id.
func (j *httpJudge) identity(e *expectation, text []byte, s *backends.Sample) bool {
	if j.c.found, j.c.other = false, j.c.other[:0]; !j.c.identity(e, j.model, j.version, s) {
		return false
	}
	e.flagIdentity(text[j.id[0]:j.id[1]], len(j.model) > 0, s)
	return true
}

// failOutput fails a reply with a note about one output.
func (j *httpJudge) failOutput(s *backends.Sample, o *output, format string, args ...any) {
	detail := fmt.Appendf(append(slices.Clone(o.name), ' '), format, args...)
	j.c.failDecode(s, "output ", detail)
}

// checkRequested fails a reply without an output that its request names.
func (j *httpJudge) checkRequested(e *expectation, s *backends.Sample) bool {
	for _, o := range e.requested {
		if !slices.ContainsFunc(j.outputs, func(found output) bool { return string(found.name) == o.Name }) {
			j.c.failDecode(s, "the reply lacks a requested output: ", []byte(o.Name))
			return false
		}
	}
	return true
}
