package backendtest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// marked ends every request of staleRequest, and is a ModelInferResponse that names no output.
const marked = "\x0a\x04MARK"

func staleRequest() backends.Request {
	return backends.Request{
		Inputs: []backends.Tensor{{Name: "INPUT0", Type: tensor.Int32, Shape: []int64{1, 1}, Data: []byte("MARK")}},
	}
}

// leavers are servers that answer one request on each connection and end it, by the way they do so.
func leavers() map[string]func(t testing.TB) Server {
	ask, whole := "await "+strconv.Quote("MARK"), dataFrame([]byte(marked))
	all := map[string]func(t testing.TB) Server{}
	for name, end := range map[string][]string{
		"close":              {"close"},
		"close a bit later":  {"delay 100us", "close"},
		"go away, close":     {"goaway 1 NO_ERROR", "close"},
		"go away, no close":  {"goaway 1 NO_ERROR", `await "never"`},
		"go away, then late": {"goaway 1 NO_ERROR", "delay 100us", "close"},
	} {
		script := connection("", func(n int) []string { return append([]string{ask, answer(n, whole)}, end...) })
		all[name] = func(t testing.TB) Server { return grpcServer(RawOptions{}, script)(t) }
	}
	return all
}

// Servers that end each connection after its first reply cost reconnects, never errors: at every
// moment at which a request can meet the end, from lanes with a connection each and from lanes that
// share.
func TestStaleStress(t *testing.T) {
	for name, server := range leavers() {
		for _, shape := range []struct{ lanes, connections, requests int }{
			{1, 0, cases.Count(100, 500)}, {8, 8, cases.Count(200, 1000)}, {8, 0, cases.Count(100, 500)},
		} {
			for _, m := range []mode{serial, parked} {
				if name == "close" && shape.connections > 0 && cases.All() && !testing.Short() {
					shape.requests = 10_000
				}
				kind := map[mode]string{serial: "closed loop", parked: "open loop"}[m]
				t.Run(fmt.Sprintf("%s, %d lanes, %d connections, %s",
					name, shape.lanes, shape.connections, kind), func(t *testing.T) {
					s := Suite{
						Kind: kserve.Kind(), Target: backends.Target{Model: "m", Connections: shape.connections},
						Request: staleRequest(), Servers: Servers{CloseAfter: server}, Patience: 20 * time.Second,
					}
					staleStress(newBench(t, &s, CloseAfter), m, shape.lanes, shape.requests)
				})
			}
		}
	}
}

// staleStress plays requests on lanes, pausing between them in the open loop, and counts.
func staleStress(b *bench, m mode, lanes, requests int) {
	var left, redialled, waited atomic.Int64
	left.Store(int64(requests))
	var wg sync.WaitGroup
	for i := range lanes {
		p := b.player(m)
		random := rand.New(rand.NewPCG(1, uint64(i)))
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				s := p.send(b.call)
				r, ok := p.recv()
				if !ok || r.slot != 0 || !r.done || s.Class != backends.OK {
					b.t.Errorf("slot %d, done %v, class %v, note %q, flags %b", r.slot, r.done, s.Class, s.Note, s.Flags)
					return
				}
				if s.Flags&backends.Redialled != 0 {
					redialled.Add(1)
				}
				if s.Connect != 0 {
					waited.Add(1)
				}
				if m == parked {
					<-time.After(time.Duration(random.Int64N(int64(400 * time.Microsecond))))
				}
			}
		})
	}
	wg.Wait()
	b.t.Logf("%d requests, %d reconnects, %d waited for one, %d connections",
		requests, redialled.Load(), waited.Load(), b.server.Accepted())
	if got := redialled.Load(); got < int64(requests-lanes) && lanes == 1 || got < 1 {
		b.t.Errorf("%d requests on as many connections: %d reconnects", requests, got)
	}
}
