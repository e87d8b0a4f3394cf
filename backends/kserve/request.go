package kserve

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// Parameters of a request in a sequence.
const (
	sequenceID    = "sequence_id"
	sequenceStart = "sequence_start"
	sequenceEnd   = "sequence_end"
)

// classification is the parameter of a requested output that asks for classes in its place.
const classification = "classification"

// Complete fills in the target's defaults of a request and checks it. The error joins all mistakes.
func Complete(r backends.Request, t *backends.Target) (backends.Request, error) {
	if r.Model == "" {
		r.Model = t.Model
		if r.ModelVersion == "" {
			r.ModelVersion = t.ModelVersion
		}
	}
	var errs []error
	if r.Body != nil {
		errs = append(errs, checkBodyAlone(&r, t))
	}
	r.Parameters = mergeParameters(t.Parameters, r.Parameters)
	if r.Model == "" {
		errs = append(errs, errors.New("no model is named"))
	}
	const own = "the client sets it itself"
	for _, in := range r.Inputs {
		errs = append(errs, checkTensor(&in),
			checkParameters(" of input "+in.Name, in.Parameters, own, reservedParameters))
	}
	for _, o := range r.Outputs {
		errs = append(errs, checkParameters(" of output "+o.Name, o.Parameters, own, reservedParameters))
	}
	var reserved []string
	if r.Sequence != nil {
		reserved = []string{sequenceID, sequenceStart, sequenceEnd}
	}
	errs = append(errs, checkParameters("", r.Parameters,
		"the requests form sequences, whose ids and ends are set for each request", reserved))
	return r, errors.Join(errs...)
}

// reservedParameters are the parameters of tensors that the client sets itself.
var reservedParameters = []string{
	"binary_data_size", "binary_data", classification, sharedRegion, sharedOffset, sharedSize,
}

// checkParameters refuses parameters that are reserved for a reason, or that the protocol cannot
// carry.
func checkParameters(of string, list []backends.Parameter, why string, reserved []string) error {
	var errs []error
	for i := range list {
		p := &list[i]
		if slices.Contains(reserved, p.Name) {
			errs = append(errs, fmt.Errorf("parameter %s%s cannot be set: %s", p.Name, of, why))
		}
		switch p.Value.(type) {
		case bool, int64, float64, string:
		default:
			errs = append(errs, fmt.Errorf("parameter %s%s is a %T, want bool, int, number or text", p.Name,
				of, p.Value))
		}
	}
	return errors.Join(errs...)
}

// mergeParameters overrides base by the parameters of over, by name, in base's order.
func mergeParameters(base, over []backends.Parameter) []backends.Parameter {
	out := slices.Clone(base)
	for _, p := range over {
		if i := slices.IndexFunc(out, func(o backends.Parameter) bool { return o.Name == p.Name }); i >= 0 {
			out[i] = p
		} else {
			out = append(out, p)
		}
	}
	return out
}

// checkTensor compares the data with type and shape.
func checkTensor(t *backends.Tensor) error {
	size := t.Type.Size()
	if t.Name == "" || size < 0 {
		return fmt.Errorf("input %q has the unknown datatype %q", t.Name, t.Type)
	}
	n, err := tensor.Elements(t.Shape)
	if err != nil {
		return fmt.Errorf("input %s: %w", t.Name, err)
	}
	if size > 0 {
		if want := n * int64(size); int64(len(t.Data)) != want {
			return fmt.Errorf("input %s has %d bytes, its shape %v of %s takes %d",
				t.Name, len(t.Data), t.Shape, t.Type, want)
		}
		return nil
	}
	have, ok := tensor.CountStrings(t.Data)
	if !ok || have != n {
		return fmt.Errorf("input %s has %d whole strings in %d bytes, its shape %v takes %d",
			t.Name, have, len(t.Data), t.Shape, n)
	}
	return nil
}

// expectation describes the expected reply of a Call; it is Call.Impl over HTTP, and
// grpcraw.Expected returns it over gRPC.
type expectation struct {
	statuses           []int
	outputs            []backends.Tensor
	source             string // where they are defined
	fields             []backends.Field
	share              backends.Share
	relative, absolute float64
	shared             *Places           // places of outputs outside the reply; nil: none
	requested          []backends.Output // the outputs that the request names
	wholeBody          bool              // the request is sent unchanged: its outputs are unknown
	foreignID          bool              // the request has an id of its own
	model              *modelReply       // nil: nothing is known
	mayBeCoded         bool              // the request allows a compressed reply
}

func expect(r *backends.Request, shared *Places) *expectation {
	e := &expectation{shared: shared, requested: r.Outputs, wholeBody: r.Body != nil, model: newModelReply(r)}
	if x := r.Expect; x != nil {
		e.statuses, e.outputs, e.relative, e.absolute = x.Status, x.Outputs, x.Relative, x.Absolute
		e.fields, e.share, e.source = x.Fields, x.Share, x.Source
	}
	return e
}

// classes reports whether the request asks for classes in the place of an output.
func (e *expectation) classes(name []byte) bool {
	return slices.ContainsFunc(e.requested, func(o backends.Output) bool {
		return o.Classification > 0 && o.Name == string(name)
	})
}

// compares reports whether the reply to a request is compared with expected values.
func (e *expectation) compares(s *backends.Sample) bool {
	return len(e.outputs)+len(e.fields) > 0 && e.share.Has(s.N)
}

// accepts reports whether a status is good; fine is the good one if the plan names none.
func (e *expectation) accepts(status, fine int) bool {
	if len(e.statuses) == 0 {
		return status == fine
	}
	return slices.Contains(e.statuses, status)
}
