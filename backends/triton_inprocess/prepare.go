//go:build inprocess

package inprocess

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/native"
)

// request is the form that Call.Impl has here: arguments of library functions, as addresses that
// stay valid.
type request struct {
	model      uintptr
	version    uintptr
	inputs     []input
	outputs    []uintptr
	parameters []parameter
	flags      uint32
	sequence   *backends.Sequence
	want       kserve.Want
	pinned     []any // memory behind the addresses
}

type input struct {
	name, shape, dims, data, size uintptr
	datatype                      uintptr
}

// parameter is a call of a function with a value; name 0: the function takes no name.
type parameter struct {
	function, name, value uintptr
	number                float64 // with setDouble
}

// datatypes are the values of TRITONSERVER_DataType.
var datatypes = [...]tensor.DataType{
	"", tensor.Bool, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Int8, tensor.Int16,
	tensor.Int32, tensor.Int64, tensor.FP16, tensor.FP32, tensor.FP64, tensor.Bytes, tensor.BF16,
}

// Flags of a request.
const (
	flagStart = 1
	flagEnd   = 2
)

// Prepare implements backends.Conn.
func (c *conn) Prepare(r backends.Request) (*backends.Call, error) {
	r, err := kserve.Complete(r, &c.target)
	if err != nil {
		return nil, err
	}
	if r.Expect != nil && len(r.Expect.Fields) > 0 {
		return nil, errors.New("`expect.fields` name values of JSON, and these replies are tensors: put `outputs` into " +
			"the rows")
	}
	v, err := version(r.ModelVersion)
	if err != nil {
		return nil, err
	}
	q := &request{version: uintptr(v), sequence: r.Sequence, want: kserve.WantOf(&r)}
	c.mu.Lock()
	defer c.mu.Unlock()
	q.model = c.text(q, r.Model)
	size := 0
	for i := range r.Inputs {
		t := &r.Inputs[i]
		if len(t.Parameters) > 0 {
			return nil, fmt.Errorf("input %s cannot have parameters: %w", t.Name, errTensorParameters)
		}
		q.inputs = append(q.inputs, input{
			name: c.text(q, t.Name), datatype: uintptr(slices.Index(datatypes[:], t.Type)),
			shape: pin(c, q, t.Shape), dims: uintptr(len(t.Shape)),
			data: pin(c, q, t.Data), size: uintptr(len(t.Data)),
		})
		size += len(t.Data)
	}
	for _, o := range r.Outputs {
		if len(o.Parameters) > 0 {
			return nil, fmt.Errorf("output %s cannot have parameters: %w", o.Name, errTensorParameters)
		}
		if o.Classification > 0 {
			return nil,
				fmt.Errorf("output %s cannot come as classes: "+
					"Triton makes them in its HTTP and gRPC front ends only", o.Name)
		}
		q.outputs = append(q.outputs, c.text(q, o.Name))
	}
	for _, p := range r.Parameters {
		if err := c.parameter(q, p); err != nil {
			return nil, err
		}
	}
	return &backends.Call{
		Size: max(size, 1), Row: r.Row, Items: r.Items, Stateful: r.Sequence != nil, Impl: q,
	}, nil
}

// errTensorParameters is the reason why parameters of tensors are refused.
var errTensorParameters = errors.New("Triton's library takes those of whole requests only; over HTTP and " +
	"gRPC they are sent")

// pin keeps a slice at its address until the Conn is closed.
func pin[T any](c *conn, q *request, s []T) uintptr {
	if len(s) == 0 {
		return 0
	}
	c.pinner.Pin(&s[0])
	q.pinned = append(q.pinned, s)
	return native.Address(s)
}

func (c *conn) text(q *request, s string) uintptr { return pin(c, q, native.Text(s)) }

// parameter adds a parameter to q: parameters with a meaning in Triton's protocols have a function
// of their own.
func (c *conn) parameter(q *request, p backends.Parameter) error {
	number, isNumber := p.Value.(int64)
	truth, isTruth := p.Value.(bool)
	text, isText := p.Value.(string)
	if digits, err := strconv.ParseInt(text, 10, 64); isText && err == nil &&
		(p.Name == "priority" || p.Name == "timeout") {
		number, isNumber = digits, true
	}
	set := parameter{value: uintptr(number)}
	wrong := fmt.Errorf("parameter %s cannot be %v", p.Name, p.Value)
	switch p.Name {
	case "priority", "timeout":
		if !isNumber || number < 0 {
			return wrong
		}
		set.function = map[string]uintptr{
			"priority": c.InferenceRequestSetPriorityUInt64,
			"timeout":  c.InferenceRequestSetTimeoutMicroseconds,
		}[p.Name]
	case "sequence_start", "sequence_end":
		if !isTruth {
			return wrong
		}
		if truth {
			q.flags |= map[string]uint32{"sequence_start": flagStart, "sequence_end": flagEnd}[p.Name]
		}
		return nil
	case "sequence_id":
		switch {
		case isNumber && number >= 0:
			set.function = c.InferenceRequestSetCorrelationId
		case isText:
			set.function, set.value = c.InferenceRequestSetCorrelationIdString, c.text(q, text)
		default:
			return wrong
		}
	default:
		c.plain(q, p, &set)
	}
	q.parameters = append(q.parameters, set)
	return nil
}

// plain sets a parameter that only the model interprets.
func (c *conn) plain(q *request, p backends.Parameter, set *parameter) {
	set.name = c.text(q, p.Name)
	switch v := p.Value.(type) {
	case bool:
		set.function = c.InferenceRequestSetBoolParameter
		if v {
			set.value = 1
		}
	case int64:
		set.function = c.InferenceRequestSetIntParameter
	case float64:
		set.function, set.number = c.InferenceRequestSetDoubleParameter, v
	case string:
		set.function, set.value = c.InferenceRequestSetStringParameter, c.text(q, v)
	}
}
