package grpcraw

import (
	"bytes"
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"go.uber.org/goleak"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

const method = "/test.Service/Do"

// handler answers one call: the reply message, or an error with a status.
type handler func(ctx context.Context, request []byte) ([]byte, error)

// serve runs a server on l until the test ends.
func serve(t testing.TB, l net.Listener, h handler, options ...grpc.ServerOption) *grpc.Server {
	t.Helper()
	handle := func(_ any, stream grpc.ServerStream) error {
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		reply, err := h(stream.Context(), request)
		if err != nil {
			return err
		}
		return stream.SendMsg(&reply)
	}
	options = append(options, grpc.ForceServerCodecV2(codec{}), grpc.UnknownServiceHandler(handle))
	s := grpc.NewServer(options...)
	var wg sync.WaitGroup
	wg.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { s.Stop(); wg.Wait() })
	return s
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", backendtest.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func echo(_ context.Context, request []byte) ([]byte, error) { return request, nil }

// recorder is a judge that keeps the reply.
type recorder struct {
	accept int32
	whole  bool
	reply  []byte
	pieces int
}

func (r *recorder) Accepts(_ *backends.Call, code int32) bool   { return code == r.accept }
func (r *recorder) Whole(*backends.Call, *backends.Sample) bool { return r.whole }
func (r *recorder) Reply(_ *backends.Call, pieces [][]byte, _ *backends.Sample) {
	r.reply, r.pieces = r.reply[:0], len(pieces)
	for _, p := range pieces {
		r.reply = append(r.reply, p...)
	}
}

// both runs a test with lanes that share a connection, which is grpc-go's, and with lanes that have
// one each.
func both(t *testing.T, test func(t *testing.T, connections int)) {
	t.Run("shared", func(t *testing.T) { test(t, 1) })
	t.Run("own", func(t *testing.T) { test(t, 0) })
}

// fixture is one lane to an address.
type fixture struct {
	pool  *Pool
	lane  backends.Lane
	judge *recorder
	gen   uint32
}

func open(t testing.TB, o Options) *fixture {
	t.Helper()
	return openHeld(t, o, false)
}

// openHeld is open, with LaneOptions.MaxBlocked.
func openHeld(t testing.TB, o Options, hold bool) *fixture {
	t.Helper()
	f := &fixture{judge: &recorder{accept: -1}}
	o.Clock = backends.Clock{Origin: time.Now()}
	o.Judge = func() Judge { return f.judge }
	if o.Network == "" {
		o.Network = "tcp"
	}
	if o.Authority == "" {
		o.Authority = "localhost:1"
	}
	var err error
	if f.pool, err = New(o); err != nil {
		t.Fatal(err)
	}
	var want backends.LaneOptions
	if hold {
		want.MaxBlocked = 1
	}
	lanes, limits, err := f.pool.Lanes(t.Context(), 1, want)
	if err != nil {
		t.Fatal(err)
	}
	if limits.Depth != 1 || (limits.Inline == 0) != (o.Connections > 0) {
		t.Errorf("limits %+v", limits)
	}
	f.lane = lanes[0]
	t.Cleanup(func() { _, _ = f.lane.Close(), f.pool.Close() })
	return f
}

func (f *fixture) call(t testing.TB, body string) *backends.Call {
	t.Helper()
	c, err := f.pool.Call(method, nil, [][]byte{[]byte(body)}, []byte("0000"),
		[]backends.Hole{{At: 0, Width: 4, Field: backends.FieldID}}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// send starts a request of a new generation.
func (f *fixture) send(c *backends.Call) *backends.Sample {
	f.gen++
	s := &backends.Sample{Gen: f.gen}
	f.lane.Send(0, c, backends.Fields{ID: uint64(f.gen)}, s)
	return s
}

// do makes one request.
func (f *fixture) do(t testing.TB, c *backends.Call) *backends.Sample {
	t.Helper()
	s := f.send(c)
	if slot, done := f.lane.Recv(); slot != 0 || !done {
		t.Fatalf("Recv: %d %v", slot, done)
	}
	return s
}

// pass is a proxy for a server that can be made to misbehave.
type pass struct {
	net.Listener
	mu    sync.Mutex
	armed bool // close the connection when the next request comes
	conns []net.Conn
}

func proxy(t testing.TB, to string) *pass {
	p := &pass{Listener: listen(t)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := p.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, in, out)
			p.mu.Unlock()
			wg.Go(func() { p.copy(in, out, true) })
			wg.Go(func() { p.copy(out, in, false) })
		}
	})
	t.Cleanup(func() {
		_ = p.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		wg.Wait()
	})
	return p
}

func (p *pass) copy(from, to net.Conn, client bool) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		kill := client && p.armed && asks(b[:n])
		p.armed = p.armed && !kill
		p.mu.Unlock()
		if kill {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// asks reports whether what a client sent at once has a request in it. Its preface may come after the
// server's, and it acknowledges settings and pings when it likes.
func asks(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte(http2.ClientPreface))
	for len(b) >= frameHeadSize {
		if b[3] == frameHeaders {
			return true
		}
		size := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
		b = b[min(frameHeadSize+size, len(b)):]
	}
	return false
}

func (p *pass) arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.armed = true
}

func headerOf(ctx context.Context, name string) []string {
	md, _ := metadata.FromIncomingContext(ctx)
	return md.Get(name)
}

func verifyLeaks(m *testing.M) { goleak.VerifyTestMain(m) }
