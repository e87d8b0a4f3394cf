package kserve

import (
	"bytes"
	"encoding/binary"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// The parsed parts of a reply's JSON, in place: the outputs, the id, the model and its version.

const noRaw = -1

// output is one output of a reply, in place.
type output struct {
	name, datatype []byte
	shape          [2]int // range in comparison.shape, where -1 marks an invalid dimension
	shapeText      []byte // the shape as received; nil: none
	size           int64  // of raw data; noRaw: none; below that: unknown
	data           []byte // JSON
	values         int64  // in data; -1: it is not a list
	texts          bool   // some values are strings or objects
	inSharedMemory bool   // it is in shared memory
}

// parse finds the outputs, the id, the model, and whether there is an error.
func (j *httpJudge) parse(text []byte) bool {
	j.outputs, j.c.shape = j.outputs[:0], j.c.shape[:0]
	j.hasOutputs, j.hasError, j.id, j.model, j.version = false, false, [2]int{}, nil, nil
	sc := jsonscan.Lenient(text)
	for sc.Enter('{'); sc.More('}'); {
		switch key := sc.Key(); {
		case string(key) == "outputs" && sc.Peek() == '[':
			j.hasOutputs = true
			for sc.Enter('['); sc.More(']'); {
				j.outputs = append(j.outputs, j.output(&sc))
			}
		case string(key) == "id" && sc.Peek() == '"':
			start := sc.Offset() + 1
			if _, escaped := sc.Raw(); !escaped && sc.OK() {
				j.id = [2]int{start, sc.Offset() - 1}
			}
		case string(key) == "model_name" && sc.Peek() == '"':
			j.model = j.names[0].read(&sc)
		case string(key) == "model_version" && sc.Peek() == '"':
			j.version = j.names[1].read(&sc)
		case string(key) == "error":
			j.hasError = sc.Peek() != 'n' // null does not count, as in isError
			sc.Skip()
		default:
			sc.Skip()
		}
	}
	return sc.AtEnd()
}

func (j *httpJudge) output(sc *jsonscan.Scanner) output {
	o := output{size: noRaw}
	for sc.Enter('{'); sc.More('}'); {
		switch string(sc.Key()) {
		case "name":
			o.name = sc.Text()
		case "datatype":
			o.datatype = sc.Text()
		case "shape":
			j.shape(sc, &o)
		case "parameters":
			o.size, o.inSharedMemory = rawSize(sc)
		case "data":
			sc.Peek()
			start := sc.Offset()
			o.values, o.texts = sc.Count()
			o.data = sc.Since(start)
		default:
			sc.Skip()
		}
	}
	return o
}

// shape reads a shape, with -1 for an invalid dimension.
func (j *httpJudge) shape(sc *jsonscan.Scanner, o *output) {
	o.shape[0] = len(j.c.shape)
	c := sc.Peek()
	start := sc.Offset()
	if c == '[' {
		for sc.Enter('['); sc.More(']'); {
			j.c.shape = append(j.c.shape, sc.Dimension())
		}
	} else {
		sc.Skip()
		j.c.shape = append(j.c.shape, -1)
	}
	o.shape[1], o.shapeText = len(j.c.shape), sc.Since(start)
}

// escapedText caches the unescaped form of a string that is the same in most replies.
type escapedText struct{ text, plain []byte }

// read reads a string.
func (e *escapedText) read(sc *jsonscan.Scanner) []byte {
	text, escaped := sc.Raw()
	switch {
	case !escaped:
		return text
	case !bytes.Equal(text, e.text):
		e.text = append(e.text[:0], text...)
		e.plain, _ = jsonscan.Unescape(text)
	}
	return e.plain
}

// rawSize reads binary_data_size in an output's parameters (an object or null), and whether the
// output is in shared memory.
func rawSize(sc *jsonscan.Scanner) (size int64, elsewhere bool) {
	size = noRaw
	if sc.Peek() != '{' {
		sc.Skip()
		return size, false
	}
	for sc.Enter('{'); sc.More('}'); {
		switch key := sc.Key(); string(key) {
		case "binary_data_size":
			if size = sc.Dimension(); size < 0 {
				size = noRaw - 1
			}
		case sharedRegion:
			elsewhere = true
			sc.Skip()
		default:
			sc.Skip()
		}
	}
	return size, elsewhere
}

// elements converts an output's JSON data, nested or flat, to raw form in want's datatype.
func (j *httpJudge) elements(want *backends.Tensor, o *output) ([]byte, backends.ErrorClass) {
	if string(o.datatype) != string(want.Type) {
		return nil, backends.OK // the comparison reports both
	}
	j.c.data = j.c.data[:0]
	sc := jsonscan.Lenient(o.data)
	j.flatten(&sc, want.Type, 0)
	if !sc.AtEnd() {
		return nil, backends.Decode
	}
	return j.c.data, backends.OK
}

func (j *httpJudge) flatten(sc *jsonscan.Scanner, t tensor.DataType, depth int) {
	if sc.Peek() == '[' && depth < jsonscan.MaxDepth {
		for sc.Enter('['); sc.More(']'); {
			j.flatten(sc, t, depth+1)
		}
		return
	}
	var err error
	switch {
	case !sc.OK() || depth == 0:
		sc.Reject()
	case t == tensor.Bytes:
		text := sc.Text()
		j.c.data = append(binary.LittleEndian.AppendUint32(j.c.data, uint32(len(text))), text...)
	case t == tensor.Bool:
		switch string(sc.Word()) {
		case "true":
			j.c.data = append(j.c.data, 1)
		case "false":
			j.c.data = append(j.c.data, 0)
		default:
			sc.Reject()
		}
	default:
		if word := sc.Word(); sc.OK() {
			j.c.data, err = tensor.AppendNumber(j.c.data, t, word)
			if err != nil {
				sc.Reject()
			}
		}
	}
}
