package netlane_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
)

func suite(o backendtest.RawOptions, size int) backendtest.Suite {
	s := backendtest.Suite{Kind: kind, Request: request(size), Servers: backendtest.HTTP(o, reply)}
	if o.TLS { // after a RST TLS can say no more than TCP
		s.Classes = map[backendtest.Fault][]backends.ErrorClass{}
	}
	if o.Unix { // without RST a reset is an end
		s.Without = map[backendtest.Fault]string{}
	}
	return s
}

func TestLawTCP(t *testing.T)  { backendtest.Run(t, suite(backendtest.RawOptions{}, 100)) }
func TestLawTLS(t *testing.T)  { backendtest.Run(t, suite(backendtest.RawOptions{TLS: true}, 100)) }
func TestLawUnix(t *testing.T) { backendtest.Run(t, suite(backendtest.RawOptions{Unix: true}, 100)) }

// Requests of other sizes are written in other ways.
func TestLawLarge(t *testing.T) {
	t.Run("vector", func(t *testing.T) { backendtest.Run(t, suite(backendtest.RawOptions{}, 100<<10)) })
	t.Run("page", func(t *testing.T) { backendtest.Run(t, suite(backendtest.RawOptions{}, 1<<20)) })
	t.Run("records", func(t *testing.T) { backendtest.Run(t, suite(backendtest.RawOptions{TLS: true}, 300<<10)) })
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

// bites says which checks of the suite a kind fails.
func bites(t *testing.T, s backendtest.Suite) map[string]bool {
	failed := map[string]bool{}
	for _, c := range backendtest.Checks() {
		r := &shim{TB: t}
		var wg sync.WaitGroup
		wg.Go(func() { c.Run(r, s) })
		wg.Wait()
		for len(r.undo) > 0 {
			last := r.undo[len(r.undo)-1]
			r.undo = r.undo[:len(r.undo)-1]
			wg.Go(last)
			wg.Wait()
		}
		if r.failed {
			failed[c.Name] = true
		}
	}
	return failed
}
