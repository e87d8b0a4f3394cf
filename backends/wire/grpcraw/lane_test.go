package grpcraw

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestRequest(t *testing.T) { both(t, testRequest) }

func testRequest(t *testing.T, connections int) {
	l := listen(t)
	var names, kinds []string
	serve(t, l, func(ctx context.Context, request []byte) ([]byte, error) {
		names, kinds = headerOf(ctx, "x-key"), headerOf(ctx, "content-type")
		return append([]byte("got "), request...), nil
	})
	f := open(t,
		Options{
			Connections: connections, Address: l.Addr().String(),
			Headers: []backends.Header{{Name: "X-Key", Value: "v"}},
		})
	for i := range 3 {
		s := f.do(t, f.call(t, "body"))
		if want := fmt.Sprintf("got body%04d", i+1); string(f.judge.reply) != want {
			t.Errorf("reply %q, want %q", f.judge.reply, want)
		}
		if s.Class != backends.OK || s.Status != 0 || s.Responses != 1 || s.BytesSent < 4+4+5 ||
			s.BytesReceived < 12+5 || connections > 0 && s.BytesSent+s.BytesReceived != 13+17 {
			t.Errorf("sample %+v", s)
		}
		if s.SendStart == 0 || s.SendEnd < s.SendStart || s.LastByte < s.SendStart || s.FirstByte > s.LastByte ||
			connections > 0 && s.FirstByte != s.LastByte || s.Connect != 0 {
			t.Errorf("stamps %+v", s)
		}
		if reused := s.Flags&backends.Reused != 0; reused != (i > 0) {
			t.Errorf("request %d: reused %v", i, reused)
		}
	}
	if strings.Join(names, ",") != "v" || strings.Join(kinds, ",") != "application/grpc+proto" {
		t.Errorf("metadata %q, content type %q", names, kinds)
	}
}

func TestHeadersOfCalls(t *testing.T) { both(t, testHeadersOfCalls) }

func testHeadersOfCalls(t *testing.T, connections int) {
	l := listen(t)
	serve(t, l, func(ctx context.Context, _ []byte) ([]byte, error) {
		return []byte(strings.Join(headerOf(ctx, "a"), ",") + ";" + strings.Join(headerOf(ctx, "b"), ",")), nil
	})
	f := open(t,
		Options{
			Connections: connections, Address: l.Addr().String(),
			Headers: []backends.Header{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}},
		})
	over, err := f.pool.Call(method, []backends.Header{{Name: "B", Value: "3"}, {Name: "b", Value: "4"}}, nil,
		[]byte("x"), nil, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for c, want := range map[*backends.Call]string{f.call(t, "x"): "1;2", over: "1;3,4"} {
			if f.do(t, c); string(f.judge.reply) != want {
				t.Errorf("got %q, want %q", f.judge.reply, want)
			}
		}
	}
	for _, h := range []backends.Header{
		{Name: "grpc-timeout", Value: "1S"},
		{Name: "", Value: "x"},
		{Name: "a b", Value: "x"},
		{Name: "Content-Type", Value: "x"},
		{Name: "x", Value: "é"},
		{Name: "x", Value: "a\nb"},
	} {
		if _, err := f.pool.Call(method, []backends.Header{h}, nil, nil, nil, 0, nil); err == nil {
			t.Errorf("header %q accepted", h)
		} else if h.Value != "x" && strings.Contains(err.Error(), h.Value) {
			t.Errorf("the error shows the value: %v", err)
		}
	}
}

func TestStatus(t *testing.T) { both(t, testStatus) }

func testStatus(t *testing.T, connections int) {
	l := listen(t)
	serve(t, l, func(_ context.Context, request []byte) ([]byte, error) {
		code := codes.Code(request[0] - 'a')
		return request, status.Error(code, "said by the server")
	})
	f := open(t, Options{Connections: connections, Address: l.Addr().String()})
	f.judge.accept = int32(codes.NotFound)
	for code := codes.OK; code <= codes.Unauthenticated; code++ {
		want := backends.Status
		switch code {
		case codes.OK, codes.NotFound:
			want = backends.OK
		case codes.Canceled:
			want = backends.Cancelled
		}
		s := f.do(t, f.call(t, string(rune('a'+int(code)))))
		if s.Class != want || s.Status != int32(code) || s.LastByte == 0 {
			t.Errorf("%v: class %v, want %v; status %d", code, s.Class, want, s.Status)
		}
		if note := string(s.Note); want != backends.OK &&
			(!strings.HasPrefix(note, code.String()) || !strings.HasSuffix(note, ": said by the server")) {
			t.Errorf("%v: note %q", code, note)
		}
	}
}

func TestMessageSizes(t *testing.T) { both(t, testMessageSizes) }

func testMessageSizes(t *testing.T, connections int) {
	l := listen(t)
	serve(t, l, echo, grpc.MaxRecvMsgSize(64<<20))
	small := listen(t)
	serve(t, small, echo, grpc.MaxRecvMsgSize(4<<20))
	big := strings.Repeat("x", 8<<20)

	f := open(t, Options{Connections: connections, Address: l.Addr().String()})
	if s := f.do(t, f.call(t, big)); s.Class != backends.OK || (f.judge.pieces < 2) != (connections == 0) ||
		len(f.judge.reply) != len(big)+4 {
		t.Errorf("8 MiB: %v %s, %d pieces", s.Class, s.Note, f.judge.pieces)
	}
	f.judge.whole = true
	if s := f.do(t, f.call(t, big)); s.Class != backends.OK || f.judge.pieces != 1 ||
		len(f.judge.reply) != len(big)+4 {
		t.Errorf("8 MiB whole: %v %s, %d pieces", s.Class, s.Note, f.judge.pieces)
	}
	f = open(t, Options{Connections: connections, Address: small.Addr().String()})
	if s := f.do(t, f.call(t, big)); s.Class != backends.Status ||
		!bytes.Contains(s.Note, []byte("server side")) {
		t.Errorf("server limit: %v %s", s.Class, s.Note)
	}
	serveBig := listen(t)
	serve(t, serveBig, func(context.Context, []byte) ([]byte, error) { return []byte(big), nil })
	f = open(t, Options{Connections: connections, Address: serveBig.Addr().String(), MaxMessage: 1 << 20})
	if s := f.do(t, f.call(t, "x")); s.Class != backends.Status ||
		!bytes.Contains(s.Note, []byte("client side")) || !bytes.Contains(s.Note, []byte("1048576")) {
		t.Errorf("client limit: %v %s", s.Class, s.Note)
	}
	if _, err := f.pool.Call(method, nil, [][]byte{[]byte(big)}, nil, nil, 0, nil); err == nil ||
		!strings.Contains(err.Error(), "max_message, 1048576") {
		t.Errorf("request over the limit: %v", err)
	}
}

// hanging is a server whose calls never end by themselves; started gets one value for each.
func hanging(t *testing.T) (address string, started chan struct{}) {
	l := listen(t)
	started = make(chan struct{}, 16)
	serve(t, l, func(ctx context.Context, request []byte) ([]byte, error) {
		if request[0] != 'h' {
			return request, nil
		}
		started <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	return l.Addr().String(), started
}

func TestCancel(t *testing.T) { both(t, testCancel) }

func testCancel(t *testing.T, connections int) {
	address, started := hanging(t)
	f := open(t, Options{Connections: connections, Address: address})
	for _, c := range []struct {
		why   backends.Cause
		class backends.ErrorClass
		flag  backends.Flags
	}{
		{backends.CauseTimeout, backends.TimedOut, backends.Timeout},
		{backends.CauseDrain, backends.Stopped, backends.Incomplete},
		{backends.CauseStop, backends.Stopped, backends.Incomplete},
	} {
		s := f.send(f.call(t, "hang"))
		<-started
		f.lane.Cancel(0, f.gen-1, c.why) // an old generation: nothing
		f.lane.Cancel(0, f.gen+1, c.why)
		f.lane.Cancel(0, f.gen, c.why)
		f.lane.Cancel(0, f.gen, backends.CauseStop) // once only
		if slot, done := f.lane.Recv(); slot != 0 || !done || s.Class != c.class || s.Flags&c.flag == 0 {
			t.Errorf("%v: %d %v, sample %+v", c.why, slot, done, s)
		}
		f.lane.Cancel(0, f.gen, c.why) // idle: nothing
		if s := f.do(t, f.call(t, "go on")); s.Class != backends.OK {
			t.Errorf("after %v: %v %s", c.why, s.Class, s.Note)
		}
	}
}

// Cancellations that race with replies never hurt the next request, whatever wins.
func TestCancelRace(t *testing.T) { both(t, testCancelRace) }

func testCancelRace(t *testing.T, connections int) {
	l := listen(t)
	serve(t, l, echo)
	f := open(t, Options{Connections: connections, Address: l.Addr().String()})
	c := f.call(t, "x")
	for range 300 {
		s := f.send(c)
		gen := f.gen
		done := make(chan struct{})
		go func() { f.lane.Cancel(0, gen, backends.CauseTimeout); close(done) }()
		if slot, ok := f.lane.Recv(); slot != 0 || !ok || s.Class != backends.OK && s.Class != backends.TimedOut {
			t.Fatalf("%d %v %v %s", slot, ok, s.Class, s.Note)
		}
		if s := f.do(t, c); s.Class != backends.OK {
			t.Fatalf("next: %v %s", s.Class, s.Note)
		}
		<-done
	}
}

func TestCloseParkedAndInFlight(t *testing.T) { both(t, testCloseParkedAndInFlight) }

func testCloseParkedAndInFlight(t *testing.T, connections int) {
	address, started := hanging(t)
	f := open(t, Options{Connections: connections, Address: address})
	ended := make(chan int)
	recv := func() {
		slot, _ := f.lane.Recv()
		ended <- slot
	}
	go recv() // parked before the Send
	s := f.send(f.call(t, "hang"))
	<-started
	if err := f.lane.Close(); err != nil {
		t.Error(err)
	}
	if slot := <-ended; slot != 0 || s.Class != backends.Stopped || s.Flags&backends.Incomplete == 0 {
		t.Errorf("slot %d, sample %+v", slot, s)
	}
	go recv()
	if slot := <-ended; slot != backends.None {
		t.Errorf("after Close: slot %d", slot)
	}

	f = open(t, Options{Connections: connections, Address: address})
	go recv()
	_ = f.lane.Close()
	if slot := <-ended; slot != backends.None {
		t.Errorf("parked: slot %d", slot)
	}
	_ = f.lane.Close()
	s = f.send(f.call(t, "x")) // too late: still answered
	if slot, done := f.lane.Recv(); slot != 0 || !done || s.Class != backends.Stopped {
		t.Errorf("late: %d %v %v", slot, done, s.Class)
	}
}

func TestStale(t *testing.T) { both(t, testStale) }

func testStale(t *testing.T, connections int) {
	l := listen(t)
	serve(t, l, echo)
	p := proxy(t, l.Addr().String())
	f := open(t, Options{Connections: connections, Address: p.Addr().String()})
	c := f.call(t, "x")
	p.arm()
	if s := f.do(t, c); s.Class != backends.ResetByPeer || s.Flags&backends.Redialled != 0 {
		t.Errorf("a fresh connection is not stale: %v %s %b", s.Class, s.Note, s.Flags)
	}
	// one of its own is made again at once
	if s := f.do(t, c); s.Class != backends.OK || s.Connect == 0 || s.Flags&backends.Resent != 0 ||
		connections == 0 && s.Flags&backends.Ahead == 0 {
		t.Errorf("reconnect: %v %s, connect %d", s.Class, s.Note, s.Connect)
	}
	p.arm()
	if s := f.do(t, c); s.Class != backends.OK || s.Flags&backends.Redialled == 0 ||
		s.Flags&backends.Resent == 0 || s.Connect == 0 {
		t.Errorf("stale: %v %s %b", s.Class, s.Note, s.Flags)
	}
	stateful := *c
	stateful.Stateful = true
	p.arm()
	if s := f.do(t, &stateful); s.Class != backends.ResetByPeer || s.Flags&backends.Redialled != 0 {
		t.Errorf("stateful: %v %s %b", s.Class, s.Note, s.Flags)
	}
}

func TestServerGoes(t *testing.T) { both(t, testServerGoes) }

func testServerGoes(t *testing.T, connections int) {
	l := listen(t)
	server := serve(t, l, echo)
	f := open(t, Options{Connections: connections, Address: l.Addr().String()})
	c := f.call(t, "x")
	f.do(t, c)
	server.Stop()
	deadline := time.Now().Add(20 * time.Second)
	for {
		s := f.do(t, c)
		if s.Class == backends.Dial {
			if !bytes.Contains(s.Note, []byte("refused")) {
				t.Errorf("note %q", s.Note)
			}
			break
		}
		if s.Class != backends.ResetByPeer || time.Now().After(deadline) {
			t.Fatalf("class %v %s", s.Class, s.Note)
		}
	}
	if _, _, err := f.pool.Lanes(t.Context(), 1, backends.LaneOptions{}); err == nil {
		t.Error("lanes to a server that is gone")
	}
	again, err := net.Listen("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	serve(t, again, echo)
	// at once, without the wait after a failure
	more, _, err := f.pool.Lanes(t.Context(), 1, backends.LaneOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_ = more[0].Close()
	for {
		if s := f.do(t, c); s.Class == backends.OK {
			break
		} else if s.Class != backends.Dial || time.Now().After(deadline) {
			t.Fatalf("after the restart: %v %s", s.Class, s.Note)
		}
	}
}

func TestConnections(t *testing.T) {
	l := listen(t)
	serve(t, l, echo)
	for _, c := range []struct{ connections, lanes, want int }{
		{0, 65, 65}, {2, 5, 2}, {3, 3, 3}, {backends.PerRequest, 3, 0},
	} {
		p := proxy(t, l.Addr().String())
		f := open(t, Options{Address: p.Addr().String(), Connections: c.connections})
		lanes, _, err := f.pool.Lanes(t.Context(), c.lanes-1, backends.LaneOptions{}) // one is there already
		if err != nil {
			t.Fatal(err)
		}
		p.mu.Lock()
		if got := len(p.conns) / 2; got != c.want {
			t.Errorf("connections %d: %d lanes have %d", c.connections, c.lanes, got)
		}
		p.mu.Unlock()
		for range 2 {
			s := f.do(t, f.call(t, "x"))
			if s.Class != backends.OK || (s.Connect > 0) != (c.connections == backends.PerRequest) {
				t.Errorf("connections %d: %v %s, connect %d", c.connections, s.Class, s.Note, s.Connect)
			}
		}
		for _, lane := range lanes {
			_ = lane.Close()
		}
		// on the connections that are there
		again, _, err := f.pool.Lanes(t.Context(), len(lanes), backends.LaneOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, lane := range again {
			_ = lane.Close()
		}
		if c.connections > 0 && len(f.pool.shared) != c.want {
			t.Errorf("connections %d: %d after lanes were opened again", c.connections, len(f.pool.shared))
		}
	}
}

func TestUnixSocketAndInvoke(t *testing.T) { both(t, testUnixSocketAndInvoke) }

func testUnixSocketAndInvoke(t *testing.T, connections int) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, l, echo)
	f := open(t, Options{Connections: connections, Network: "unix", Address: path, Authority: "localhost"})
	if s := f.do(t, f.call(t, "x")); s.Class != backends.OK {
		t.Errorf("%v %s", s.Class, s.Note)
	}
	if reply, err := f.pool.Invoke(t.Context(), method, []byte("ask")); err != nil || string(reply) != "ask" {
		t.Errorf("Invoke: %q %v", reply, err)
	}
}

// TestStreamsShare: up to 64 streams are on a connection where the plan gives no number.
func TestStreamsShare(t *testing.T) {
	l := listen(t)
	serve(t, l, echo)
	for lanes, want := range map[int]int{64: 1, 65: 2} {
		p, err := New(Options{
			Network: "tcp", Address: l.Addr().String(), Authority: "a", Judge: func() Judge { return &recorder{} },
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.connectLanes(t.Context(), lanes); err != nil || len(p.shared) != want {
			t.Errorf("%d streams: %d connections, %v", lanes, len(p.shared), err)
		}
		_ = p.Close()
	}
}

func TestCannotConnect(t *testing.T) {
	silent := listen(t)
	t.Cleanup(func() { _ = silent.Close() })
	go func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = c.Close()
		}
	}()
	closed := listen(t)
	_ = closed.Close()
	both(t, func(t *testing.T, connections int) {
		cannotConnect(t, connections, closed.Addr().String(), "refused")
		cannotConnect(t, connections, silent.Addr().String(), "does not answer as HTTP/2 does")
	})
}

// cannotConnect checks that lanes to address fail and say what and where.
func cannotConnect(t *testing.T, connections int, address, want string) {
	t.Helper()
	p, err := New(Options{
		Connections: connections, Network: "tcp", Address: address, Authority: address,
		Judge: func() Judge { return &recorder{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Lanes(t.Context(), 2, backends.LaneOptions{}); err == nil ||
		!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), address) {
		t.Errorf("%s: %v", want, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestMain(m *testing.M) {
	if child() {
		return
	}
	cases.Parallel(8)
	verifyLeaks(m)
}
