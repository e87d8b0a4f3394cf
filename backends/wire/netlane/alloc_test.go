package netlane_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
)

// answerer answers every size bytes of each connection with reply. It allocates nothing after its first request, so
// what is counted is the lane's.
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

// loop gives a function that plays one request on a lane to an answerer.
func loop(t testing.TB, size int, hold bool) func() *backends.Sample {
	o := netlane.Options{Hold: hold, Network: "tcp", Clock: backends.Clock{Origin: time.Now()}, New: func() backends.Wire { return http1.New(judge{}, http1.Options{}) }}
	call, err := conn{o}.Prepare(request(size))
	if err != nil {
		t.Fatal(err)
	}
	o.Address = answerer(t, call.Size, []byte(reply))
	lanes, _, err := netlane.Dial(context.Background(), o, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lanes[0].Close() })
	s := &backends.Sample{}
	return func() *backends.Sample {
		s.Reset()
		s.Gen++
		lanes[0].Send(0, call, backends.Fields{ID: 7}, s)
		lanes[0].Recv()
		return s
	}
}

func TestNoAllocations(t *testing.T) {
	for _, hold := range []bool{false, true} {
		for _, size := range []int{100, 1 << 10, 100 << 10, 1 << 20} { // joined, vector, page and rest
			do := loop(t, size, hold)
			do()
			if n := testing.AllocsPerRun(200, func() { do() }); n != 0 {
				t.Errorf("%d bytes, hold %t: %v allocations a request", size, hold, n)
			}
			if s := do(); s.Class != backends.OK {
				t.Errorf("%d bytes, hold %t: %v %q", size, hold, s.Class, s.Note)
			}
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	for name, hold := range map[string]bool{"poller": false, "held": true} {
		b.Run(name, func(b *testing.B) {
			do := loop(b, 1<<10, hold)
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
