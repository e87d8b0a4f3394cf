package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxSize is how large a stored result may be: 3,600 slices of a node are 0.7 MB.
const maxSize = 256 << 20

// Read reads a stored result. It refuses another schema, more than one document and anything over 256 MiB.
func Read(r io.Reader) (*Result, error) { return read(r, maxSize) }

func read(r io.Reader, size int64) (*Result, error) {
	limited := &io.LimitedReader{R: r, N: size + 1}
	d := json.NewDecoder(limited)
	var out Result
	if err := d.Decode(&out); err != nil {
		if limited.N <= 0 {
			err = fmt.Errorf("larger than %d bytes", size)
		}
		return nil, fmt.Errorf("read result: %w", err)
	}
	if out.Schema != Schema {
		return nil, fmt.Errorf("read result: schema is %q, want %q", out.Schema, Schema)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read result: something follows the result")
	}
	for i, n := range out.Nodes {
		if n == nil {
			return nil, fmt.Errorf("read result: nodes[%d] is null", i)
		}
	}
	return &out, nil
}

// Write writes r as JSON, indented, with empty lists instead of null. The same result gives the same bytes.
func Write(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r.whole()); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// whole is a copy of r without nil lists and with its times in UTC: what the schema demands.
func (r *Result) whole() *Result {
	c := *r
	c.Schema = Schema
	c.Started, c.Ended = r.Started.UTC(), r.Ended.UTC()
	c.Clients, c.Assertions = list(r.Clients), list(r.Assertions)
	c.Nodes = make([]*Node, len(r.Nodes))
	for i, n := range r.Nodes {
		m := *n
		m.Slices, m.Errors, m.Assertions = list(n.Slices), list(n.Errors), list(n.Assertions)
		m.Validity.Findings = list(n.Validity.Findings)
		m.Metrics = filled(n.Metrics)
		m.Scopes, m.Series = each(n.Scopes, Scope.whole), each(n.Series, Series.whole)
		m.Scrapes = each(n.Scrapes, Scrape.whole)
		m.Repeats, m.Trials, m.Models = each(n.Repeats, Repeat.whole), each(n.Trials, Trial.whole), each(n.Models, Model.whole)
		c.Nodes[i] = &m
	}
	return &c
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
