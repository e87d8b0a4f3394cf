package netlane

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// heldPair is a held connection and its other end.
func heldPair(t *testing.T) (h, other net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if other, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	if h, err = makeBlocking(conn, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = h.Close(), other.Close() })
	return h, other
}

// TestHeldStops: a read that waits, and a write that cannot go on, keep neither the collector nor
// other goroutines of the program from their work, and end when the connection does.
func TestHeldStops(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	for name, end := range map[string]func(h net.Conn){
		"close":    func(h net.Conn) { _ = h.Close() },
		"deadline": func(h net.Conn) { _ = h.SetDeadline(pastDeadline) },
	} {
		h, _ := heldPair(t)
		var wrote atomic.Int64
		ended := make(chan error, 2)
		go func() {
			_, err := h.Read(make([]byte, 10))
			ended <- err
		}()
		go func() {
			for {
				n, err := h.Write(make([]byte, 1<<20)) // until the other end's buffers are full
				wrote.Add(int64(n))
				if err != nil {
					ended <- err
					return
				}
			}
		}()
		for range 20 {
			runtime.GC()
		}
		select {
		case err := <-ended:
			t.Errorf("%s: ended before: %v", name, err)
		default:
		}
		end(h)
		for range 2 {
			if err := <-ended; err == nil {
				t.Errorf("%s: ended without an error", name)
			}
		}
		if wrote.Load() == 0 {
			t.Errorf("%s: nothing was written", name)
		}
	}
}

// TestHeldTransfers: bytes arrive whole in both directions, whatever their number, and the end is
// io.EOF.
func TestHeldTransfers(t *testing.T) {
	h, other := heldPair(t)
	sent := bytes.Repeat([]byte("0123456789"), 500_000)
	go func() { _, _ = io.Copy(other, other); _ = other.Close() }()
	go func() {
		if n, err := h.Write(sent); n != len(sent) || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		_ = h.SetWriteDeadline(pastDeadline)
	}()
	got, err := io.ReadAll(h)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes, %v", len(got), len(sent), err)
	}
	if n, err := h.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %d, %v", n, err)
	}
	_ = h.Close()
	if _, err := h.Read(make([]byte, 1)); err == nil {
		t.Error("read from a closed connection")
	}
}

// TestHeldGathers: pieces of any number and length arrive in order and cost no call each.
func TestHeldGathers(t *testing.T) {
	h, other := heldPair(t)
	random := rand.New(rand.NewPCG(1, 2))
	var pieces [][]byte
	for range 2*maxIovecs + 100 {
		size := random.IntN(3) * random.IntN(5000)
		pieces = append(pieces, bytes.Repeat([]byte{byte(random.Uint32())}, size))
	}
	pieces = append(pieces, nil, nil)
	sent := bytes.Join(pieces, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, p := range [][][]byte{pieces, nil, {nil}} {
			if n, err := h.(vectorWriter).writeVector(p); n != int64(len(bytes.Join(p, nil))) || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		}
		_ = h.SetWriteDeadline(pastDeadline)
	}()
	got, err := io.ReadAll(other)
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d of %d bytes, %v", len(got), len(sent), err)
	}
	<-done
	if n, err := h.(vectorWriter).writeVector(pieces); n != 0 || err == nil {
		t.Errorf("after the end: %d, %v", n, err)
	}
}

// TestHeldWrites: a request of many pieces goes out in few calls, as on a connection that is not held.
func TestHeldWrites(t *testing.T) {
	h, other := heldPair(t)
	var pieces [][]byte
	for range 200 {
		pieces = append(pieces, make([]byte, 9), make([]byte, 100))
	}
	counted := &counting{RawConn: h.(*blockingConn).raw}
	h.(*blockingConn).raw = counted
	k := &link{conn: h, raw: h}
	var o output
	if n, err := o.write(k, nil, pieces); n != 200*109 || err != nil {
		t.Fatal(n, err)
	}
	if _, err := io.ReadFull(other, make([]byte, 200*109)); err != nil {
		t.Fatal(err)
	}
	if n, err := o.writeRest(k, pieces); n != 200*109 || err != nil {
		t.Fatal(n, err)
	}
	if counted.calls > 3 {
		t.Errorf("%d calls", counted.calls)
	}
	h.(*blockingConn).raw = counted.RawConn
}

// counting counts the calls that are made on a connection.
type counting struct {
	syscall.RawConn
	calls int
}

func (c *counting) Control(f func(fd uintptr)) error {
	c.calls++
	return c.RawConn.Control(f)
}

// TestWhoHolds: lanes hold where it is asked for, the connection is plain, and a waiting goroutine
// can be stopped.
func TestWhoHolds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // its backlog takes them all
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		o     Options
		n     int // of lanes wanted
		debug string
		holds bool
		lanes int // that there are
		depth int
	}{
		{n: 3, lanes: 3, depth: 1},
		{o: Options{MaxBlocked: 1, PerRequest: true}, n: 1, holds: true, lanes: 1, depth: 1},
		{o: Options{MaxBlocked: 3, LargestCall: 1 << 20}, n: 3, holds: true, lanes: 3, depth: 1},
		{o: Options{MaxBlocked: 2, LargestCall: inlineLimit}, n: 7, holds: true, lanes: 2, depth: 4},
		{o: Options{MaxBlocked: 2, LargestCall: inlineLimit + 1}, n: 7, lanes: 7, depth: 1},
		{o: Options{MaxBlocked: 2, PerRequest: true}, n: 7, lanes: 7, depth: 1},
		{o: Options{MaxBlocked: 1, TLS: &tls.Config{}, PerRequest: true}, n: 1, lanes: 1, depth: 1},
		{o: Options{MaxBlocked: 2}, n: 7, debug: "x=1,asyncpreemptoff=1", lanes: 7, depth: 1},
	} {
		t.Setenv("GODEBUG", c.debug)
		c.o.Network, c.o.Address = "tcp", l.Addr().String()
		c.o.New = func() backends.Wire { return http1.New(nil) }
		lanes, limits, err := Dial(t.Context(), c.o, c.n)
		if err != nil || limits.BlocksThread != c.holds || len(lanes) != c.lanes || limits.Depth != c.depth {
			t.Errorf("%+v: %d lanes, %+v, %v", c, len(lanes), limits, err)
		}
		for _, l := range lanes {
			_ = l.Close()
		}
	}
}
