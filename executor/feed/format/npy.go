package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends/tensor"
)

// Array holds the content of a NumPy file (.npy), row-major and little-endian. Strings are
// length-prefixed, as BYTES are; starts holds the offset of each, and the end.
type Array struct {
	typ    tensor.DataType
	shape  []int64
	data   []byte
	starts []int
}

// NpyMagic begins every .npy file.
const NpyMagic = "\x93NUMPY"

// npyHeader is the dictionary in front of the data, as NumPy writes it.
var npyHeader = regexp.MustCompile(
	`^\{'descr': ?'([^']*)', ?'fortran_order': ?(True|False), ?'shape': ?\(([0-9, ]*)\),? ?\}\s*$`)

// ParseNpy reads a .npy file of version 1 to 3.
func ParseNpy(file []byte) (*Array, error) {
	if !bytes.HasPrefix(file, []byte(NpyMagic)) || len(file) < 12 {
		return nil, errors.New("this is no NumPy file: it does not begin with \\x93NUMPY")
	}
	size, at := int(binary.LittleEndian.Uint16(file[8:])), 10
	if file[6] > 1 {
		size, at = int(binary.LittleEndian.Uint32(file[8:])), 12
	}
	if size > len(file)-at {
		return nil, fmt.Errorf("the header of %d bytes does not fit the file of %d", size, len(file))
	}
	head := npyHeader.FindStringSubmatch(string(file[at : at+size]))
	if head == nil {
		return nil, fmt.Errorf("the header cannot be read: %.80q", file[at:at+size])
	}
	shape, err := npyShape(head[3])
	if err != nil {
		return nil, err
	}
	n, err := tensor.Elements(shape)
	if err != nil {
		return nil, err
	}
	a := &Array{shape: shape}
	width, err := a.dtype(head[1])
	if err != nil {
		return nil, err
	}
	data := file[at+size:]
	if int64(width)*n != int64(len(data)) {
		return nil, fmt.Errorf("shape %v of %s takes %d bytes, %d follow the header",
			shape, head[1], int64(width)*n, len(data))
	}
	if len(data) == 0 && max(n, int64(a.rows())) > MaxRows { // the file does not have to hold them
		return nil, fmt.Errorf("shape %v of %s: rows and strings without a byte can be %d at most",
			shape, head[1], MaxRows)
	}
	if head[1][0] == '>' {
		data = swapped(data, unitOf(head[1], width))
	}
	if head[2] == "True" && len(shape) > 1 {
		data = rowMajor(data, shape, width)
	}
	a.data = data
	if a.typ == tensor.Bytes {
		a.strings(head[1], width, int(n))
	}
	return a, nil
}

func npyShape(text string) ([]int64, error) {
	shape := []int64{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		d, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("the shape (%s) cannot be read", text)
		}
		shape = append(shape, d)
	}
	return shape, nil
}

// dtype reads a type as NumPy writes it, such as <f4: the datatype and the bytes of an element.
func (a *Array) dtype(descr string) (width int, err error) {
	known := map[string]tensor.DataType{
		"b1": tensor.Bool, "u1": tensor.Uint8, "u2": tensor.Uint16, "u4": tensor.Uint32, "u8": tensor.Uint64,
		"i1": tensor.Int8, "i2": tensor.Int16, "i4": tensor.Int32, "i8": tensor.Int64,
		"f2": tensor.FP16, "f4": tensor.FP32, "f8": tensor.FP64, "V2": tensor.BF16,
	}
	if len(descr) < 3 || !strings.ContainsRune("<>|=", rune(descr[0])) {
		return 0, fmt.Errorf("the dtype %q has no datatype of the protocol", descr)
	}
	if t, ok := known[descr[1:]]; ok {
		a.typ = t
		return t.Size(), nil
	}
	chars, err := strconv.Atoi(descr[2:])
	switch {
	case descr[1] == 'O':
	case err == nil && descr[1] == 'S' && chars <= 1<<30:
		a.typ = tensor.Bytes
		return chars, nil
	case err == nil && descr[1] == 'U' && chars <= 1<<28:
		a.typ = tensor.Bytes
		return 4 * chars, nil
	}
	return 0, fmt.Errorf(
		"the dtype %q has no datatype of the protocol; strings are S or U arrays, such as "+
			"numpy.array([b\"a\"])",
		descr)
}

// unitOf returns the number of bytes that are swapped together in big-endian data.
func unitOf(descr string, width int) int {
	switch descr[1] {
	case 'U':
		return 4
	case 'S':
		return 1
	}
	return width
}

func swapped(data []byte, unit int) []byte {
	out := slices.Clone(data)
	for i := 0; unit > 1 && i+unit <= len(out); i += unit {
		slices.Reverse(out[i : i+unit])
	}
	return out
}

// rowMajor orders column-major elements of width bytes.
func rowMajor(data []byte, shape []int64, width int) []byte {
	out := make([]byte, 0, len(data))
	index, strides := make([]int64, len(shape)), make([]int64, len(shape))
	stride := int64(width)
	for i, d := range shape {
		strides[i] = stride
		stride *= d
	}
	for at := int64(0); len(out) < len(data); {
		out = append(out, data[at:at+int64(width)]...)
		for i := len(shape) - 1; i >= 0; i-- {
			index[i]++
			at += strides[i]
			if index[i] < shape[i] {
				break
			}
			at -= strides[i] * shape[i]
			index[i] = 0
		}
	}
	return out
}

// strings turns n texts of fixed width into BYTES. NumPy fills up with NULs.
func (a *Array) strings(descr string, width, n int) {
	var out []byte
	for i := range n {
		a.starts = append(a.starts, len(out))
		text := a.data[i*width : (i+1)*width]
		if descr[1] == 'U' {
			text = utf32(text)
		}
		text = bytes.TrimRight(text, "\x00")
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(text))), text...)
	}
	a.starts, a.data = append(a.starts, len(out)), out
}

func utf32(text []byte) (out []byte) {
	for ; len(text) >= 4; text = text[4:] {
		r := rune(binary.LittleEndian.Uint32(text))
		if utf16.IsSurrogate(r) {
			r = utf8.RuneError
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// rows returns the size of the first dimension.
func (a *Array) rows() int {
	if len(a.shape) == 0 {
		return 1
	}
	return int(a.shape[0])
}

// part returns row i with its shape; -1: the whole array.
func (a *Array) part(i int) (data []byte, shape []int64) {
	if i < 0 {
		return a.data, a.shape
	}
	shape = a.shape[1:]
	n, _ := tensor.Elements(shape) // no more than all of them
	if a.typ == tensor.Bytes {
		return a.data[a.starts[i*int(n)]:a.starts[(i+1)*int(n)]], shape
	}
	size := int(n) * a.typ.Size()
	return a.data[i*size : (i+1)*size], shape
}
