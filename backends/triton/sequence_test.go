package triton

import (
	"context"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestSequences: unary calls, and streams, whose requests carry the same marks.
func TestSequences(t *testing.T) {
	s, err := builtin.Start(context.Background(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	backendtest.Sequences(t, Kind(), map[string]backends.Target{
		"http": {URL: s.HTTPURL()}, "grpc": {URL: s.GRPCURL()},
		"a stream": {URL: s.GRPCURL(), Endpoint: infer, Streaming: true},
	})
}
