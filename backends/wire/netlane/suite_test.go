package netlane_test

import (
	"context"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
)

func suite(o backendtest.RawOptions, size int) backendtest.Suite {
	return backendtest.Suite{Kind: kind, Request: request(size), Servers: backendtest.HTTP(o, reply)}
}

func TestLawTCP(t *testing.T)  { backendtest.Run(t, suite(backendtest.RawOptions{}, 100)) }
func TestLawTLS(t *testing.T)  { backendtest.Run(t, suite(backendtest.RawOptions{TLS: true}, 100)) }
func TestLawUnix(t *testing.T) { backendtest.Run(t, suite(backendtest.RawOptions{Unix: true}, 100)) }

// Requests of other sizes are written in other ways.
func TestLawLarge(t *testing.T) {
	t.Run("vector", func(t *testing.T) { backendtest.Run(t, suite(backendtest.RawOptions{}, 100<<10)) })
	t.Run("page", func(t *testing.T) { backendtest.Run(t, suite(backendtest.RawOptions{}, 1<<20)) })
	t.Run("records",
		func(t *testing.T) { backendtest.Run(t, suite(backendtest.RawOptions{TLS: true}, 300<<10)) })
}

func TestLawPerRequest(t *testing.T) {
	s := suite(backendtest.RawOptions{}, 100)
	s.Target.Connections = backends.PerRequest
	s.Shared = true // no connection carries two requests
	backendtest.Run(t, s)
}

// shim is a test that may fail without failing the test it runs in.
type shim struct {
	testing.TB
	mu     sync.Mutex
	failed bool
	undo   []func()
}

func (s *shim) fail()                 { s.mu.Lock(); s.failed = true; s.mu.Unlock() }
func (s *shim) Error(...any)          { s.fail() }
func (s *shim) Errorf(string, ...any) { s.fail() }
func (s *shim) Fatal(...any)          { s.fail(); runtime.Goexit() }
func (s *shim) Fatalf(string, ...any) { s.fail(); runtime.Goexit() }
func (s *shim) FailNow()              { s.fail(); runtime.Goexit() }
func (s *shim) Cleanup(f func())      { s.undo = append(s.undo, f) }
func (s *shim) Helper()               {}

// run runs f to its end, however that comes. A panic is a failure too.
func (s *shim) run(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if recover() != nil {
				s.fail()
			}
		}()
		f()
	}()
	<-done
}

// bites says which checks of the suite a kind fails; only: the one to run, or all.
func bites(t *testing.T, s backendtest.Suite, only string) map[string]bool {
	s.Patience = 2 * time.Second
	failed := map[string]bool{}
	for _, c := range backendtest.Checks() {
		if only != "" && only != c.Name {
			continue
		}
		r := &shim{TB: t}
		r.run(func() { c.Run(r, s) })
		for len(r.undo) > 0 {
			last := r.undo[len(r.undo)-1]
			r.undo = r.undo[:len(r.undo)-1]
			r.run(last)
		}
		if r.failed {
			failed[c.Name] = true
		}
	}
	return failed
}

// broken is a good lane with a defect.
type broken struct {
	backends.Lane
	recv   func(l backends.Lane) (int, bool)
	sent   func(s *backends.Sample, c *backends.Call) *backends.Call
	after  func(s *backends.Sample)
	cancel func(l backends.Lane, gen uint32, why backends.Cause)
	close  func(l backends.Lane) error
	sample *backends.Sample
}

func (b *broken) Send(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) {
	b.sample = s
	if b.sent != nil {
		c = b.sent(s, c)
	}
	b.Lane.Send(slot, c, f, s)
}

func (b *broken) Recv() (int, bool) {
	if b.recv != nil {
		return b.recv(b.Lane)
	}
	slot, done := b.Lane.Recv()
	if done && b.after != nil {
		b.after(b.sample)
	}
	return slot, done
}

func (b *broken) Cancel(slot int, gen uint32, why backends.Cause) {
	if b.cancel != nil {
		b.cancel(b.Lane, gen, why)
		return
	}
	b.Lane.Cancel(slot, gen, why)
}

func (b *broken) Close() error {
	if b.close != nil {
		return b.close(b.Lane)
	}
	return b.Lane.Close()
}

// defects are mistakes that a lane could have, and a check that must find each.
var defects = []struct {
	name, foundBy string
	make          func(backends.Lane) *broken
}{
	{"answers twice", "none, parked", func(l backends.Lane) *broken {
		again := false
		return &broken{Lane: l, recv: func(l backends.Lane) (int, bool) {
			if again = !again; !again {
				return 0, true
			}
			return l.Recv()
		}}
	}},
	{"answers for another slot", "none, one goroutine", func(l backends.Lane) *broken {
		return &broken{Lane: l, recv: func(l backends.Lane) (int, bool) {
			slot, done := l.Recv()
			if done {
				slot = 7
			}
			return slot, done
		}}
	}},
	{"answers before it is done", "none, one goroutine", func(l backends.Lane) *broken {
		return &broken{Lane: l, recv: func(l backends.Lane) (int, bool) { slot, _ := l.Recv(); return slot, false }}
	}},
	{"says nothing of errors", "status, one goroutine", func(l backends.Lane) *broken {
		return &broken{Lane: l, after: func(s *backends.Sample) { s.Class = backends.OK }}
	}},
	{"calls every error a reset", "refused, parked", func(l backends.Lane) *broken {
		return &broken{Lane: l, after: func(s *backends.Sample) {
			if s.Class.Failed() {
				s.Class = backends.ResetByPeer
			}
		}}
	}},
	{"forgets the words", "failure keeps the server's words", func(l backends.Lane) *broken {
		return &broken{Lane: l, after: func(s *backends.Sample) { s.Note = append(s.Note[:0], "error"...) }}
	}},
	{"stamps the first byte at the send", "stamps", func(l backends.Lane) *broken {
		return &broken{Lane: l, after: func(s *backends.Sample) { s.FirstByte = s.SendEnd }}
	}},
	{"stamps the first byte with the last", "stamps", func(l backends.Lane) *broken {
		return &broken{Lane: l, after: func(s *backends.Sample) { s.FirstByte = s.LastByte }}
	}},
	{"forgets the last byte", "none, one goroutine", func(l backends.Lane) *broken {
		return &broken{Lane: l, after: func(s *backends.Sample) { s.LastByte = 0 }}
	}},
	{"does not flag reused connections", "none, one goroutine", func(l backends.Lane) *broken {
		return &broken{Lane: l, after: func(s *backends.Sample) { s.Flags &^= backends.Reused }}
	}},
	{"does not flag reconnects", "close after, one goroutine", func(l backends.Lane) *broken {
		return &broken{Lane: l, after: func(s *backends.Sample) { s.Flags &^= backends.Redialled }}
	}},
	{"resends nothing", "close under", func(l backends.Lane) *broken {
		return &broken{Lane: l, sent: func(_ *backends.Sample, c *backends.Call) *backends.Call {
			stateful := *c
			stateful.Stateful = true
			return &stateful
		}}
	}},
	{"resends what is stateful", "close under", func(l backends.Lane) *broken {
		return &broken{Lane: l, sent: func(_ *backends.Sample, c *backends.Call) *backends.Call {
			plain := *c
			plain.Stateful = false
			return &plain
		}}
	}},
	{"mixes up causes", "cancel by cause", func(l backends.Lane) *broken {
		return &broken{
			Lane:   l,
			cancel: func(l backends.Lane, gen uint32, _ backends.Cause) { l.Cancel(0, gen, backends.CauseTimeout) },
		}
	}},
	{"cancels whatever is in flight", "cancel of another generation", func(l backends.Lane) *broken {
		return &broken{Lane: l, cancel: func(l backends.Lane, gen uint32, why backends.Cause) {
			for g := gen - 2; g != gen+3; g++ {
				l.Cancel(0, g, why)
			}
		}}
	}},
	{"keeps the class of a request in flight at close", "close in flight", func(l backends.Lane) *broken {
		return &broken{Lane: l, after: func(s *backends.Sample) {
			if s.Class == backends.Stopped {
				s.Class = backends.ResetByPeer
			}
		}}
	}},
	{"does not close", "close while parked", func(l backends.Lane) *broken {
		return &broken{Lane: l, close: func(l backends.Lane) error { _ = l.Close(); return net.ErrClosed }}
	}},
}

// The suite must find every defect, else passing it means nothing.
func TestTheSuiteBites(t *testing.T) {
	if failed := bites(t, suite(backendtest.RawOptions{}, 100), ""); len(failed) > 0 {
		t.Fatalf("a good lane fails %v", failed)
	}
	for _, d := range defects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := suite(backendtest.RawOptions{}, 100)
			s.Kind = kind
			s.Kind.Open = func(ctx context.Context, target backends.Target, c backends.Clock) (backends.Conn, error) {
				good, err := kind.Open(ctx, target, c)
				return badConn{good, d.make}, err
			}
			if !bites(t, s, d.foundBy)[d.foundBy] {
				t.Errorf("%q did not find it", d.foundBy)
			}
		})
	}
}

// badConn gives broken lanes.
type badConn struct {
	backends.Conn
	make func(backends.Lane) *broken
}

func (c badConn) Lanes(
	ctx context.Context, n int, o backends.LaneOptions,
) ([]backends.Lane, backends.Limits, error) {
	lanes, limits, err := c.Conn.Lanes(ctx, n, o)
	for i, l := range lanes {
		lanes[i] = c.make(l)
	}
	return lanes, limits, err
}
