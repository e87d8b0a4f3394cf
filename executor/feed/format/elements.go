package format

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// Elements holds the elements of a tensor whose shape is not settled yet.
type Elements struct {
	Data  []byte
	Shape []int64 // in the data; nil: none
	// Nested holds the sizes of nested lists; it counts only if it says more than a flat list.
	Nested []int64
	Count  int64
	Params *[]backends.Parameter // nil: none
}

// Elements reads the elements of a value as those of datatype t. n is the number that the shape takes,
// -1 for any: it decides whether a text file is one string or one a line.
func (v *Value) Elements(t tensor.DataType, n int64) (e Elements, err error) {
	switch v.Form {
	case Cell:
		return cellElements(t, v.Text)
	case Content:
		return contentElements(t, v.Text, n)
	case ArrayRow:
		return arrayElements(t, v.Array, v.ArrayRow)
	case V2Raw:
		e.Data, e.Shape = v.Text, v.shape
		e.Count, err = count(t, e.Data)
		return e, err
	case V2JSON:
		e, err = listElements(t, v.Text)
		e.Shape, e.Nested = v.shape, nil
		return e, err
	case JSONTensor, JSONAny:
	}
	switch k := jsonscan.Kind(v.Text); {
	case k == "a map":
		return wrappedElements(t, v.Text)
	case k == "a list":
		return listElements(t, v.Text)
	case v.Form == JSONTensor || k == "null":
		return e, fmt.Errorf(": a tensor is a list, or a map with content or b64; found %s", k)
	}
	f := flattener{typ: t, Scanner: jsonscan.Strict(v.Text)}
	f.element()
	return Elements{Data: f.data, Count: 1}, f.failed()
}

// wrappedElements reads {"content": …, "shape": …} and {"b64": …, "shape": …}.
func wrappedElements(t tensor.DataType, text []byte) (e Elements, err error) {
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
		e.Data, e.Count, err = base64Elements(t, b64)
	}
	e.Shape, e.Params = shape, params
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
func listElements(t tensor.DataType, text []byte) (Elements, error) {
	f := flattener{typ: t, Scanner: jsonscan.Strict(text)}
	if size := t.Size(); size > 0 {
		f.data = make([]byte, 0, size*(bytes.Count(text, []byte(","))+1))
	}
	if jsonscan.Kind(text) != "a list" {
		return Elements{}, fmt.Errorf(": data is a list, found %s", jsonscan.Kind(text))
	}
	f.list(0)
	return Elements{Data: f.data, Nested: f.shape, Count: f.n}, f.failed()
}

// flattener reads elements, and the nesting of the lists around them.
type flattener struct {
	jsonscan.Scanner
	typ   tensor.DataType
	data  []byte
	shape []int64 // sizes of the first list at each depth
	leaf  int     // depth of the elements, once known
	n     int64
	where bool // the error names its element already
}

// failed returns the first mistake, with its element.
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
		var text any = f.Text() // of strings without a copy
		if f.typ != tensor.Bytes {
			text = string(text.([]byte))
		}
		if f.OK() {
			f.data, err = tensor.AppendElement(f.data, f.typ, text)
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

// word reads a number, bool, null, or a word for a number that JSON does not have.
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

// cellElements reads a cell of a table: a string unchanged, one number or bool, or a JSON list of them.
func cellElements(t tensor.DataType, text []byte) (e Elements, err error) {
	if t == tensor.Bytes {
		e.Data, err = tensor.AppendElement(nil, t, text)
		e.Count = 1
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
		e.Data, err = tensor.AppendElement(nil, t, b)
	case !jsonscan.IsNumber(text) &&
		string(text) != "NaN" && string(text) != "Infinity" && string(text) != "-Infinity":
		return e, fmt.Errorf(": %.64q does not fit %s: it is no number", text, t)
	default:
		e.Data, err = tensor.AppendNumber(nil, t, text)
	}
	if err != nil {
		return e, fmt.Errorf(": %w", err)
	}
	e.Count = 1
	return e, nil
}

// count counts the elements in raw bytes. BYTES elements carry their length in front, and must fill the
// data.
func count(t tensor.DataType, data []byte) (int64, error) {
	if size := int64(t.Size()); size > 0 {
		if int64(len(data))%size != 0 {
			return 0, fmt.Errorf(": %d bytes are no whole number of %s", len(data), t)
		}
		return int64(len(data)) / size, nil
	}
	n, whole := tensor.CountStrings(data)
	if !whole {
		return 0, fmt.Errorf("[%d]: the 4-byte length in front of a BYTES element does not fit the data", n)
	}
	return n, nil
}

// decodeBase64 reads standard base64, with or without padding.
func decodeBase64(text string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		return data, nil
	}
	if data, rawErr := base64.RawStdEncoding.DecodeString(text); rawErr == nil {
		return data, nil
	}
	return nil, fmt.Errorf("b64 is not base64: %w", err)
}
