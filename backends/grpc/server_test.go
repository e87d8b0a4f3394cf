package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/wire/protow"
	gogrpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // takes compressed requests
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/reflection"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	v1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

var protos = &backends.Protos{Files: []string{"testdata/echo.proto"}, Include: []string{"testdata/include"}}

// codec passes messages of bytes through.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	if b, ok := v.(*[]byte); ok {
		return mem.BufferSlice{mem.SliceBuffer(*b)}, nil
	}
	b, err := proto.Marshal(v.(proto.Message))
	return mem.BufferSlice{mem.SliceBuffer(b)}, err
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	if b, ok := v.(*[]byte); ok {
		*b = data.Materialize()
		return nil
	}
	return proto.Unmarshal(data.Materialize(), v.(proto.Message))
}

// echo serves testdata/echo.proto: Say and Chat answer each request with its own bytes, List answers
// with as many copies as its number says, Sum with the number of its requests. A text "fail" fails.
func echo(_ any, stream gogrpc.ServerStream) error {
	name, _ := gogrpc.MethodFromServerStream(stream)
	sum := int64(0)
	for {
		var request []byte
		err := stream.RecvMsg(&request)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		var fields struct {
			Text   string `proto:"1"`
			Number int64  `proto:"2"`
		}
		if err := protow.Decode(request, &fields); err != nil {
			return err
		}
		if fields.Text == "fail" {
			return status.Error(codes.InvalidArgument, backendtest.FailureText)
		}
		sum++
		copies := int64(1)
		switch name {
		case "/test.echo.Echo/List":
			copies = fields.Number
		case "/test.echo.Echo/Sum":
			copies = 0
		}
		for range copies {
			if err := stream.SendMsg(&request); err != nil {
				return err
			}
		}
		if name == "/test.echo.Echo/Say" {
			return nil
		}
	}
	if name == "/test.echo.Echo/Sum" {
		reply := protow.AppendUint(nil, 2, uint64(sum))
		return stream.SendMsg(&reply)
	}
	return nil
}

// serve serves echo with the reflection services that are asked for, "v1" and "v1alpha".
func serve(t testing.TB, reflections ...string) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", backendtest.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	s := gogrpc.NewServer(gogrpc.ForceServerCodecV2(codec{}))
	desc := &gogrpc.ServiceDesc{ServiceName: "test.echo.Echo", HandlerType: (*any)(nil)}
	for _, name := range []string{"Say", "List", "Sum", "Chat"} {
		desc.Streams = append(desc.Streams, gogrpc.StreamDesc{
			StreamName: name, Handler: echo, ServerStreams: true, ClientStreams: true,
		})
	}
	s.RegisterService(desc, nil)
	files, err := compile(protos)
	if err != nil {
		t.Fatal(err)
	}
	o := reflection.ServerOptions{Services: s, DescriptorResolver: files}
	for _, version := range reflections {
		switch version {
		case "v1":
			v1.RegisterServerReflectionServer(s, reflection.NewServerV1(o))
		case "v1alpha":
			v1alpha.RegisterServerReflectionServer(s, reflection.NewServer(o))
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	stop = func() { s.Stop(); wg.Wait() }
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// connect opens a target.
func connect(t testing.TB, target backends.Target) (*Conn, error) {
	t.Helper()
	if target.ConnectTimeout == 0 {
		target.ConnectTimeout = 5 * time.Second
	}
	c, err := open(&target, backends.Clock{Origin: time.Now().Add(-time.Second)})
	if err == nil {
		t.Cleanup(func() { _ = c.Close(context.Background()) })
	}
	return c, err
}

// ask sends one request on a lane of its own.
func ask(t testing.TB, c *Conn, r backends.Request, events int) (*backends.Sample, error) {
	t.Helper()
	call, err := c.Prepare(r)
	if err != nil {
		return nil, err
	}
	lanes, _, err := c.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
	if err != nil {
		return nil, err
	}
	s := &backends.Sample{Gen: 1}
	if events > 0 {
		s.Events = make([]backends.Event, 0, events)
	}
	lanes[0].Send(0, call, backends.Fields{}, s)
	seen := 0
	for {
		slot, done := lanes[0].Recv()
		seen += len(s.Events)
		s.Events = s.Events[:0]
		if done || slot == backends.None {
			break
		}
	}
	if events > 0 && s.Class == backends.OK && seen != int(s.Responses) {
		return s, fmt.Errorf("%d events of %d responses", seen, s.Responses)
	}
	return s, lanes[0].Close()
}
