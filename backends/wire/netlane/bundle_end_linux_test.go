package netlane

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"go.uber.org/goleak"
)

// files counts what the process has open for waits of bundles.
func files(t *testing.T) (n int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range open {
		what, _ := os.Readlink(filepath.Join("/proc/self/fd", f.Name()))
		if what == "anon_inode:[eventpoll]" || what == "anon_inode:[eventfd]" {
			n++
		}
	}
	return n
}

// TestBundleLeavesNothing: whatever becomes of lanes, their goroutines and files are given back at
// the end, and not by the collector.
func TestBundleLeavesNothing(t *testing.T) {
	address := responder(t, 0)
	gone, err := net.Listen("tcp", backendtest.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	nobody := gone.Addr().String()
	_ = gone.Close()
	head, holes, err := http1.Encode(http1.Request{Method: "POST", Host: "h", Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	call := &backends.Call{Head: head, Holes: holes, Size: len(head)}
	for name, c := range map[string]struct {
		address  string
		hold, n  int
		sends    int  // on each lane, each answered
		read     bool // to the end
		unserved bool // sent and not answered before the end
	}{
		"nobody listens":               {address: nobody, hold: 2, n: 6},
		"closed at once":               {address: address, hold: 2, n: 6},
		"closed, and read to the end":  {address: address, hold: 2, n: 6, read: true},
		"used, and read to the end":    {address: address, hold: 2, n: 6, sends: 3, read: true},
		"two and one":                  {address: address, hold: 2, n: 3, sends: 3},
		"closed with one in flight":    {address: address, hold: 1, n: 3, unserved: true, read: true},
		"more may hold than there are": {address: address, hold: 6, n: 3, sends: 2},
	} {
		t.Run(name, func(t *testing.T) {
			before, known := files(t), goleak.IgnoreCurrent()
			o := Options{
				Network: "tcp", Address: c.address, MaxBlocked: c.hold, Clock: backends.Clock{Origin: time.Now()},
			}
			o.New = func() backends.Wire { return http1.New(plainJudge{}) }
			lanes, _, err := Dial(t.Context(), o, c.n)
			if (err != nil) != (c.address == nobody) {
				t.Fatal(err)
			}
			for _, l := range lanes {
				useUp(t, l, call, c.sends, c.read, c.unserved)
			}
			if n := files(t); n > before {
				t.Errorf("%d files more than before", n-before)
			}
			goleak.VerifyNone(t, known)
		})
	}
}

// useUp sends sends requests on a lane and closes it. If read is set, a lane of several slots is
// read to its end; a lane of one slot need not be.
func useUp(t *testing.T, l backends.Lane, call *backends.Call, sends int, read, unserved bool) {
	t.Helper()
	s := &backends.Sample{}
	for i := range sends {
		s.Reset()
		s.Gen = uint32(i + 1)
		l.Send(0, call, backends.Fields{}, s)
		if slot, done := l.Recv(); slot != 0 || !done || s.Class != backends.OK {
			t.Fatalf("slot %d, %t, %v %s", slot, done, s.Class, s.Note)
		}
	}
	if unserved {
		s.Reset()
		s.Gen++
		l.Send(0, call, backends.Fields{}, s)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if unserved {
		if slot, done := l.Recv(); slot != 0 || !done {
			t.Errorf("slot %d, %t for a request in flight at the end", slot, done)
		}
	}
	if b, ok := l.(*bundle); read || sends > 0 && ok && len(b.lanes) > 1 {
		if slot, done := l.Recv(); slot != backends.None || done {
			t.Errorf("slot %d, %t at the end", slot, done)
		}
	}
}
