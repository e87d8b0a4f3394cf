package grpc

import (
	"bytes"
	"encoding/base64"
	"math"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// find returns the value of the field in a message; ok is false if there is none. An absent field
// without presence has the value that this means.
func (f *field) find(message []byte) (v value, ok bool) {
	for i := range f.steps {
		if v, ok = f.steps[i].find(message); !ok {
			return value{}, i+1 == len(f.steps) && f.usual
		}
		message = v.bytes
	}
	v.bits = normal(v.bits, f.kind)
	return v, true
}

// find returns the last value of a singular field, the item of a list, or the value of a map's key.
func (s *step) find(message []byte) (v value, ok bool) {
	left := s.index
	for w := protow.Walk(message); w.Next(); {
		switch {
		case w.Field != s.number:
		case s.key != nil:
			if s.key.isKeyOf(w.Bytes, s.item) {
				v, ok = entryValue(w.Bytes), true
			}
		case s.index < 0:
			v, ok = value{w.Varint, w.Bytes}, true
		case w.Type == protow.BytesType && isPackable(s.item):
			var found bool
			if v, left, found = packed(w.Bytes, s.item, left); found {
				return v, true
			}
		case left == 0:
			return value{w.Varint, w.Bytes}, true
		default:
			left--
		}
	}
	return v, ok
}

// isPackable reports whether values of a kind may share one field (packed).
func isPackable(k protoreflect.Kind) bool {
	return k != protoreflect.StringKind && k != protoreflect.BytesKind && k != protoreflect.MessageKind &&
		k != protoreflect.GroupKind
}

// packed returns item number n of packed values, or how many are still to come before it.
func packed(b []byte, kind protoreflect.Kind, n int) (v value, left int, found bool) {
	for len(b) > 0 {
		size := 0
		switch kind {
		case protoreflect.FloatKind, protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
			var bits uint32
			bits, size = protowire.ConsumeFixed32(b)
			v.bits = uint64(bits)
		case protoreflect.DoubleKind, protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
			v.bits, size = protowire.ConsumeFixed64(b)
		default:
			v.bits, size = protowire.ConsumeVarint(b)
		}
		if size < 0 {
			return value{}, n, false
		}
		if n == 0 {
			return v, 0, true
		}
		n, b = n-1, b[size:]
	}
	return value{}, n, false
}

// isKeyOf reports whether an entry of a map (key 1, value 2) has this key, of a kind.
func (v *value) isKeyOf(entry []byte, kind protoreflect.Kind) bool {
	var key value
	for w := protow.Walk(entry); w.Next(); {
		if w.Field == 1 {
			key = value{w.Varint, w.Bytes}
		}
	}
	return normal(key.bits, kind) == v.bits && bytes.Equal(key.bytes, v.bytes)
}

func entryValue(entry []byte) (v value) {
	for w := protow.Walk(entry); w.Next(); {
		if w.Field == 2 {
			v = value{w.Varint, w.Bytes}
		}
	}
	return v
}

// normal returns the bits of a number as integer makes them: of 64 bits, with its sign.
func normal(bits uint64, kind protoreflect.Kind) uint64 {
	switch kind {
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		return uint64(protowire.DecodeZigZag(bits))
	case protoreflect.Sfixed32Kind:
		return uint64(int32(bits))
	}
	return bits
}

// equals reports whether a value is the expected one. Floats are equal by value: 0 is -0.
func (f *field) equals(v value) bool {
	switch f.kind {
	case protoreflect.DoubleKind:
		return math.Float64frombits(v.bits) == math.Float64frombits(f.want.bits)
	case protoreflect.FloatKind:
		return math.Float32frombits(uint32(v.bits)) == math.Float32frombits(uint32(f.want.bits))
	}
	return v.bits == f.want.bits && bytes.Equal(v.bytes, f.want.bytes)
}

// valueShown is the number of bytes of a value in a note.
const valueShown = backends.NoteSize / 4

// text returns a value for a note.
func (f *field) text(v value) string {
	switch f.kind {
	case protoreflect.StringKind:
		return strconv.Quote(string(v.bytes[:min(len(v.bytes), valueShown)]))
	case protoreflect.BytesKind:
		return base64.StdEncoding.EncodeToString(v.bytes[:min(len(v.bytes), valueShown)])
	case protoreflect.BoolKind:
		return strconv.FormatBool(v.bits != 0)
	case protoreflect.DoubleKind:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
	case protoreflect.FloatKind:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v.bits))), 'g', -1, 32)
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return strconv.FormatUint(v.bits, 10)
	case protoreflect.EnumKind:
		if named := f.enum.Values().ByNumber(protoreflect.EnumNumber(int32(v.bits))); named != nil {
			return string(named.Name())
		}
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return "a message"
	}
	return strconv.FormatInt(int64(v.bits), 10)
}
