package drive

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/executor/load"
)

func TestMain(m *testing.M) {
	if os.Getenv(stampServer) != "" {
		os.Exit(serveStamps())
	}
	cases.Parallel(8)
	goleak.VerifyTestMain(m)
}

// BenchmarkPacer plays constant rates over 64 loopback connections against a process that keeps the
// kernel's receive time of every request, and reports how late they were: arrival minus due. An
// operation is an arrival; the time of one is the schedule's. The figures mean something on an idle
// machine and -benchtime of seconds only.
func BenchmarkPacer(b *testing.B) {
	for _, rate := range []float64{1000, 5000, 20000} {
		b.Run(fmt.Sprintf("rate=%v", rate), func(b *testing.B) { benchPacer(b, rate, 64) })
	}
}

// BenchmarkSaturated compares what 16 connections carry in a closed loop with an open loop that
// asks for more than they can carry, so that each arrival waits for a slot.
func BenchmarkSaturated(b *testing.B) {
	b.Run("closed", func(b *testing.B) {
		w, lanes, server := tcpWorld(b, 16)
		o := w.options()
		o.Limit = int64(b.N)
		b.ResetTimer()
		Closed(context.Background(), load.Level(16), &fakeFeed{}, one(lanes, inline), w.out, &w.c, o)
		server.stop(b)
	})
	b.Run("open", func(b *testing.B) {
		w, lanes, server := tcpWorld(b, 16)
		b.ResetTimer()
		Open(context.Background(), burst(int64(b.N)), &fakeFeed{}, one(lanes, inline), w.out, &w.c,
			OpenOptions{Options: w.options()})
		server.stop(b)
	})
}

// tcpWorld is a world with lanes to a stamping server.
func tcpWorld(b *testing.B, connections int) (*world, []backends.Lane, *server) {
	server := startStampServer(b)
	w := &world{t: b, clock: backends.Clock{Origin: time.Now()}}
	w.out = &fakeOut{w: w, light: true, lanes: make([]outLane, connections)}
	lanes := make([]backends.Lane, connections)
	for i := range lanes {
		conn, err := net.Dial("tcp", server.address)
		if err != nil {
			b.Fatal(err)
		}
		lanes[i] = &tcpLane{clock: w.clock, conn: conn}
	}
	return w, lanes, server
}

func benchPacer(b *testing.B, rate float64, connections int) {
	w, lanes, server := tcpWorld(b, connections)
	o := OpenOptions{Options: w.options(), Spin: int64(30 * time.Microsecond)}
	o.Start += int64(50 * time.Millisecond)
	b.ResetTimer()
	p := Open(context.Background(), limit(load.Constant(rate), int64(b.N)), &fakeFeed{},
		one(lanes, inline), w.out, &w.c, o)
	b.StopTimer()
	stamps := server.stop(b)
	if p.Sent != int64(b.N) || len(stamps) != b.N {
		b.Fatalf("%d arrivals of %d sent %d", len(stamps), b.N, p.Sent)
	}
	late := make([]int64, 0, b.N)
	schedule := load.Constant(rate)
	for range b.N {
		due, _ := schedule.Next()
		// Requests carry no number on the wire: in order of arrival, the k-th is the k-th that was due.
		late = append(late, stamps[len(late)]-w.clock.Origin.UnixNano()-o.Start-due)
	}
	slices.Sort(late)
	for _, q := range []struct {
		name  string
		share float64
	}{{"p50", .5}, {"p99", .99}, {"p99.9", .999}} {
		b.ReportMetric(float64(late[min(int(q.share*float64(b.N)), b.N-1)])/1000, q.name+"-late-µs")
	}
}

// BenchmarkClosed is what the closed loop costs per request beside the lane: a lane that answers at
// once.
func BenchmarkClosed(b *testing.B) {
	w := &world{t: b, clock: backends.Clock{Origin: time.Now()}}
	w.out = &fakeOut{w: w, light: true, lanes: make([]outLane, 1)}
	o := w.options()
	o.Limit = int64(b.N)
	b.ReportAllocs()
	b.ResetTimer()
	Closed(context.Background(), load.Level(1), &fakeFeed{}, one([]backends.Lane{&echoLane{}}, inline),
		w.out, &w.c, o)
}

// echoLane answers without a wire.
type echoLane struct{}

func (*echoLane) Send(int, *backends.Call, backends.Fields, *backends.Sample) {}
func (*echoLane) Recv() (int, bool)                                           { return 0, true }
func (*echoLane) Activity(int) int64                                          { return 0 }
func (*echoLane) Cancel(int, uint32, backends.Cause)                          {}
func (*echoLane) Close() error                                                { return nil }

const message = 64 // bytes of a request and of a reply

// tcpLane sends and receives messages of fixed size.
type tcpLane struct {
	clock   backends.Clock
	conn    net.Conn
	in, out [message]byte
}

func (l *tcpLane) Send(_ int, _ *backends.Call, _ backends.Fields, s *backends.Sample) {
	s.SendStart = l.clock.Now()
	_, _ = l.conn.Write(l.out[:])
}

func (l *tcpLane) Recv() (int, bool) {
	if _, err := io.ReadFull(l.conn, l.in[:]); err != nil {
		return backends.None, false
	}
	return 0, true
}

func (*tcpLane) Activity(int) int64 { return 0 }

func (l *tcpLane) Cancel(int, uint32, backends.Cause) {}
func (l *tcpLane) Close() error                       { return l.conn.Close() }

// server is the stamping process.
type server struct {
	address string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startStampServer runs this test binary again as the server.
func startStampServer(b *testing.B) *server {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), stampServer+"=1")
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
	s := &server{cmd: cmd, in: in, out: bufio.NewReader(out)}
	line, err := s.out.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	s.address = line[:len(line)-1]
	return s
}

// stop ends the server and returns the arrival times it saw, wall clock ns, sorted.
func (s *server) stop(b *testing.B) []int64 {
	_ = s.in.Close()
	raw, err := io.ReadAll(s.out)
	if err == nil {
		err = s.cmd.Wait()
	}
	if err != nil {
		b.Fatal(err)
	}
	stamps := make([]int64, len(raw)/8)
	for i := range stamps {
		stamps[i] = int64(binary.LittleEndian.Uint64(raw[i*8:]))
	}
	slices.Sort(stamps)
	return stamps
}
