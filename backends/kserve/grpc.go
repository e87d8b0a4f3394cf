package kserve

import (
	"context"
	"fmt"
	"math"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// service is the prefix of the protocol's methods.
const service = "/inference.GRPCInferenceService/"

// GRPC is a target over gRPC.
type GRPC struct {
	target backends.Target
	pool   *grpcraw.Pool
}

func openGRPC(t backends.Target, e endpoint, clock backends.Clock) (*GRPC, error) {
	pool, err := grpcraw.New(grpcraw.Options{
		Network: e.network, Address: e.address, Authority: e.authority, TLS: e.tls, Clock: clock, ConnectTimeout: t.ConnectTimeout,
		Connections: t.Connections, MaxMessage: t.MaxMessage, Headers: t.Headers, Judge: func() grpcraw.Judge { return &grpcJudge{} },
	})
	if err != nil {
		return nil, err
	}
	return &GRPC{target: t, pool: pool}, nil
}

// Lanes implements backends.Conn.
func (c *GRPC) Lanes(ctx context.Context, n int, _ backends.LaneOptions) ([]backends.Lane, backends.Limits, error) {
	return c.pool.Lanes(ctx, n)
}

// Close implements backends.Conn.
func (c *GRPC) Close(context.Context) error { return c.pool.Close() }

// Invoke makes a control call of a method of the inference service.
func (c *GRPC) Invoke(ctx context.Context, method string, request []byte) ([]byte, error) {
	reply, err := c.pool.Invoke(ctx, service+method, request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return reply, nil
}

// ModelRequest encodes a request that names a model: ModelReady, ModelMetadata, ModelConfig, ModelStatistics.
func ModelRequest(model, version string) []byte {
	b := protow.AppendString([]byte(nil), 1, model)
	if version != "" {
		b = protow.AppendString(b, 2, version)
	}
	return b
}

// joinBelow is the size up to which raw contents are copied beside their neighbours rather than sent as a piece of
// their own.
const joinBelow = 4 << 10

// Prepare implements backends.Conn. Fields of ModelInferRequest: model_name 1, model_version 2, id 3, parameters 4,
// inputs 5, outputs 6, raw_input_contents 7; the id comes last, where grpcraw wants what is filled in.
func (c *GRPC) Prepare(r backends.Request) (*backends.Call, error) {
	r, err := complete(r, &c.target)
	if err != nil {
		return nil, err
	}
	head, holes := grpcHead(r.Sequence)
	if r.Body != nil {
		return c.call(&r, [][]byte{r.Body}, head, holes)
	}
	text := ModelRequest(r.Model, r.ModelVersion)
	for _, p := range r.Parameters {
		text = appendParameter(text, &p)
	}
	for i := range r.Inputs {
		text = protow.AppendString(text, 5, tensorHead(&r.Inputs[i]))
	}
	for _, name := range r.Outputs {
		text = protow.AppendString(text, 6, protow.AppendString([]byte(nil), 1, name))
	}
	var body [][]byte
	for i := range r.Inputs {
		data := r.Inputs[i].Data
		text = protow.AppendHead(text, 7, len(data))
		if len(data) < joinBelow {
			text = append(text, data...)
			continue
		}
		body = append(body, text, data)
		text = nil
	}
	return c.call(&r, append(body, text), head, holes)
}

// call makes a Call of a message's pieces.
func (c *GRPC) call(r *backends.Request, body [][]byte, head []byte, holes []backends.Hole) (*backends.Call, error) {
	call, err := c.pool.Call(service+"ModelInfer", r.Headers, body, head, holes, expect(r.Expect))
	if err != nil {
		return nil, err
	}
	call.Row, call.Items, call.Stateful = r.Row, r.Items, r.Sequence != nil
	return call, nil
}

// tensorHead is an InferInputTensor: name 1, datatype 2, shape 3.
func tensorHead(t *backends.Tensor) []byte {
	b := protow.AppendString([]byte(nil), 1, t.Name)
	return protow.AppendInts(protow.AppendString(b, 2, string(t.Type)), 3, t.Shape)
}

// appendParameter appends an entry of map<string, InferParameter>: bool 1, int64 2, string 3, double 4.
func appendParameter(dst []byte, p *backends.Parameter) []byte {
	var value []byte
	switch v := p.Value.(type) {
	case bool:
		value = protow.AppendUint(nil, 1, map[bool]uint64{true: 1}[v])
	case int64:
		value = protow.AppendUint(nil, 2, uint64(v))
	case string:
		value = protow.AppendString([]byte(nil), 3, v)
	case float64:
		value = protow.AppendFixed64(nil, 4, math.Float64bits(v))
	}
	entry := protow.AppendString(protow.AppendString([]byte(nil), 1, p.Name), 2, value)
	return protow.AppendString(dst, 4, entry)
}
