// Package tfserving speaks TensorFlow Serving's APIs over gRPC and REST: Predict, Classify and Regress, the
// metadata of signatures and the status of models.
//
// It is not: a transport (wire), a client of TensorFlow's own types.
//
//	endpoint            a request                          over gRPC                    over HTTP
//	predict             tensors                            inputs, tensor_content       instances (rows) or inputs (columns)
//	classify, regress   a JSON object, or examples         Example messages             examples
//
// Field numbers are those of tensorflow_serving/apis (predict.proto, model.proto, get_model_metadata.proto,
// get_model_status.proto) and of tensorflow/core (tensor.proto, tensor_shape.proto, types.proto,
// meta_graph.proto). Tensors are sent as tensor_content, strings as string_val, and replies may have
// either form. The JSON of REST is that of tensorflow_serving/util/json_tensor.cc.
package tfserving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	bodies "github.com/sluice-bench/sluice/backends/http"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Endpoints, and the methods of signatures that are for each.
const (
	predict  = "predict"
	classify = "classify"
	regress  = "regress"

	methodPrefix = "tensorflow/serving/"
)

// Methods.
const (
	service     = "/tensorflow.serving.PredictionService/"
	getMetadata = service + "GetModelMetadata"
	getStatus   = "/tensorflow.serving.ModelService/GetModelStatus"
)

// methods are the gRPC methods of endpoints.
var methods = map[string]string{
	predict: service + "Predict", classify: service + "Classify", regress: service + "Regress",
}

var schemes = []string{"grpc", "grpcs", "grpc+unix", "http", "https", "http+unix"}

// Kind returns the backend "tfserving".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "tfserving",
		Help:    "TensorFlow Serving over gRPC or REST: Predict, Classify, Regress",
		Schemes: schemes,
		Keys: []string{
			"model", "model_version", "signature", "endpoint", "tensors", "max_message", "headers", "compression",
			"tls", "timeout", "connect_timeout", "connections",
		},
		Endpoints: []string{predict, classify, regress},
		Abilities: abilities,
		Check:     check,
		Open: func(_ context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
			if !t.GRPC() {
				c, err := openREST(t, clock)
				if err != nil {
					return nil, err
				}
				return c, nil
			}
			c, err := open(&t, clock)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
	}
}

// abilities returns what can be done for a target. Examples, of which classify and regress make requests,
// are whole bodies: a signature does not say which features they have.
func abilities(t backends.Target) backends.Ability {
	if t.Endpoint == classify || t.Endpoint == regress {
		return backends.Unary | backends.Metadata | backends.Bodies | backends.Expects
	}
	return backends.Unary | backends.Metadata | backends.Tensors | backends.Expects
}

// check checks a target without a network.
func check(t backends.Target) error {
	switch {
	case t.Layout != "" && t.GRPC():
		return &backends.KeyError{Key: "tensors", Err: errors.New(
			"`layout` is for REST: over gRPC tensors are named; remove it, or use http://")}
	case t.Layout != "" && t.Endpoint != predict && t.Endpoint != "":
		return &backends.KeyError{Key: "tensors", Err: fmt.Errorf(
			"`layout` is for endpoint predict: the requests of %s are examples", t.Endpoint)}
	case !t.GRPC():
		return bodies.Kind().Check(t)
	}
	_, err := resolve(&t)
	return err
}

// resolve reads the URL and TLS files of a target over gRPC, and checks its headers.
func resolve(t *backends.Target) (*endpoint.Endpoint, error) {
	if err := endpoint.CheckGRPCHeaders(t); err != nil {
		return nil, err
	}
	return endpoint.Open(t, schemes)
}

// Conn is an open target over gRPC.
type Conn struct {
	*endpoint.GRPC
	target backends.Target
}

func open(t *backends.Target, clock backends.Clock) (*Conn, error) {
	e, err := resolve(t)
	if err != nil {
		return nil, err
	}
	judge := func() grpcraw.Judge { return &judge{keep: t.KeepReplies && !takesExamples(t)} }
	c, err := endpoint.OpenGRPC(t, e, clock, grpcraw.Options{Judge: judge})
	if err != nil {
		return nil, err
	}
	return &Conn{GRPC: c, target: *t}, nil
}

// read makes a control call about a model and decodes the reply. A server that does not implement the
// call is no error: then known is false.
func (c *Conn) read(
	ctx context.Context, method, model, version string, request []byte, into any,
) (known bool, err error) {
	reply, err := c.Invoke(ctx, method, request)
	code, words, refused := grpcraw.Refusal(err)
	switch {
	case refused && code == grpcraw.Unimplemented:
		return false, nil
	case refused && unknownVersion(code == grpcraw.NotFound, version, words):
		e := &backends.UnknownModelError{Model: model, Version: version, ServerText: words}
		e.Known = c.versions(ctx, model, version)
		return true, e
	case err != nil:
		return true, err
	}
	return true, protow.Decode(reply, into)
}

// modelOf returns the model of a request to a target, and its version.
func modelOf(t *backends.Target, model string) (name, version string) {
	if model == "" || model == t.Model {
		return t.Model, t.ModelVersion
	}
	return model, ""
}

func takesExamples(t *backends.Target) bool { return t.Endpoint == classify || t.Endpoint == regress }

// appendSpec appends a ModelSpec as field 1: name 1, version 2 (Int64Value), signature_name 3,
// version_label 4.
func appendSpec(dst []byte, model, version, signature string) []byte {
	spec := protow.AppendString(nil, 1, model)
	if n, err := strconv.ParseInt(version, 10, 64); err == nil {
		spec = protow.AppendString(spec, 2, protow.AppendUint(nil, 1, uint64(n)))
	} else if version != "" {
		spec = protow.AppendString(spec, 4, version)
	}
	if signature != "" {
		spec = protow.AppendString(spec, 3, signature)
	}
	return protow.AppendString(dst, 1, spec)
}

// Ready implements backends.Prober. A server without the status of models is asked for it once.
func (c *Conn) Ready(ctx context.Context, model string) error {
	return endpoint.Refused(c.isReady(ctx, model))
}

func (c *Conn) isReady(ctx context.Context, model string) error {
	name, version := modelOf(&c.target, model)
	var reply statusReply
	known, err := c.read(ctx, getStatus, name, version, appendSpec(nil, name, version, ""), &reply)
	var unknown *backends.UnknownModelError
	switch {
	case model == "" && errors.As(err, &unknown): // it answers, and its stage loads the model
		return nil
	case err != nil || !known || model == "":
		return err
	}
	return ready(name, reply.list())
}

// versions returns those of a model that answer requests, for a message about another one; nil: unknown.
func (c *Conn) versions(ctx context.Context, model, version string) []string {
	if version == "" {
		return nil
	}
	body, err := c.Invoke(ctx, getStatus, appendSpec(nil, model, "", ""))
	var reply statusReply
	if err != nil || protow.Decode(body, &reply) != nil {
		return nil
	}
	return availableOf(reply.list())
}

// Explain implements backends.Explainer.
func (c *Conn) Explain(s *backends.Sample) error { return explain(&c.target, s) }

// complete fills in the model of a request of tensors, and refuses what the protocol does not have.
func complete(r backends.Request, t *backends.Target) (backends.Request, error) {
	r, err := kserve.Complete(r, t)
	switch {
	case err != nil:
	case r.Body != nil:
		err = errors.New("requests are made of tensors: whole bodies are for backend grpc or http")
	case len(r.Parameters) > 0:
		err = errors.New("TensorFlow Serving takes no parameters: remove `parameters`")
	case r.Sequence != nil:
		err = errors.New("TensorFlow Serving keeps no sequences: remove `sequences`")
	}
	return r, err
}

// Prepare implements backends.Conn.
func (c *Conn) Prepare(r backends.Request) (*backends.Call, error) {
	if takesExamples(&c.target) {
		return c.prepareExamples(&r)
	}
	r, err := complete(r, &c.target)
	if err != nil {
		return nil, err
	}
	if r.Expect != nil && len(r.Expect.Fields) > 0 {
		return nil, errors.New("`expect.fields` name values of JSON, and these replies are tensors: put `outputs` into " +
			"the rows, or use the http:// URL")
	}
	_, version := modelOf(&c.target, r.Model)
	body := requestOf(&r, version, c.target.Signature)
	call, err := c.Call(methods[predict], r.Headers, body, nil, nil, c.target.MaxMessage, newExpectation(&r))
	if err != nil {
		return nil, err
	}
	call.Row, call.Items = r.Row, max(r.Items, 1)
	return call, nil
}

// Outputs implements backends.Replier.
func (c *Conn) Outputs(reply []byte) (list []backends.Tensor, err error) {
	j := judge{left: cmp.Or(c.target.MaxMessage, backends.ReplyLimit)}
	w := protow.Walk(reply)
	for w.Next() {
		if !w.Is(1) {
			continue
		}
		o, what := j.output(w.Bytes)
		if what == "" {
			what = j.decode(&o)
		}
		if what != "" {
			return nil, errors.New(what)
		}
		list = append(list, o.tensor())
	}
	return list, w.Err()
}

// listed joins names.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
