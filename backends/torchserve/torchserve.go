// Package torchserve speaks TorchServe's inference API. Over HTTP a prediction is a body or a form that goes
// to /predictions/NAME or /predictions/NAME/VERSION, and a stream is one of chunks; over gRPC it is a map of
// inputs, and a stream is one of messages. Its management API, on a port of its own, says which workers are up.
//
// It is not: an encoder of tensors, as a handler takes bytes.
//
// Source: TorchServe 0.12, docs/inference_api.md, docs/management_api.md, docs/token_authorization_api.md,
// inference.proto, and what the server answers.
package torchserve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/http"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
)

// Kind returns the backend "torchserve".
func Kind() backends.Kind {
	return backends.Kind{
		Name:    "torchserve",
		Help:    "TorchServe over HTTP or gRPC: bodies, forms and streams",
		Schemes: append([]string{"grpc", "grpcs", "grpc+unix"}, http.Schemes...),
		Keys:    slices.Concat([]string{"model", "model_version", "path", "ready", "management"}, http.Keys),
		Abilities: func(t backends.Target) backends.Ability {
			if t.GRPC() {
				return http.Abilities(t) &^ backends.Counters // a body is the bytes of an input
			}
			return http.Abilities(t)
		},
		Check: func(t backends.Target) error {
			if _, err := openManagement(&t, backends.Clock{}); err != nil {
				return err
			}
			if t.GRPC() {
				_, err := checkGRPC(&t)
				return err
			}
			return http.Kind().Check(t)
		},
		Open: func(_ context.Context, t backends.Target, clock backends.Clock) (backends.Conn, error) {
			m, err := openManagement(&t, clock)
			if err != nil {
				return nil, err
			}
			if t.GRPC() {
				c, err := openGRPC(t, clock, m)
				if err != nil {
					return nil, err
				}
				return c, nil
			}
			c, err := http.Open(t, clock, http.Options{Advise: advise})
			if err != nil {
				return nil, err
			}
			return &conn{Conn: c, target: t, management: m}, nil
		},
	}
}

// conn is an open target over HTTP.
type conn struct {
	*http.Conn
	target     backends.Target
	management *management
}

// modelOf returns the model of a request and its version. A body without content is refused: no handler
// is known to take none.
func modelOf(t *backends.Target, r *backends.Request) (name, version string, err error) {
	name, version = r.Model, r.ModelVersion
	if name == "" || name == t.Model {
		name, version = t.Model, cmp.Or(version, t.ModelVersion)
	}
	switch {
	case name == "":
		err = errors.New("no model is named")
	case len(r.Body) == 0 && len(r.Parts) == 0:
		err = errors.New("the request has no body: say with `data` what is sent, such as " +
			"data: {bodies: images/*.jpg}")
	}
	return name, version, err
}

// Prepare implements backends.Conn.
func (c *conn) Prepare(r backends.Request) (*backends.Call, error) {
	name, version, err := modelOf(&c.target, &r)
	if err != nil {
		return nil, err
	}
	path := cmp.Or(c.target.Path, "/predictions") + "/" + url.PathEscape(name)
	if version != "" {
		path += "/" + url.PathEscape(version)
	}
	return c.Encode("POST", path, &r, http.Member{})
}

// Types of TorchServe's refusals.
const (
	invalidKey     = "InvalidKeyException"
	unknownModel   = "ModelNotFoundException"
	unknownVersion = "ModelVersionNotFoundException"
	noWorker       = "ServiceUnavailableException"
)

// Words of its messages, which are all that gRPC has.
const (
	notFound  = "Model not found: "
	noVersion = "Model version: "
	// also of a full queue
	workerless = "has no worker to serve inference request"
)

const wantsToken = "the server wants a token: write headers: {Authorization: \"Bearer KEY\"} with the " +
	"inference key of its key_file.json, which expires after an hour unless the server is configured otherwise"

// advise returns what comes before a refusal's own words, which say of a full queue that no worker is
// up, and of a missing or wrong token that it failed.
func advise(status int, cause []byte) string {
	switch {
	case status == nethttp.StatusRequestEntityTooLarge:
		return "the request is larger than the server's max_request_size: "
	case strings.HasPrefix(string(cause), noWorker):
		return "the model's queue (job_queue_size) is full, or no worker is up: "
	case strings.HasPrefix(string(cause), invalidKey):
		return "no token, or one that is wrong or expired: "
	}
	return ""
}

// Ready implements backends.Prober. The server says Healthy also while no worker is up: its management API
// knows it, and without that a model is ready only when it has answered a real request (Explain).
func (c *conn) Ready(ctx context.Context, model string) error {
	_, err := c.Fetch(ctx, nethttp.MethodGet, "/ping", nil)
	var status *endpoint.StatusError
	switch {
	case errors.As(err, &status) && strings.Contains(string(status.Body), invalidKey):
		return &backends.RefusalError{Text: wantsToken}
	case err != nil || model == "" || c.management == nil:
		return endpoint.Refused(err)
	}
	return c.management.readyFor(ctx, &c.target, model)
}

// Close implements backends.Conn.
func (c *conn) Close(ctx context.Context) error {
	return errors.Join(c.Conn.Close(ctx), c.management.close(ctx))
}

// Explain implements backends.Explainer.
func (c *conn) Explain(s *backends.Sample) error {
	if err := explain(s, &c.target, c.management); err != nil {
		return err
	}
	return c.Conn.Explain(s)
}

// explain says why a server answers no request, from the reply to the first one. Over gRPC a note begins
// with the name of the code, and the message ends with a Java stack trace.
func explain(s *backends.Sample, t *backends.Target, m *management) error {
	note := string(s.Note)
	if at := strings.Index(note, notFound); at >= 0 && s.Class == backends.Status {
		words, _, _ := strings.Cut(note[at:], "\n")
		return &backends.UnknownModelError{Model: strings.TrimPrefix(words, notFound), ServerText: words}
	}
	if at := strings.Index(note, noVersion); at >= 0 && s.Class == backends.Status {
		words, _, _ := strings.Cut(note[at:], "\n")
		return &backends.UnknownModelError{Model: t.Model, Version: t.ModelVersion, ServerText: words}
	}
	switch {
	case strings.Contains(note, invalidKey):
		return &backends.RefusalError{Text: wantsToken}
	case strings.Contains(note, workerless):
		return fmt.Errorf("no worker of model %s is up, or its queue (job_queue_size) is full: start one with "+
			"PUT /models/%s?min_worker=1 of the management API; the server says %s", t.Model, t.Model, note)
	case s.Class == backends.TimedOut && s.BytesReceived == 0 && m != nil:
		return fmt.Errorf("%s: TorchServe does not answer while all workers of the model are busy or gone", note)
	case s.Class == backends.TimedOut && s.BytesReceived == 0:
		return fmt.Errorf("%s: TorchServe does not answer while no worker of the model is up, though its /ping "+
			"says Healthy; name its management port, management: {url: http://HOST:8081}, to see the workers", note)
	}
	return nil
}
