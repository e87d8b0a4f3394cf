package torchserve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Methods of the inference API (inference.proto), which a reply of one message and a stream of them have
// for the same request.
const (
	service           = "/org.pytorch.serve.grpc.inference.InferenceAPIsService/"
	predictions       = service + "Predictions"
	streamPredictions = service + "StreamPredictions"
	ping              = service + "Ping"
)

// grpcConn is an open target over gRPC.
type grpcConn struct {
	*endpoint.GRPC
	target     backends.Target
	management *management
}

// checkGRPC checks a target over gRPC.
func checkGRPC(t *backends.Target) (*endpoint.Endpoint, error) {
	switch {
	case t.Path != "":
		return nil, &backends.KeyError{Key: "path", Err: errors.New(
			"over gRPC there is no path, and no explanations: remove `path`, or use http://")}
	case t.Streaming && t.Connections > 0:
		return nil, &backends.KeyError{Key: "connections", Err: errors.New(
			"calls that stream have a connection each: remove `connections`, or write per_request")}
	}
	if err := endpoint.CheckGRPCHeaders(t); err != nil {
		return nil, err
	}
	return endpoint.Open(t, []string{"grpc", "grpcs", "grpc+unix"})
}

func openGRPC(t backends.Target, clock backends.Clock, m *management) (*grpcConn, error) {
	e, err := checkGRPC(&t)
	if err != nil {
		return nil, err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(t.Headers, func(h backends.Header) bool { return strings.EqualFold(h.Name, name) })
	}
	if has("authorization") && !has("protocol") { // the server reads the token only beside it
		t.Headers = append(slices.Clone(t.Headers), backends.Header{Name: "protocol", Value: "gRPC"})
	}
	c, err := endpoint.OpenGRPC(&t, e, clock, grpcraw.Options{
		Judge: func() grpcraw.Judge { return &judge{} }, Framed: t.Streaming, Streaming: t.Streaming,
	})
	if err != nil {
		return nil, err
	}
	return &grpcConn{GRPC: c, target: t, management: m}, nil
}

// Prepare implements backends.Conn: a PredictionsRequest {model_name 1, model_version 2, input 3, a map of
// bytes}. A body is the input data, the parts of a form have their own names.
func (c *grpcConn) Prepare(r backends.Request) (*backends.Call, error) {
	if err := endpoint.CheckWhole(&r); err != nil {
		return nil, err
	}
	name, version, err := modelOf(&c.target, &r)
	if err != nil {
		return nil, err
	}
	body := protow.AppendString(nil, 1, name)
	if version != "" {
		body = protow.AppendString(body, 2, version)
	}
	list, err := parts(&r)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		body = protow.AppendString(body, 3, protow.AppendString(protow.AppendString(nil, 1, p.Name), 2, p.Data))
	}
	e := &expectation{streams: c.target.Streaming}
	if x := r.Expect; x != nil {
		e.statuses, e.fields, e.share = x.Status, x.Fields, x.Share
	}
	method := predictions
	if c.target.Streaming {
		method = streamPredictions
	}
	call, err := c.Call(method, r.Headers, [][]byte{body}, nil, nil, c.target.MaxMessage, e)
	if err != nil {
		return nil, err
	}
	call.Row, call.Items = r.Row, max(r.Items, 1)
	return call, nil
}

// parts returns the inputs of a request, each of another name: they are a map.
func parts(r *backends.Request) ([]backends.Part, error) {
	if r.Parts == nil {
		return []backends.Part{{Name: "data", Data: r.Body}}, nil
	}
	for i, p := range r.Parts {
		if slices.ContainsFunc(r.Parts[:i], func(o backends.Part) bool { return o.Name == p.Name }) {
			return nil, fmt.Errorf("over gRPC a request has each name once, and %q is in it twice: leave `batch` out, "+
				"give the fields of a form other names, or use the http:// URL", p.Name)
		}
	}
	return r.Parts, nil
}

// Ready implements backends.Prober.
func (c *grpcConn) Ready(ctx context.Context, model string) error {
	_, err := c.Invoke(ctx, ping, nil)
	if code, _, refused := grpcraw.Refusal(err); refused && code == grpcraw.PermissionDenied {
		return &backends.RefusalError{Text: wantsToken}
	}
	if err != nil || model == "" || c.management == nil {
		return endpoint.Refused(err)
	}
	return c.management.readyFor(ctx, &c.target, model)
}

// Close implements backends.Conn.
func (c *grpcConn) Close(ctx context.Context) error {
	return errors.Join(c.GRPC.Close(ctx), c.management.close(ctx))
}

// Explain implements backends.Explainer.
func (c *grpcConn) Explain(s *backends.Sample) error {
	if s.Class == backends.Status && (s.Status == grpcraw.PermissionDenied || s.Status == grpcraw.Unauthenticated) {
		return &backends.RefusalError{Text: wantsToken}
	}
	return explain(s, &c.target, c.management)
}

// expectation describes the expected reply of a call.
type expectation struct {
	statuses []int
	fields   []backends.Field
	share    backends.Share
	streams  bool
}

func (e *expectation) accepts(code int32) bool {
	return code == 0 && len(e.statuses) == 0 || slices.Contains(e.statuses, int(code))
}

// judge classifies replies with status OK: a PredictionResponse {prediction 1}, of whose JSON values are
// compared, or a stream of them, of which the first one that fails decides.
type judge struct{ note []byte }

func expected(c *backends.Call) *expectation { return grpcraw.Expected(c).(*expectation) }

// Accepts implements grpcraw.Judge.
func (*judge) Accepts(c *backends.Call, code int32) bool { return expected(c).accepts(code) }

// Whole implements grpcraw.Judge.
func (*judge) Whole(*backends.Call, *backends.Sample) bool { return true }

// Reply implements grpcraw.Judge.
func (j *judge) Reply(c *backends.Call, pieces [][]byte, s *backends.Sample) {
	e := expected(c)
	compares := len(e.fields) > 0 && e.share.Has(s.N)
	ends := len(pieces) == 0 // a stream
	var prediction []byte
	readable := true
	if !ends {
		w := protow.Walk(pieces[0])
		for w.Next() {
			if w.Is(1) {
				prediction = w.Bytes
			}
		}
		readable = w.Err() == nil
	}
	switch {
	case s.Class != backends.OK: // an earlier message failed
	case (ends || !e.streams) && !e.accepts(0):
		j.fail(s, backends.Status, "the server answered OK, which is not expected")
	case !readable:
		j.fail(s, backends.Decode, "the reply is no PredictionResponse")
	case !compares:
	case ends && s.Responses == 0:
		j.fail(s, backends.Mismatch, "the stream has no response")
	case !ends:
		j.compare(e, prediction, s)
	}
}

// compare compares a prediction.
func (j *judge) compare(e *expectation, text []byte, s *backends.Sample) {
	sc := jsonscan.Lenient(text)
	if sc.Skip(); !sc.AtEnd() {
		text = text[:min(len(text), backends.NoteSize)]
		j.note = append(append(j.note[:0], "the reply is not JSON: "...), text...)
		s.Class = backends.Decode
		s.SetNote(j.note)
		return
	}
	for i := range e.fields {
		f := &e.fields[i]
		if j.note = jsonscan.AppendMismatch(j.note[:0], text, f.Path, f.Want); len(j.note) > 0 {
			s.Class = backends.Mismatch
			s.SetNote(j.note)
			return
		}
	}
}

func (j *judge) fail(s *backends.Sample, class backends.ErrorClass, what string) {
	j.note = append(j.note[:0], what...)
	s.Class = class
	s.SetNote(j.note)
}
