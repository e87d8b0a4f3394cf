package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends/tensor"
)

// contentElements reads a file that holds one tensor: raw row-major little-endian bytes; for BYTES,
// by how many elements the shape takes:
//
//	one, or any number     the whole file, as it is; a text of one line loses the end of the line
//	several                one a line
func contentElements(t tensor.DataType, file []byte, n int64) (e Elements, err error) {
	if t != tensor.Bytes {
		e.Data = file
		e.Count, err = count(t, file)
		return e, err
	}
	parts := [][]byte{oneLine(file)}
	if n > 1 {
		if parts = lines(file); int64(len(parts)) != n {
			return e, fmt.Errorf(": the shape takes %d strings, one a line; %d found", n, len(parts))
		}
	}
	for _, part := range parts {
		if e.Data, err = tensor.AppendElement(e.Data, t, part); err != nil {
			return e, fmt.Errorf(": %w", err)
		}
	}
	e.Count = int64(len(parts))
	return e, nil
}

// oneLine removes the end of the line from a text of one line.
func oneLine(file []byte) []byte {
	text := bytes.TrimSuffix(bytes.TrimSuffix(file, []byte("\n")), []byte("\r"))
	if len(text) == len(file) || bytes.IndexByte(text, '\n') >= 0 || !utf8.Valid(text) {
		return file
	}
	return text
}

// lines returns the lines of a text without their ends.
func lines(file []byte) [][]byte {
	var all [][]byte
	for line := range bytes.Lines(file) {
		all = append(all, bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
	}
	return all
}

// arrayElements returns one row of an array, or all of it, as elements of type t. Values that t
// cannot hold are errors.
func arrayElements(t tensor.DataType, a *Array, row int) (e Elements, err error) {
	data, shape := a.part(row)
	e.Shape, e.Count = shape, 1
	for _, d := range shape {
		e.Count *= d
	}
	if a.typ == t {
		e.Data = data
		return e, nil
	}
	if a.typ == tensor.Bytes || a.typ == tensor.Bool || t == tensor.Bytes || t == tensor.Bool {
		return e, fmt.Errorf(": the array holds %s, the model takes %s", a.typ, t)
	}
	size := a.typ.Size()
	e.Data = make([]byte, 0, int(e.Count)*t.Size())
	for i := range int(e.Count) {
		if e.Data, err = tensor.AppendElement(e.Data, t, elementAt(a.typ, data[i*size:])); err != nil {
			return e, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return e, nil
}

// elementAt returns the number at the front of b: a uint64, int64 or float64.
func elementAt(t tensor.DataType, b []byte) any {
	var word [8]byte
	unused := 64 - 8*copy(word[:], b[:t.Size()])
	bits := binary.LittleEndian.Uint64(word[:])
	switch t {
	case tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64:
		return bits
	case tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64:
		return int64(bits<<unused) >> unused
	}
	return tensor.FloatAt(t, b)
}
