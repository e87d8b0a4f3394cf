package kserve

import (
	"bytes"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// What is read of a reply's JSON, where it lies: the outputs, the id, and the model and its version.

const noRaw = -1

// output is one of a reply's, in place.
type output struct {
	name, datatype []byte
	shape          [2]int // part of comparison.shape, where -1 stands for what is no dimension
	written        []byte // the shape as it came; nil: there is none
	size           int64  // of raw data; noRaw: it has none; less: it does not say
	data           []byte // JSON
	values         int64  // in it; -1: it is no list
	texts          bool   // some values are texts or objects
	elsewhere      bool   // it lies in shared memory
}

// parse finds the outputs, the id, who answered, and whether it says that it could not.
func (j *httpJudge) parse(text []byte) bool {
	j.outputs, j.c.shape = j.outputs[:0], j.c.shape[:0]
	j.listed, j.failed, j.id, j.model, j.version = false, false, [2]int{}, nil, nil
	sc := scanner{b: text}
	for sc.begin('{'); sc.more('}'); {
		switch key := sc.key(); {
		case string(key) == "outputs" && sc.peek() == '[':
			j.listed = true
			for sc.begin('['); sc.more(']'); {
				j.outputs = append(j.outputs, j.output(&sc))
			}
		case string(key) == "id" && sc.peek() == '"':
			start := sc.at + 1
			if _, escaped := sc.text(); !escaped && !sc.bad {
				j.id = [2]int{start, sc.at - 1}
			}
		case string(key) == "model_name" && sc.peek() == '"':
			j.model = j.names[0].read(&sc)
		case string(key) == "model_version" && sc.peek() == '"':
			j.version = j.names[1].read(&sc)
		case string(key) == "error":
			j.failed = sc.peek() != 'n' // null is none, as in isError
			sc.skip()
		default:
			sc.skip()
		}
	}
	return sc.end()
}

func (j *httpJudge) output(sc *scanner) output {
	o := output{size: noRaw}
	for sc.begin('{'); sc.more('}'); {
		switch string(sc.key()) {
		case "name":
			o.name = plain(sc)
		case "datatype":
			o.datatype = plain(sc)
		case "shape":
			j.shape(sc, &o)
		case "parameters":
			o.size, o.elsewhere = rawSize(sc)
		case "data":
			sc.peek()
			start := sc.at
			sc.texts = false
			o.values = sc.count()
			o.texts = sc.texts
			o.data = sc.b[start:sc.at]
		default:
			sc.skip()
		}
	}
	return o
}

// shape reads a shape, with -1 for what is no dimension.
func (j *httpJudge) shape(sc *scanner, o *output) {
	o.shape[0] = len(j.c.shape)
	c := sc.peek()
	start := sc.at
	if c == '[' {
		for sc.begin('['); sc.more(']'); {
			j.c.shape = append(j.c.shape, sc.dimension())
		}
	} else {
		sc.skip()
		j.c.shape = append(j.c.shape, -1)
	}
	o.shape[1], o.written = len(j.c.shape), sc.b[start:sc.at]
}

// plain reads a string without escapes.
func plain(sc *scanner) []byte {
	text, escaped := sc.text()
	if escaped {
		return unescape(text)
	}
	return text
}

// escapedText is a string with escapes that is the same in most replies, undone of them once.
type escapedText struct{ text, plain []byte }

// read reads a string.
func (e *escapedText) read(sc *scanner) []byte {
	text, escaped := sc.text()
	switch {
	case !escaped:
		return text
	case !bytes.Equal(text, e.text):
		e.text, e.plain = append(e.text[:0], text...), unescape(text)
	}
	return e.plain
}

// rawSize reads an output's parameters (an object or null) for binary_data_size, and whether it lies in shared memory.
func rawSize(sc *scanner) (size int64, elsewhere bool) {
	size = noRaw
	if sc.peek() != '{' {
		sc.skip()
		return size, false
	}
	for sc.begin('{'); sc.more('}'); {
		switch key := sc.key(); string(key) {
		case "binary_data_size":
			if size = sc.dimension(); size < 0 {
				size = noRaw - 1
			}
		case sharedRegion:
			elsewhere = true
			sc.skip()
		default:
			sc.skip()
		}
	}
	return size, elsewhere
}

// elements turns an output's JSON data, nested or flat, into raw form as want's datatype.
func (j *httpJudge) elements(want *backends.Tensor, o *output) ([]byte, backends.ErrorClass) {
	if string(o.datatype) != string(want.Type) {
		return nil, backends.OK // the comparison names both
	}
	j.c.data = j.c.data[:0]
	sc := scanner{b: o.data}
	j.flatten(&sc, want.Type, 0)
	if !sc.end() {
		return nil, backends.Decode
	}
	return j.c.data, backends.OK
}

func (j *httpJudge) flatten(sc *scanner, t tensor.DataType, depth int) {
	if sc.peek() == '[' && depth < maxDepth {
		for sc.begin('['); sc.more(']'); {
			j.flatten(sc, t, depth+1)
		}
		return
	}
	var err error
	switch {
	case sc.bad || depth == 0:
		sc.bad = true
	case t == tensor.Bytes:
		text := plain(sc)
		n := len(text)
		j.c.data = append(append(j.c.data, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)), text...)
	case t == tensor.Bool:
		switch string(sc.scalar()) {
		case "true":
			j.c.data = append(j.c.data, 1)
		case "false":
			j.c.data = append(j.c.data, 0)
		default:
			sc.bad = true
		}
	default:
		if word := sc.scalar(); !sc.bad {
			j.c.data, err = tensor.AppendNumber(j.c.data, t, word)
			sc.bad = err != nil
		}
	}
}
