package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// Prepare implements backends.Conn.
func (c *conn) Prepare(r backends.Request) (*backends.Call, error) {
	var body []byte
	path := c.defaultPath("")
	e := &expectation{}
	switch {
	case r.Body != nil:
		if len(c.target.Parameters)+len(r.Parameters) > 0 {
			return nil, errors.New("parameters cannot be added to a whole body: write them into it")
		}
		if !json.Valid(r.Body) {
			return nil, errors.New("the body is not JSON")
		}
		body, r.Items = r.Body, 1
	default:
		o, err := c.object(&r, e)
		if err != nil {
			return nil, err
		}
		body, path = o.encode(), c.defaultPath(o.shape)
	}
	if err := e.expect(r.Expect, c.target.Streaming); err != nil {
		return nil, err
	}
	headers, err := c.headers(r.Headers)
	if err != nil {
		return nil, err
	}
	call := &backends.Call{Row: r.Row, Items: r.Items, MaxReply: c.target.MaxMessage, Vary: r.Vary, Impl: e}
	if r.Vary != nil {
		e.front, e.holes, body = r.Vary.Split(body)
	}
	call.Body = [][]byte{body}
	e.path, e.headers = c.Prefix+c.pathOf(cmp.Or(c.target.Path, path)), headers
	return call, c.head(call, e)
}

// head makes the head of a call.
func (c *conn) head(call *backends.Call, e *expectation) (err error) {
	call.Head, call.Holes, err = http1.Encode(http1.Request{
		Method: "POST", Host: c.Authority, Path: e.path, Headers: e.headers, Prefix: e.front, Holes: e.holes,
		Body: call.Body,
	})
	call.Size = len(call.Head)
	for _, b := range call.Body {
		call.Size += len(b)
	}
	return err
}

// headers merges the request's headers over the target's and adds those of the protocol.
func (c *conn) headers(own []backends.Header) ([]backends.Header, error) {
	out := endpoint.MergeHeaders(c.target.Headers, own)
	if err := checkHeaders(out); err != nil {
		return nil, err
	}
	add := func(name, value string) {
		if !slices.ContainsFunc(out, func(h backends.Header) bool { return strings.EqualFold(h.Name, name) }) {
			out = append(out, backends.Header{Name: name, Value: value})
		}
	}
	add("Content-Type", "application/json")
	if c.target.Streaming {
		add("Accept", "text/event-stream")
	}
	if c.target.Endpoint == messages {
		add("anthropic-version", "2023-06-01")
	}
	return out, nil
}

// defaultPath returns the path of the endpoint at most servers; of rankings it depends on the shape.
func (c *conn) defaultPath(shape string) string {
	switch c.target.Endpoint {
	case chat:
		return "/v1/chat/completions"
	case rankings:
		return rankingPaths[shape]
	case images:
		return imagePaths[shape]
	}
	return "/v1/" + c.target.Endpoint
}

// pathOf returns a path of the server, without the version if the URL's own path ends with it, as base
// URLs of OpenAI's clients do.
func (c *conn) pathOf(path string) string {
	const version = "/v1"
	if strings.HasSuffix(c.Prefix, version) && strings.HasPrefix(path, version+"/") {
		return path[len(version):]
	}
	return path
}

// object is a JSON object that is being made: members in order, each name once.
type object struct {
	names  []string
	values [][]byte
	shape  string // of rankings and images
}

func (o *object) set(name string, value []byte) {
	if i := slices.Index(o.names, name); i >= 0 {
		o.values[i] = value
		return
	}
	o.names, o.values = append(o.names, name), append(o.values, value)
}

// get returns a member; nil: there is none.
func (o *object) get(name string) []byte {
	if i := slices.Index(o.names, name); i >= 0 {
		return o.values[i]
	}
	return nil
}

// put sets a member to a value that is encoded.
func (o *object) put(name string, value any) error {
	text, err := encoded(value)
	if err == nil {
		o.set(name, text)
	}
	return err
}

// putPath sets a member to a value. Dots in its name lead into objects:
// stream_options.continuous_usage_stats.
func (o *object) putPath(name string, value any) error {
	first, rest, nested := strings.Cut(name, ".")
	if !nested {
		return o.put(name, value)
	}
	inner := &object{}
	if text := o.get(first); text != nil {
		s := jsonscan.Strict(text)
		for s.Enter('{'); s.More('}'); {
			key := string(s.Key())
			inner.set(key, s.Value())
		}
		if !s.OK() {
			return fmt.Errorf("%s is no object: it is %s", first, text)
		}
	}
	err := inner.putPath(rest, value)
	o.set(first, inner.encode())
	return err
}

// encoded returns a value as JSON, without escapes that only HTML needs.
func encoded(value any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}

func (o *object) encode() []byte {
	b := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			b = append(b, ',')
		}
		key, _ := encoded(name) // a string has JSON
		b = append(append(append(b, key...), ':'), o.values[i]...)
	}
	return append(b, '}')
}

// object makes the body of a request: what the endpoint needs, the parameters of target and request
// over it, and the members of the row that nothing else reads over those. It sets what is expected of a
// good reply.
func (c *conn) object(r *backends.Request, e *expectation) (o *object, err error) {
	if len(r.Rows) == 0 {
		return nil, fmt.Errorf("endpoint %s takes rows of text", c.target.Endpoint)
	}
	rows := make([]*row, len(r.Rows))
	for i := range rows {
		rows[i] = newRow(r.Rows[i])
	}
	o = &object{}
	if err := o.put("model", cmp.Or(r.Model, c.target.Model)); err != nil {
		return nil, err
	}
	switch c.target.Endpoint {
	case embeddings:
		e.results, err = o.embed(rows)
	case rankings:
		e.results, err = anyResults, o.rank(rows)
	case images:
		e.results, err = anyResults, o.picture(rows)
	default:
		if err = o.generate(c.target.Endpoint, rows[0]); err == nil {
			err = c.limit(o, rows[0], cmp.Or(r.Model, c.target.Model), e)
		}
	}
	if err != nil {
		return nil, err
	}
	if c.target.Streaming {
		o.set("stream", []byte("true"))
		if c.target.Endpoint == chat || c.target.Endpoint == completions {
			o.set("stream_options", []byte(`{"include_usage":true}`))
		}
	}
	for _, list := range [...][]backends.Parameter{c.target.Parameters, r.Parameters} {
		for _, p := range list {
			if err := o.putPath(p.Name, p.Value); err != nil {
				return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
			}
		}
	}
	for _, m := range rows[0].rest() {
		o.set(m.Name, m.Value)
	}
	if stream := string(o.get("stream")); (stream == "true") != c.target.Streaming {
		return nil, fmt.Errorf("stream is %s: the target's `streaming` decides that", cmp.Or(stream, "false"))
	}
	return o, nil
}
