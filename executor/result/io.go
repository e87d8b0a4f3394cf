package result

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxSize limits a stored result, in bytes: 3,600 slices of a node are 0.7 MB.
const maxSize = 256 << 20

// Read reads a stored result. Findings get the codes of today, with hyphens. It returns an error for
// another schema, more than one document, or more than 256 MiB.
func Read(r io.Reader) (*Result, error) { return read(r, maxSize) }

func read(r io.Reader, size int64) (*Result, error) {
	var stored struct {
		Result
		Partial bool `json:"partial"` // older results: instead of state
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
		renewCodes(n.Validity.Findings)
		for _, repeat := range n.Repeats {
			renewCodes(repeat.Findings)
		}
	}
	if out.State == "" {
		if out.State = StateDone; stored.Partial {
			out.State = StatePartial
		}
	}
	return out, nil
}

// Header identifies a stored result.
type Header struct {
	Schema  string    `json:"schema"`
	Started time.Time `json:"started"`
	State   State     `json:"state"`
	Verdict Verdict   `json:"verdict"`
	Files   []string  `json:"files"` // nil: an older result, which did not list its files
}

// ReadHeader reads the header of a stored result. It returns an error for another schema, or more
// than 256 MiB.
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

// Write writes r as JSON, indented, with empty lists instead of null. The same result gives the
// same bytes.
func Write(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	var document any = r.normalized()
	if r.State == StateRunning {
		document = runningResult{Result: r.normalized()}
	}
	if err := e.Encode(document); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// runningResult omits the members that are known only at the end of a run. Its fields, always nil,
// hide those of Result.
type runningResult struct {
	*Result
	Ended    *struct{} `json:"ended,omitempty"`
	Verdict  *struct{} `json:"verdict,omitempty"`
	ExitCode *struct{} `json:"exit_code,omitempty"`
	Reason   *struct{} `json:"reason,omitempty"`
}

// normalized returns a copy of r without nil lists and with times in UTC, as the schema demands.
func (r *Result) normalized() *Result {
	c := *r
	c.Schema = Schema
	c.Started, c.Ended = r.Started.UTC(), r.Ended.UTC()
	c.State = cmp.Or(r.State, StateDone)
	c.Clients, c.Assertions, c.Files = nonNil(r.Clients), nonNil(r.Assertions), nonNil(r.Files)
	c.Nodes = make([]*Node, len(r.Nodes))
	for i, n := range r.Nodes {
		m := *n
		m.Slices, m.Errors, m.Assertions = nonNil(n.Slices), nonNil(n.Errors), nonNil(n.Assertions)
		m.Validity.Findings = nonNil(n.Validity.Findings)
		m.Metrics = nonNilMap(n.Metrics)
		m.Scopes, m.Series = mapEach(n.Scopes, Scope.normalized), mapEach(n.Series, Series.normalized)
		m.Scrapes = mapEach(n.Scrapes, Scrape.normalized)
		m.Repeats, m.Trials, m.Models = mapEach(n.Repeats, Repeat.normalized),
			mapEach(n.Trials, Trial.normalized), mapEach(n.Models, Model.normalized)
		c.Nodes[i] = &m
	}
	return &c
}

func nonNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
