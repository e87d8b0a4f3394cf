package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

// decode reads one tensor. The error text starts where the tensor's name ends: "[3]: …" or ": …".
func (b *builder) decode(p backends.Port, raw json.RawMessage, what string) (backends.Tensor, error) {
	t := backends.Tensor{Name: p.Name, Type: p.Type}
	content, shape := raw, []int64(nil)
	var b64 *string
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		var err error
		if content, b64, shape, err = wrapped(raw); err != nil {
			return t, fmt.Errorf(": %w", err)
		}
	}
	var nested []int64
	var elements int64
	var err error
	if b64 != nil {
		if t.Data, err = decodeBase64(*b64); err != nil {
			return t, fmt.Errorf(": %w", err)
		}
		elements, err = count(t)
	} else {
		t.Data, nested, elements, err = flatten(p.Type, content)
	}
	if err != nil {
		return t, err
	}
	if shape == nil {
		shape = b.fromNesting(p, nested)
	}
	if what == "output" && shape == nil {
		t.Shape, err = infer(p.Shape, elements)
	} else {
		t.Shape, err = b.shape(p, shape, elements)
	}
	if err != nil {
		return t, fmt.Errorf(": %w", err)
	}
	want, err := backends.Elements(t.Shape)
	if err != nil {
		return t, fmt.Errorf(": %w", err)
	}
	if want != elements {
		return t, fmt.Errorf(": shape %v has %d elements, %d found", t.Shape, want, elements)
	}
	return t, nil
}

// fromNesting takes the shape from how the lists are nested, where that says more than a flat list. A leading 1 beyond
// the model's dimensions is the batch.
func (b *builder) fromNesting(p backends.Port, nested []int64) []int64 {
	switch {
	case len(nested) < 2:
		return nil
	case len(nested) == len(p.Shape)+1 && b.sig.Batched && nested[0] == 1:
		return nested[1:]
	}
	return nested
}

// wrapped reads {"content": …, "shape": …} and {"b64": …, "shape": …}.
func wrapped(raw json.RawMessage) (content json.RawMessage, b64 *string, shape []int64, err error) {
	var w struct {
		Content json.RawMessage `json:"content"`
		B64     *string         `json:"b64"`
		Shape   []int64         `json:"shape"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return nil, nil, nil, fmt.Errorf("a tensor map holds content or b64, and shape (a list of integers): %w", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(w.Content), []byte("{")) {
		var inner struct {
			B64 *string `json:"b64"`
		}
		if err := json.Unmarshal(w.Content, &inner); err != nil || inner.B64 == nil {
			return nil, nil, nil, errors.New("content is a list or {\"b64\": …}")
		}
		w.B64, w.Content = inner.B64, nil
	}
	switch {
	case w.B64 == nil && w.Content == nil:
		return nil, nil, nil, errors.New("a tensor map needs content or b64")
	case w.B64 != nil && w.Content != nil:
		return nil, nil, nil, errors.New("a tensor map has both content and b64")
	}
	return w.Content, w.B64, w.Shape, nil
}

// flatten reads nested lists of elements: their bytes, the sizes of the lists, the number of elements.
func flatten(t backends.DataType, raw json.RawMessage) (data []byte, shape []int64, n int64, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	tok, err := d.Token()
	if err != nil || tok != json.Delim('[') {
		return nil, nil, 0, errors.New(": a tensor is a list, or a map with content or b64")
	}
	f := flattener{dec: d, typ: t}
	if err := f.list(0); err != nil {
		return nil, nil, 0, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, 0, errors.New(": there is something after the list")
	}
	return f.data, f.shape, f.n, nil
}

type flattener struct {
	dec   *json.Decoder
	typ   backends.DataType
	data  []byte
	shape []int64 // sizes of the first list at each depth
	leaf  int     // depth of the elements, once known
	n     int64
}

// list reads the rest of a list whose bracket is already read.
func (f *flattener) list(depth int) error {
	if depth > 32 {
		return errors.New(": lists are nested deeper than 32")
	}
	first := len(f.shape) == depth
	if first {
		f.shape = append(f.shape, 0)
	}
	var size int64
	for f.dec.More() {
		tok, err := f.dec.Token()
		if err != nil {
			return fmt.Errorf(": %w", err)
		}
		size++
		if tok == json.Delim('[') {
			if f.leaf == depth+1 {
				return fmt.Errorf("[%d]: a list stands beside elements", f.n)
			}
			if err := f.list(depth + 1); err != nil {
				return err
			}
			continue
		}
		if f.leaf == 0 {
			f.leaf = depth + 1
		}
		if f.leaf != depth+1 {
			return fmt.Errorf("[%d]: an element stands beside lists", f.n)
		}
		if err := f.element(tok); err != nil {
			return err
		}
	}
	if _, err := f.dec.Token(); err != nil { // the closing bracket
		return fmt.Errorf(": %w", err)
	}
	if first {
		f.shape[depth] = size
	} else if f.shape[depth] != size {
		return fmt.Errorf("[%d]: lists of one depth have %d and %d entries", f.n, f.shape[depth], size)
	}
	return nil
}

func (f *flattener) element(tok json.Token) error {
	var v any = tok
	if _, ok := tok.(json.Delim); ok {
		return fmt.Errorf("[%d]: a map is not a %s", f.n, f.typ)
	}
	if text, ok := tok.(string); ok {
		if word, ok := strings.CutPrefix(text, bare); ok {
			v = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[word]
		}
	}
	var err error
	if f.data, err = backends.AppendElement(f.data, f.typ, v); err != nil {
		return fmt.Errorf("[%d]: %w", f.n, err)
	}
	f.n++
	return nil
}
