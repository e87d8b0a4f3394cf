package tfserving

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// embedded starts the embedded server.
func embedded(t testing.TB) backendtest.Server {
	s, err := builtin.Start(context.Background(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var once atomic.Bool
	down := func() {
		if !once.Swap(true) {
			_ = s.Close()
		}
	}
	t.Cleanup(down)
	return backendtest.Server{URL: s.GRPCURL(), Down: down}
}

// predictReply is a PredictResponse with one output.
func predictReply(t *backends.Tensor) []byte {
	head, data := tensorProto(t)
	value := protow.AppendString(nil, 2, append(head, data...))
	return protow.AppendString(nil, 1, append(protow.AppendString(nil, 1, t.Name), value...))
}

func lawSuite(connections int) backendtest.Suite {
	input := backends.Tensor{Name: "INPUT0", Type: tensor.Int32, Shape: []int64{1, 1}, Data: []byte("MARK")}
	output := input
	output.Name = "OUTPUT0"
	servers := backendtest.GRPC(backendtest.RawOptions{}, "MARK", predictReply(&output))
	servers[backendtest.None], servers[backendtest.Refused] = embedded, embedded
	return backendtest.Suite{
		Kind: Kind(), Servers: servers,
		Target:  backends.Target{Model: "identity_int32", Connections: connections},
		Request: backends.Request{Inputs: []backends.Tensor{input}, Expect: &backends.Expect{Outputs: []backends.Tensor{output}}},
	}
}

func TestLaw(t *testing.T) { backendtest.Run(t, lawSuite(0)) }

func TestLawShared(t *testing.T) {
	s := lawSuite(2)
	s.Shared = true
	s.Without = map[backendtest.Fault]string{
		backendtest.CloseUnder: "the check counts the requests of one lane on its connection",
		backendtest.SlowBody:   "grpc-go does not tell when the first byte of a message came",
	}
	for fault := range s.Without {
		delete(s.Servers, fault)
	}
	backendtest.Run(t, s)
}
