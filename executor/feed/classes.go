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

// asClasses returns an output of which classes are asked for as it comes: texts, of which there are no
// more than it has elements.
func asClasses(p backends.Port, classes int64) backends.Port {
	n := int64(-1)
	if elements, err := tensor.Elements(p.Shape); err == nil {
		n = min(classes, elements)
	}
	return backends.Port{Name: p.Name, Type: tensor.Bytes, Shape: []int64{n}}
}

// wantedOutputs returns the outputs that the plan asks for.
func wantedOutputs(b *build) []backends.Output {
	var list []backends.Output
	for _, o := range b.request.Outputs {
		list = append(list,
			backends.Output{
				Name: o.Name, Classification: o.Classification,
				Parameters: parameters(o.Parameters),
			})
	}
	return list
}

// outputsOf returns the model's outputs as a request for these gives them.
func outputsOf(b *build, wanted []backends.Output) []backends.Port {
	ports := b.sig.Outputs
	for _, o := range wanted {
		if o.Classification == 0 || findPort(ports, o.Name) == nil {
			continue
		}
		ports = slices.Clone(ports)
		p := findPort(ports, o.Name)
		*p = asClasses(*p, o.Classification)
	}
	return ports
}

// checkClasses refuses classes that the server cannot give. of names the row that asks for them, ""
// for the plan.
func checkClasses(b *build, pos source.Pos, of string, o backends.Output) {
	p := findPort(b.sig.Outputs, o.Name)
	if o.Classification == 0 || p == nil {
		return
	}
	of = prefixed(of)
	switch {
	case !b.sig.Classes:
		b.fail(pos, codeClasses,
			"%soutput %q is wanted as classes, and the server does not list the extension \"classification\"",
			of, o.Name)
	case !slices.Contains(classifiable, p.Type):
		var types []string
		for _, t := range classifiable {
			types = append(types, string(t))
		}
		b.fail(pos, codeClasses, "%soutput %q of model %q is %s, of which there are no classes",
			of, o.Name, b.sig.Model, p.Type).
			Help("a server makes classes of these only: " + strings.Join(types, ", "))
	case slices.Contains(p.Shape, 0):
		b.fail(pos, codeClasses,
			"%soutput %q of model %q has the shape %v, without an element of which there could be classes",
			of, o.Name, b.sig.Model, p.Shape).Help(wholeInstead)
	}
}

// wholeInstead says what to do about an output that has no elements: asked for classes of nothing,
// some versions of Triton end.
const wholeInstead = "remove `classification`: the output then comes whole"

// checkEmpty refuses classes of outputs whose size is the model's to decide, in requests all of
// whose inputs are without an element: nothing comes of nothing. It reports the first.
func checkEmpty(b *build, rows []row) {
	for _, r := range rows {
		if len(r.inputs) == 0 ||
			slices.ContainsFunc(r.inputs,
				func(t backends.Tensor) bool { return !slices.Contains(t.Shape, 0) }) {
			continue
		}
		planned := wantedOutputs(b)
		for i, o := range slices.Concat(planned, r.rec.Wanted) {
			p := findPort(b.sig.Outputs, o.Name)
			if o.Classification == 0 || p == nil || !slices.Contains(p.Shape, -1) {
				continue
			}
			pos := r.rec.From.Pos
			if i < len(planned) {
				pos = b.request.Outputs[i].Pos
			}
			b.fail(pos, codeClasses,
				"%s: input %q has the shape %v, without an element of which there could be classes in "+
					"output %q",
				r.rec.Name(), r.inputs[0].Name, r.inputs[0].Shape, o.Name).Help(wholeInstead)
			return
		}
	}
}
