package builtin

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// failure is an error reply, with the texts and codes of both protocols.
type failure struct {
	http int
	grpc codes.Code
	text string
}

func (f *failure) Error() string { return f.text }

// GRPCStatus returns the status that gRPC answers with.
func (f *failure) GRPCStatus() *status.Status { return status.New(f.grpc, f.text) }

func invalid(format string, a ...any) *failure {
	return &failure{http.StatusBadRequest, codes.InvalidArgument, fmt.Sprintf(format, a...)}
}

func notFound(format string, a ...any) *failure {
	return &failure{http.StatusNotFound, codes.NotFound, fmt.Sprintf(format, a...)}
}

func internal(format string, a ...any) *failure {
	return &failure{http.StatusInternalServerError, codes.Internal, fmt.Sprintf(format, a...)}
}

func unknownModel(name string) *failure {
	return notFound("Request for unknown model: '%s' is not found", name)
}

// notUnary refuses a decoupled model where a request has one response.
func notUnary(endpoint string) *failure {
	return &failure{
		http.StatusNotImplemented, codes.Unimplemented,
		endpoint + " doesn't support models with decoupled transaction policy",
	}
}

func unavailable(id, model string, why error) *failure {
	return &failure{
		http.StatusServiceUnavailable, codes.Unavailable,
		fmt.Sprintf("%s%s for model '%s'", errorPrefix(id), why, model),
	}
}

// inference is a request for a model, of either protocol.
type inference struct {
	id      string
	model   *model
	inputs  []tensor
	outputs []wantedOutput // empty: all
	results []tensor       // of the model; of a decoupled one its inputs
	arrived int64          // of the server's clock
	// sequence is the request's position in its sequence.
	sequence sequenceStep
	turn     *streamOrder // of a step on a stream
}

// wantedOutput is an output that a request names; with classes above 0 these are wanted in its
// place.
type wantedOutput struct {
	name    string
	classes uint32
}

// want adds an output, which is written to a place if that has a region.
func (r *inference) want(name string, classes uint32, at place, use *resources) error {
	if classes > 0 && at.region != "" {
		return invalid("Output can't set both 'shared_memory_region' and 'classification'")
	}
	r.outputs = append(r.outputs, wantedOutput{name, classes})
	if at.region == "" {
		return nil
	}
	return use.output(name, at)
}

// wants returns how r names an output; false if it does not.
func (r *inference) wants(name string) (wantedOutput, bool) {
	if i := slices.IndexFunc(r.outputs, func(o wantedOutput) bool { return o.name == name }); i >= 0 {
		return r.outputs[i], true
	}
	return wantedOutput{name: name}, len(r.outputs) == 0
}

// errorPrefix returns the start of Triton's errors about a request.
func errorPrefix(id string) string {
	if id == "" {
		id = "<id_unknown>"
	}
	return "[request id: " + id + "] "
}

// check compares r with the model's specs, sorts the inputs in their order and returns the rows of
// the request.
func (m *model) check(r *inference) (ordered []tensor, rows int, err *failure) {
	id := errorPrefix(r.id)
	ordered = make([]tensor, len(m.inputs))
	for _, t := range r.inputs {
		i := specIndex(m.inputs, t.name)
		if i < 0 {
			return nil, 0, invalid("%sunexpected inference input '%s' for model '%s'", id, t.name, m.name)
		}
		if ordered[i].typ != nil {
			return nil, 0, invalid("%sinput '%s' already exists in request", id, t.name)
		}
		ordered[i] = t
	}
	if err := m.missing(id, r.inputs, ordered); err != nil {
		return nil, 0, err
	}
	rows = 1
	for i, t := range ordered {
		if t.typ == nil { // optional
			continue
		}
		n, err := m.checkShape(id, m.inputs[i], t)
		if err != nil {
			return nil, 0, err
		}
		if i > 0 && n != rows {
			return nil, 0, invalid("%sinput '%s' batch size does not match other inputs for '%s'", id,
				t.name, m.name)
		}
		rows = n
		if err := m.checkData(id, t); err != nil {
			return nil, 0, err
		}
	}
	for _, o := range r.outputs {
		if specIndex(m.outputs, o.name) < 0 {
			return nil, 0, invalid("%sunexpected inference output '%s' for model '%s'", id, o.name, m.name)
		}
	}
	return ordered, rows, nil
}

func specIndex(specs []spec, name string) int {
	return slices.IndexFunc(specs, func(s spec) bool { return s.name == name })
}

func (m *model) missing(id string, got, ordered []tensor) *failure {
	var lost, have []string
	for i, t := range ordered[:len(ordered)-m.optional] {
		if t.typ == nil {
			lost = append(lost, "'"+m.inputs[i].name+"'")
		}
	}
	if len(lost) == 0 {
		return nil
	}
	for _, t := range got {
		have = append(have, "'"+t.name+"'")
	}
	return invalid("%sexpected %d inputs but got %d inputs for model '%s'. Got input(s) [%s], but missing "+
		"required input(s) [%s]. Please provide all required input(s).",
		id, len(m.inputs), len(got), m.name, strings.Join(have, ","), strings.Join(lost, ","))
}

// checkShape compares type and shape of an input with its spec and returns its rows.
func (m *model) checkShape(id string, s spec, t tensor) (rows int, err *failure) {
	if t.typ != s.typ {
		return 0,
			invalid("%sinference input '%s' data-type is '%s', but model '%s' expects '%s'",
				id, t.name, t.typ.name, m.name, s.typ.name)
	}
	want := m.shape(s)
	fits := len(want) == len(t.shape)
	for i := 0; fits && i < len(want); i++ {
		fits = t.shape[i] >= 0 && (want[i] < 0 || want[i] == t.shape[i])
	}
	if !fits {
		return 0,
			invalid("%sunexpected shape for input '%s' for model '%s'. Expected %s, got %s.",
				id, t.name, m.name, dims(want), dims(t.shape))
	}
	if m.maxBatch == 0 {
		return 1, nil
	}
	if t.shape[0] < 1 {
		return 0, invalid("%sinput '%s' has batch-size %d, must be >= 1 for '%s'", id, t.name, t.shape[0],
			m.name)
	}
	if t.shape[0] > int64(m.maxBatch) {
		return 0, invalid("%sinference request batch-size must be <= %d for '%s'", id, m.maxBatch, m.name)
	}
	return int(t.shape[0]), nil
}

// checkData compares the size of an input's data with its shape.
func (m *model) checkData(id string, t tensor) *failure {
	n, err := elements(t.shape)
	if err != nil {
		return invalid("%sinput '%s' for model '%s': %v", id, t.name, m.name, err)
	}
	if t.typ.size > 0 {
		if want := n * t.typ.size; want != int64(len(t.data)) {
			return invalid("%sinput byte size mismatch for input '%s' for model '%s'. Expected %d, got %d",
				id, t.name, m.name, want, len(t.data))
		}
		return nil
	}
	got, err := countBytes(t.data)
	if err != nil {
		return invalid("%s%v for inference input '%s'", id, err, t.name)
	}
	if got != n {
		return invalid("%sunexpected number of string elements %d for inference input '%s', expecting %d",
			id, got, t.name, n)
	}
	return nil
}

// maxElements bounds the product of a shape, so that sizes in bytes cannot overflow.
const maxElements = 1 << 40

// elements returns the product of a shape.
func elements(shape []int64) (int64, error) {
	n := int64(1)
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("negative dimension in shape %s", dims(shape))
		}
		if d > 0 && n > maxElements/d {
			return 0, fmt.Errorf("shape %s has too many elements", dims(shape))
		}
		n *= d
	}
	return n, nil
}

// dims formats a shape as Triton does.
func dims(shape []int64) string {
	return strings.ReplaceAll(fmt.Sprint(shape), " ", ",")
}

// wanted returns the outputs that r asks for, each once, in the model's order and the form that r
// asks for.
func wanted(r *inference, out []tensor) ([]tensor, error) {
	if len(r.outputs) == 0 {
		return out, nil
	}
	picked := make([]tensor, 0, len(out))
	for _, t := range out {
		o, ok := r.wants(t.name)
		if !ok {
			continue
		}
		if o.classes > 0 {
			var err error
			if t, err = classify(r.model, t, o.classes); err != nil {
				return nil, err
			}
		}
		picked = append(picked, t)
	}
	return picked, nil
}

// asFailure returns err itself if it already is an error reply; any other error means that the
// client left or is a bug.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return internal("%v", err)
}
