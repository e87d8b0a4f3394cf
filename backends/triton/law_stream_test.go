package triton_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/triton"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

// ask is a small request whose one output is compared.
var ask = backends.Request{
	Inputs: []backends.Tensor{
		{Name: "INPUT0", Type: tensor.Int32, Shape: []int64{1, 1}, Data: []byte{7, 0, 0, 0}},
	},
	Expect: &backends.Expect{Outputs: []backends.Tensor{
		{Name: "OUTPUT0", Type: tensor.Int32, Shape: []int64{1, 1}, Data: []byte{7, 0, 0, 0}},
	}},
}

// outputs are those of a ModelInferResponse, byte by byte: outputs 5 {name 1, datatype 2, shape 3},
// raw_output_contents 6.
const outputs = "\x2a\x14\x0a\x07OUTPUT0\x12\x05INT32\x1a\x02\x01\x01" + "\x32\x04\x07\x00\x00\x00"

// final is the entry of its parameters (4) that says whether it is the last: key 1, value 2
// {bool_param 1}.
func final(last byte) string {
	return "\x22\x1b\x0a\x15triton_final_response\x12\x02\x08" + string(rune(last))
}

// field is a length-delimited field.
func field(n protowire.Number, text string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, n, protowire.BytesType), text))
}

// reply is a ModelStreamInferResponse (infer_response 2) for id (3).
func reply(id, rest string) string {
	if id != "" {
		id = field(3, id)
	}
	return field(2, id+rest)
}

// fault is a ModelStreamInferResponse with an error_message (1).
func fault(id, text string) string { return field(1, text) + reply(id, "") }

// idOf is the id of a ModelInferRequest.
func idOf(request []byte) string {
	for len(request) > 0 {
		n, kind, size := protowire.ConsumeTag(request)
		value := protowire.ConsumeFieldValue(n, kind, request[size:])
		if n == 3 {
			text, _ := protowire.ConsumeBytes(request[size:])
			return string(text)
		}
		request = request[size+value:]
	}
	return ""
}

// bytesCodec passes messages through.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }
func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// talk is one stream as a server's handler sees it.
type talk struct{ grpc.ServerStream }

func (s talk) recv() (string, error) {
	var request []byte
	if err := s.RecvMsg(&request); err != nil {
		return "", err
	}
	return idOf(request), nil
}

func (s talk) send(text string) error {
	message := []byte(text)
	return s.SendMsg(&message)
}

// each answers every request of a stream by do.
func each(do func(s talk, id string) error) func(talk) error {
	return func(s talk) error {
		for {
			id, err := s.recv()
			if err != nil {
				return nil
			}
			if err := do(s, id); err != nil {
				return err
			}
		}
	}
}

// serve is a server with grpc-go whose streams are handled by h, until the test ends.
func serve(t testing.TB, h func(talk) error) (url string, stop func()) {
	l, err := net.Listen("tcp", backendtest.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.ForceServerCodecV2(bytesCodec{}), grpc.MaxRecvMsgSize(64<<20),
		grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error { return h(talk{s}) }))
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	stop = func() { s.Stop(); wg.Wait() }
	t.Cleanup(stop)
	return "grpc://" + l.Addr().String(), stop
}

func right(s talk, id string) error { return s.send(reply(id, final(1)+outputs)) }

func streamServers() backendtest.Servers {
	all := backendtest.GRPCStream(backendtest.RawOptions{}, "INPUT0", []byte(reply("", final(1)+outputs)))
	for fault, h := range map[backendtest.Fault]func(talk) error{
		backendtest.None: each(right), backendtest.Refused: each(right),
		backendtest.Delay: each(func(s talk, id string) error {
			select {
			case <-time.After(backendtest.Pause):
			case <-s.Context().Done():
			}
			return right(s, id)
		}),
		backendtest.Never: func(s talk) error {
			<-s.Context().Done()
			return context.Cause(s.Context())
		},
		backendtest.Failure: each(func(talk, string) error {
			return status.Error(codes.Internal,
				backendtest.FailureText)
		}),
		backendtest.Malformed: each(func(s talk, id string) error { return s.send(reply(id, outputs)[:5]) }),
	} {
		all[fault] = func(t testing.TB) backendtest.Server {
			url, stop := serve(t, h)
			return backendtest.Server{URL: url, Down: stop}
		}
	}
	delete(all, backendtest.SlowBody)
	return all
}

func streamSuite(connections int) backendtest.Suite {
	return backendtest.Suite{
		Kind:    triton.Kind(),
		Target:  backends.Target{Model: "m", Endpoint: "infer", Streaming: true, Connections: connections},
		Request: ask, Servers: streamServers(),
		Without: map[backendtest.Fault]string{
			backendtest.SlowBody:    "grpc-go does not tell when the first byte of a message came",
			backendtest.WrongLength: "HTTP/2 frames it: a message more is one for nobody, which TestStrays checks",
		},
		Classes: map[backendtest.Fault][]backends.ErrorClass{backendtest.Malformed: {backends.Decode}},
	}
}

func TestLawStream(t *testing.T) { backendtest.Run(t, streamSuite(64)) }

func TestLawStreamPerRequest(t *testing.T) {
	s := streamSuite(backends.PerRequest)
	s.Shared = true // nothing is used twice
	backendtest.Run(t, s)
}

// TestLawStreamDepth: several requests in flight on one stream. One that meets a stream which the
// server has just given up is not sent again, as others may be on it.
func TestLawStreamDepth(t *testing.T) {
	s := streamSuite(64)
	s.Depth, s.Shared = 4, true
	s.Classes[backendtest.CloseAfter] = []backends.ErrorClass{backends.OK, backends.ResetByPeer}
	s.Classes[backendtest.CloseIdle] = s.Classes[backendtest.CloseAfter]
	backendtest.Run(t, s)
}
