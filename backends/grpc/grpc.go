// Package grpc calls any gRPC method, whose messages it knows from .proto files, a descriptor set or
// the server's reflection.
//
// It is not: a transport (wire/grpcraw), a client of a certain service, a compiler of .proto files
// (protocompile).
//
// Every request is encoded before the clock starts; the number that a counter has in it is written over its
// place at the end of the message. Replies are never decoded: their wire form is checked in place, and the
// fields that the plan expects are found in it by their numbers.
//
//	the method streams    a request                   a reply
//	not at all            one message                 one message
//	its requests          one message or several      one message
//	its replies           one message                 any number of messages, each a response
//	both                  one message or several      any number of messages, each a response
//
// The messages of a request are sent one after the other, and then the client's side of the call is
// closed; the call ends with the server's status. A call that streams has a connection to itself.
package grpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

var schemes = []string{"grpc", "grpcs", "grpc+unix"}

// Kind returns the backend "grpc".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "grpc",
		Help:    "any gRPC method, by reflection or its .proto files",
		Schemes: schemes,
		Keys: []string{
			"method", "protos", "inactivity_timeout", "max_message", "streaming", "headers", "compression",
			"tls", "timeout", "connect_timeout", "connections",
		},
		Abilities: func(t backends.Target) backends.Ability {
			a := backends.Unary | backends.Bodies | backends.Expects | backends.Counters
			if t.Streaming {
				a |= backends.Stream
			}
			return a
		},
		Check: func(t backends.Target) error {
			_, _, err := resolve(&t)
			return err
		},
		Open: func(_ context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
			c, err := open(&t, clock)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
	}
}

// resolve reads the target's files. The method is nil if only the server knows it.
func resolve(t *backends.Target) (e *endpoint.Endpoint, m *method, err error) {
	if e, err = endpoint.Open(t, schemes); err != nil {
		return e, nil, err
	}
	if _, _, err = splitMethod(t.Method); err != nil {
		return e, nil, &backends.KeyError{Key: "method", Err: err}
	}
	if err = endpoint.CheckGRPCHeaders(t); err != nil {
		return e, nil, err
	}
	if t.Streaming && t.Connections > 0 {
		return e, nil, &backends.KeyError{Key: "connections", Err: errors.New(
			"calls that stream have a connection each: remove `connections`, or write per_request")}
	}
	if t.Protos != nil {
		files, err := compile(t.Protos)
		if err != nil {
			return e, nil, &backends.KeyError{Key: "protos", Err: err}
		}
		if m, err = findMethod(files, t); err != nil {
			return e, nil, err
		}
	}
	return e, m, nil
}

// splitMethod splits package.Service/Method.
func splitMethod(name string) (service, method string, err error) {
	service, method, ok := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	switch {
	case name == "":
		err = errors.New("backend grpc needs `method`, such as acme.Search/Query")
	case !ok || service == "" || method == "" || strings.Contains(method, "/"):
		err = fmt.Errorf("method %q must have the form package.Service/Method", name)
	}
	return service, method, err
}

// Conn is an open target.
type Conn struct {
	*endpoint.GRPC
	target backends.Target

	mu     sync.Mutex
	method *method // nil: the server has not been asked yet
}

func open(t *backends.Target, clock backends.Clock) (*Conn, error) {
	e, m, err := resolve(t)
	if err != nil {
		return nil, err
	}
	c, err := endpoint.OpenGRPC(t, e, clock, grpcraw.Options{
		Judge: func() grpcraw.Judge { return &judge{} }, Framed: t.Streaming, Streaming: t.Streaming,
	})
	if err != nil {
		return nil, err
	}
	return &Conn{GRPC: c, target: *t, method: m}, nil
}

// Describe implements backends.Describer.
func (c *Conn) Describe(ctx context.Context, _ string) (backends.Signature, error) {
	m, err := c.known(ctx)
	if err != nil {
		return backends.Signature{}, err
	}
	return backends.Signature{Several: m.clientStreams}, nil
}

// known returns the method, which is asked for at the server unless files describe it.
func (c *Conn) known(ctx context.Context) (*method, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.method != nil {
		return c.method, nil
	}
	files, err := reflectFiles(ctx, c.Invoke, &c.target)
	if err != nil {
		return nil, err
	}
	m, err := findMethod(files, &c.target)
	if err != nil {
		return nil, &backends.RefusalError{Text: err.Error()}
	}
	c.method = m
	return m, nil
}

// healthMethod is that of the health service (grpc/health/v1/health.proto): the reply's status 1 is
// SERVING.
const (
	healthMethod = "/grpc.health.v1.Health/Check"
	serving      = 1
)

// Ready implements backends.Prober. A server without the health service is ready if it answers.
func (c *Conn) Ready(ctx context.Context, _ string) error {
	reply, err := c.Invoke(ctx, healthMethod, nil)
	var health struct {
		Status int64 `proto:"1"`
	}
	switch code, _, refused := grpcraw.Refusal(err); {
	case err != nil && (!refused || code == grpcraw.Unavailable):
		return err
	case err == nil && protow.Decode(reply, &health) == nil && health.Status > serving:
		return errors.New("the server's health service says that it is not serving")
	}
	_, err = c.known(ctx)
	return err
}

// Explain implements backends.Explainer. A message from the wire begins with the name of the code.
func (c *Conn) Explain(s *backends.Sample) error {
	if s.Class != backends.Status {
		return nil
	}
	switch s.Status {
	case grpcraw.Unauthenticated, grpcraw.PermissionDenied:
		return &backends.RefusalError{Text: "the server wants a token, or another one, such as headers: " +
			"{authorization: \"Bearer ${token}\"} with a secret variable: " + string(s.Note)}
	case grpcraw.Unimplemented:
		text := "the server does not have method " + c.target.Method + ", so check `method`"
		if c.target.Protos != nil {
			text += ": `protos` says what it could have"
		}
		return &backends.RefusalError{Text: text + "; the server says: " + string(s.Note)}
	}
	return nil
}

// Prepare implements backends.Conn.
func (c *Conn) Prepare(r backends.Request) (*backends.Call, error) {
	if r.Parts != nil {
		return nil, errors.New("the request is a form, and gRPC takes messages: see `format` of data")
	}
	if err := endpoint.CheckWhole(&r); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.target.ConnectTimeout)
	defer cancel()
	m, err := c.known(ctx)
	if err != nil {
		return nil, err
	}
	e, err := m.expect(r.Expect)
	if err != nil {
		return nil, err
	}
	e.streams = c.target.Streaming
	messages, err := m.encode(r.Body, r.BodyType)
	if err != nil {
		return nil, err
	}
	counters, err := m.count(r.Counters)
	if err != nil {
		return nil, err
	}
	messages, head, holes := counters.fill(messages, c.target.Streaming)
	call, err := c.Call(m.path, r.Headers, messages, head, holes, c.target.MaxMessage, e)
	if err != nil {
		return nil, err
	}
	call.Counters = counters.counters
	call.Row, call.Items = r.Row, max(r.Items, 1)
	return call, nil
}
