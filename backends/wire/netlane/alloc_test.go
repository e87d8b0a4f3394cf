package netlane_test

import (
	"context"
	"io"
	"math"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
)

// answerer answers every size bytes of each connection with reply. It allocates nothing after its
// first request, so what is counted is the lane's.
func answerer(t testing.TB, size int, reply []byte) string {
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := listen.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { answer(c, make([]byte, size), reply) })
		}
	})
	t.Cleanup(func() { _ = listen.Close(); wg.Wait() })
	return listen.Addr().String()
}

func answer(c net.Conn, buf, reply []byte) {
	defer c.Close()
	for {
		if _, err := io.ReadFull(c, buf); err != nil {
			return
		}
		if _, err := c.Write(reply); err != nil {
			return
		}
	}
}

// ways are how lanes wait: how many of two hold, and with how many slots.
var ways = map[string]struct{ lanes, hold int }{"poller": {1, 0}, "held": {1, 1}, "together": {2, 1}}

// end closes a lane of which nothing is in flight.
func end(l backends.Lane) {
	_ = l.Close()
	for slot, done := l.Recv(); slot != backends.None || done; slot, done = l.Recv() {
	}
}

// loop gives a function that plays one request on a lane to an answerer, on one slot after the other.
func loop(t testing.TB, size int, way string) func() *backends.Sample {
	o := netlane.Options{
		MaxBlocked: ways[way].hold, Network: "tcp", Clock: backends.Clock{Origin: time.Now()},
		New: func() backends.Wire { return http1.New(judge{}) },
	}
	call, err := conn{o}.Prepare(request(size))
	if err != nil {
		t.Fatal(err)
	}
	o.Address = answerer(t, call.Size, []byte(reply))
	lanes, limits, err := netlane.Dial(context.Background(), o, ways[way].lanes)
	if err != nil || len(lanes) != 1 || limits.Depth != ways[way].lanes {
		t.Fatalf("%d lanes, %+v, %v", len(lanes), limits, err)
	}
	t.Cleanup(func() { end(lanes[0]) })
	s := &backends.Sample{}
	return func() *backends.Sample {
		s.Reset()
		s.Gen++
		lanes[0].Send(int(s.Gen)%limits.Depth, call, backends.Fields{ID: 7}, s)
		lanes[0].Recv()
		return s
	}
}

// mallocs counts the allocations of a number of requests, the least of three tries: on a busy
// machine the runtime makes threads meanwhile. testing.AllocsPerRun would leave them one processor,
// which a blocking lane keeps from the server.
func mallocs(requests int, do func() *backends.Sample) uint64 {
	least := uint64(math.MaxUint64)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range requests {
			do()
		}
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

func TestNoAllocations(t *testing.T) {
	for way := range ways {
		for _, size := range []int{100, 1 << 10, 100 << 10, 1 << 20} { // joined, vector, page and rest
			do := loop(t, size, way)
			for range 2 { // lanes at most: each has its buffers then
				do()
			}
			if n := mallocs(200, do); n > 5 { // what the runtime makes for itself is far from one in 40 requests
				t.Errorf("%d bytes, %s: %d allocations in 200 requests", size, way, n)
			}
			if s := do(); s.Class != backends.OK {
				t.Errorf("%d bytes, %s: %v %q", size, way, s.Class, s.Note)
			}
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	for name := range ways {
		b.Run(name, func(b *testing.B) {
			do := loop(b, 1<<10, name)
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}

// BenchmarkBare is the floor: the same bytes without a lane.
func BenchmarkBare(b *testing.B) {
	call, err := conn{}.Prepare(request(1 << 10))
	if err != nil {
		b.Fatal(err)
	}
	c, err := net.Dial("tcp", answerer(b, call.Size, []byte(reply)))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	out, in := append(call.Head, call.Body[0]...), make([]byte, len(reply))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(out); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, in); err != nil {
			b.Fatal(err)
		}
	}
}
