package grpc

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// expectation describes the expected reply of a call.
type expectation struct {
	statuses []int
	share    backends.Share
	fields   []field
	streams  bool // the reply has any number of messages
}

// field is an expected value of a message and the way to it.
type field struct {
	path   string
	steps  []step
	kind   protoreflect.Kind
	enum   protoreflect.EnumDescriptor // of kind enum
	wanted string                      // the value for a note

	// The expected value, as value has it; usual: it is what an absent field means.
	wantNone, usual bool
	want            value
}

// value is a scalar in its wire form: Varint or Bytes.
type value struct {
	bits  uint64
	bytes []byte
}

// step leads from a message to one of its fields, and there to an item of a list or an entry of a map.
type step struct {
	number protow.Number
	index  int               // of a list; -1: it is none
	item   protoreflect.Kind // of the list's items, or the map's keys
	key    *value            // of a map; nil: it is none
}

// accepts reports whether a status is good.
func (e *expectation) accepts(code int32) bool {
	if len(e.statuses) == 0 {
		return code == 0
	}
	return slices.Contains(e.statuses, int(code))
}

// compares reports whether the reply to a request is compared with expected values.
func (e *expectation) compares(s *backends.Sample) bool { return len(e.fields) > 0 && e.share.Has(s.N) }

// expect checks what is expected of a reply against the method's output.
func (m *method) expect(x *backends.Expect) (*expectation, error) {
	e := &expectation{}
	if x == nil {
		return e, nil
	}
	e.statuses, e.share = x.Status, x.Share
	for _, f := range x.Fields {
		found, err := lead(m.output, f.Path)
		if err == nil {
			err = found.setWanted(f.Want)
		}
		if err != nil {
			return nil, fmt.Errorf("expected field %s: %w", f.Path, err)
		}
		e.fields = append(e.fields, found)
	}
	return e, nil
}

// lead finds the way to a value. A path is
//
//	path := step { "." step }      step := name of a field | index of a list, from 0 | key of a map
func lead(d protoreflect.MessageDescriptor, path string) (field, error) {
	f := field{path: path}
	names := strings.Split(path, ".")
	for len(names) > 0 {
		if d == nil {
			return f, fmt.Errorf("there is nothing inside a scalar: remove %q", strings.Join(names, "."))
		}
		fd := d.Fields().ByName(protoreflect.Name(names[0]))
		if fd == nil {
			fd = d.Fields().ByJSONName(names[0])
		}
		if fd == nil {
			return f, fmt.Errorf("%s has no field %q; it has %s", d.FullName(), names[0],
				listed(fieldsOf(d), "none"))
		}
		names = names[1:]
		s := step{number: fd.Number(), index: -1}
		if (fd.IsList() || fd.IsMap()) && len(names) == 0 {
			return f, fmt.Errorf("%s is a %s: go on with %s", fd.Name(), shapeOf(fd), whereTo(fd))
		}
		if fd.IsMap() {
			key, err := scalarOf(names[0], fd.MapKey())
			if err != nil {
				return f, err
			}
			s.key, s.item, names, fd = &key, fd.MapKey().Kind(), names[1:], fd.MapValue()
		} else if fd.IsList() {
			n, err := strconv.Atoi(names[0])
			if err != nil || n < 0 {
				return f, fmt.Errorf("%s is a list: %q is no index", fd.Name(), names[0])
			}
			s.index, s.item, names = n, fd.Kind(), names[1:]
		}
		f.steps, f.kind, f.enum, d = append(f.steps, s), fd.Kind(), fd.Enum(), fd.Message()
		f.usual = s.index < 0 && s.key == nil && !fd.HasPresence()
	}
	return f, nil
}

func shapeOf(fd protoreflect.FieldDescriptor) string {
	if fd.IsMap() {
		return "map"
	}
	return "list"
}

func whereTo(fd protoreflect.FieldDescriptor) string {
	if fd.IsMap() {
		return "a key"
	}
	return "an index, from 0"
}

// setWanted sets the expected value.
func (f *field) setWanted(want any) (err error) {
	if want == nil {
		f.wantNone, f.wanted = true, "none"
		return nil
	}
	if f.kind == protoreflect.MessageKind || f.kind == protoreflect.GroupKind {
		return errors.New("it is a message: name a field of it")
	}
	if f.want, err = scalarFrom(want, f.kind, f.enum); err != nil {
		return err
	}
	f.wanted = f.text(f.want)
	f.usual = f.usual && f.want.bits == 0 && len(f.want.bytes) == 0
	return nil
}

// scalarOf returns the key of a map from its text.
func scalarOf(text string, fd protoreflect.FieldDescriptor) (value, error) {
	switch fd.Kind() {
	case protoreflect.StringKind:
		return value{bytes: []byte(text)}, nil
	case protoreflect.BoolKind:
		if text == "true" || text == "false" {
			return scalarFrom(text == "true", fd.Kind(), nil)
		}
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		if n, err := strconv.ParseUint(text, 10, 32); err == nil {
			return value{bits: n}, nil
		}
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return value{bits: n}, nil
		}
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value{bits: uint64(n)}, nil
		}
	default:
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			return value{bits: uint64(n)}, nil
		}
	}
	return value{}, fmt.Errorf("%q is no key of a map with keys of %s", text, fd.Kind())
}

// scalarFrom returns the wire form of a value of a plan.
func scalarFrom(want any, kind protoreflect.Kind, enum protoreflect.EnumDescriptor) (value, error) {
	wrong := func() (value, error) { return value{}, fmt.Errorf("it is of type %s, and %v is not", kind, want) }
	switch v := want.(type) {
	case bool:
		if kind == protoreflect.BoolKind {
			return value{bits: map[bool]uint64{true: 1}[v]}, nil
		}
	case string:
		return textFrom(v, kind, enum)
	case int64:
		if bits, ok := integer(v, kind); ok {
			return value{bits: bits}, nil
		}
		return floatFrom(float64(v), kind, wrong)
	case float64:
		if n := int64(v); float64(n) == v {
			if bits, ok := integer(n, kind); ok {
				return value{bits: bits}, nil
			}
		}
		return floatFrom(v, kind, wrong)
	}
	return wrong()
}

// textFrom returns a string, bytes as base64, or the number of an enum's name.
func textFrom(text string, kind protoreflect.Kind, enum protoreflect.EnumDescriptor) (value, error) {
	switch kind {
	case protoreflect.StringKind:
		return value{bytes: []byte(text)}, nil
	case protoreflect.BytesKind:
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return value{}, fmt.Errorf("bytes are expected as base64: %w", err)
		}
		return value{bytes: b}, nil
	case protoreflect.EnumKind:
		v := enum.Values().ByName(protoreflect.Name(text))
		if v == nil {
			var names []string
			for i := range enum.Values().Len() {
				names = append(names, string(enum.Values().Get(i).Name()))
			}
			return value{}, fmt.Errorf("%s has no value %q; it has %s", enum.FullName(), text,
				listed(names, "none"))
		}
		return value{bits: uint64(v.Number())}, nil
	}
	return value{}, fmt.Errorf("it is of type %s, and %q is a text", kind, text)
}

// integer returns the bits of an integer as find gives them; ok is false if the kind is none.
func integer(n int64, kind protoreflect.Kind) (bits uint64, ok bool) {
	switch kind {
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Uint32Kind, protoreflect.Uint64Kind,
		protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.EnumKind, protoreflect.Sfixed32Kind,
		protoreflect.Fixed32Kind, protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		return uint64(n), true
	}
	return 0, false
}

func floatFrom(v float64, kind protoreflect.Kind, wrong func() (value, error)) (value, error) {
	switch kind {
	case protoreflect.DoubleKind:
		return value{bits: math.Float64bits(v)}, nil
	case protoreflect.FloatKind:
		return value{bits: uint64(math.Float32bits(float32(v)))}, nil
	}
	return wrong()
}
