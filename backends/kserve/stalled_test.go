package kserve_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/kserve"
)

// A server that has answered and then stalls is late, and says nothing about the scheme of the URL.
func TestStalledIsNotAstray(t *testing.T) {
	s := start(t, builtin.Config{HTTP: backendtest.Loopback(), GRPC: backendtest.Loopback()})
	for _, url := range []string{s.URLs().HTTP, s.URLs().GRPC} {
		scheme, address, _ := strings.Cut(url, "://")
		var mute atomic.Bool
		conn, err := kserve.Kind().Open(t.Context(),
			backends.Target{
				URL: scheme + "://" + muted(t, address, &mute), Model: "simple", ConnectTimeout: time.Second,
			},
			backends.Clock{Origin: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		ready := func(limit time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			return conn.(backends.Prober).Ready(ctx, "simple")
		}
		if err := ready(10 * time.Second); err != nil {
			t.Fatalf("%s: %v", scheme, err)
		}
		mute.Store(true)
		err = ready(20 * time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), "no answer within") ||
			strings.Contains(err.Error(), "does not answer as") {
			t.Errorf("%s: %v, want that there was no answer", scheme, err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// muted listens and passes everything to an address and back. What the server says while it is mute
// is lost.
func muted(t *testing.T, address string, mute *atomic.Bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var conns sync.Map
	pass := func(to, from net.Conn, lost func() bool) {
		defer to.Close()
		b := make([]byte, 32<<10)
		for {
			n, err := from.Read(b)
			if err != nil {
				return
			}
			if lost() {
				continue
			}
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
	}
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				return
			}
			server, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			conns.Store(io.Closer(c), nil)
			conns.Store(io.Closer(server), nil)
			running.Go(func() { pass(server, c, func() bool { return false }) })
			running.Go(func() { pass(c, server, mute.Load) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		conns.Range(func(c, _ any) bool { _ = c.(io.Closer).Close(); return true })
		running.Wait()
	})
	return l.Addr().String()
}
