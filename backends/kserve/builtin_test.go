package kserve_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// start runs the embedded server until the test ends.
func start(t testing.TB, c builtin.Config) *builtin.Server {
	t.Helper()
	s, err := builtin.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// dial opens a target and one lane.
func dial(t testing.TB, target backends.Target) (backends.Conn, backends.Lane) {
	t.Helper()
	c, err := kserve.Kind().Open(t.Context(), target, backends.Clock{Origin: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	lanes, _, err := c.Lanes(t.Context(), 1, backends.LaneOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = lanes[0].Close()
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c, lanes[0]
}

// one makes one request.
func one(t testing.TB, c backends.Conn, l backends.Lane, r backends.Request) *backends.Sample {
	t.Helper()
	call, err := c.Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	s := &backends.Sample{Gen: 1}
	l.Send(0, call, backends.Fields{ID: 1}, s)
	if slot, done := l.Recv(); slot != 0 || !done {
		t.Fatalf("Recv: %d %v", slot, done)
	}
	return s
}

// urls are the ways to reach a server.
func urls(t testing.TB) map[string]backends.Target {
	plain, secure := start(t, builtin.Config{}), start(t, builtin.Config{TLS: true})
	dir := t.TempDir()
	unix := start(t,
		builtin.Config{HTTP: "unix:" + filepath.Join(dir, "h"), GRPC: "unix:" + filepath.Join(dir, "g")})
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, []byte(secure.URLs().CA), 0o600); err != nil {
		t.Fatal(err)
	}
	tls := &backends.TLSOptions{CA: ca}
	return map[string]backends.Target{
		"http": {URL: plain.HTTPURL()}, "http json": {URL: plain.HTTPURL(), InputJSON: true, OutputJSON: true},
		"json in": {URL: plain.HTTPURL(), InputJSON: true}, "json out": {URL: plain.HTTPURL(), OutputJSON: true},
		"grpc": {URL: plain.GRPCURL()}, "https": {URL: secure.HTTPURL(), TLS: tls},
		"grpcs":          {URL: secure.GRPCURL(), TLS: tls},
		"http gzip":      {URL: plain.HTTPURL(), Compression: "gzip"},
		"http deflate":   {URL: plain.HTTPURL(), Compression: "deflate"},
		"grpc gzip":      {URL: plain.GRPCURL(), Compression: "gzip"},
		"grpc deflate":   {URL: plain.GRPCURL(), Compression: "deflate"},
		"http json gzip": {URL: plain.HTTPURL(), InputJSON: true, OutputJSON: true, Compression: "gzip"},
		"http+unix":      {URL: unix.HTTPURL()}, "grpc+unix": {URL: unix.GRPCURL()},
	}
}

// values are some elements of each datatype.
func values(t testing.TB, d tensor.DataType) backends.Tensor {
	t.Helper()
	list := []any{int64(0), int64(1), int64(100)}
	switch d {
	case tensor.Bool:
		list = []any{true, false, true}
	case tensor.Bytes:
		list = []any{"a", "", "é\"\n"}
	case tensor.FP16, tensor.BF16, tensor.FP32, tensor.FP64:
		list = []any{0.5, -2.0, 0.0}
	case tensor.Int64:
		list = []any{int64(-1), int64(1 << 62), int64(9007199254740993)}
	case tensor.Uint64:
		list = []any{uint64(1<<64 - 1), uint64(0), uint64(9007199254740993)}
	}
	out := backends.Tensor{Name: "INPUT0", Type: d, Shape: []int64{1, 3}}
	for _, v := range list {
		var err error
		if out.Data, err = tensor.AppendElement(out.Data, d, v); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestEveryDatatypeComesBack(t *testing.T) {
	for name, target := range urls(t) {
		for _, d := range tensor.DataTypes() {
			if half := d == tensor.FP16 || d == tensor.BF16; half && (target.InputJSON || target.OutputJSON) {
				continue // no JSON form
			}
			target.Model = "identity_" + strings.ToLower(string(d))
			c, l := dial(t, target)
			in := values(t, d)
			out := in
			out.Name = "OUTPUT0"
			for _, named := range [][]backends.Output{nil, {{Name: "OUTPUT0"}}} {
				s := one(t, c, l,
					backends.Request{
						Inputs: []backends.Tensor{in}, Outputs: named,
						Expect: &backends.Expect{Outputs: []backends.Tensor{out}},
					})
				if s.Class != backends.OK {
					t.Errorf("%s %s: %v %s", name, d, s.Class, s.Note)
				}
			}
			out.Data = bytes.Clone(out.Data)
			out.Data[len(out.Data)-1] ^= 1
			if s := one(t, c, l,
				backends.Request{
					Inputs: []backends.Tensor{in}, Expect: &backends.Expect{Outputs: []backends.Tensor{out}},
				}); s.Class != backends.Mismatch || !strings.Contains(string(s.Note), "OUTPUT0 [2]") {
				t.Errorf("%s %s: a wrong output gives %v %s", name, d, s.Class, s.Note)
			}
		}
	}
}

// TestClasses: an output that is asked for as classes comes as texts, beside others that come whole.
func TestClasses(t *testing.T) {
	for name, target := range urls(t) {
		target.Model = "simple"
		c, l := dial(t, target)
		in := backends.Tensor{Name: "INPUT0", Type: tensor.Int32, Shape: []int64{2, 16}, Data: make([]byte, 128)}
		in.Data[4*3], in.Data[4*20] = 7, 9
		other := in
		other.Name = "INPUT1"
		zero := backends.Tensor{Name: "OUTPUT1", Type: tensor.Int32, Shape: []int64{2, 16}, Data: make([]byte, 128)}
		want := backends.Tensor{
			Name: "OUTPUT0", Type: tensor.Bytes, Shape: []int64{2, 2},
			Data: []byte("\x04\x00\x00\x0014:3\x03\x00\x00\x000:0\x04\x00\x00\x0018:4\x03\x00\x00\x000:0"),
		}
		r := backends.Request{
			Inputs:  []backends.Tensor{in, other},
			Outputs: []backends.Output{{Name: "OUTPUT0", Classification: 2}, {Name: "OUTPUT1"}},
			Expect:  &backends.Expect{Outputs: []backends.Tensor{want, zero}},
		}
		if s := one(t, c, l, r); s.Class != backends.OK {
			t.Errorf("%s: %v %s", name, s.Class, s.Note)
		}
		r.Outputs[0].Classification = 1
		if s := one(t, c, l, r); s.Class != backends.Mismatch ||
			!strings.Contains(string(s.Note), "OUTPUT0 shape [2,1], want [2,2]") {
			t.Errorf("%s: other classes give %v %s", name, s.Class, s.Note)
		}
	}
}

func TestDescribeAndReady(t *testing.T) {
	ports := func(names ...string) (out []backends.Port) {
		for _, n := range names {
			out = append(out, backends.Port{Name: n, Type: tensor.Int32, Shape: []int64{16}})
		}
		return out
	}
	for name, target := range urls(t) {
		target.Model = "simple"
		c, _ := dial(t, target)
		got, err := c.(backends.Describer).Describe(t.Context(), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := backends.Signature{
			Model: "simple", Version: "1", Inputs: ports("INPUT0", "INPUT1"), Outputs: ports("OUTPUT0", "OUTPUT1"),
			Configured: true, MaxBatch: 8, Batched: true, Statistics: true, BinaryTensors: true, Classes: true,
			Sequence: backends.NoSequences,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got, err = c.(backends.Describer).Describe(t.Context(), "slow"); err != nil || got.MaxBatch != 0 ||
			got.Batched || !cmp.Equal(got.Inputs[0].Shape, []int64{1}) {
			t.Errorf("%s: unbatched: %+v %v", name, got, err)
		}
		if err := c.(backends.Prober).Ready(t.Context(), "simple"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		target.Model = "nosuch"
		c, l := dial(t, target)
		if _, err := c.(backends.Describer).Describe(t.Context(), ""); err == nil ||
			!strings.Contains(err.Error(), "nosuch") {
			t.Errorf("%s: describe an unknown model: %v", name, err)
		}
		if err := c.(backends.Prober).Ready(t.Context(), "nosuch"); err == nil ||
			!strings.Contains(err.Error(), "nosuch' is not found") {
			t.Errorf("%s: an unknown model: %v", name, err)
		}
		if s := one(t, c, l,
			backends.Request{Inputs: []backends.Tensor{values(t, tensor.Int32)}}); s.Class != backends.Status ||
			!strings.Contains(string(s.Note), "nosuch") {
			t.Errorf("%s: unknown model: %v %q", name, s.Class, s.Note)
		}
	}
}

// A request over HTTP allocates nothing in this process; the server is another one's business, so
// only the lane's own goroutine could, and the server of this test is one that writes prepared
// bytes.
func TestNoAllocationsOverHTTP(t *testing.T) {
	server := newCanned(t, httpReply())
	for _, expect := range []*backends.Expect{nil, ask.Expect} {
		r := ask
		r.Expect = expect
		c, l := dial(t, backends.Target{URL: "http://" + server, Model: "m"})
		call, err := c.Prepare(r)
		if err != nil {
			t.Fatal(err)
		}
		s := &backends.Sample{}
		if n := testing.AllocsPerRun(200, func() {
			s.Reset()
			s.Gen++
			l.Send(0, call, backends.Fields{ID: uint64(s.Gen)}, s)
			if _, done := l.Recv(); !done || s.Class != backends.OK {
				t.Fatalf("%v %s", s.Class, s.Note)
			}
		}); n != 0 {
			t.Errorf("expected outputs %v: %v allocations for each request", expect != nil, n)
		}
	}
}
