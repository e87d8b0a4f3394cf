package kserve_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask is a small request whose one output is compared.
var ask = backends.Request{
	Inputs: []backends.Tensor{
		{Name: "INPUT0", Type: tensor.Int32, Shape: []int64{1, 1}, Data: []byte{7, 0, 0, 0}},
	},
	Expect: &backends.Expect{Outputs: []backends.Tensor{
		{Name: "OUTPUT0", Type: tensor.Int32, Shape: []int64{1, 1}, Data: []byte{7, 0, 0, 0}},
	}},
}

func httpReply() string {
	text := `{"model_name":"m","outputs":[{"name":"OUTPUT0","datatype":"INT32","shape":[1,1],` +
		`"parameters":{"binary_data_size":4}}]}`
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nInference-Header-Content-Length: %d\r\nContent-Length: "+
		"%d\r\n\r\n%s\x07\x00\x00\x00", len(text), len(text)+4, text)
}

func TestLawHTTP(t *testing.T) {
	for name, o := range map[string]backendtest.RawOptions{"tcp": {}, "tls": {TLS: true}, "unix": {Unix: true}} {
		t.Run(name, func(t *testing.T) {
			backendtest.Run(t,
				backendtest.Suite{
					Kind: kserve.Kind(), Target: backends.Target{Model: "m"}, Request: ask,
					Servers: backendtest.HTTP(o, httpReply()),
				})
		})
	}
}

// TestLawHeld: lanes that keep their processors while they wait, over both protocols, by themselves
// and several together.
func TestLawHeld(t *testing.T) {
	overHTTP := func(o backendtest.RawOptions) backendtest.Suite {
		return backendtest.Suite{
			Kind: kserve.Kind(), Target: backends.Target{Model: "m"}, Request: ask,
			Servers: backendtest.HTTP(o, httpReply()),
		}
	}
	tcp, unix := backendtest.RawOptions{}, backendtest.RawOptions{Unix: true}
	for _, c := range cases.Some([]struct {
		name  string
		suite backendtest.Suite
		depth int
	}{
		{"tcp", overHTTP(tcp), 1},
		{"tcp", overHTTP(tcp), 3},
		{"tls", overHTTP(backendtest.RawOptions{TLS: true}), 1}, // these do not hold
		{"unix", overHTTP(unix), 1},
		{"unix", overHTTP(unix), 3},
		{"grpc", grpcSuite(0), 1},
		{"grpc", grpcSuite(0), 3},
	}, 2) {
		t.Run(fmt.Sprintf("%s, %d together", c.name, c.depth), func(t *testing.T) {
			backendtest.Run(t, together(c.suite, c.depth))
		})
	}
}

// together returns the suite for blocking lanes of depth slots. Each slot has its own connection:
// with several, some are still unused when a server ends, which their first write reveals.
func together(s backendtest.Suite, depth int) backendtest.Suite {
	s.Blocking, s.Depth, s.Shared = true, depth, depth > 1
	if depth > 1 {
		classes := map[backendtest.Fault][]backends.ErrorClass{
			backendtest.Refused: {backends.Dial, backends.Write, backends.ResetByPeer},
		}
		maps.Copy(classes, s.Classes)
		s.Classes = classes
	}
	return s
}

func TestLawHTTPNothingExpected(t *testing.T) {
	plain := ask
	plain.Expect = nil
	backendtest.Run(t,
		backendtest.Suite{
			Kind: kserve.Kind(), Target: backends.Target{Model: "m"}, Request: plain,
			Servers: backendtest.HTTP(backendtest.RawOptions{}, httpReply()),
		})
}

func TestSharedConnectionsOverHTTP(t *testing.T) {
	c, err := kserve.Kind().Open(t.Context(),
		backends.Target{URL: "http://localhost:1", Model: "m", Connections: 2}, backends.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Lanes(t.Context(), 3, backends.LaneOptions{}); err == nil ||
		!strings.Contains(err.Error(), "connections: 2 is fewer than the 3 slots") {
		t.Errorf("error %v", err)
	}
}
