package kserve_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/kserve"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

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

// grpcReply is a ModelInferResponse, byte by byte: outputs 5 {name 1, datatype 2, shape 3},
// raw_output_contents 6.
const grpcReply = "\x2a\x14\x0a\x07OUTPUT0\x12\x05INT32\x1a\x02\x01\x01" + "\x32\x04\x07\x00\x00\x00"

// answer is what a gRPC server does with a call.
type answer func(ctx context.Context) (string, error)

func right(context.Context) (string, error) { return grpcReply, nil }

// grpcServer serves a with grpc-go until the test ends, and gives how to stop it before.
func grpcServer(t testing.TB, l net.Listener, secure *tls.Config, a answer) (stop func()) {
	handle := func(_ any, stream grpc.ServerStream) error {
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		text, err := a(stream.Context())
		if err != nil {
			return err
		}
		reply := []byte(text)
		return stream.SendMsg(&reply)
	}
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(bytesCodec{}), grpc.UnknownServiceHandler(handle),
	}
	if secure != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(secure)))
	}
	s := grpc.NewServer(options...)
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	stop = func() { s.Stop(); wg.Wait() }
	t.Cleanup(stop)
	return stop
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", backendtest.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// plain is a server without a proxy.
func plain(a answer) func(t testing.TB) backendtest.Server {
	return func(t testing.TB) backendtest.Server {
		l := listen(t)
		stop := grpcServer(t, l, nil, a)
		return backendtest.Server{URL: "grpc://" + l.Addr().String(), Down: stop}
	}
}

// through is a server behind a proxy that acts on whole requests and replies.
func through(p policy) func(t testing.TB) backendtest.Server {
	return func(t testing.TB) backendtest.Server {
		l, front := listen(t), listen(t)
		grpcServer(t, l, nil, right)
		startProxy(t, front, l.Addr().String(), p)
		return backendtest.Server{URL: "grpc://" + front.Addr().String()}
	}
}

// policy is what a proxy does, counting from 1 on each connection; 0: never.
type policy struct {
	slow         bool // bytes of the server one by one
	slowBody     bool // a pause between the head of a reply and its content
	resetOn      int  // RST when the client has sent this request
	closeOn      int  // FIN instead
	cutReply     bool // RST within a reply
	closeAfter   int  // FIN after this reply
	delayedFIN   time.Duration
	onlyTheFirst bool // later connections are left alone
}

func startProxy(t testing.TB, front net.Listener, to string, p policy) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for first := true; ; first = false {
			in, err := front.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			mu.Lock()
			open = append(open, in, out)
			mu.Unlock()
			use := p
			if p.onlyTheFirst && !first {
				use = policy{}
			}
			pair := &pair{in: in, out: out, p: use}
			wg.Go(pair.requests)
			wg.Go(pair.replies)
		}
	})
	t.Cleanup(func() {
		_ = front.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
}

// pair is one connection through the proxy, frame by frame.
type pair struct {
	in, out net.Conn
	p       policy
}

func (c *pair) end(reset bool) {
	if reset {
		_ = c.in.(*net.TCPConn).SetLinger(0)
	}
	_ = c.in.Close()
	_ = c.out.Close()
}

const (
	frameData, frameHeaders = 0, 1
	flagEnd                 = 1
)

// frame reads one HTTP/2 frame, head included.
func frame(r io.Reader) (b []byte, kind, flags byte, err error) {
	b = make([]byte, 9)
	if _, err = io.ReadFull(r, b); err != nil {
		return nil, 0, 0, err
	}
	size := int(binary.BigEndian.Uint32(b) >> 8)
	b = append(b, make([]byte, size)...)
	_, err = io.ReadFull(r, b[9:])
	return b, b[3], b[4], err
}

func (c *pair) requests() {
	defer c.end(false)
	preface := make([]byte, 24)
	if _, err := io.ReadFull(c.in, preface); err != nil {
		return
	}
	if _, err := c.out.Write(preface); err != nil {
		return
	}
	for n := 0; ; {
		b, kind, flags, err := frame(c.in)
		if err != nil {
			return
		}
		if kind == frameData && flags&flagEnd != 0 {
			n++
			if n == c.p.resetOn || n == c.p.closeOn {
				c.end(n == c.p.resetOn)
				return
			}
		}
		if _, err := c.out.Write(b); err != nil {
			return
		}
	}
}

func (c *pair) replies() {
	defer c.end(false)
	for n := 0; ; {
		b, kind, flags, err := frame(c.out)
		if err != nil {
			return
		}
		if c.p.cutReply && kind == frameData {
			_, _ = c.in.Write(b[:len(b)-3])
			time.Sleep(5 * time.Millisecond) // a reset throws away what the peer has not read
			c.end(true)
			return
		}
		if c.p.slowBody && kind == frameData {
			time.Sleep(backendtest.Pause)
		}
		for piece := b; len(piece) > 0; {
			step := len(piece)
			if c.p.slow {
				step = 1
			}
			if _, err := c.in.Write(piece[:step]); err != nil {
				return
			}
			piece = piece[step:]
		}
		if kind == frameHeaders && flags&flagEnd != 0 {
			n++
			if n == c.p.closeAfter {
				time.Sleep(c.p.delayedFIN)
				return
			}
		}
	}
}

func grpcServers() backendtest.Servers {
	return backendtest.Servers{
		backendtest.None: plain(right), backendtest.Refused: plain(right),
		backendtest.Delay: plain(func(ctx context.Context) (string, error) {
			select {
			case <-time.After(backendtest.Pause):
			case <-ctx.Done():
			}
			return grpcReply, nil
		}),
		backendtest.Never: plain(func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}),
		backendtest.Failure: plain(func(context.Context) (string, error) {
			return "", status.Error(codes.Internal, backendtest.FailureText)
		}),
		backendtest.Malformed:   plain(func(context.Context) (string, error) { return grpcReply[:5], nil }),
		backendtest.SlowHead:    through(policy{slow: true}),
		backendtest.SlowBody:    through(policy{slowBody: true}),
		backendtest.ResetBefore: through(policy{resetOn: 1}),
		backendtest.ResetBody:   through(policy{cutReply: true}),
		backendtest.CloseAfter:  through(policy{closeAfter: 1}),
		backendtest.CloseUnder:  through(policy{closeOn: 2}),
		backendtest.CloseIdle: through(policy{
			closeAfter: 1, delayedFIN: 30 * time.Millisecond, onlyTheFirst: true,
		}),
		backendtest.BadTLS: func(t testing.TB) backendtest.Server {
			r := backendtest.StartRaw(t, backendtest.RawOptions{}, nil,
				"accept\nread 1\nsend \"HTTP/1.0 400 Bad Request\\r\\n\\r\\nnot TLS\"")
			return backendtest.Server{URL: "grpcs://" + r.Address, Size: r.Size, Accepted: r.Accepted, Down: r.Down}
		},
	}
}

func grpcSuite(connections int) backendtest.Suite {
	return backendtest.Suite{
		Kind: kserve.Kind(), Target: backends.Target{Model: "m", Connections: connections}, Request: ask,
		Servers: grpcServers(),
		Without: map[backendtest.Fault]string{
			backendtest.ShortBody:   "HTTP/2 frames it: a cut message is a broken connection, as in reset body",
			backendtest.WrongLength: "HTTP/2 frames it: see wire/http2 and backendtest",
		},
		Classes: map[backendtest.Fault][]backends.ErrorClass{backendtest.Malformed: {backends.Decode}},
	}
}

func TestLawGRPC(t *testing.T) { backendtest.Run(t, grpcSuite(0)) }

func TestLawGRPCShared(t *testing.T) {
	s := grpcSuite(2)
	s.Shared = true
	delete(s.Servers, backendtest.CloseUnder)
	delete(s.Servers, backendtest.SlowBody)
	s.Without[backendtest.CloseUnder] = "the check counts the requests of one lane on its connection"
	s.Without[backendtest.SlowBody] = "grpc-go does not tell when the first byte of a message came"
	backendtest.Run(t, s)
}

func TestLawGRPCPerRequest(t *testing.T) {
	s := grpcSuite(backends.PerRequest)
	s.Shared = true // nothing is used twice
	s.Classes[backendtest.Refused] = []backends.ErrorClass{backends.Dial}
	backendtest.Run(t, s)
}
