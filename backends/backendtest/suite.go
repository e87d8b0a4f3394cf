// Package backendtest checks what every backend must fulfil: the law of Lane, right stamps and the
// right error class under every fault, cancellation and closing at any moment, no goroutine left
// behind.
//
// It is not: a test of model outputs (each backend's own test does that), a client, a server that
// parses requests. Its raw server plays a script: text in, bytes out.
//
//	func TestLaw(t *testing.T) {
//		backendtest.Run(t, backendtest.Suite{
//			Kind: kind, Request: request,
//			Servers: backendtest.HTTP(backendtest.RawOptions{}, reply),
//		})
//	}
package backendtest

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"go.uber.org/goleak"
)

// Pause is the waiting time of servers with the faults Delay and SlowBody: only lower bounds are
// checked.
const Pause = 30 * time.Millisecond

// Suite is a backend under test.
type Suite struct {
	Kind    backends.Kind
	Target  backends.Target  // URL and TLS come from the server
	Request backends.Request // a small request that the servers answer
	Servers Servers
	// Without holds the reasons why there is no server for a fault. Each fault must be in Servers or
	// here.
	Without map[Fault]string
	// Classes overrides the classes of a fault if the suite's own table does not fit the transport.
	Classes map[Fault][]backends.ErrorClass
	// Patience is the time after which a lane counts as stuck; 0: 20 s.
	Patience time.Duration
	// Shared: lanes share connections, or use none twice, so that redials do not show in the samples
	// of a lane.
	Shared bool
	// Depth is the wanted depth of the lanes; 0: 1. With more, each request of a check goes out in
	// another slot, and each fault is also tried with all slots in flight.
	Depth int
	// Blocking asks for lanes that block their threads while they wait (LaneOptions.MaxBlocked),
	// including lanes that wait while nothing is in flight.
	Blocking bool
}

// faultClasses are the classes that a request may end with, by fault.
var faultClasses = map[Fault][]backends.ErrorClass{
	None: {backends.OK}, Delay: {backends.OK}, SlowHead: {backends.OK}, SlowBody: {backends.OK},
	CloseAfter: {backends.OK}, CloseUnder: {backends.OK}, CloseIdle: {backends.OK},
	Refused:     {backends.Dial},
	ResetBefore: {backends.ResetByPeer},
	ResetBody:   {backends.ResetByPeer},
	ShortBody:   {backends.ResetByPeer, backends.Protocol},
	WrongLength: {backends.Protocol, backends.Decode},
	Failure:     {backends.Status},
	Malformed:   {backends.Protocol},
	Never:       {backends.TimedOut},
	BadTLS:      {backends.TLS},
}

// Check is one test of the suite.
type Check struct {
	Name string
	Run  func(t testing.TB, s Suite)
}

// Checks returns all tests of the suite. Run runs them; they are separate so that a test can prove
// that they fail when they should.
func Checks() []Check {
	checks := []Check{{"every fault has a server", checkComplete}}
	for _, f := range []Fault{
		None, SlowHead, Refused, ResetBefore, ResetBody, ShortBody, WrongLength, Failure, Malformed, Never,
	} {
		checks = append(checks,
			Check{string(f) + ", one goroutine", func(t testing.TB, s Suite) { checkFault(t, s, f, serial) }},
			Check{string(f) + ", parked", func(t testing.TB, s Suite) { checkFault(t, s, f, parked) }})
	}
	for _, f := range []Fault{
		None, Delay, Refused, ResetBefore, ResetBody, ShortBody, Failure, Malformed, Never,
	} {
		checks = append(checks,
			Check{
				string(f) + ", all slots, one goroutine",
				func(t testing.TB, s Suite) { checkAllSlots(t, s, f, serial) },
			},
			Check{
				string(f) + ", all slots, parked",
				func(t testing.TB, s Suite) { checkAllSlots(t, s, f, parked) },
			})
	}
	return append(checks,
		Check{"stamps", checkStamps},
		Check{"failure keeps the server's words", checkFailureText},
		Check{"expected fields", checkFields},
		Check{"no tls", checkTLS},
		Check{"close after, one goroutine", func(t testing.TB, s Suite) { checkCloseAfter(t, s, serial) }},
		Check{"close after, parked", func(t testing.TB, s Suite) { checkCloseAfter(t, s, parked) }},
		Check{"close under", checkCloseUnder},
		Check{"close idle", checkCloseIdle},
		Check{"cancel by cause", checkCauses},
		Check{"cancel of another generation", checkOtherGeneration},
		Check{"cancel races", checkCancelRaces},
		Check{"cancel while dialling", checkCancelDown},
		Check{"close while parked", checkCloseParked},
		Check{"close in flight", checkCloseInFlight},
		Check{"send after close", checkSendAfterClose},
		Check{"send after the end", checkSendAfterEnd},
		Check{"grown lanes", checkGrown},
		Check{"unreachable at the start", checkUnreachable},
	)
}

// Run tests a backend.
func Run(t *testing.T, s Suite) {
	if s.Patience == 0 {
		s.Patience = 20 * time.Second
	}
	if s.Blocking {
		before := runtime.GOMAXPROCS(maxBlocked)
		defer runtime.GOMAXPROCS(before)
	}
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, before) }) // runs last: servers and lanes end before it
			c.Run(t, s)
		})
	}
}

// maxBlocked exceeds the number of threads that the lanes of one check block.
const maxBlocked = 32

// depth returns the number of slots of a lane.
func (s *Suite) depth() int { return max(s.Depth, 1) }

// has reports whether there is a server for f.
func (s *Suite) has(f Fault) bool { return s.Servers[f] != nil }

// allowed returns the classes that f may have.
func (s *Suite) allowed(f Fault) []backends.ErrorClass {
	if c := s.Classes[f]; c != nil {
		return c
	}
	return faultClasses[f]
}

func checkComplete(t testing.TB, s Suite) {
	for f := range faultClasses {
		if s.has(f) == (s.Without[f] != "") {
			t.Errorf("fault %q must have a server or a reason why not", f)
		}
	}
}

// bench is a server with a fault, a Conn to it and a prepared request.
type bench struct {
	t      testing.TB
	s      *Suite
	server Server
	clock  backends.Clock
	conn   backends.Conn
	call   *backends.Call
}

// newBench opens a Conn; all of it ends with the test.
func newBench(t testing.TB, s *Suite, f Fault) *bench {
	t.Helper()
	b := &bench{
		t: t, s: s, server: s.Servers[f](t),
		clock: backends.Clock{Origin: time.Now().Add(-time.Second)},
	}
	target := s.Target
	target.URL, target.TLS = b.server.URL, b.server.TLS
	if target.ConnectTimeout == 0 {
		target.ConnectTimeout = s.Patience / 4
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.Patience)
	defer cancel()
	conn, err := s.Kind.Open(ctx, target, b.clock)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	b.conn = conn
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.Patience)
		defer cancel()
		if err := conn.Close(ctx); err != nil {
			t.Errorf("close the connection: %v", err)
		}
	})
	if b.call, err = conn.Prepare(s.Request); err != nil {
		t.Fatalf("prepare: %v", err)
	}
	if b.server.Size != nil {
		b.server.Size(b.call.Size)
	}
	return b
}

// lanes opens n lanes.
func (b *bench) lanes(n int) ([]backends.Lane, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.s.Patience)
	defer cancel()
	o, ask := backends.LaneOptions{Depth: b.s.depth()}, n
	if b.s.Blocking {
		o.Depth, o.MaxBlocked, ask = 1, n, n*b.s.depth()
	}
	lanes, limits, err := b.conn.Lanes(ctx, ask, o)
	if err == nil && limits.BlocksThread != (b.s.Blocking && b.server.TLS == nil && runtime.GOOS == "linux") {
		b.t.Errorf("the lanes hold: %v", limits.BlocksThread)
	}
	if err == nil && (len(lanes) != n || limits.Depth < b.s.depth()) {
		b.t.Errorf("%d lanes of depth %d, wanted %d of %d", len(lanes), limits.Depth, n, b.s.depth())
	}
	return lanes, err
}

// player opens one lane.
func (b *bench) player(m mode) *player {
	b.t.Helper()
	lanes, err := b.lanes(1)
	if err != nil {
		b.t.Fatalf("open a lane: %v", err)
	}
	return newPlayer(b, lanes[0], m)
}

// class checks that a sample's class is one of those that f may have.
func (b *bench) class(f Fault, s *backends.Sample) {
	b.t.Helper()
	if allowed := b.s.allowed(f); !slices.Contains(allowed, s.Class) {
		b.t.Errorf("class %v, note %q; want one of %v", s.Class, s.Note, allowed)
	}
}
