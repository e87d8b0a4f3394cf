package grpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// counted adds counters to encoded messages.
type counted struct {
	counters []backends.Counter // with the forms of their fields
	fields   []field
}

// count checks the counters of a request against the method's input.
func (m *method) count(list []backends.Counter) (*counted, error) {
	c := &counted{}
	for _, counter := range list {
		f, err := lead(m.input, counter.Path)
		if err == nil {
			err = f.mayCount(&counter)
		}
		if err != nil {
			return nil, fmt.Errorf("counter %s: %w", counter.Path, err)
		}
		c.fields, c.counters = append(c.fields, f), append(c.counters, counter)
	}
	return c, nil
}

// mayCount sets the form of a counter that a field is to hold, and its end where the field's type has one.
func (f *field) mayCount(c *backends.Counter) error {
	for _, s := range f.steps {
		if s.index >= 0 || s.key != nil {
			return errors.New("it is in a list or a map, which have no counters: name a field outside of them")
		}
	}
	most := uint64(math.MaxInt64)
	switch f.kind {
	case protoreflect.StringKind, protoreflect.BytesKind:
		c.Form = backends.CounterDigits
		return nil
	case protoreflect.Int32Kind:
		c.Form, most = backends.CounterVarint, math.MaxInt32
	case protoreflect.Uint32Kind:
		c.Form, most = backends.CounterVarint, math.MaxUint32
	case protoreflect.Int64Kind, protoreflect.Uint64Kind:
		c.Form = backends.CounterVarint
	case protoreflect.Sint32Kind:
		c.Form, most = backends.CounterZigzag, math.MaxInt32
	case protoreflect.Sint64Kind:
		c.Form = backends.CounterZigzag
	case protoreflect.Sfixed32Kind:
		c.Form, most = backends.CounterFixed, math.MaxInt32
	case protoreflect.Fixed32Kind:
		c.Form, most = backends.CounterFixed, math.MaxUint32
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		c.Form = backends.CounterFixed
	case protoreflect.FloatKind:
		c.Form, most = backends.CounterFloat, 1<<24
	case protoreflect.DoubleKind:
		c.Form, most = backends.CounterFloat, 1<<53
	default:
		return fmt.Errorf("it is of type %s, and a counter is a number or a text", f.kind)
	}
	if !c.Limit(most) {
		return fmt.Errorf("a field of type %s takes numbers up to %d", f.kind, most)
	}
	return nil
}

// fill adds the counters to the messages of a request, and returns what Pool.Call takes: messages that have a
// frame each contain them, and one message has them in its head.
func (c *counted) fill(messages [][]byte, framed bool) (body [][]byte, head []byte, holes []backends.Hole) {
	if len(c.fields) == 0 {
		return messages, nil, nil
	}
	if !framed {
		head, holes = c.end(messages[0])
		return messages, head, holes
	}
	at := 0
	for _, m := range messages {
		end, own := c.end(m)
		for _, h := range own {
			h.At += uint32(at + len(m))
			holes = append(holes, h)
		}
		body = append(body, append(m[:len(m):len(m)], end...))
		at += len(m) + len(end)
	}
	return body, nil, holes
}

// end returns what is to be added to the end of a message, with the holes in it. A field that occurs again
// replaces the one before, and a message that does is merged with it (protobuf's encoding, "Last One Wins"), so
// that lengths ahead of it stay as they are.
func (c *counted) end(message []byte) (end []byte, holes []backends.Hole) {
	for i := range c.fields {
		f, counter := &c.fields[i], &c.counters[i]
		value, width := f.hole(message, counter)
		for s := len(f.steps) - 2; s >= 0; s-- {
			value = protow.AppendString(nil, f.steps[s].number, value)
		}
		end = append(end, value...)
		holes = append(holes, backends.Hole{
			At: uint32(len(end) - width), Width: uint8(width), Field: backends.FieldCounter + uint8(i),
		})
	}
	return end, holes
}

// hole returns the field with its tag, whose last bytes, as many as width, are a hole. A text keeps what the
// message has, in front of the digits.
func (f *field) hole(message []byte, c *backends.Counter) (value []byte, width int) {
	number, typ := f.steps[len(f.steps)-1].number, protowire.Fixed64Type
	switch width = 8; {
	case c.Form == backends.CounterDigits:
		was, _ := f.find(message)
		width = c.Digits()
		return protow.AppendString(nil, number, string(was.bytes)+strings.Repeat("0", width)), width
	case c.Form == backends.CounterVarint || c.Form == backends.CounterZigzag:
		typ, width = protowire.VarintType, binary.MaxVarintLen64
	case f.kind == protoreflect.Fixed32Kind || f.kind == protoreflect.Sfixed32Kind || f.kind == protoreflect.FloatKind:
		typ, width = protowire.Fixed32Type, 4
	}
	return append(protowire.AppendTag(nil, number, typ), make([]byte, width)...), width
}
