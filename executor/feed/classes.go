package feed

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/scenario/source"
)

// classifiable are the datatypes whose values a server puts in order. Others it refuses; classes of
// strings end some versions of Triton.
var classifiable = []tensor.DataType{
	tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Int8, tensor.Int16, tensor.Int32,
	tensor.Int64,
	tensor.FP32, tensor.FP64,
}

// asClasses is an output of which classes are asked for, as it comes: texts, of which there are no
// more than it has elements.
func asClasses(p backends.Port, classes int64) backends.Port {
	n := int64(-1)
	if elements, err := tensor.Elements(p.Shape); err == nil {
		n = min(classes, elements)
	}
	return backends.Port{Name: p.Name, Type: tensor.Bytes, Shape: []int64{n}}
}

// wantedOutputs are the outputs that the plan asks for.
func (b *builder) wantedOutputs() []backends.Output {
	var list []backends.Output
	for _, o := range b.request.Outputs {
		list = append(list,
			backends.Output{Name: o.Name, Classification: o.Classification, Parameters: parameters(o.Parameters)})
	}
	return list
}

// outputsOf are the model's outputs as a request for these gives them.
func (b *builder) outputsOf(wanted []backends.Output) []backends.Port {
	if !slices.ContainsFunc(wanted, func(o backends.Output) bool { return o.Classification > 0 }) {
		return b.sig.Outputs
	}
	ports := slices.Clone(b.sig.Outputs)
	for _, o := range wanted {
		i := slices.IndexFunc(ports, func(p backends.Port) bool { return p.Name == o.Name })
		if i >= 0 && o.Classification > 0 {
			ports[i] = asClasses(ports[i], o.Classification)
		}
	}
	return ports
}

// checkClasses refuses classes that the server cannot give. whose is the row that asks for them, ""
// for the plan.
func (b *builder) checkClasses(pos source.Pos, whose string, o backends.Output) {
	i := slices.IndexFunc(b.sig.Outputs, func(p backends.Port) bool { return p.Name == o.Name })
	if o.Classification == 0 || i < 0 {
		return
	}
	if whose != "" {
		whose += ": "
	}
	p := b.sig.Outputs[i]
	switch {
	case !b.sig.Classes:
		b.fail(pos, codeClasses,
			"%soutput %q is wanted as classes, and the server does not list the extension \"classification\"",
			whose, o.Name)
	case !slices.Contains(classifiable, p.Type):
		d := b.fail(pos, codeClasses, "%soutput %q of model %q is %s, of which there are no classes",
			whose, o.Name, b.sig.Model, p.Type)
		var types []string
		for _, t := range classifiable {
			types = append(types, string(t))
		}
		d.Detail = "a server makes classes of these only: " + strings.Join(types, ", ")
	case slices.Contains(p.Shape, 0):
		b.fail(pos, codeClasses,
			"%soutput %q of model %q has the shape %v, without an element of which there could be classes",
			whose, o.Name, b.sig.Model, p.Shape).
			Detail = wholeInstead
	}
}

// wholeInstead is what to do about an output that has no elements: asked for classes of nothing,
// some versions of Triton end.
const wholeInstead = "remove `classification`: the output then comes whole"

// checkEmpty refuses classes of outputs whose size is the model's to decide, in requests all of
// whose inputs are without an element: nothing comes of nothing.
func (b *builder) checkEmpty(rows []row) {
	for i := range rows {
		r := &rows[i]
		if len(r.inputs) == 0 ||
			slices.ContainsFunc(r.inputs, func(t backends.Tensor) bool { return !slices.Contains(t.Shape, 0) }) {
			continue
		}
		for _, o := range b.request.Outputs {
			if b.emptied(o.Pos, r, backends.Output{Name: o.Name, Classification: o.Classification}) {
				return // and in other rows
			}
		}
		for _, o := range r.wanted() {
			if b.emptied(r.rec.From.Pos, r, o) {
				return
			}
		}
	}
}

func (b *builder) emptied(pos source.Pos, r *row, o backends.Output) bool {
	i := slices.IndexFunc(b.sig.Outputs, func(p backends.Port) bool { return p.Name == o.Name })
	if o.Classification == 0 || i < 0 || !slices.Contains(b.sig.Outputs[i].Shape, -1) {
		return false
	}
	b.fail(pos, codeClasses,
		"%s: input %q has the shape %v, without an element of which there could be classes in output %q",
		r.name(), r.inputs[0].Name, r.inputs[0].Shape, o.Name).
		Detail = wholeInstead
	return true
}
