package kserve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// service is the prefix of the protocol's methods.
const service = "/inference.GRPCInferenceService/"

// GRPC is a target over gRPC.
type GRPC struct {
	*endpoint.GRPC
	target backends.Target
	models modelReplies
}

func openGRPC(t backends.Target, e *endpoint.Endpoint, clock backends.Clock) (*GRPC, error) {
	judge := func() grpcraw.Judge { return &grpcJudge{keep: t.KeepReplies} }
	c, err := endpoint.OpenGRPC(&t, e, clock, grpcraw.Options{Judge: judge})
	if err != nil {
		return nil, err
	}
	return &GRPC{GRPC: c, target: t}, nil
}

// Lanes implements backends.Conn: unary callers, or bidirectional streams where the target streams.
func (c *GRPC) Lanes(
	ctx context.Context, n int, o backends.LaneOptions,
) ([]backends.Lane, backends.Limits, error) {
	if !c.target.Streaming {
		return c.GRPC.Lanes(ctx, n, o)
	}
	judge := func() grpcraw.StreamJudge {
		return &streamJudge{
			grpcJudge: grpcJudge{keep: c.target.KeepReplies}, answer: textOf{wanted: TextTensors(&c.target)},
		}
	}
	lanes, limits, err := c.Streams(ctx, n, o.Depth, service+"ModelStreamInfer", judge)
	return lanes, limits, c.Explain("connect to "+c.Address, err)
}

// Invoke makes a control call of a method of the inference service.
func (c *GRPC) Invoke(ctx context.Context, method string, request []byte) ([]byte, error) {
	return c.GRPC.Invoke(ctx, service+method, request)
}

// ModelRequest encodes a request that names a model: ModelReady, ModelMetadata, ModelConfig,
// ModelStatistics.
func ModelRequest(model, version string) []byte {
	b := protow.AppendString(nil, 1, model)
	if version != "" {
		b = protow.AppendString(b, 2, version)
	}
	return b
}

// joinBelow is the size in bytes below which raw contents are copied to their neighbours rather
// than sent as a piece of their own.
const joinBelow = 4 << 10

// Prepare implements backends.Conn.
func (c *GRPC) Prepare(r backends.Request) (*backends.Call, error) { return c.PrepareShared(r, nil) }

// PrepareShared implements Conn. Fields of ModelInferRequest: model_name 1, model_version 2, id 3,
// parameters 4, inputs 5, outputs 6, raw_input_contents 7; the id comes last, where grpcraw expects
// holes.
func (c *GRPC) PrepareShared(r backends.Request, p *Places) (*backends.Call, error) {
	r, err := Complete(r, &c.target)
	if err == nil {
		err = p.check(&r)
	}
	if err != nil {
		return nil, err
	}
	if c.target.Streaming {
		r = streamed(r)
	}
	head := grpcHead(r.Sequence)
	if r.Body != nil {
		if !isInferRequest(r.Body) {
			return nil,
				errors.New("the body is not a ModelInferRequest: " +
					"over gRPC it is the encoded message, JSON is for http://")
		}
		return c.call(&r, readBody(&r), head, nil)
	}
	text := appendEntries(ModelRequest(r.Model, r.ModelVersion), 4, r.Parameters)
	for i := range r.Inputs {
		text = protow.AppendString(text, 5, tensorHead(&r.Inputs[i], p.input(i)))
	}
	if p != nil {
		head.outputs(r.Outputs, p)
	} else {
		for i := range r.Outputs {
			text = protow.AppendString(text, 6, requestedOutput(&r.Outputs[i]))
		}
	}
	if r.Vary != nil { // the head has the holes
		head.contents(&r)
		return c.call(&r, [][]byte{text}, head, p)
	}
	return c.call(&r, contents(text, r.Inputs, p), head, p)
}

// call makes a Call from a message's pieces.
func (c *GRPC) call(r *backends.Request, body [][]byte, head holes, p *Places) (*backends.Call, error) {
	call, err := c.Call(service+"ModelInfer", r.Headers, body, head.bytes, head.list,
		replyLimit(r, &c.target, false), c.models.expect(r, p, &c.target))
	if err != nil && r.Vary != nil && c.target.Compression != "" {
		err = fmt.Errorf("%w: write `reuse: all` in `prompts`, or leave `compression` out", err)
	}
	if err != nil {
		return nil, err
	}
	call.Row, call.Items, call.Stateful, call.Vary = r.Row, r.Items, r.Sequence != nil, r.Vary
	return call, nil
}

// contents appends the raw contents (field 7) of the inputs that are sent in the request.
func contents(text []byte, inputs []backends.Tensor, p *Places) (body [][]byte) {
	for i := range inputs {
		data := inputs[i].Data
		if p.input(i) != nil {
			continue
		}
		text = protow.AppendHead(text, 7, len(data))
		if len(data) < joinBelow {
			text = append(text, data...)
			continue
		}
		body = append(body, text, data)
		text = nil
	}
	return append(body, text)
}

// tensorHead encodes an InferInputTensor: name 1, datatype 2, shape 3, parameters 4.
func tensorHead(t *backends.Tensor, shared *Place) []byte {
	b := protow.AppendString(nil, 1, t.Name)
	b = protow.AppendInts(protow.AppendString(b, 2, string(t.Type)), 3, t.Shape)
	if shared != nil {
		b = appendEntries(b, 4, shared.parameters())
	}
	return appendEntries(b, 4, t.Parameters)
}

// requestedOutput encodes an InferRequestedOutputTensor: name 1, parameters 2.
func requestedOutput(o *backends.Output) []byte {
	b := protow.AppendString(nil, 1, o.Name)
	if o.Classification > 0 {
		b = appendParameter(b, 2, &backends.Parameter{Name: classification, Value: o.Classification})
	}
	return appendEntries(b, 2, o.Parameters)
}

// appendEntries appends parameters as entries of map<string, InferParameter>, field number of its
// message.
func appendEntries(dst []byte, number protow.Number, list []backends.Parameter) []byte {
	for i := range list {
		dst = appendParameter(dst, number, &list[i])
	}
	return dst
}

// appendParameter appends an entry of map<string, InferParameter>, field number of its message:
// bool 1, int64 2, string 3, double 4.
func appendParameter(dst []byte, number protow.Number, p *backends.Parameter) []byte {
	var value []byte
	switch v := p.Value.(type) {
	case bool:
		value = protow.AppendUint(nil, 1, map[bool]uint64{true: 1}[v])
	case int64:
		value = protow.AppendUint(nil, 2, uint64(v))
	case string:
		value = protow.AppendString(nil, 3, v)
	case float64:
		value = protow.AppendFixed64(nil, 4, math.Float64bits(v))
	}
	entry := protow.AppendString(protow.AppendString(nil, 1, p.Name), 2, value)
	return protow.AppendString(dst, number, entry)
}
