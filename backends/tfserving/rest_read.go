package tfserving

import (
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// jsonWant describes the expected reply to a predict request over REST.
type jsonWant struct {
	want  kserve.Want
	share backends.Share
	rows  bool // predictions, else outputs
	items int64
	ports []backends.Port // outputs whose datatypes are known
	only  []byte          // name of the output that a reply does not name
}

// portsOf returns the outputs of a model as its metadata and the expected outputs have them: the JSON of
// a reply has no datatypes.
func portsOf(r *backends.Request) (list []backends.Port) {
	if r.Signature != nil {
		list = append(list, r.Signature.Outputs...)
	}
	if r.Expect == nil {
		return list
	}
	for _, o := range r.Expect.Outputs {
		list = append(list, backends.Port{Name: o.Name, Type: o.Type})
	}
	return list
}

// portOf returns the output of a name; nil: it is not known. A reply of one output does not name it.
func (w *jsonWant) portOf(name []byte, named bool) *backends.Port {
	for i := range w.ports {
		if !named || string(name) == w.ports[i].Name {
			return &w.ports[i]
		}
	}
	return nil
}

// jsonReader reads predictions or outputs: nested lists of values, of each prediction or of all. It
// belongs to one lane.
type jsonReader struct {
	reply   kserve.Reply
	outputs []jsonOutput
	n       int // of outputs in this reply
	note    []byte
}

// jsonOutput is an output of a reply.
type jsonOutput struct {
	name  []byte
	port  *backends.Port // nil: its datatype is unknown
	rows  int64
	shape []int64 // that of a prediction after the number of rows
	depth int     // of the values; -1: none yet
	data  []byte
	wrong string
}

// Read implements http.Reader.
func (j *jsonReader) Read(want any, text []byte, s *backends.Sample) {
	w := want.(*jsonWant)
	compare := w.want.Outputs() && w.share.Has(s.N)
	j.n = 0
	sc := jsonscan.Lenient(text)
	if w.rows {
		sc.Find("predictions") // the reply has it
		for sc.Enter('['); sc.More(']'); {
			j.members(w, &sc, compare)
		}
	} else {
		sc.Find("outputs")
		j.members(w, &sc, compare)
	}
	if !sc.OK() {
		j.fail(s, "", "the reply's JSON cannot be read")
		return
	}
	j.reply.Begin(w.want, compare)
	for i := range j.outputs[:j.n] {
		o := &j.outputs[i]
		if w.rows && o.rows != w.items && o.wrong == "" {
			o.wrong = "is not in every prediction"
		}
		if o.wrong != "" {
			j.fail(s, string(o.name), o.wrong)
			return
		}
		shape := o.shape[1:]
		if w.rows {
			o.shape[0], shape = o.rows, o.shape
		}
		var datatype []byte
		if o.port != nil {
			datatype = typeNames[o.port.Type]
		}
		if !j.reply.Output(o.name, datatype, shape, o.data, s) {
			return
		}
	}
	j.reply.End(s)
}

// members reads the outputs of one prediction, or of all: an object of them, or the only one.
func (j *jsonReader) members(w *jsonWant, sc *jsonscan.Scanner, compare bool) {
	if sc.Peek() != '{' || isBase64(*sc) {
		j.find(w.only, w.portOf(nil, false)).read(sc, compare)
		return
	}
	for sc.Enter('{'); sc.More('}'); {
		name := sc.Key()
		j.find(name, w.portOf(name, true)).read(sc, compare)
	}
}

// isBase64 reports whether the next value is {"b64": text}.
func isBase64(sc jsonscan.Scanner) bool {
	sc.Enter('{')
	if !sc.More('}') || string(sc.Key()) != "b64" || sc.Peek() != '"' {
		return false
	}
	sc.Skip()
	return !sc.More('}') && sc.OK()
}

// find returns the output of a name, which is a new one in the first prediction.
func (j *jsonReader) find(name []byte, port *backends.Port) *jsonOutput {
	for i := range j.outputs[:j.n] {
		if string(j.outputs[i].name) == string(name) {
			return &j.outputs[i]
		}
	}
	if j.n == len(j.outputs) {
		j.outputs = append(j.outputs, jsonOutput{})
	}
	o := &j.outputs[j.n]
	j.n++
	*o = jsonOutput{
		name: append(o.name[:0], name...), port: port, depth: -1, data: o.data[:0],
		shape: append(o.shape[:0], 0),
	}
	return o
}

// read reads the value of one prediction.
func (o *jsonOutput) read(sc *jsonscan.Scanner, compare bool) {
	o.rows++
	o.value(sc, 0, compare)
}

// value reads a list, or an element. Lists of one depth must have one length.
func (o *jsonOutput) value(sc *jsonscan.Scanner, depth int, compare bool) {
	if sc.Peek() != '[' || depth >= jsonscan.MaxDepth {
		if o.depth >= 0 && o.depth != depth {
			o.wrong = "has values and lists side by side"
		}
		o.depth = depth
		o.element(sc, compare)
		return
	}
	n, first := int64(0), len(o.shape) == depth+1
	if first {
		o.shape = append(o.shape, -1)
	}
	for sc.Enter('['); sc.More(']'); n++ {
		o.value(sc, depth+1, compare)
	}
	if o.shape[depth+1] >= 0 && o.shape[depth+1] != n {
		o.wrong = "has lists of different lengths"
	}
	o.shape[depth+1] = n
}

// element reads an element, whose raw form is needed to compare it.
func (o *jsonOutput) element(sc *jsonscan.Scanner, compare bool) {
	if !compare || o.port == nil {
		sc.Skip()
		return
	}
	switch t := o.port.Type; {
	case t == tensor.Bytes && sc.Peek() == '{':
		for sc.Enter('{'); sc.More('}'); {
			if string(sc.Key()) != "b64" {
				sc.Reject()
			}
			start := len(o.data)
			o.data = append(o.data, 0, 0, 0, 0)
			var err error
			if o.data, err = base64.StdEncoding.AppendDecode(o.data, sc.Text()); err != nil {
				o.wrong = "has a value that is not base64"
			}
			binary.LittleEndian.PutUint32(o.data[start:], uint32(len(o.data)-start-4))
		}
	case t == tensor.Bytes:
		text := sc.Text()
		o.data = append(binary.LittleEndian.AppendUint32(o.data, uint32(len(text))), text...)
	case t == tensor.Bool:
		truth := byte(0)
		switch string(sc.Word()) {
		case "true":
			truth = 1
		case "false":
		default:
			o.wrong = "has a value that is neither true nor false"
		}
		o.data = append(o.data, truth)
	default:
		o.number(sc.Word())
	}
}

// number appends a number, which may be none of JSON's.
func (o *jsonOutput) number(word []byte) {
	var err error
	t := o.port.Type
	switch string(word) {
	case "NaN":
		o.data, err = tensor.AppendFloat(o.data, t, math.NaN())
	case "Infinity":
		o.data, err = tensor.AppendFloat(o.data, t, math.Inf(1))
	case "-Infinity":
		o.data, err = tensor.AppendFloat(o.data, t, math.Inf(-1))
	default:
		o.data, err = tensor.AppendNumber(o.data, t, word)
	}
	if err != nil {
		o.wrong = "has a value that is no " + string(t)
	}
}

// fail sets the class and the note of a sample; name "": it is about no output.
func (j *jsonReader) fail(s *backends.Sample, name, what string) {
	j.note = j.note[:0]
	if name != "" {
		j.note = append(append(append(j.note, "output "...), name...), ' ')
	}
	s.Class = backends.Decode
	j.note = append(j.note, what...)
	s.SetNote(j.note)
}
