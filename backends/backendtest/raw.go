package backendtest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// RawOptions configures the listener of a raw server. The zero value is TCP on loopback.
type RawOptions struct {
	TLS  bool // with its own certificate, whose authority is in the Server's TLSOptions, or in Raw.CA
	Unix bool
}

// Raw is a server that plays a script.
type Raw struct {
	Address string // host:port or path
	CA      string // file with the authority of the certificates that the script names
	listen  net.Listener
	tls     *tls.Config
	script  *script
	issuer  *issuer        // of the certificates that the script names; nil: it names none
	seen    map[string]int // requests so far, by path
	size    atomic.Int64
	count   atomic.Int64
	ctx     context.Context //nolint:containedctx // it ends the server's goroutines, which start here
	stop    context.CancelFunc
	wg      sync.WaitGroup
	mu      sync.Mutex
	open    map[net.Conn]bool
}

// StartRaw starts a server that ends with the test.
func StartRaw(t testing.TB, o RawOptions, config *tls.Config, script string) *Raw {
	t.Helper()
	parsed, err := parseScript(script)
	if err != nil {
		t.Fatal(err)
	}
	secure := o.TLS && config == nil || parsed.secure()
	network, address := "tcp", Loopback()
	switch {
	case o.Unix:
		network, address = "unix", t.TempDir()+"/raw"
	case config != nil || secure:
		address = "127.0.0.1:0" // as in the certificate of Certificate
	}
	listen, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	r := &Raw{
		Address: listen.Addr().String(), listen: listen, tls: config, script: parsed,
		open: map[net.Conn]bool{},
		seen: map[string]int{},
	}
	if secure {
		r.issuer, r.CA = newIssuer(t)
	}
	r.start()
	t.Cleanup(r.Down)
	return r
}

func (r *Raw) start() {
	r.ctx, r.stop = context.WithCancel(context.Background())
	r.wg.Go(r.accept)
}

// Up restarts a TCP server after Down, at the same address and with the same script.
func (r *Raw) Up(t testing.TB) {
	t.Helper()
	listen, err := net.Listen("tcp", r.Address)
	if err != nil {
		t.Fatal(err)
	}
	r.listen = listen
	r.start()
}

// Size sets the number of bytes of a request, for "read size".
func (r *Raw) Size(n int) { r.size.Store(int64(n)) }

// Accepted returns the number of accepted connections.
func (r *Raw) Accepted() int { return int(r.count.Load()) }

// Down closes the listener and all connections: from now on clients are refused.
func (r *Raw) Down() {
	r.stop()
	_ = r.listen.Close()
	r.mu.Lock()
	for c := range r.open {
		_ = c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}

func (r *Raw) accept() {
	for {
		raw, err := r.listen.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // a test may take away the descriptors
			<-time.After(time.Millisecond)
			continue
		}
		n := int(r.count.Add(1)) - 1
		r.mu.Lock()
		r.open[raw] = true
		if r.ctx.Err() != nil { // accepted while Down closed the others
			_ = raw.Close()
		}
		r.mu.Unlock()
		r.wg.Go(func() {
			conn := raw
			if r.tls != nil {
				conn = tls.Server(raw, r.tls)
			}
			p := &connPlayer{r: r, raw: raw, conn: conn, in: bufio.NewReader(conn)}
			p.play(r.script.connections[min(n, len(r.script.connections)-1)])
			_ = p.conn.Close()
			r.mu.Lock()
			delete(r.open, raw)
			r.mu.Unlock()
		})
	}
}

// connPlayer plays the script of one connection.
type connPlayer struct {
	r         *Raw
	raw, conn net.Conn
	in        *bufio.Reader
	piece     int
	pause     time.Duration
	request   pendingRequest // the request that a handler answers
	calls     *grpcCalls     // of a gRPC connection
	writing   sync.Mutex
}

func (p *connPlayer) play(script []command) {
	for i := 0; i < len(script); i++ {
		if script[i].word == "repeat" {
			i = -1
			continue
		}
		if !p.do(script[i]) {
			return
		}
	}
}

// do plays one command and reports whether the script continues.
func (p *connPlayer) do(c command) bool {
	switch c.word {
	case "read head":
		return p.await([]byte("\r\n\r\n"))
	case "read size":
		return p.read(int(p.r.size.Load()))
	case "read":
		return p.read(c.n)
	case "await":
		b, err := c.bytes.flat()
		return err == nil && p.await(b)
	case "split":
		p.writing.Lock() // two goroutines write to a gRPC connection
		p.piece, p.pause = c.n, c.wait
		p.writing.Unlock()
		return true
	case "delay":
		return p.wait(c.wait)
	case "times":
		for range c.n {
			if !p.do(*c.repeats) {
				return false
			}
		}
		return true
	case "good":
		return p.good()
	case "serve http":
		return p.serveHTTP()
	case "serve grpc":
		return p.serveGRPC()
	case "reset":
		if tcp, ok := p.raw.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = p.raw.Close()
	case "hang":
		<-p.r.ctx.Done()
	case "close":
	default:
		return p.playOutput(c)
	}
	return false // reset, close and hang end the script
}

// playOutput plays a command that sends something, or makes a handshake.
func (p *connPlayer) playOutput(c command) bool {
	switch c.word {
	case "send":
		return p.send(c.bytes)
	case "sendraw":
		b, err := c.bytes.flat()
		if err == nil {
			_, err = p.raw.Write(b)
		}
		return err == nil
	case "head":
		return p.head(c)
	case "chunk":
		return p.chunk(c.bytes)
	case "reply":
		if p.calls == nil {
			return p.replyHTTP(c.n, c.bytes)
		}
		return p.replyGRPC(c.n, c.bytes)
	case "headers":
		return p.headers(c.frame)
	case "data":
		return p.data(c.frame, c.bytes)
	case "frame":
		return p.frame(c.frame, c.bytes)
	}
	certificate, _ := strings.CutPrefix(c.word, "tls ")
	return p.handshake(certificate)
}

func (p *connPlayer) read(n int) bool {
	_, err := io.CopyN(io.Discard, p.in, int64(n))
	return err == nil
}

// await reads up to and including want.
func (p *connPlayer) await(want []byte) bool {
	var seen []byte
	for !bytes.HasSuffix(seen, want) {
		b, err := p.in.ReadByte()
		if err != nil {
			return false
		}
		seen = append(seen, b)
	}
	return true
}

// send writes a payload, at once if it is short.
func (p *connPlayer) send(all payload) bool {
	var short []byte
	for _, one := range all {
		b, n := repeatedBytes{p.fill(one.bytes), one.n}.join()
		for ; n > 0; n-- {
			if short = append(short, b...); len(short) < maxJoin {
				continue
			}
			if !p.write(short) {
				return false
			}
			short = short[:0]
		}
	}
	return len(short) == 0 || p.write(short)
}

// write sends bytes unchanged, in pieces if the script says so.
func (p *connPlayer) write(b []byte) bool {
	p.writing.Lock()
	defer p.writing.Unlock()
	for p.piece > 0 && len(b) > p.piece {
		if _, err := p.conn.Write(b[:p.piece]); err != nil || !p.wait(p.pause) {
			return false
		}
		b = b[p.piece:]
	}
	_, err := p.conn.Write(b)
	return err == nil
}

// wait waits for d, unless the server stops.
func (p *connPlayer) wait(d time.Duration) bool {
	if d < time.Millisecond {
		sleep(d)
		return p.r.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.r.ctx.Done():
		return false
	}
}
