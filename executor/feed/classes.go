package feed

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/source"
)

// classifiable are the datatypes whose values a server puts in order. Others it refuses; classes of strings end some versions
// of Triton.
var classifiable = []backends.DataType{
	backends.Uint8, backends.Uint16, backends.Uint32, backends.Uint64, backends.Int8, backends.Int16, backends.Int32, backends.Int64,
	backends.FP32, backends.FP64,
}

// asClasses is an output of which classes are asked for, as it comes: texts, of which there are no more than it has elements.
func asClasses(p backends.Port, classes int64) backends.Port {
	n := int64(-1)
	if elements, err := backends.Elements(p.Shape); err == nil {
		n = min(classes, elements)
	}
	return backends.Port{Name: p.Name, Type: backends.Bytes, Shape: []int64{n}}
}

// wantedOutputs are the outputs that the plan asks for.
func (b *builder) wantedOutputs() []backends.Output {
	var list []backends.Output
	for _, o := range b.request.Outputs {
		list = append(list, backends.Output{Name: o.Name, Classification: o.Classification})
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

// checkClasses refuses classes that the server cannot give. whose is the row that asks for them, "" for the plan.
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
		b.fail(pos, codeClasses, "%soutput %q is wanted as classes, and the server does not list the extension \"classification\"", whose, o.Name)
	case !slices.Contains(classifiable, p.Type):
		d := b.fail(pos, codeClasses, "%soutput %q of model %q is %s, of which there are no classes", whose, o.Name, b.sig.Model, p.Type)
		var types []string
		for _, t := range classifiable {
			types = append(types, string(t))
		}
		d.Detail = "a server makes classes of these only: " + strings.Join(types, ", ")
	}
}
