package result

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxSize is how large a stored result may be: 3,600 slices of a node are 0.7 MB.
const maxSize = 256 << 20

// Read reads a stored result. It refuses another schema, more than one document and anything over 256 MiB.
func Read(r io.Reader) (*Result, error) { return read(r, maxSize) }

func read(r io.Reader, size int64) (*Result, error) {
	var stored struct {
		Result
		Partial bool `json:"partial"` // instead of state, until there was one
	}
	if err := decode(r, size, &stored); err != nil {
		return nil, err
	}
	out := &stored.Result
	if out.Schema != Schema {
		return nil, fmt.Errorf("read result: schema is %q, want %q", out.Schema, Schema)
	}
	for i, n := range out.Nodes {
		if n == nil {
			return nil, fmt.Errorf("read result: nodes[%d] is null", i)
		}
	}
	if out.State == "" {
		if out.State = StateDone; stored.Partial {
			out.State = StatePartial
		}
	}
	return out, nil
}

// Header is what tells one stored result from another.
type Header struct {
	Schema  string    `json:"schema"`
	Started time.Time `json:"started"`
	State   State     `json:"state"`
	Verdict Verdict   `json:"verdict"`
	Files   []string  `json:"files"` // nil: written before results listed their files
}

// ReadHeader reads the header of a stored result. It refuses another schema and anything over 256 MiB.
func ReadHeader(r io.Reader) (*Header, error) {
	var h Header
	if err := decode(r, maxSize, &h); err != nil {
		return nil, err
	}
	if h.Schema != Schema {
		return nil, fmt.Errorf("read result: schema is %q, want %q", h.Schema, Schema)
	}
	return &h, nil
}

// decode reads one JSON document of at most size bytes into v.
func decode(r io.Reader, size int64, v any) error {
	limited := &io.LimitedReader{R: r, N: size + 1}
	d := json.NewDecoder(limited)
	if err := d.Decode(v); err != nil {
		if limited.N <= 0 {
			err = fmt.Errorf("larger than %d bytes", size)
		}
		return fmt.Errorf("read result: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("read result: something follows the result")
	}
	return nil
}

// Write writes r as JSON, indented, with empty lists instead of null. The same result gives the same bytes.
func Write(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	var document any = r.whole()
	if r.State == StateRunning {
		document = unjudged{Result: r.whole()}
	}
	if err := e.Encode(document); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// unjudged leaves out of a result what only the end of its run tells. Its fields, always nil, hide those of the result.
type unjudged struct {
	*Result
	Ended    *struct{} `json:"ended,omitempty"`
	Verdict  *struct{} `json:"verdict,omitempty"`
	ExitCode *struct{} `json:"exit_code,omitempty"`
	Reason   *struct{} `json:"reason,omitempty"`
}

// whole is a copy of r without nil lists and with its times in UTC: what the schema demands.
func (r *Result) whole() *Result {
	c := *r
	c.Schema = Schema
	c.Started, c.Ended = r.Started.UTC(), r.Ended.UTC()
	c.State = cmp.Or(r.State, StateDone)
	c.Clients, c.Assertions, c.Files = list(r.Clients), list(r.Assertions), list(r.Files)
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
