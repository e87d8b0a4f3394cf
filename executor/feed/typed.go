package feed

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/feed/format"
)

// typedPorts returns the inputs and expected outputs of rows that say their datatypes and shapes themselves, as
// KServe v2 bodies do, for a model that the server does not describe; nil: they do not.
func typedPorts(r *format.Rows) (inputs, outputs []backends.Port) {
	if len(r.Records) == 0 {
		return nil, nil
	}
	if inputs = typed(r.Records[0].Inputs); inputs != nil {
		for i := range r.Records {
			for _, p := range typed(r.Records[i].Outputs) {
				if findPort(outputs, p.Name) == nil {
					outputs = append(outputs, p)
				}
			}
		}
	}
	return inputs, outputs
}

// typed returns the ports of fields that all have a datatype; nil: one has none.
func typed(fields []format.Field) (list []backends.Port) {
	for i := range fields {
		f := &fields[i]
		if f.Value.Type == "" {
			return nil
		}
		list = append(list, backends.Port{Name: f.Name, Type: tensor.DataType(f.Value.Type), AnyRank: true})
	}
	return list
}
