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
	s := grpc.NewServer(grpc.ForceServerCodecV2(fixed{reply}), grpc.MaxRecvMsgSize(1<<30), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
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

func startChild(b *testing.B) (address string) {
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

// shared runs one(worker) from n goroutines, b.N times in all, and reports CPU and allocations for each.
func shared(b *testing.B, n int, one func(worker int) error) (cpuEach, allocsEach float64) {
	var left atomic.Int64
	run := func(total int) {
		left.Store(int64(total))
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
	}
	run(2000) // warm
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	used := cpu()
	b.ResetTimer()
	run(b.N)
	b.StopTimer()
	used = cpu() - used
	runtime.ReadMemStats(&after)
	return float64(used) / float64(b.N), float64(after.Mallocs-before.Mallocs) / float64(b.N)
}

// BenchmarkUnary compares lanes with a bare loop over grpc-go (same connection options, message built once, reply not
// looked at), against a server in another process. The ratio is of CPU time in this run.
func BenchmarkUnary(b *testing.B) {
	address := startChild(b)
	for _, n := range []int{1, 16, 64} {
		var bareCPU, bareAllocs float64
		b.Run(fmt.Sprintf("bare/lanes=%d", n), func(b *testing.B) {
			bareCPU, bareAllocs = bare(b, address, n)
			report(b, bareCPU, bareAllocs)
		})
		for _, connections := range []int{0, n} {
			name := "shared"
			if connections == n {
				name = "one_each"
			}
			b.Run(fmt.Sprintf("%s/lanes=%d", name, n), func(b *testing.B) {
				c, a := lanes(b, address, n, connections)
				report(b, c, a)
				b.ReportMetric(c/bareCPU, "cpu/bare")
				b.ReportMetric(a-bareAllocs, "allocs-bare")
			})
		}
	}
}

func report(b *testing.B, cpuEach, allocsEach float64) {
	b.ReportMetric(cpuEach/1e3, "cpu-µs/op")
	b.ReportMetric(allocsEach, "mallocs/op")
}

func bare(b *testing.B, address string, n int) (float64, float64) {
	message := fixed{mem.BufferSlice{mem.SliceBuffer(make([]byte, 1024))}}
	cc, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(message)), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithNoProxy(),
		grpc.WithStaticStreamWindowSize(streamWindow), grpc.WithStaticConnWindowSize(connWindow))
	if err != nil {
		b.Fatal(err)
	}
	defer cc.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	desc := &grpc.StreamDesc{}
	return shared(b, n, func(int) error {
		stream, err := cc.NewStream(ctx, desc, method)
		if err != nil {
			return err
		}
		if err := stream.SendMsg(nil); err != nil {
			return err
		}
		return stream.RecvMsg(nil)
	})
}

func lanes(b *testing.B, address string, n, connections int) (float64, float64) {
	f := open(b, Options{Address: address, Connections: connections})
	lanes, _, err := f.pool.Lanes(b.Context(), n)
	if err != nil {
		b.Fatal(err)
	}
	c, err := f.pool.Call(method, nil, [][]byte{make([]byte, 1000)}, make([]byte, 24), []backends.Hole{{At: 2, Width: 20, Field: backends.FieldID}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	samples := make([]backends.Sample, n)
	cpuEach, allocsEach := shared(b, n, func(i int) error {
		s := &samples[i]
		s.Reset()
		s.Gen++
		lanes[i].Send(0, c, backends.Fields{ID: 1}, s)
		if _, done := lanes[i].Recv(); !done || s.Class != backends.OK {
			return fmt.Errorf("%v %s", s.Class, s.Note)
		}
		return nil
	})
	for _, l := range lanes {
		_ = l.Close()
	}
	return cpuEach, allocsEach
}
