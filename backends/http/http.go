// Package http drives any HTTP/1.1 endpoint: bodies go out as they are in the data, and a reply is
// good by its status and by the values of its JSON that the plan expects.
//
// It is not: a protocol of inference, which knows models and tensors. A kind whose protocol is bodies
// at a path builds on Conn (torchserve).
package http

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// Kind returns the backend "http".
func Kind() backends.Kind {
	return backends.Kind{
		Name:      "http",
		Help:      "any HTTP endpoint: bodies as they are, status and JSON values of replies checked",
		Schemes:   Schemes,
		Keys:      append([]string{"method", "path"}, Keys...),
		Abilities: Abilities,
		Check: func(t backends.Target) error {
			_, err := resolve(&t)
			return err
		},
		Open: func(_ context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
			return Open(t, clock, Options{Advise: advise})
		},
	}
}

// Schemes are the URL schemes of the kind.
var Schemes = []string{"http", "https", "http+unix"}

// Keys are the target keys that Conn reads.
var Keys = []string{
	"headers", "compression", "tls", "timeout", "connect_timeout", "inactivity_timeout", "connections",
	"max_message", "streaming",
}

// Abilities returns the abilities of a target that takes whole bodies.
func Abilities(t backends.Target) backends.Ability {
	a := backends.Unary | backends.Bodies | backends.Expects | backends.Counters
	if t.Streaming {
		a |= backends.Stream
	}
	return a
}

// Conn is an open target that takes whole bodies.
type Conn struct {
	*endpoint.HTTP
	target backends.Target
}

// Options are a kind's own rules for replies.
type Options struct {
	// Advise returns what a note says before the cause of a refusal; nil: nothing.
	Advise func(status int, cause []byte) string
	// Reader returns the reader of a lane; nil: replies are judged by their Member and their fields.
	Reader func() Reader
}

// Reader reads the JSON of each good reply whose call has a Member.Want. It sets the class and the note
// of a reply that is not good.
type Reader interface {
	Read(want any, text []byte, s *backends.Sample)
}

// Open reads what Check reads. It sends nothing.
func Open(t backends.Target, clock backends.Clock, o Options) (*Conn, error) {
	e, err := resolve(&t)
	if err != nil {
		return nil, err
	}
	wire := func() backends.Wire {
		j := judge{advise: o.Advise}
		if o.Reader != nil {
			j.reader = o.Reader()
		}
		if t.Streaming {
			return http1.New(&streamJudge{judge: j})
		}
		return http1.New(&j)
	}
	return &Conn{HTTP: endpoint.OpenHTTP(t, e, clock, wire), target: t}, nil
}

// resolve returns the endpoint of a target, whose method and headers it checks.
func resolve(t *backends.Target) (*endpoint.Endpoint, error) {
	if strings.Trim(t.Method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" || t.Method == "CONNECT" {
		err := fmt.Errorf("method %q is not an HTTP method that carries a request, such as POST", t.Method)
		return nil, &backends.KeyError{Key: "method", Err: err}
	}
	for _, h := range t.Headers {
		if err := checkHeader(t, h); err != nil {
			return nil, &backends.KeyError{Key: "headers", Err: err}
		}
	}
	return endpoint.Open(t, Schemes)
}

// checkHeader refuses a header that the client sets itself.
func checkHeader(t *backends.Target, h backends.Header) error {
	if t.Streaming {
		if err := endpoint.CheckStreamHeaders([]backends.Header{h}); err != nil {
			return err
		}
	}
	return endpoint.CheckHeader(h, contentCoding)
}
