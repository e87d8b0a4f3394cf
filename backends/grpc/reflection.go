package grpc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// reflectionMethods are those of the reflection service, the preferred one first. Both have the same
// messages (grpc/reflection/v1/reflection.proto).
var reflectionMethods = []string{
	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
}

// Fields of a ServerReflectionRequest.
const (
	fileByName   = 3
	fileOfSymbol = 4
	listServices = 7
)

// reflectionReply is a ServerReflectionResponse.
type reflectionReply struct {
	Files struct {
		Descriptors []string `proto:"1"` // FileDescriptorProtos
	} `proto:"4"`
	Services struct {
		List []struct {
			Name string `proto:"1"`
		} `proto:"1"`
	} `proto:"6"`
	Error struct {
		Code int64  `proto:"1"`
		Text string `proto:"2"`
	} `proto:"7"`
}

// reflector asks a server for its definitions. The method is a stream; a stream of one request and one
// reply is a unary call on the wire.
type reflector struct {
	invoke  func(ctx context.Context, method string, request []byte) ([]byte, error)
	methods []string // that the server may have
}

// ask sends one request.
func (r *reflector) ask(ctx context.Context, field protow.Number, value string) (*reflectionReply, error) {
	message, err := r.invoke(ctx, r.methods[0], protow.AppendString(nil, field, value))
	code, words, refused := grpcraw.Refusal(err)
	switch {
	case refused && code == grpcraw.Unimplemented && len(r.methods) > 1:
		r.methods = r.methods[1:]
		return r.ask(ctx, field, value)
	case refused && code == grpcraw.Unimplemented:
		return nil, &backends.RefusalError{Text: "the server has no reflection (grpc.reflection.v1, " +
			"v1alpha): name the files that define the method, `protos: {files: [service.proto]}`, or turn " +
			"reflection on"}
	case refused && (code == grpcraw.Unauthenticated || code == grpcraw.PermissionDenied):
		return nil, &backends.RefusalError{Text: fmt.Sprintf("the server refuses reflection: %s; "+
			"give it what it asks for in `headers`, or name the files that define the method in `protos`",
			words)}
	case err != nil:
		return nil, fmt.Errorf("reflection: %w", err)
	}
	reply := new(reflectionReply)
	if err := protow.Decode(message, reply); err != nil {
		return nil, fmt.Errorf("reflection: %w", err)
	}
	return reply, nil
}

// files returns the files of a reply.
func (r *reflectionReply) files() (list []*descriptorpb.FileDescriptorProto, err error) {
	if e := r.Error; e.Code != 0 || e.Text != "" {
		return nil, errors.New(e.Text)
	}
	for _, text := range r.Files.Descriptors {
		f := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal([]byte(text), f); err != nil {
			return nil, plain(err)
		}
		list = append(list, f)
	}
	if len(list) == 0 {
		return nil, errors.New("the server sent no file")
	}
	return list, nil
}

// mostFiles bounds the files that define a service.
const mostFiles = 10000

// reflectFiles asks a server for the files that define the target's service.
func reflectFiles(
	ctx context.Context, invoke func(context.Context, string, []byte) ([]byte, error), t *backends.Target,
) (*protoregistry.Files, error) {
	service, _, _ := splitMethod(t.Method) // checked before
	r := &reflector{invoke: invoke, methods: reflectionMethods}
	reply, err := r.ask(ctx, fileOfSymbol, service)
	if err != nil {
		return nil, err
	}
	list, err := reply.files()
	if err != nil {
		return nil, r.unknownService(ctx, service, err)
	}
	var l *linker
	l = newLinker(func(name string) (*descriptorpb.FileDescriptorProto, error) {
		if len(l.given) >= mostFiles {
			return nil, &backends.RefusalError{Text: fmt.Sprintf("the server's reflection has more than %d files; "+
				"name those that define the method in `protos`", mostFiles)}
		}
		reply, err := r.ask(ctx, fileByName, name)
		if err != nil {
			return nil, err
		}
		more, err := reply.files()
		l.give(more)
		if err == nil && l.given[name] == nil {
			err = fmt.Errorf("the server sent %s instead", more[0].GetName())
		}
		if err != nil {
			return nil, &backends.RefusalError{Text: fmt.Sprintf("the server's reflection lacks %s: %s; "+
				"name the files that define the method in `protos`", name, err)}
		}
		return l.given[name], nil
	})
	l.give(list)
	for _, f := range list {
		if err := l.add(f.GetName()); err != nil {
			return nil, err
		}
	}
	return l.files, nil
}

// unknownService returns the error of a service that the server does not know, with those that it has.
func (r *reflector) unknownService(ctx context.Context, service string, why error) error {
	text := fmt.Sprintf("the server has no service %q: %s", service, why)
	if reply, err := r.ask(ctx, listServices, "*"); err == nil && len(reply.Services.List) > 0 {
		var names []string
		for _, s := range reply.Services.List {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		text = fmt.Sprintf("the server has no service %q; it has %s", service, strings.Join(names, ", "))
	}
	return &backends.RefusalError{Text: text}
}
