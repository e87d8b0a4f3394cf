package triton_test

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

// A stream lane beside a loop of nothing but grpc-go's own calls: what is between the two is ours.
func BenchmarkStream(b *testing.B) {
	for name, prepare := range map[string]func(testing.TB) func(){"lane": laneLoop, "bare": bareLoop} {
		b.Run(name, func(b *testing.B) {
			one := prepare(b)
			b.ReportAllocs()
			for b.Loop() {
				one()
			}
		})
	}
}

// TestStreamAllocates: a request on a stream costs no allocation beyond those of grpc-go, which a
// bare loop has too. Both ends of the connection are in this process, so only the difference tells.
func TestStreamAllocates(t *testing.T) {
	least := func(one func()) float64 {
		n := testing.AllocsPerRun(200, one)
		for range 4 { // what runs in the background is not in all of them
			n = min(n, testing.AllocsPerRun(200, one))
		}
		return n
	}
	if lane, bare := least(laneLoop(t)), least(bareLoop(t)); lane > bare {
		t.Errorf("%v allocations a request, a bare loop has %v", lane, bare)
	}
}

// laneLoop gives how one request goes over a lane.
func laneLoop(t testing.TB) func() {
	l := openLane(t, each(right), 1, 64)
	s := l.send(0, 8)
	l.done(s)
	return func() {
		l.gen++
		s.Reset()
		s.Gen = l.gen
		l.Send(0, l.call, backends.Fields{ID: uint64(l.gen)}, s)
		for done := false; !done; {
			_, done = l.Recv()
		}
	}
}

// quiet is a codec that sends one message again and again, and drops what comes.
type quiet struct{ message mem.BufferSlice }

func (quiet) Name() string                           { return "proto" }
func (q quiet) Marshal(any) (mem.BufferSlice, error) { return q.message, nil }
func (quiet) Unmarshal(mem.BufferSlice, any) error   { return nil }

// bareLoop gives how a request as large goes over a stream without a lane.
func bareLoop(t testing.TB) func() {
	url, _ := serve(t, each(right))
	codec := quiet{mem.BufferSlice{
		mem.SliceBuffer(field(1, "m") + field(3, "00000000000000000001") + field(7, strings.Repeat("x", 110))),
	}}
	cc, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(url,
		"grpc://"), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableRetry(), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec)),
		grpc.WithStaticStreamWindowSize(1<<20), grpc.WithStaticConnWindowSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	stream, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
		"/inference.GRPCInferenceService/ModelStreamInfer")
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := stream.SendMsg(codec); err != nil {
			t.Fatal(err)
		}
		if err := stream.RecvMsg(codec); err != nil {
			t.Fatal(err)
		}
	}
}
