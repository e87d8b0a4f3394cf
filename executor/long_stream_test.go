package executor

import (
	"fmt"
	"net"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/reflection"

	"github.com/sluice-bench/sluice/backends/backendtest"
)

// lister answers a call with as many messages as it asks bytes for.
type lister struct {
	testpb.UnimplementedTestServiceServer
}

// StreamingOutputCall implements the test service.
func (lister) StreamingOutputCall(
	m *testpb.StreamingOutputCallRequest, s testpb.TestService_StreamingOutputCallServer,
) error {
	reply := &testpb.StreamingOutputCallResponse{Payload: &testpb.Payload{Body: make([]byte, 16)}}
	for range m.ResponseParameters[0].Size {
		if err := s.Send(reply); err != nil {
			return err
		}
	}
	return nil
}

// heapsOf returns the bytes that were in use while something ran, as the garbage collector found them, in order
// of size.
func heapsOf(run func()) (sizes []uint64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			runtime.GC()
			metrics.Read(sample)
			sizes = append(sizes, sample[0].Value.Uint64())
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	})
	run()
	close(stop)
	watching.Wait()
	slices.Sort(sizes)
	return sizes
}

// TestLongStream: a run that measures a stream of a million messages takes no more memory than one of a hundred
// thousand, and counts and times them all.
func TestLongStream(t *testing.T) {
	l, err := net.Listen("tcp", backendtest.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	testpb.RegisterTestServiceServer(s, lister{})
	reflection.Register(s)
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) })
	t.Cleanup(func() { s.Stop(); serving.Wait() })
	heaps := func(n int) []uint64 {
		return heapsOf(func() {
			r := play(t, fmt.Sprintf(`
version: 1
target: {backend: grpc, url: "grpc://%s", method: grpc.testing.TestService/StreamingOutputCall, streaming: true, probe: false}
data: {rows: [{response_parameters: [{size: %d}]}]}
stages: [{id: s, load: {concurrency: 1}, for: 1 request}]
`, l.Addr(), n), "", Env{})
			node := node(t, r, "s")
			if got := node.Metrics["responses"]; r.ExitCode == 1 || got == nil || got.Max == nil || *got.Max != float64(n) {
				t.Fatalf("exit %d: %s; responses %+v", r.ExitCode, r.Reason, got)
			}
			if gaps := node.Metrics["response_gap"]; gaps == nil || gaps.Count == nil || *gaps.Count != int64(n-1) {
				t.Errorf("gaps between responses: %+v", gaps)
			}
		})
	}
	const few, many = 100_000, 1_000_000 // the few fill the distributions
	all := heaps(few)
	before := all[len(all)-1]
	all = heaps(many)
	// Buffers of the two sides come and go. What is kept of each message is there from then on: with 16 bytes
	// it would be 8 MB in the middle of the stream.
	if after := all[len(all)/2]; after > before+5<<20 {
		t.Errorf("%d messages take %d bytes, %d take %d", many, after, few, before)
	}
}
