package feed

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/feed/format"
)

// decode makes a tensor of a value, and returns the number of items of a batch if it has the batch
// dimension, else 0. The text of an error begins where the tensor's name ends: "[3]: …" or ": …".
func decode(b *build, p *backends.Port, v *format.Value, what string,
) (t backends.Tensor, items int64, err error) {
	t = backends.Tensor{Name: p.Name, Type: p.Type}
	if v.Type != "" && v.Type != string(p.Type) {
		return t, 0, fmt.Errorf(": datatype is %s, the model's is %s", v.Type, p.Type)
	}
	n := int64(-1)
	if v.Form == format.Content {
		n = fixedElements(b, p)
	}
	e, err := v.Elements(p.Type, n)
	if err != nil {
		return t, 0, err
	}
	shape := e.Shape
	if v.Type != "" {
		if items, shape, err = withoutBatch(b, p, shape); err != nil {
			return t, 0, err
		}
	}
	if shape == nil {
		shape = fromNesting(b, p, e.Nested)
	}
	each := e.Count / max(items, 1)
	if what == "output" && shape == nil {
		t.Shape, err = infer(p.Shape, each)
	} else {
		t.Shape, err = shapeOf(b, p, shape, each)
	}
	if err != nil {
		return t, 0, fmt.Errorf(": %w", err)
	}
	want, err := tensor.Elements(t.Shape)
	if err != nil {
		return t, 0, fmt.Errorf(": %w", err)
	}
	if want *= max(items, 1); want != e.Count {
		return t, 0, errors.New(": " + wrongCount(t.Shape, p.Type, want, e.Count, v))
	}
	t.Data = e.Data
	if params := cmp.Or(e.Params, v.Params); params != nil {
		if what == "output" {
			return t, 0, errors.New(": an expected output has no parameters")
		}
		t.Parameters = *params
	}
	return t, items, nil
}

// wrongCount describes the elements that a shape takes and those found, and what is wrong with a file
// that was meant to be read in another way.
func wrongCount(shape []int64, t tensor.DataType, want, got int64, v *format.Value) string {
	text := fmt.Sprintf("shape %v has %d elements, %d found", shape, want, got)
	if size := int64(t.Size()); size > 0 {
		text += fmt.Sprintf(" (%d bytes of %s, %d found)", want*size, t, got*size)
	}
	if v.Form == format.Content && bytes.HasPrefix(v.Text, []byte(format.NpyMagic)) {
		text += "; the file begins with the header of a NumPy file: say `format: npy`, or name it .npy"
	}
	return text
}

// withoutBatch takes the batch dimension off a shape that has it.
func withoutBatch(b *build, p *backends.Port, shape []int64) (int64, []int64, error) {
	if !b.sig.Batched || p.ShapeTensor {
		return 0, shape, nil
	}
	if len(shape) == 0 || shape[0] == 0 {
		return 0, nil, fmt.Errorf(": shape %v has no batch dimension in front, which the model takes", shape)
	}
	return shape[0], shape[1:], nil
}

// fromNesting takes the shape from how the lists are nested, where that says more than a flat list.
// A leading 1 beyond the model's dimensions is the batch.
func fromNesting(b *build, p *backends.Port, nested []int64) []int64 {
	switch {
	case len(nested) < 2:
		return nil
	case len(nested) == len(p.Shape)+1 && b.sig.Batched && nested[0] == 1:
		return nested[1:]
	}
	return nested
}

// fixedElements returns the number of elements that the plan's shape, or the model's, takes; -1: any.
func fixedElements(b *build, p *backends.Port) int64 {
	shape := plannedShape(b, p)
	if shape == nil {
		shape = p.Shape
	}
	if slices.Contains(shape, -1) || p.AnyRank && len(shape) == 0 {
		return -1
	}
	n, _ := tensor.Elements(shape)
	return n
}
