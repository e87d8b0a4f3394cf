package backendtest_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
	"google.golang.org/protobuf/encoding/protowire"
)

// inferReply is a ModelInferResponse of one output OUTPUT0 with these bytes.
func inferReply(raw []byte) []byte {
	text := func(b []byte, field protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
	}
	output := text(text(text(nil, 1, []byte("OUTPUT0")), 2, []byte("INT32")), 3, []byte{1, 1})
	return text(text(text(nil, 1, []byte("m")), 5, output), 6, raw)
}

// embedded starts the embedded server in this process.
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

// The frames of GRPC are right: the client's own HTTP/2, and grpc-go where calls share a
// connection, take them for what they are meant to be.
func TestGRPC(t *testing.T) {
	t.Run("own", func(t *testing.T) {
		testGRPC(t, 0, backendtest.GRPC(backendtest.RawOptions{}, "MARK", inferReply([]byte("MARK"))), nil)
	})
	t.Run("shared", func(t *testing.T) {
		servers := backendtest.GRPC(backendtest.RawOptions{}, "MARK", inferReply([]byte("MARK")))
		delete(servers, backendtest.SlowBody)
		testGRPC(t, 64, servers,
			map[backendtest.Fault]string{
				backendtest.SlowBody: "grpc-go gives a message when it is whole: there is no stamp of its first byte",
			})
	})
}

func testGRPC(
	t *testing.T, connections int, servers backendtest.Servers, without map[backendtest.Fault]string,
) {
	servers[backendtest.None], servers[backendtest.Refused] = embedded, embedded
	backendtest.Run(t, backendtest.Suite{
		Kind: kserve.Kind(), Target: backends.Target{Model: "identity_int32", Connections: connections},
		Servers: servers,
		Request: backends.Request{Inputs: []backends.Tensor{
			{Name: "INPUT0", Type: tensor.Int32, Shape: []int64{1, 1}, Data: []byte("MARK")},
		}},
		Without: without,
	})
}
