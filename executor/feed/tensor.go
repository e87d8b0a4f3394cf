package feed

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// elements are a tensor's before its shape is settled.
type elements struct {
	data  []byte
	shape []int64 // that the data says itself; nil: none
	// nested is how lists are nested; it counts only where it says more than a flat list.
	nested []int64
	count  int64
	params *[]backends.Parameter // nil: none
}

// decode makes a tensor of a value, and says how many items of a batch it holds where it has the batch dimension (else 0).
// The error text starts where the tensor's name ends: "[3]: …" or ": …".
func (b *builder) decode(p *backends.Port, v *value, what string) (t backends.Tensor, items int64, err error) {
	t = backends.Tensor{Name: p.Name, Type: p.Type}
	if v.typ != "" && v.typ != string(p.Type) {
		return t, 0, fmt.Errorf(": datatype is %s, the model's is %s", v.typ, p.Type)
	}
	e, err := b.elements(p, v)
	if err != nil {
		return t, 0, err
	}
	shape := e.shape
	if v.typ != "" {
		if items, shape, err = b.withoutBatch(p, shape); err != nil {
			return t, 0, err
		}
	}
	if shape == nil {
		shape = b.fromNesting(p, e.nested)
	}
	each := e.count / max(items, 1)
	if what == "output" && shape == nil {
		t.Shape, err = infer(p.Shape, each)
	} else {
		t.Shape, err = b.shape(p, shape, each)
	}
	if err != nil {
		return t, 0, fmt.Errorf(": %w", err)
	}
	want, err := tensor.Elements(t.Shape)
	if err != nil {
		return t, 0, fmt.Errorf(": %w", err)
	}
	if want *= max(items, 1); want != e.count {
		return t, 0, errors.New(": " + wrongCount(t.Shape, p.Type, want, e.count, v))
	}
	t.Data = e.data
	if params := cmp.Or(e.params, v.params); params != nil {
		if what == "output" {
			return t, 0, errors.New(": an expected output has no parameters")
		}
		t.Parameters = *params
	}
	return t, items, nil
}

// wrongCount says what a shape takes and what there is. A file that was meant to be read in another way is told.
func wrongCount(shape []int64, t tensor.DataType, want, got int64, v *value) string {
	text := fmt.Sprintf("shape %v has %d elements, %d found", shape, want, got)
	if size := int64(t.Size()); size > 0 {
		text += fmt.Sprintf(" (%d bytes of %s, %d found)", want*size, t, got*size)
	}
	if v.form == content && bytes.HasPrefix(v.text, []byte(npyMagic)) {
		text += "; the file begins with the header of a NumPy file: say `format: npy`, or name it .npy"
	}
	return text
}

// withoutBatch takes the batch dimension off a shape that has it.
func (b *builder) withoutBatch(p *backends.Port, shape []int64) (int64, []int64, error) {
	if !b.sig.Batched || p.ShapeTensor {
		return 0, shape, nil
	}
	if len(shape) == 0 || shape[0] == 0 {
		return 0, nil, fmt.Errorf(": shape %v has no batch dimension in front, which the model takes", shape)
	}
	return shape[0], shape[1:], nil
}

// elements reads a value's elements as those of a port.
func (b *builder) elements(p *backends.Port, v *value) (e elements, err error) {
	switch v.form {
	case cell:
		return cellElements(p.Type, v.text)
	case content:
		return b.contentElements(p, v.text)
	case arrayRow:
		return arrayElements(p.Type, v.array, v.arrayRow)
	case v2Raw:
		e.data, e.shape = v.text, v.shape
		e.count, err = count(p.Type, e.data)
		return e, err
	case v2JSON:
		e, err = listElements(p.Type, v.text)
		e.shape, e.nested = v.shape, nil
		return e, err
	case jsonTensor, jsonAny:
	}
	switch k := jsonscan.Kind(v.text); {
	case k == "a map":
		return wrappedElements(p.Type, v.text)
	case k == "a list":
		return listElements(p.Type, v.text)
	case v.form == jsonTensor || k == "null":
		return e, fmt.Errorf(": a tensor is a list, or a map with content or b64; found %s", k)
	}
	f := flattener{typ: p.Type, Scanner: jsonscan.Strict(v.text)}
	f.element()
	return elements{data: f.data, count: 1}, f.failed()
}

// fromNesting takes the shape from how the lists are nested, where that says more than a flat list. A leading 1 beyond
// the model's dimensions is the batch.
func (b *builder) fromNesting(p *backends.Port, nested []int64) []int64 {
	switch {
	case len(nested) < 2:
		return nil
	case len(nested) == len(p.Shape)+1 && b.sig.Batched && nested[0] == 1:
		return nested[1:]
	}
	return nested
}

// wrappedElements reads {"content": …, "shape": …} and {"b64": …, "shape": …}.
func wrappedElements(t tensor.DataType, text []byte) (e elements, err error) {
	c := jsonscan.Strict(text)
	var inner, b64 []byte
	var shape []int64
	var params *[]backends.Parameter
	for c.Enter('{'); c.More('}'); {
		switch key := string(c.Key()); key {
		case "content":
			inner = c.Value()
		case "b64":
			b64 = c.Value()
		case "shape":
			shape = dims(&c)
		case "parameters":
			for c.Enter('{'); c.More('}'); {
				params = parameter(&c, params, string(c.Key()))
			}
		default:
			c.Fail("a tensor map holds content or b64, shape and parameters; it has %q", key)
		}
	}
	if c.OK() && jsonscan.Kind(inner) == "a map" {
		if b64 != nil {
			c.Fail("a tensor map has both content and b64")
		}
		inner, b64 = nil, innerB64(&c, inner)
	}
	switch {
	case !c.OK():
		return e, fmt.Errorf(": %w", c.Err())
	case inner == nil && b64 == nil:
		return e, errors.New(": a tensor map needs content or b64")
	case inner != nil && b64 != nil:
		return e, errors.New(": a tensor map has both content and b64")
	case inner != nil && inner[0] != '[':
		return e, fmt.Errorf(": content is a list or {\"b64\": …}, found %s", jsonscan.Kind(inner))
	case inner != nil:
		e, err = listElements(t, inner)
	default:
		e.data, e.count, err = base64Elements(t, b64)
	}
	e.shape, e.params = shape, params
	return e, err
}

// innerB64 reads {"b64": …} under content.
func innerB64(c *jsonscan.Scanner, text []byte) (b64 []byte) {
	in := jsonscan.Strict(text)
	for in.Enter('{'); in.More('}'); {
		if string(in.Key()) != "b64" {
			c.Fail("content is a list or {\"b64\": …}")
		}
		b64 = in.Value()
	}
	if b64 == nil {
		c.Fail("content is a list or {\"b64\": …}")
	}
	return b64
}

func base64Elements(t tensor.DataType, text []byte) (data []byte, n int64, err error) {
	if text[0] != '"' {
		return nil, 0, fmt.Errorf(": b64 is a string, found %s", jsonscan.Kind(text))
	}
	c := jsonscan.Strict(text)
	if data, err = decodeBase64(string(c.Text())); err != nil {
		return nil, 0, fmt.Errorf(": %w", err)
	}
	n, err = count(t, data)
	return data, n, err
}

// listElements reads nested lists of elements.
func listElements(t tensor.DataType, text []byte) (elements, error) {
	f := flattener{typ: t, Scanner: jsonscan.Strict(text)}
	if size := t.Size(); size > 0 {
		f.data = make([]byte, 0, size*(bytes.Count(text, []byte(","))+1))
	}
	if jsonscan.Kind(text) != "a list" {
		return elements{}, fmt.Errorf(": data is a list, found %s", jsonscan.Kind(text))
	}
	f.list(0)
	return elements{data: f.data, nested: f.shape, count: f.n}, f.failed()
}

// flattener reads elements, and how lists are nested around them.
type flattener struct {
	jsonscan.Scanner
	typ   tensor.DataType
	data  []byte
	shape []int64 // sizes of the first list at each depth
	leaf  int     // depth of the elements, once known
	n     int64
	where bool // err says already at which element
}

// failed is the first mistake, with its element.
func (f *flattener) failed() error {
	switch {
	case f.OK():
		return nil
	case f.where:
		return f.Err()
	}
	return fmt.Errorf("[%d]: %w", f.n, f.Err())
}

func (f *flattener) list(depth int) {
	if depth > 32 {
		f.Fail("lists are nested deeper than 32")
		return
	}
	first := len(f.shape) == depth
	if first {
		f.shape = append(f.shape, 0)
	}
	var size int64
	for f.Enter('['); f.More(']'); size++ {
		inner := f.Peek() == '['
		switch {
		case inner && f.leaf == depth+1:
			f.Fail("a list is mixed with elements")
		case inner:
			f.list(depth + 1)
		case f.leaf == 0:
			f.leaf = depth + 1
			f.element()
		case f.leaf != depth+1:
			f.Fail("an element is mixed with lists")
		default:
			f.element()
		}
	}
	if !f.OK() {
		return
	}
	if first {
		f.shape[depth] = size
	} else if f.shape[depth] != size {
		f.Fail("lists of one depth have %d and %d entries", f.shape[depth], size)
	}
}

// element reads one element.
func (f *flattener) element() {
	var err error
	switch b := f.Peek(); {
	case b == '"':
		text := f.Text()
		if f.OK() {
			f.data, err = tensor.AppendElement(f.data, f.typ, textValue(f.typ, text))
		}
	case b == '{' && f.typ == tensor.Bytes:
		err = f.binary()
	case b == '{':
		f.Fail("a map is not a %s", f.typ)
	default:
		err = f.word()
	}
	if err != nil {
		f.Fail("%w", err)
	}
	if f.OK() {
		f.n++
	}
}

// textValue is a string as AppendElement takes it: for strings without a copy.
func textValue(t tensor.DataType, text []byte) any {
	if t == tensor.Bytes {
		return text
	}
	return string(text)
}

// binary reads {"b64": …}, a string of any bytes.
func (f *flattener) binary() error {
	text := innerB64(&f.Scanner, f.Value())
	if !f.OK() || jsonscan.Kind(text) != "a string" {
		return errors.New(`a map in a list of strings is {"b64": "…"}`)
	}
	c := jsonscan.Strict(text)
	data, err := decodeBase64(string(c.Text()))
	if err != nil {
		return err
	}
	f.data, err = tensor.AppendElement(f.data, f.typ, data)
	return err
}

// word reads a number, bool, null or what stands for a number that JSON does not have.
func (f *flattener) word() (err error) {
	w := f.Word()
	if !f.OK() {
		return nil
	}
	switch w[0] {
	case 't', 'f':
		f.data, err = tensor.AppendElement(f.data, f.typ, w[0] == 't')
	case 'n':
		f.data, err = tensor.AppendElement(f.data, f.typ, nil)
	default:
		f.data, err = tensor.AppendNumber(f.data, f.typ, w)
	}
	return err
}

// cellElements reads a cell of a table: a string as it stands, one number or bool, or a JSON list of them.
func cellElements(t tensor.DataType, text []byte) (e elements, err error) {
	if t == tensor.Bytes {
		e.data, err = tensor.AppendElement(nil, t, text)
		e.count = 1
		return e, err
	}
	text = bytes.TrimSpace(text)
	switch {
	case len(text) > 0 && text[0] == '[':
		c := jsonscan.Strict(text)
		c.Skip()
		if c.End(); !c.OK() {
			return e, fmt.Errorf(": %w", c.Err())
		}
		return listElements(t, text)
	case t == tensor.Bool:
		b, wrong := strconv.ParseBool(string(text)) // true True TRUE t 1 …
		if wrong != nil {
			return e, fmt.Errorf(": %.64q is not a bool", text)
		}
		e.data, err = tensor.AppendElement(nil, t, b)
	case !jsonscan.IsNumber(text) && string(text) != "NaN" && string(text) != "Infinity" && string(text) != "-Infinity":
		return e, fmt.Errorf(": %.64q does not fit %s: it is no number", text, t)
	default:
		e.data, err = tensor.AppendNumber(nil, t, text)
	}
	if err != nil {
		return e, fmt.Errorf(": %w", err)
	}
	e.count = 1
	return e, nil
}

// count is the number of elements in raw bytes. BYTES elements carry their length in front, and must fill the data.
func count(t tensor.DataType, data []byte) (int64, error) {
	if size := int64(t.Size()); size > 0 {
		if int64(len(data))%size != 0 {
			return 0, fmt.Errorf(": %d bytes are no whole number of %s", len(data), t)
		}
		return int64(len(data)) / size, nil
	}
	var n int64
	for rest := data; len(rest) > 0; n++ {
		if len(rest) < 4 || uint64(binary.LittleEndian.Uint32(rest)) > uint64(len(rest)-4) {
			return 0, fmt.Errorf("[%d]: the 4-byte length in front of a BYTES element does not fit the data", n)
		}
		rest = rest[4+binary.LittleEndian.Uint32(rest):]
	}
	return n, nil
}
