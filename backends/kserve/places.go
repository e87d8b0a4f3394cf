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

// Places holds the positions of a request's tensors in shared memory, as names of regions known to
// the server.
type Places struct {
	Inputs  []Place // of Request.Inputs, by index; without a size the tensor is sent in the request
	Outputs []Place // of Request.Outputs, by index; their region is Output
	// Output followed by the zero-padded digits of Fields.Region is the name of the region of a slot's
	// outputs.
	Output string
	// Read returns bytes of a slot's region of outputs, valid until the slot's next request.
	Read func(region uint32, at, size int64) ([]byte, error)
}

// Place is the position of one tensor.
type Place struct {
	Region string
	At     int64 // offset of its first byte in the region
	Size   int64 // of an output: the reserved bytes
}

// RegionDigits is the number of digits after Places.Output.
const RegionDigits = 6

// Parameters of a tensor in shared memory.
const (
	sharedRegion = "shared_memory_region"
	sharedOffset = "shared_memory_offset"
	sharedSize   = "shared_memory_byte_size"
)

// regionHole is the placeholder of the digits.
var regionHole = strings.Repeat("0", RegionDigits)

// check compares places with their request.
func (p *Places) check(r *backends.Request) error {
	switch {
	case p == nil:
		return nil
	case r.Body != nil:
		return errors.New("a whole body cannot use shared memory")
	case len(p.Inputs) != len(r.Inputs) || len(p.Outputs) != len(r.Outputs):
		return fmt.Errorf("%d and %d places for %d inputs and %d outputs",
			len(p.Inputs), len(p.Outputs), len(r.Inputs), len(r.Outputs))
	case slices.ContainsFunc(r.Outputs, func(o backends.Output) bool { return o.Classification > 0 }):
		return errors.New("classes cannot use shared memory: the server does not support it")
	}
	return nil
}

// input returns the place of an input; nil: it is sent in the request.
func (p *Places) input(i int) *Place {
	if p == nil || p.Inputs[i].Size == 0 {
		return nil
	}
	return &p.Inputs[i]
}

// parameters returns the parameters of a tensor in its place; an output's has no region.
func (p *Place) parameters() (list []backends.Parameter) {
	if p.Region != "" {
		list = append(list, backends.Parameter{Name: sharedRegion, Value: p.Region})
	}
	if p.At != 0 {
		list = append(list, backends.Parameter{Name: sharedOffset, Value: p.At})
	}
	return append(list, backends.Parameter{Name: sharedSize, Value: p.Size})
}

// outputs appends the requested outputs to the head of a ModelInferRequest:
// InferRequestedOutputTensor has name 1 and parameters 2.
func (h *holes) outputs(list []backends.Output, p *Places) {
	for i := range list {
		var o holes
		o.bytes = appendEntries(protow.AppendString(nil, 1, list[i].Name), 2, p.Outputs[i].parameters())
		o.bytes = appendEntries(o.bytes, 2, list[i].Parameters)
		o.entry(2, sharedRegion, textParam, p.Output, backends.FieldRegion, regionHole)
		h.bytes = protow.AppendHead(h.bytes, 6, len(o.bytes))
		h.join(o)
	}
}

// errNoOutput is the error of an output that cannot be in its place.
var errNoOutput = errors.New("it is not in its shared memory region")

// sharedOutput returns the bytes of output name that the server left in its place, as many as its
// shape or its strings take. It returns errNoOutput if the output was not requested, or cannot be
// there.
func (e *expectation) sharedOutput(
	name string, t tensor.DataType, shape []int64, region uint32,
) (data []byte, err error) {
	i := slices.IndexFunc(e.requested, func(o backends.Output) bool { return o.Name == name })
	n, bad := tensor.Elements(shape)
	if i < 0 || bad != nil {
		return nil, errNoOutput
	}
	at := e.shared.Outputs[i]
	size := at.Size // strings have their sizes in the data
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

// textsSize returns the size in bytes of n length-prefixed strings, or -1 if there are fewer.
func textsSize(b []byte, n int64) (size int64) {
	for range n {
		_, rest, ok := tensor.CutElement(b)
		if !ok {
			return -1
		}
		size += int64(len(b) - len(rest))
		b = rest
	}
	return size
}
