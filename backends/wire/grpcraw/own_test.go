package grpcraw

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/wire/tlsconf"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// framed is a server's side of one connection, frame by frame.
type framed struct {
	*http2.Framer
	t      *testing.T
	nth    int32 // connection, from 1
	fields hpack.Encoder
	block  bytes.Buffer
}

// frames serves every connection with script until the test ends; when it returns the connection is
// closed.
func frames(t *testing.T, script func(c *framed)) (address string) {
	l := listen(t)
	var wg sync.WaitGroup
	var n atomic.Int32
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			wg.Go(func() {
				defer conn.Close()
				if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
					return
				}
				c := &framed{Framer: http2.NewFramer(conn, conn), t: t, nth: n.Add(1)}
				c.fields = *hpack.NewEncoder(&c.block)
				_ = c.WriteSettings()
				script(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// until reads frames up to the first that is wanted; nil when the connection is over.
func (c *framed) until(wanted func(f http2.Frame) bool) http2.Frame {
	for {
		f, err := c.ReadFrame()
		if err != nil || wanted(f) {
			return f
		}
	}
}

// request reads up to the end of a request and gives its stream; 0 when the connection is over.
func (c *framed) request() uint32 {
	f := c.until(func(f http2.Frame) bool { d, ok := f.(*http2.DataFrame); return ok && d.StreamEnded() })
	if f == nil {
		return 0
	}
	return f.Header().StreamID
}

// ping asks for a sign of life and waits for it.
func (c *framed) ping() {
	_ = c.WritePing(false, [8]byte{1, 2, 3})
	f := c.until(func(f http2.Frame) bool { _, ok := f.(*http2.PingFrame); return ok })
	if f == nil || !f.(*http2.PingFrame).IsAck() || f.(*http2.PingFrame).Data != [8]byte{1, 2, 3} {
		c.t.Error("the ping was not answered")
	}
}

func (c *framed) reply(stream uint32, text string) {
	c.head(stream, false, ":status", "200", "content-type", "application/grpc")
	_ = c.WriteData(stream, false, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...))
	c.head(stream, true, "grpc-status", "0")
}

func (c *framed) head(stream uint32, end bool, fields ...string) {
	c.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = c.fields.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	_ = c.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: c.block.Bytes(), EndStream: end, EndHeaders: true,
	})
}

// TestPings: a server that wants to know whether the client lives is told, between calls and within one.
func TestPings(t *testing.T) {
	pinged := make(chan struct{})
	f := open(t, Options{Address: frames(t, func(c *framed) {
		for stream := c.request(); stream != 0; stream = c.request() {
			c.ping()
			c.reply(stream, "fine")
			c.ping()
			pinged <- struct{}{}
		}
	})})
	received := make(chan struct{}) // the lane's goroutine is in Recv all the time, as in an open loop
	go func() {
		for range 3 {
			f.lane.Recv()
			received <- struct{}{}
		}
		f.lane.Recv()
		close(received)
	}()
	for i := range 3 {
		s := f.send(f.call(t, "x"))
		<-received
		<-pinged
		if s.Class != backends.OK || (s.Flags&backends.Reused != 0) != (i > 0) {
			t.Errorf("%v %s, flags %b", s.Class, s.Note, s.Flags)
		}
	}
	_ = f.lane.Close()
	<-received
}

// TestGoAway: a server that takes its leave between calls is left, before the next; one that does
// so under a call gets it again on another connection, if it says that it has not looked at it.
func TestGoAway(t *testing.T) {
	left := make(chan struct{}, 1)
	for name, c := range map[string]struct {
		script func(c *framed)
		flags  backends.Flags
	}{
		"between calls": {func(c *framed) {
			c.reply(c.request(), "fine")
			_ = c.WriteGoAway(1, http2.ErrCodeNo, nil)
			for c.request() != 0 {
			}
			left <- struct{}{}
		}, backends.Redialled},
		"under a call": {func(c *framed) {
			c.reply(c.request(), "fine")
			left <- struct{}{}
			c.request()
			_ = c.WriteGoAway(1, http2.ErrCodeNo, nil)
		}, backends.Redialled},
		"refused": {func(c *framed) {
			c.reply(c.request(), "fine")
			left <- struct{}{}
			_ = c.WriteRSTStream(c.request(), http2.ErrCodeRefusedStream)
		}, backends.Redialled},
	} {
		f := open(t, Options{Address: frames(t, func(conn *framed) {
			if conn.nth == 1 {
				c.script(conn)
				return
			}
			for stream := conn.request(); stream != 0; stream = conn.request() {
				conn.reply(stream, "fine")
			}
		})})
		done := make(chan struct{})
		go func() {
			for {
				if slot, _ := f.lane.Recv(); slot == backends.None {
					close(done)
					return
				}
				done <- struct{}{}
			}
		}()
		for i := range 3 {
			s := f.send(f.call(t, "x"))
			<-done
			if i == 0 {
				<-left
			}
			if s.Class != backends.OK || i == 1 && s.Flags&c.flags == 0 || i == 2 && s.Flags&backends.Reused == 0 {
				t.Errorf("%s, call %d: %v %s, flags %b", name, i, s.Class, s.Note, s.Flags)
			}
		}
		_ = f.lane.Close()
		<-done
	}
}

// TestLargeMessages: more than the windows of another implementation hold, with and without TLS,
// compressed and not.
func TestLargeMessages(t *testing.T) {
	secure, cert, _ := backendtest.Certificate(t)
	for name, o := range map[string]Options{"plain": {}, "tls": {}, "gzip": {Compression: "gzip"}} {
		l := listen(t)
		var options []grpc.ServerOption
		if name == "tls" {
			options = append(options, grpc.Creds(credentials.NewTLS(secure)))
			o.TLS = trusting(t, cert)
		}
		serve(t, l, echo, append(options, grpc.MaxRecvMsgSize(64<<20))...)
		o.Address = l.Addr().String()
		f := open(t, o)
		for _, size := range []int{1, 16 << 10, 65_530, 66_000, 1 << 20, 9 << 20} {
			body := strings.Repeat("0123456789abcdef", size/16+1)[:size]
			s := f.do(t, f.call(t, body))
			if s.Class != backends.OK || !strings.HasPrefix(string(f.judge.reply), body) ||
				len(f.judge.reply) != size+4 {
				t.Errorf("%s, %d bytes: %v %s, %d bytes came back", name, size, s.Class, s.Note, len(f.judge.reply))
			}
			if name != "gzip" && s.BytesSent < int64(size) || s.SendEnd <= s.SendStart || s.LastByte < s.SendEnd {
				t.Errorf("%s, %d bytes: %+v", name, size, s)
			}
		}
	}
}

func trusting(t *testing.T, cert string) *tls.Config {
	t.Helper()
	c, err := tlsconf.New(&backends.TLSOptions{CA: cert}, "localhost")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNoHTTP2OverTLS: a server that does not agree to speak HTTP/2 is a failure of TLS, and says so.
func TestNoHTTP2OverTLS(t *testing.T) {
	secure, cert, _ := backendtest.Certificate(t)
	raw := listen(t)
	l := tls.NewListener(raw, secure)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.(*tls.Conn).Handshake()
			_ = c.Close()
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	p, err := New(Options{
		Network: "tcp", Address: raw.Addr().String(), Authority: "a", TLS: trusting(t, cert),
		Judge: func() Judge { return &recorder{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Lanes(t.Context(), 1, backends.LaneOptions{}); err == nil ||
		!strings.Contains(err.Error(), "does not offer h2 (ALPN)") {
		t.Error(err)
	}
	_ = p.Close()
}

// TestRefusedCertificate: in TLS 1.3 a server refuses a client's certificate after the handshake.
// That is a failure of TLS too.
func TestRefusedCertificate(t *testing.T) {
	secure, cert, _ := backendtest.Certificate(t)
	secure = secure.Clone()
	secure.ClientAuth, secure.MinVersion = tls.RequireAnyClientCert, tls.VersionTLS13
	l := listen(t)
	serve(t, l, echo, grpc.Creds(credentials.NewTLS(secure)))
	f := open(t, Options{Address: l.Addr().String(), TLS: trusting(t, cert), Connections: backends.PerRequest})
	for range 2 {
		if s := f.do(t, f.call(t, "x")); s.Class != backends.TLS ||
			!strings.Contains(string(s.Note), "certificate required") {
			t.Errorf("%v %s", s.Class, s.Note)
		}
	}
}

// TestSilentServer: a server that takes connections and says nothing has not answered a dial.
func TestSilentServer(t *testing.T) {
	l := listen(t)
	t.Cleanup(func() { _ = l.Close() })
	f := open(t,
		Options{
			Address: l.Addr().String(), Connections: backends.PerRequest, ConnectTimeout: 20 * time.Millisecond,
		})
	for _, hold := range []bool{false, true} {
		if s := f.do(t, f.call(t, "x")); s.Class != backends.Dial ||
			!strings.Contains(string(s.Note), "sent nothing within the connect_timeout") || s.Connect == 0 {
			t.Errorf("hold %t: %v %s, connect %d", hold, s.Class, s.Note, s.Connect)
		}
		f = openHeld(t, f.pool.o, true)
	}
}

// TestRefusals: requests that a server refuses, with others between them, do not make it one that
// closes after every reply.
func TestRefusals(t *testing.T) {
	var made atomic.Int32
	f := open(t, Options{Address: frames(t, func(c *framed) {
		made.Store(c.nth)
		for n := 1; ; n++ {
			switch stream := c.request(); {
			case stream == 0:
				return
			case n == 2 && c.nth < 4:
				_ = c.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
			default:
				c.reply(stream, "fine")
			}
		}
	})})
	for i := range 10 {
		if s := f.do(t, f.call(t, "x")); s.Class != backends.OK {
			t.Errorf("call %d: %v %s", i, s.Class, s.Note)
		}
	}
	if n := made.Load(); n != 4 {
		t.Errorf("%d connections, want 4", n)
	}
}
