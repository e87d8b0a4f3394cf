package backends

import "bytes"

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
	front = make([]byte, 0, len(body))
	size := len(v.Words[0])
	var numbers [2]int // of words, by mark
	for i, end := 0, 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == '\\' && bytes.HasPrefix(body[i:], escapedTrial):
			c, i = VaryTrial, i+len(escapedTrial)-1
		case c == '\\' && i+1 < len(body):
			front, i = append(front, c), i+1
			c = body[i]
		}
		front = append(front, c)
		if c != VaryRequest && c != VaryTrial || len(front) < end {
			continue
		}
		kind, field := 0, FieldVaryRequest
		if c == VaryTrial {
			kind, field = 1, FieldVaryTrial
		}
		holes = append(holes, Hole{uint32(len(front) - 1), uint8(size), field + uint8(numbers[kind]%MaxVaried)})
		numbers[kind]++
		end = len(front) + size
	}
	if len(holes) == 0 {
		return nil, nil, front
	}
	last := holes[len(holes)-1]
	at := int(last.At) + int(last.Width)
	return front[:at:at], holes, front[at:]
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
