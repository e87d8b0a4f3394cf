package http

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/coding"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

const (
	contentType   = "Content-Type"
	contentCoding = "Content-Encoding"
)

// Prepare implements backends.Conn.
func (c *Conn) Prepare(r backends.Request) (*backends.Call, error) {
	return c.Encode(cmp.Or(c.target.Method, "POST"), c.target.Path, &r, Member{})
}

// Encode encodes a request for a path, which follows the prefix of the target's URL. member is
// one that each good reply has.
func (c *Conn) Encode(method, path string, r *backends.Request, member Member) (*backends.Call, error) {
	if err := endpoint.CheckWhole(r); err != nil {
		return nil, err
	}
	body, mediaType := r.Body, r.BodyType
	if r.Parts != nil {
		body, mediaType = form(r.Parts)
	}
	headers, err := c.headers(r.Headers, mediaType, len(body) > 0)
	if err != nil {
		return nil, err
	}
	t, err := fillIn(r, body)
	if err != nil {
		return nil, err
	}
	call := &backends.Call{
		Row: r.Row, Items: max(r.Items, 1), MaxReply: c.target.MaxMessage, Body: [][]byte{t.rest},
		Counters: t.counters, Impl: c.expected(r, headers, member),
	}
	q := http1.Request{
		Method: method, Host: c.Authority, Path: cmp.Or(c.Prefix+path, "/"), Headers: headers,
		Prefix: t.front, Holes: t.holes, Body: call.Body,
	}
	if name := c.target.Compression; name != "" && len(body) > 0 {
		if q.Coding, err = coding.WithPrefix(name, len(t.front), q.Body); err != nil {
			return nil, err
		}
		q.Body = [][]byte{q.Coding.After}
		call.Body, call.Seal, call.Size = q.Body, q.Coding, q.Coding.TrailerSize()
	}
	if call.Head, call.Holes, err = http1.Encode(q); err != nil {
		return nil, err
	}
	call.Size += len(call.Head) + len(call.Body[0])
	return call, nil
}

// headers merges the request's headers over the target's and adds those about the content, unless the
// plan sets them.
func (c *Conn) headers(own []backends.Header, mediaType string, body bool) ([]backends.Header, error) {
	out := endpoint.MergeHeaders(c.target.Headers, own)
	for _, h := range out {
		if err := checkHeader(&c.target, h); err != nil {
			return nil, err
		}
	}
	has := func(name string) bool {
		return slices.ContainsFunc(out, func(h backends.Header) bool { return strings.EqualFold(h.Name, name) })
	}
	if body && !has(contentType) {
		out = append(out,
			backends.Header{Name: contentType, Value: cmp.Or(mediaType, "application/octet-stream")})
	}
	if name := c.target.Compression; name != "" {
		if body {
			out = append(out, backends.Header{Name: contentCoding, Value: name})
		}
		if !c.target.Streaming && !has(endpoint.AcceptCoding) {
			out = append(out, backends.Header{Name: endpoint.AcceptCoding, Value: name})
		}
	}
	return out, nil
}

// expected describes a good reply; it is Call.Impl.
type expected struct {
	statuses   []int // none: 200
	fields     []backends.Field
	share      backends.Share
	mayBeCoded bool   // the request allows a compressed reply
	member     Member // of each good reply
}

func (c *Conn) expected(r *backends.Request, headers []backends.Header, member Member) *expected {
	e := &expected{member: member, mayBeCoded: slices.ContainsFunc(headers, endpoint.AsksForCoding)}
	if x := r.Expect; x != nil {
		e.statuses, e.fields, e.share = x.Status, x.Fields, x.Share
	}
	return e
}

// compares reports whether values of the reply to a request are looked at.
func (e *expected) compares(s *backends.Sample) bool {
	return len(e.member.Names) > 0 || len(e.fields) > 0 && e.share.Has(s.N)
}

func (e *expected) accepts(status int) bool {
	return status == 200 && len(e.statuses) == 0 || slices.Contains(e.statuses, status)
}
