package grpc

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

// method is the method of a target.
type method struct {
	path          string // /package.Service/Method
	input, output protoreflect.MessageDescriptor
	clientStreams bool             // a request has any number of messages
	types         *dynamicpb.Types // for messages inside of Any
}

// findMethod finds the target's method in files. The error is about the key `method`, or `streaming`.
func findMethod(files *protoregistry.Files, t *backends.Target) (*method, error) {
	service, name, err := splitMethod(t.Method)
	if err != nil {
		return nil, err
	}
	found, _ := files.FindDescriptorByName(protoreflect.FullName(service))
	s, ok := found.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil, keyError("method", "no file defines service %q; they define %s", service,
			listed(servicesOf(files), "none"))
	}
	m := s.Methods().ByName(protoreflect.Name(name))
	if m == nil {
		var names []string
		for i := range s.Methods().Len() {
			names = append(names, string(s.Methods().Get(i).Name()))
		}
		return nil, keyError("method", "service %s has no method %q; it has %s", service, name,
			listed(names, "none"))
	}
	streams := m.IsStreamingClient() || m.IsStreamingServer()
	switch {
	case streams && !t.Streaming:
		return nil, keyError("method", "method %s streams: write `streaming: true`", t.Method)
	case t.Streaming && !streams:
		return nil, keyError("streaming", "method %s does not stream: remove `streaming`", t.Method)
	}
	return &method{
		path: "/" + service + "/" + name, input: m.Input(), output: m.Output(),
		clientStreams: m.IsStreamingClient(), types: dynamicpb.NewTypes(files),
	}, nil
}

func keyError(key, format string, args ...any) error {
	return &backends.KeyError{Key: key, Err: fmt.Errorf(format, args...)}
}

// servicesOf returns the names of all services.
func servicesOf(files *protoregistry.Files) (names []string) {
	files.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		for i := range f.Services().Len() {
			names = append(names, string(f.Services().Get(i).FullName()))
		}
		return true
	})
	slices.Sort(names)
	return names
}

// mostListed bounds the names in a message.
const mostListed = 20

// listed joins names.
func listed(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	if more := len(names) - mostListed; more > 0 {
		names = append(names[:mostListed:mostListed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

const mediaJSON = "application/json"

// encode encodes the messages of a request. form is the media type of its body: one message in JSON or
// a list of them, frames, a message in protobuf's text format, or else an encoded one.
func (m *method) encode(body []byte, form string) (messages [][]byte, err error) {
	var parts [][]byte
	switch form {
	case mediaJSON:
		parts, err = jsonMessages(body)
	case backends.Frames:
		parts, err = frames(body)
	default:
		parts = [][]byte{body}
	}
	switch {
	case err != nil:
		return nil, err
	case len(parts) == 0:
		return nil, errors.New("the request has no message")
	case len(parts) > 1 && !m.clientStreams:
		return nil, fmt.Errorf("the request has %d messages, and %s takes one", len(parts), m.path[1:])
	}
	for i, part := range parts {
		b, err := m.message(part, form)
		if err != nil && len(parts) > 1 {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		if err != nil {
			return nil, err
		}
		messages = append(messages, b)
	}
	return messages, nil
}

// message encodes one message. Encoded ones are sent as they are, once they have been read.
func (m *method) message(text []byte, form string) ([]byte, error) {
	made := dynamicpb.NewMessage(m.input)
	var err error
	switch form {
	case mediaJSON:
		err = protojson.UnmarshalOptions{Resolver: m.types}.Unmarshal(text, made)
	case backends.TextProto:
		err = prototext.UnmarshalOptions{Resolver: m.types}.Unmarshal(text, made)
	default:
		if err = proto.Unmarshal(text, made); err != nil {
			return nil, fmt.Errorf("the body is not an encoded %s: %w", m.input.FullName(), plain(err))
		}
		return text, nil
	}
	if err != nil {
		hint := ""
		if strings.Contains(err.Error(), "unknown field") {
			hint = fmt.Sprintf("; %s has %s", m.input.FullName(), listed(fieldsOf(m.input), "no fields"))
		}
		return nil, fmt.Errorf("it is no message of type %s: %w%s", m.input.FullName(), plain(err), hint)
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(made)
}

// fieldsOf returns the names of a message's fields.
func fieldsOf(d protoreflect.MessageDescriptor) (names []string) {
	for i := range d.Fields().Len() {
		names = append(names, string(d.Fields().Get(i).Name()))
	}
	return names
}

// jsonMessages returns the messages of a JSON body: it is one, or a list of them.
func jsonMessages(body []byte) ([][]byte, error) {
	if text := bytes.TrimSpace(body); len(text) == 0 || text[0] != '[' {
		return [][]byte{body}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	var parts [][]byte
	for _, text := range list {
		parts = append(parts, text)
	}
	return parts, nil
}

// frames returns the messages of a body of frames: 4 bytes, the length, little-endian; then a message.
func frames(body []byte) (list [][]byte, err error) {
	for len(body) > 0 {
		if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
			return nil, fmt.Errorf("frame %d is cut", len(list))
		}
		n := 4 + int(binary.LittleEndian.Uint32(body))
		list, body = append(list, body[4:n]), body[n:]
	}
	return list, nil
}

// plainError is an error of package protobuf with a stable text: the package varies its white space from
// build to build.
type plainError struct{ err error }

func plain(err error) error { return &plainError{err} }

func (e *plainError) Error() string {
	text := strings.ReplaceAll(e.err.Error(), "\u00a0", " ")
	return strings.TrimPrefix(text, "proto: ")
}

func (e *plainError) Unwrap() error { return e.err }
