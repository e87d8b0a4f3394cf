package backends

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Counter is a number in a request that is another one each time it is sent: From for the first request of a
// measurement, one more for each after it, and From again after To.
type Counter struct {
	Path     string // of the value in the message, as Field has it
	From, To uint64 // To 0: it has no end
	Form     CounterForm
}

// CounterForm is how a counter is written into its hole.
type CounterForm uint8

// Forms.
const (
	CounterDigits CounterForm = iota // zero-padded
	CounterNumber                    // of JSON, padded with spaces
	CounterVarint                    // of protobuf, as wide as the hole
	CounterZigzag                    // the same for sint32 and sint64
	CounterFixed                     // little-endian, of 4 or 8 bytes
	CounterFloat                     // of 4 or 8 bytes, little-endian
)

// FieldCounter is the field of the hole for the first counter of Call.Counters; the numbers of the others, which
// are MaxCounters in all, are added.
const FieldCounter uint8 = 32

// MaxCounters bounds the counters of a call.
const MaxCounters = 32

// arrivalBits are the bits of Fields.ID that count the requests of a measurement.
const arrivalBits = 40

// Value returns the number of the request with an id.
func (c *Counter) Value(id uint64) uint64 {
	n := id & (1<<arrivalBits - 1)
	if c.To > 0 {
		n %= c.To - c.From + 1
	}
	return c.From + n
}

// Digits returns how many digits the largest value has.
func (c *Counter) Digits() int {
	most := c.To
	if most == 0 {
		most = c.From + 1<<arrivalBits
	}
	return len(strconv.FormatUint(most, 10))
}

// Limit sets the end of a counter whose values may not exceed most, and reports whether it can.
func (c *Counter) Limit(most uint64) bool {
	if end, over := bits.Add64(c.From, 1<<arrivalBits, 0); c.To == 0 && (over > 0 || end > most) {
		c.To = most
	}
	return c.From <= most && c.To <= most
}

// Put writes the number of the request with an id into its hole.
func (c *Counter) Put(to []byte, id uint64) {
	switch v := c.Value(id); c.Form {
	case CounterVarint:
		PutVarint(to, v)
	case CounterZigzag:
		PutVarint(to, v<<1)
	case CounterFixed:
		putFixed(to, uint32(v), v)
	case CounterFloat:
		putFixed(to, math.Float32bits(float32(v)), math.Float64bits(float64(v)))
	default:
		PutDigits(to, v)
		for i := 0; c.Form == CounterNumber && i < len(to)-1 && to[i] == '0'; i++ { // JSON has no leading zeros
			to[i] = ' '
		}
	}
}

func putFixed(to []byte, narrow uint32, wide uint64) {
	if len(to) == 4 {
		binary.LittleEndian.PutUint32(to, narrow)
		return
	}
	binary.LittleEndian.PutUint64(to, wide)
}

// PutVarint writes v as a varint of len(to) bytes; a varint may be longer than its value needs.
func PutVarint(to []byte, v uint64) {
	last := len(to) - 1
	for i := range last {
		to[i] = byte(v) | 0x80
		v >>= 7
	}
	to[last] = byte(v) & 0x7f
}
