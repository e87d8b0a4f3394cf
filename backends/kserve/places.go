package kserve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Places says where the tensors of one request lie in memory that the server shares, which it knows by names of regions.
type Places struct {
	Inputs  []Place // of Request.Inputs, by index; without a size the tensor goes in the request
	Outputs []Place // of Request.Outputs, by index; their region is Output
	// Output and the digits of Fields.Region, with zeros in front, name the region of a slot's outputs.
	Output string
	// Read gives bytes of a slot's region of outputs, valid until the slot's next request.
	Read func(region uint32, at, size int64) ([]byte, error)
}

// Place is where one tensor lies.
type Place struct {
	Region string
	At     int64 // of its first byte in the region
	Size   int64 // of an output: room for it
}

// RegionDigits is how many digits follow Places.Output.
const RegionDigits = 6

// The parameters of a tensor that lies in shared memory.
const (
	sharedRegion = "shared_memory_region"
	sharedOffset = "shared_memory_offset"
	sharedSize   = "shared_memory_byte_size"
)

// regionHole are the digits before they are filled in.
var regionHole = strings.Repeat("0", RegionDigits)

// check holds places against the request that they are for.
func (p *Places) check(r *backends.Request) error {
	if p != nil && r.Body != nil {
		return errors.New("a body that is sent as it is cannot go through shared memory")
	}
	if p != nil && (len(p.Inputs) != len(r.Inputs) || len(p.Outputs) != len(r.Outputs)) {
		return fmt.Errorf("%d and %d places for %d inputs and %d outputs", len(p.Inputs), len(p.Outputs), len(r.Inputs), len(r.Outputs))
	}
	if p != nil && slices.ContainsFunc(r.Outputs, func(o backends.Output) bool { return o.Classification > 0 }) {
		return errors.New("classes cannot go through shared memory: the server refuses to put them there")
	}
	return nil
}

// input is the place of an input; nil: it goes in the request.
func (p *Places) input(i int) *Place {
	if p == nil || p.Inputs[i].Size == 0 {
		return nil
	}
	return &p.Inputs[i]
}

// output is the place of an output; nil: it comes in the reply.
func (p *Places) output(i int) *Place {
	if p == nil {
		return nil
	}
	return &p.Outputs[i]
}

// json is what follows the region's name among a tensor's parameters.
func (p *Place) json() string {
	text := fmt.Sprintf(`,"%s":%d`, sharedSize, p.Size)
	if p.At != 0 {
		text = fmt.Sprintf(`,"%s":%d`, sharedOffset, p.At) + text
	}
	return text
}

// outputPlace appends the parameters of a requested output and ends it.
func (h *holes) outputPlace(p *Places, at *Place, own []backends.Parameter) (err error) {
	front := appendJSON(nil, p.Output)
	h.bytes = append(append(h.bytes, `,"parameters":{"`+sharedRegion+`":`...), front[:len(front)-1]...)
	h.addHole(backends.FieldRegion, regionHole)
	if h.bytes, err = appendOwn(append(h.bytes, `"`+at.json()...), own); err != nil {
		return err
	}
	h.text("}}")
	return nil
}

// parameters appends the numbers of a place to a message that has parameters as field number.
func (p *Place) parameters(dst []byte, number protow.Number) []byte {
	if p.At != 0 {
		dst = appendParameter(dst, number, &backends.Parameter{Name: sharedOffset, Value: p.At})
	}
	return appendParameter(dst, number, &backends.Parameter{Name: sharedSize, Value: p.Size})
}

// outputs appends the requested outputs to the head of a ModelInferRequest: InferRequestedOutputTensor has name 1 and
// parameters 2.
func (h *holes) outputs(list []backends.Output, p *Places) {
	for i := range list {
		var o holes
		o.bytes = appendEntries(p.Outputs[i].parameters(protow.AppendString([]byte(nil), 1, list[i].Name), 2), 2, list[i].Parameters)
		o.entry(2, sharedRegion, textParam, p.Output, backends.FieldRegion, regionHole)
		h.bytes = protow.AppendHead(h.bytes, 6, len(o.bytes))
		h.join(o)
	}
}

// errNoOutput is the error of an output that cannot be in its place.
var errNoOutput = errors.New("it is not in its place")

// sharedOutput gives the bytes of output name that the server has left in its place, as many as its shape has or its texts
// take. errNoOutput: it was not asked for, or they cannot be there.
func (e *expectation) sharedOutput(name string, t tensor.DataType, shape []int64, region uint32) (data []byte, err error) {
	i := slices.IndexFunc(e.requested, func(o backends.Output) bool { return o.Name == name })
	n, bad := tensor.Elements(shape)
	if i < 0 || bad != nil {
		return nil, errNoOutput
	}
	at := e.shared.Outputs[i]
	size := at.Size // texts say themselves how many bytes they take
	if t != tensor.Bytes {
		size = n * int64(max(t.Size(), 0))
	}
	if size < 0 || size > at.Size {
		return nil, errNoOutput
	}
	if data, err = e.shared.Read(region, at.At, size); err != nil || t != tensor.Bytes {
		return data, err
	}
	if size = textsSize(data, n); size < 0 {
		return nil, errNoOutput
	}
	return data[:size], nil
}

// textsSize is what n length-prefixed texts take; -1: there are fewer.
func textsSize(b []byte, n int64) (size int64) {
	for range n {
		_, rest, ok := cutString(b)
		if !ok {
			return -1
		}
		size += int64(len(b) - len(rest))
		b = rest
	}
	return size
}
