package netlane_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
	"github.com/sluice-bench/sluice/backends/wire/tlsconf"
)

// rig is one lane to a raw server, driven by one goroutine.
type rig struct {
	t      *testing.T
	raw    *backendtest.Raw
	clock  backends.Clock
	lane   backends.Lane
	limits backends.Limits
	call   *backends.Call
	gen    uint32
}

func newRig(t *testing.T, script string, size int, change func(*netlane.Options)) *rig {
	t.Helper()
	return newRigOn(t, backendtest.StartRaw(t, backendtest.RawOptions{}, nil, script), size, change)
}

func newRigOn(t *testing.T, raw *backendtest.Raw, size int, change func(*netlane.Options)) *rig {
	t.Helper()
	r := &rig{t: t, raw: raw, clock: backends.Clock{Origin: time.Now().Add(-time.Second)}}
	o := netlane.Options{
		Network: "tcp", Address: raw.Address, Clock: r.clock,
		New: func() backends.Wire { return http1.New(judge{}) },
	}
	if change != nil {
		change(&o)
	}
	var err error
	if r.call, err = (conn{o}).Prepare(request(size)); err != nil {
		t.Fatal(err)
	}
	raw.Size(r.call.Size)
	lanes, limits, err := netlane.Dial(context.Background(), o, 1)
	if err != nil {
		t.Fatal(err)
	}
	r.lane, r.limits = lanes[0], limits
	t.Cleanup(func() { _ = r.lane.Close() })
	return r
}

func (r *rig) send() *backends.Sample {
	r.gen++
	s := &backends.Sample{Due: r.clock.Now(), Gen: r.gen}
	r.lane.Send(0, r.call, backends.Fields{}, s)
	return s
}

// do sends and receives; a lane that is stuck is closed.
func (r *rig) do() *backends.Sample {
	r.t.Helper()
	s := r.send()
	r.recv()
	return s
}

func (r *rig) recv() {
	r.t.Helper()
	watch := time.AfterFunc(20*time.Second, func() { _ = r.lane.Close() })
	if slot, done := r.lane.Recv(); slot != 0 || !done || !watch.Stop() {
		r.t.Fatalf("Recv: slot %d, done %v", slot, done)
	}
}

func newSecureRig(t *testing.T, script string, size int) *rig {
	t.Helper()
	server, cert, _ := backendtest.Certificate(t)
	client, err := tlsconf.New(&backends.TLSOptions{CA: cert}, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	raw := backendtest.StartRaw(t, backendtest.RawOptions{}, server, script)
	return newRigOn(t, raw, size, func(o *netlane.Options) { o.TLS = client })
}

const good = `send "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"` + "\n"

func TestLimits(t *testing.T) {
	r := newRig(t, "accept\nhang", 10, nil)
	if r.limits.Depth != 1 || r.limits.Inline != 32<<10 {
		t.Errorf("%+v", r.limits)
	}
}

// With one goroutine each silent close hits a request, until two in a row have shown what the
// server does: from then on connects lie between requests.
func TestTwoSilentClosesMoveConnectsOutOfLatency(t *testing.T) {
	r := newRig(t, "accept\nread size\n"+good+"close", 10, nil)
	for i := range 10 {
		s := r.do()
		if s.Class != backends.OK {
			t.Fatalf("request %d: %v %q", i, s.Class, s.Note)
		}
		if (s.Connect > 0) != (i > 0) {
			t.Errorf("request %d: %d ns of connect", i, s.Connect)
		}
		if resent, ahead := s.Flags&backends.Resent != 0, s.Flags&backends.Ahead != 0; resent != (i == 1 ||
			i == 2) || ahead != (i > 2) {
			t.Errorf("request %d: sent again %v, connected ahead %v", i, resent, ahead)
		}
		if again := s.Flags&backends.Redialled != 0; again != (i > 0) {
			t.Errorf("request %d: redialled %v", i, again)
		}
	}
}

// A close that the server announces never costs a request its connect.
func TestAnnouncedCloses(t *testing.T) {
	r := newRig(t,
		"accept\nread size\n"+strings.Replace(good, "Content", `Connection: close\r\nContent`, 1)+"close", 10, nil)
	for i := range 5 {
		s := r.do()
		if s.Class != backends.OK || (s.Connect > 0) != (i > 0) || (s.Flags&backends.Redialled != 0) != (i > 0) ||
			(s.Flags&backends.Ahead != 0) != (i > 0) || s.Flags&backends.Resent != 0 {
			t.Errorf("request %d: %v, connect %d, flags %b", i, s.Class, s.Connect, s.Flags)
		}
	}
}

func TestPerRequest(t *testing.T) {
	r := newRig(t, "accept\nread size\n"+good+"hang", 10, func(o *netlane.Options) { o.PerRequest = true })
	if n := r.raw.Accepted(); n != 0 {
		t.Errorf("%d connections before the first request", n)
	}
	for range 4 {
		s := r.do()
		if s.Class != backends.OK || s.Connect <= 0 || s.Flags&(backends.Reused|backends.Redialled) != 0 {
			t.Errorf("%v %q, connect %d, flags %b", s.Class, s.Note, s.Connect, s.Flags)
		}
		if s.SendStart < s.Due || s.SendEnd-s.SendStart < s.Connect {
			t.Errorf("due %d, send %d to %d, connect %d: the connect is not part of the request",
				s.Due, s.SendStart, s.SendEnd, s.Connect)
		}
	}
	if n := r.raw.Accepted(); n != 4 {
		t.Errorf("%d connections for 4 requests", n)
	}
}

// A server that is down costs one attempt a request, and its return is noticed.
func TestServerGoesAndComesBack(t *testing.T) {
	r := newRig(t, "accept\nread size\n"+good+"repeat", 10, nil)
	if s := r.do(); s.Class != backends.OK {
		t.Fatalf("%v %q", s.Class, s.Note)
	}
	r.raw.Down()
	for i := range 3 {
		s := r.do()
		if s.Class != backends.Dial || !strings.Contains(string(s.Note), "refused") {
			t.Errorf("request %d: %v %q", i, s.Class, s.Note)
		}
	}
	r.raw.Up(t)
	for i := range 3 {
		if s := r.do(); s.Class != backends.OK || (s.Flags&backends.Redialled != 0) != (i == 0) {
			t.Errorf("request %d after the return: %v %q, flags %b", i, s.Class, s.Note, s.Flags)
		}
	}
}

// A connection that is closed as soon as it stands is not dialled over and over.
func TestNoSpinOnAServerThatHangsUp(t *testing.T) {
	r := newRig(t, "accept\nclose", 10, nil)
	answered := make(chan bool)
	go func() {
		defer close(answered)
		for {
			slot, done := r.lane.Recv()
			if slot == backends.None && !done {
				return
			}
			answered <- true
		}
	}()
	for range 3 {
		s := r.send()
		<-answered
		if s.Class != backends.ResetByPeer && s.Class != backends.Write {
			t.Errorf("%v %q", s.Class, s.Note)
		}
	}
	if n := r.raw.Accepted(); n > 8 {
		t.Errorf("%d connections for 3 requests", n)
	}
	_ = r.lane.Close()
	<-answered
}

// The server may answer without having read the request: the reply counts, the rest of the write is
// broken off.
func TestEarlyReply(t *testing.T) {
	r := newRig(t, "accept\nread head\nsend \"HTTP/1.1 413 No\\r\\nContent-Length: 3\\r\\n\\r\\nbig\"\nhang",
		64<<20, nil)
	for range 2 {
		done := make(chan bool)
		go func() { r.recv(); close(done) }()
		s := r.send()
		<-done
		if s.Class != backends.Status || s.Status != 413 || string(s.Note) != "big" ||
			s.BytesSent >= int64(r.call.Size) {
			t.Errorf("%v %d %q, %d of %d bytes sent", s.Class, s.Status, s.Note, s.BytesSent, r.call.Size)
		}
	}
}

// An inline Send passes a server that reads nothing.
func TestInlineDoesNotBlock(t *testing.T) {
	r := newRig(t, "accept\nhang", 32<<10-200, nil)
	if r.call.Size > r.limits.Inline {
		t.Fatalf("%d bytes are not inline", r.call.Size)
	}
	stuck := time.AfterFunc(20*time.Second, func() { _ = r.lane.Close() })
	s := r.send()
	if !stuck.Stop() || s.BytesSent != int64(r.call.Size) {
		t.Errorf("%d of %d bytes sent", s.BytesSent, r.call.Size)
	}
	r.lane.Cancel(0, r.gen, backends.CauseDrain)
	r.recv()
}

// Without a reader of the other side a write blocks; a cancel ends it.
func TestCancelOfABlockedWrite(t *testing.T) {
	r := newRig(t, "accept\nhang", 64<<20, nil)
	end := time.AfterFunc(50*time.Millisecond, func() { r.lane.Cancel(0, 1, backends.CauseTimeout) })
	defer end.Stop()
	if s := r.do(); s.Class != backends.TimedOut || s.BytesSent >= int64(r.call.Size) {
		t.Errorf("%v, %d bytes sent", s.Class, s.BytesSent)
	}
}

// The request after one that the client closed, by a timeout or as planned, finds a connection.
func TestConnectsAfterACancel(t *testing.T) {
	for why, want := range map[backends.Cause]backends.ErrorClass{
		backends.CauseTimeout: backends.TimedOut, backends.CauseClosed: backends.Closed,
	} {
		r := newRig(t, "accept\nread size\nhang", 10, nil)
		for i := range 3 {
			s := r.send()
			r.lane.Cancel(0, r.gen, why)
			r.recv()
			if s.Class != want || (s.Flags&backends.Ahead != 0) != (i > 0) {
				t.Errorf("cause %d, request %d: %v, flags %b: it had to wait for a connection", why, i, s.Class, s.Flags)
			}
		}
	}
}

// Every size goes out whole, in whatever pieces; the server reads exactly as many bytes.
func TestSizes(t *testing.T) {
	for _, size := range []int{0, 1, 4000, 32 << 10, 33 << 10, 256 << 10, 257 << 10, 3 << 20} {
		r := newRig(t, "accept\nread size\n"+good+"repeat", size, nil)
		for range 3 {
			if s := r.do(); s.Class != backends.OK || s.BytesSent != int64(r.call.Size) {
				t.Errorf("%d bytes: %v %q, %d of %d sent", size, s.Class, s.Note, s.BytesSent, r.call.Size)
			}
		}
	}
}

// A body of many pieces arrives as their sum, over TLS as well.
func TestPieces(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, piece := range []int{10, 5000, 40 << 10, 200 << 10} {
			script := "accept\nread head\n" + strings.Repeat("await \"!\"\n", 4) + good + "repeat"
			r := newRig(t, script, 1, nil)
			if secure {
				r = newSecureRig(t, script, 1)
			}
			body := []byte(strings.Repeat("x", piece-1) + "!")
			r.call.Body = [][]byte{body, {}, body, body, body}
			for range 3 {
				if s := r.do(); s.Class != backends.OK {
					t.Errorf("pieces of %d: %v %q", piece, s.Class, s.Note)
				}
			}
		}
	}
}

func TestDialReportsWhoRefused(t *testing.T) {
	raw := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, "accept\nhang")
	raw.Down()
	_, _, err := netlane.Dial(context.Background(),
		netlane.Options{
			Network: "tcp", Address: raw.Address,
			New: func() backends.Wire { return http1.New(judge{}) },
		},
		100)
	if err == nil || !strings.Contains(err.Error(), "connect to "+raw.Address) {
		t.Errorf("%v", err)
	}
}

func TestDialFailureOfOurs(t *testing.T) {
	r := newRig(t, "accept\nread size\n"+good+"close", 10, func(o *netlane.Options) { o.PerRequest = true })
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	low := limit
	low.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	s := r.do()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if s.Class != backends.Client {
		t.Errorf("%v %q without descriptors", s.Class, s.Note)
	}
	if s := r.do(); s.Class != backends.OK {
		t.Errorf("afterwards: %v %q", s.Class, s.Note)
	}
}
