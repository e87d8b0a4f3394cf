package backends

import (
	"bytes"
	"slices"

	"github.com/sluice-bench/sluice/backends/tensor"
)

// Vary says which words of a request are others each time it is sent, so that no server has seen its text
// before. In the text of a row each byte of such a word is a mark; a backend that takes rows replaces the
// marks by holes of its calls.
type Vary struct {
	Words []string // of one length in bytes; a power of two of them
	Bits  int      // of that power
	Seed  uint64
}

// Marks of the bytes of a word: characters that no text has.
const (
	VaryRequest byte = 0x7f // other words in each request
	VaryTrial   byte = 0x1a // other words in each trial, the same in its requests
)

// Fields of holes for words: the number of the word in the body is added,
// modulo MaxVaried.
const (
	FieldVaryRequest uint8 = 64
	FieldVaryTrial   uint8 = 128
	MaxVaried              = 64
)

// Split makes a body of JSON with marks one with holes: the part that ends with the last of them, the holes
// in it, and the rest.
func (v *Vary) Split(body []byte) (front []byte, holes []Hole, rest []byte) {
	front = unescapeMarks(body)
	if holes = v.AppendHoles(nil, front, 0); holes == nil {
		return nil, nil, front
	}
	last := holes[len(holes)-1]
	at := int(last.At) + int(last.Width)
	return front[:at:at], holes, front[at:]
}

// AppendHoles appends the holes of the words in a text whose marks are not escaped; at is the place of the text.
// Words are numbered after those of holes.
func (v *Vary) AppendHoles(holes []Hole, text []byte, at int) []Hole {
	size := len(v.Words[0])
	var numbers [2]int // of words, by mark
	for _, h := range holes {
		if h.Field >= FieldVaryRequest {
			numbers[h.Field/FieldVaryTrial]++
		}
	}
	for i := 0; i < len(text); i++ {
		kind, field := 0, FieldVaryRequest
		switch text[i] {
		case VaryRequest:
		case VaryTrial:
			kind, field = 1, FieldVaryTrial
		default:
			continue
		}
		holes = append(holes, Hole{uint32(at + i), uint8(size), field + uint8(numbers[kind]%MaxVaried)})
		numbers[kind]++
		i += size - 1
	}
	return holes
}

// Filled returns tensors with the words of the request with an id in place of the marks in their texts.
func (v *Vary) Filled(inputs []Tensor, id uint64) []Tensor {
	inputs = slices.Clone(inputs)
	var holes []Hole
	for i := range inputs {
		t := &inputs[i]
		if t.Type != tensor.Bytes {
			continue
		}
		t.Data = bytes.Clone(t.Data)
		for element, rest, ok := tensor.CutElement(t.Data); ok; element, rest, ok = tensor.CutElement(rest) {
			known := len(holes)
			holes = v.AppendHoles(holes, element, 0)
			for _, h := range holes[known:] {
				copy(element[h.At:int(h.At)+int(h.Width)], v.Word(h.Field, id))
			}
		}
	}
	return inputs
}

// unescapeMarks returns a copy of a text of JSON in which each mark is one byte.
func unescapeMarks(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		switch {
		case bytes.HasPrefix(body[i:], escapedTrial):
			out, i = append(out, VaryTrial), i+len(escapedTrial)-1
		case body[i] == '\\' && i+1 < len(body):
			out, i = append(out, body[i], body[i+1]), i+1
		default:
			out = append(out, body[i])
		}
	}
	return out
}

// escapedTrial is a mark as JSON has it.
var escapedTrial = []byte(`\u001a`)

// Word returns the word of a hole with one of these fields in the request with an id.
func (v *Vary) Word(field uint8, id uint64) string {
	n, at := id, field-FieldVaryRequest
	if field >= FieldVaryTrial {
		n, at = ^(id >> 40), field-FieldVaryTrial
	}
	each := 48 / v.Bits // words that are made of one number
	n = spread(v.Seed ^ spread(n+uint64(int(at)/each)<<56))
	return v.Words[n>>(int(at)%each*v.Bits)&uint64(len(v.Words)-1)]
}

// spread is the finaliser of SplitMix64.
func spread(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
