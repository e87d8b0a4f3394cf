package result

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
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
	out := &stored.Result
	if err := decode(r, size, &stored, &out.Schema); err != nil {
		return nil, err
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
	if err := decode(r, maxSize, &h, &h.Schema); err != nil {
		return nil, err
	}
	return &h, nil
}

// decode reads one JSON document of at most size bytes into v, of which schema is a part.
func decode(r io.Reader, size int64, v any, schema *string) error {
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
	if *schema != Schema {
		return fmt.Errorf("read result: schema is %q, want %q", *schema, Schema)
	}
	return nil
}

// Write writes r as JSON, indented, with empty lists instead of null. The same result gives the
// same bytes.
func Write(w io.Writer, r *Result) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	whole := r.normalized()
	var document any = whole
	if r.State == StateRunning {
		document = runningResult{Result: whole}
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
	c, _ := withoutNil(reflect.ValueOf(*r)).Interface().(Result)
	c.Schema = Schema
	c.Started, c.Ended = r.Started.UTC(), r.Ended.UTC()
	c.State = cmp.Or(r.State, StateDone)
	return &c
}

// withoutNil returns a copy of v in which lists and maps are empty instead of nil. What pointers and
// interfaces hold is shared, but for nodes.
func withoutNil(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range out.NumField() {
			if f := out.Field(i); f.CanSet() {
				f.Set(withoutNil(f))
			}
		}
		return out
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(withoutNil(v.Index(i)))
		}
		return out
	case reflect.Map:
		if v.IsNil() {
			return reflect.MakeMap(v.Type())
		}
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*Node]() {
			return withoutNil(v.Elem()).Addr()
		}
	}
	return v
}
