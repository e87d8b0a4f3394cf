package grpcraw

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

const childEnv = "GRPCRAW_BENCH_SERVER"

// child runs the benchmark's server when this process was started for that; it ends with its stdin.
func child() bool {
	if os.Getenv(childEnv) == "" {
		return false
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	reply := mem.BufferSlice{mem.SliceBuffer(make([]byte, 1024))}
	s := grpc.NewServer(grpc.ForceServerCodecV2(fixed{
		reply,
	}), grpc.MaxRecvMsgSize(1<<30), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(nil); err != nil {
			return err
		}
		return stream.SendMsg(nil)
	}))
	go func() { _, _ = io.Copy(io.Discard, os.Stdin); s.Stop() }()
	_ = s.Serve(l)
	return true
}

// fixed is a codec that always sends the same message.
type fixed struct{ message mem.BufferSlice }

func (f fixed) Marshal(any) (mem.BufferSlice, error) { return f.message, nil }
func (f fixed) Unmarshal(mem.BufferSlice, any) error { return nil }
func (f fixed) Name() string                         { return "proto" }

func startChild(b testing.TB) (address string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(address)
}

func cpu() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

// cost is what requests cost this process.
type cost struct {
	cpu, mallocs int64
	requests     int64
}

func (c *cost) each() (cpuMicros, mallocs float64) {
	return float64(c.cpu) / float64(c.requests) / 1e3, float64(c.mallocs) / float64(c.requests)
}

// spend runs one(worker) from n goroutines, total times in all, and adds what it cost to c.
func spend(b testing.TB, c *cost, n, total int, one func(worker int) error) {
	var left atomic.Int64
	left.Store(int64(total))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := cpu()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := one(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	c.cpu += cpu() - used
	runtime.ReadMemStats(&after)
	c.mallocs += int64(after.Mallocs - before.Mallocs)
	c.requests += int64(total)
}

// BenchmarkUnary compares lanes with a bare loop over grpc-go (same connection options, message
// built once, reply not looked at), against a server in another process. The two take turns in
// slices of 2000 requests, so that what else the machine does falls on both. ns/op is of no
// interest here: it is the time of a request of each.
func BenchmarkUnary(b *testing.B) {
	address := startChild(b)
	for _, n := range []int{1, 16, 64} {
		for name, connections := range map[string]int{"own": 0, "shared": 1} {
			b.Run(fmt.Sprintf("%s/lanes=%d", name, n), func(b *testing.B) {
				bare, end := bareLoop(b, address)
				defer end()
				lane := laneLoop(b, address, n, connections)
				var ours, theirs, warm cost
				spend(b, &warm, n, 2000, bare)
				spend(b, &warm, n, 2000, lane)
				b.ResetTimer()
				for done := 0; done < b.N; done += 2000 {
					spend(b, &theirs, n, min(2000, b.N-done), bare)
					spend(b, &ours, n, min(2000, b.N-done), lane)
				}
				cpuOurs, mallocsOurs := ours.each()
				cpuTheirs, mallocsTheirs := theirs.each()
				b.ReportMetric(cpuOurs, "cpu-µs")
				b.ReportMetric(cpuTheirs, "bare-cpu-µs")
				b.ReportMetric(cpuOurs/cpuTheirs, "cpu/bare")
				b.ReportMetric(mallocsOurs, "mallocs")
				b.ReportMetric(mallocsTheirs, "bare-mallocs")
			})
		}
	}
}

func bareLoop(b testing.TB, address string) (one func(int) error, end func()) {
	message := fixed{mem.BufferSlice{mem.SliceBuffer(make([]byte, 1024))}}
	cc, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(message)), grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(), grpc.WithNoProxy(),
		grpc.WithStaticStreamWindowSize(streamWindow), grpc.WithStaticConnWindowSize(connWindow))
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	desc := &grpc.StreamDesc{}
	return func(int) error {
		stream, err := cc.NewStream(ctx, desc, method)
		if err != nil {
			return err
		}
		if err := stream.SendMsg(nil); err != nil {
			return err
		}
		return stream.RecvMsg(nil)
	}, func() { cancel(); _ = cc.Close() }
}

func laneLoop(b testing.TB, address string, n, connections int) func(int) error {
	judge := func() Judge { return &recorder{} }
	pool, err := New(Options{
		Network: "tcp", Address: address, Authority: address, Connections: connections,
		Clock: backends.Clock{Origin: time.Now()}, Judge: judge,
	})
	if err != nil {
		b.Fatal(err)
	}
	lanes, _, err := pool.Lanes(context.Background(), n, backends.LaneOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, l := range lanes {
			_ = l.Close()
		}
		_ = pool.Close()
	})
	c, err := pool.Call(method, nil, [][]byte{make([]byte, 1000)}, make([]byte, 24),
		[]backends.Hole{{At: 2, Width: 20, Field: backends.FieldID}}, 0, nil)
	if err != nil {
		b.Fatal(err)
	}
	samples := make([]backends.Sample, n)
	return func(i int) error {
		s := &samples[i]
		gen := s.Gen
		s.Reset()
		s.Gen = gen + 1
		lanes[i].Send(0, c, backends.Fields{ID: 1}, s)
		if _, done := lanes[i].Recv(); !done || s.Class != backends.OK {
			return fmt.Errorf("%v %s", s.Class, s.Note)
		}
		return nil
	}
}

// A call costs no more allocations than a bare loop over grpc-go where it shares a connection, and
// none where it has its own; the half is for what other goroutines do meanwhile.
func TestAllocations(t *testing.T) {
	address := startChild(t)
	bare, end := bareLoop(t, address)
	defer end()
	shared, own := laneLoop(t, address, 1, 1), laneLoop(t, address, 1, 0)
	costs := map[string]*cost{"bare": {}, "shared": {}, "own": {}}
	for name, one := range map[string]func(int) error{"bare": bare, "shared": shared, "own": own} {
		spend(t, &cost{}, 1, 500, one)
		for range 5 {
			spend(t, costs[name], 1, 400, one)
		}
	}
	_, mallocsBare := costs["bare"].each()
	_, mallocsShared := costs["shared"].each()
	_, mallocsOwn := costs["own"].each()
	if mallocsShared > mallocsBare+0.5 || mallocsOwn > 0.5 {
		t.Errorf("%.2f and %.2f allocations for each call, shared and own; a bare loop has %.2f",
			mallocsShared, mallocsOwn, mallocsBare)
	}
}
