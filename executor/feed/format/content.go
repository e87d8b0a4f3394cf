package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
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

// oneLine takes the end of the line off a text that is one line.
func oneLine(file []byte) []byte {
	text := bytes.TrimSuffix(bytes.TrimSuffix(file, []byte("\n")), []byte("\r"))
	if len(text) == len(file) || bytes.IndexByte(text, '\n') >= 0 || !utf8.Valid(text) {
		return file
	}
	return text
}

// lines cuts a text; what follows the end of the last line is one more if it is not empty.
func lines(file []byte) [][]byte {
	all := bytes.Split(file, []byte("\n"))
	if len(all[len(all)-1]) == 0 {
		all = all[:len(all)-1]
	}
	for i := range all {
		all[i] = bytes.TrimSuffix(all[i], []byte("\r"))
	}
	return all
}

// arrayElements gives one row of an array, or all of it, as elements of type t. Values that t
// cannot hold are mistakes.
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

// elementAt is the number at the front of b.
func elementAt(t tensor.DataType, b []byte) any {
	switch t {
	case tensor.Uint8:
		return uint64(b[0])
	case tensor.Uint16:
		return uint64(binary.LittleEndian.Uint16(b))
	case tensor.Uint32:
		return uint64(binary.LittleEndian.Uint32(b))
	case tensor.Uint64:
		return binary.LittleEndian.Uint64(b)
	case tensor.Int8:
		return int64(int8(b[0]))
	case tensor.Int16:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case tensor.Int32:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case tensor.Int64:
		return int64(binary.LittleEndian.Uint64(b))
	case tensor.FP32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return tensor.FloatAt(t, b)
}
