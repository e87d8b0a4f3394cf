package tfserving

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// overREST opens a target over HTTP.
func overREST(t testing.TB, target backends.Target) *rest {
	t.Helper()
	if target.URL == "" {
		target.URL = "http://h:1/p"
	}
	if target.Endpoint == "" {
		target.Endpoint = predict
	}
	c, err := openREST(target, backends.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	return c
}

func floats(name string, shape []int64, values ...float64) backends.Tensor {
	x := backends.Tensor{Name: name, Type: tensor.FP32, Shape: shape}
	for _, v := range values {
		x.Data, _ = tensor.AppendFloat(x.Data, tensor.FP32, v)
	}
	return x
}

func texts(name string, shape []int64, values ...string) backends.Tensor {
	x := backends.Tensor{Name: name, Type: tensor.Bytes, Shape: shape}
	for _, v := range values {
		x.Data = append(append(x.Data, byte(len(v)), 0, 0, 0), v...)
	}
	return x
}

// TestRESTRequest: path and JSON of requests, in rows and columns.
func TestRESTRequest(t *testing.T) {
	batched := &backends.Signature{Model: "m", Batched: true}
	two := []backends.Tensor{floats("x", []int64{2, 2}, 1, 2.5, 3, 4), texts("s", []int64{2}, "a", "b\"")}
	for name, c := range map[string]struct {
		target     backends.Target
		r          backends.Request
		path, body string // or the error
	}{
		"rows": {
			backends.Target{Model: "m"},
			backends.Request{Inputs: two, Signature: batched, Items: 2},
			"/p/v1/models/m:predict", `{"instances":[{"x":[1,2.5],"s":"a"},{"x":[3,4],"s":"b\""}]}`,
		},
		"columns": {
			backends.Target{Model: "m", ModelVersion: "3", Layout: "columns", Signature: "sig"},
			backends.Request{Inputs: two, Signature: batched},
			"/p/v1/models/m/versions/3:predict",
			`{"signature_name":"sig","inputs":{"x":[[1,2.5],[3,4]],"s":["a","b\""]}}`,
		},
		"a single input": {
			backends.Target{Model: "m", ModelVersion: "canary"},
			backends.Request{Inputs: two[:1], Signature: batched},
			"/p/v1/models/m/labels/canary:predict", `{"instances":[[1,2.5],[3,4]]}`,
		},
		"no batch dimension": {
			backends.Target{Model: "m"},
			backends.Request{Inputs: []backends.Tensor{floats("x", []int64{}, 7)}},
			"/p/v1/models/m:predict", `{"inputs":7}`,
		},
		"what JSON lacks": {
			backends.Target{Model: "m", Layout: "columns"},
			backends.Request{Inputs: []backends.Tensor{
				floats("x", []int64{3}, math.NaN(), math.Inf(1), math.Inf(-1)), texts("t", []int64{1}, "\xff"),
				texts("image_bytes", []int64{1}, "a"),
			}},
			"/p/v1/models/m:predict",
			`{"inputs":{"x":[NaN,Infinity,-Infinity],"t":[{"b64":"/w=="}],"image_bytes":[{"b64":"YQ=="}]}}`,
		},
		"half": {
			backends.Target{Model: "m"},
			backends.Request{Inputs: []backends.Tensor{{Name: "x", Type: tensor.FP16, Shape: []int64{1}, Data: []byte("ab")}}},
			"", "input x: TensorFlow Serving takes no FP16 over REST: use grpc://",
		},
		"a scalar row": {
			backends.Target{Model: "m", Layout: "rows"},
			backends.Request{Inputs: []backends.Tensor{floats("x", []int64{}, 7)}},
			"", "input x is a scalar, which rows cannot hold: write tensors: {layout: columns}",
		},
		"rows of different number": {
			backends.Target{Model: "m", Layout: "rows"},
			backends.Request{Inputs: []backends.Tensor{floats("x", []int64{1}, 7), floats("y", []int64{2}, 7, 8)}},
			"", "input y has 2 rows, and those before it 1: write tensors: {layout: columns}",
		},
		"chosen outputs": {
			backends.Target{Model: "m"},
			backends.Request{Inputs: two, Outputs: []backends.Output{{Name: "y"}}},
			"", "TensorFlow Serving returns all outputs over REST: remove `outputs`, or use grpc://",
		},
		"an example": {
			backends.Target{Model: "m", Endpoint: classify, Signature: "sig"},
			backends.Request{Body: []byte(`{"age": 31.0}`)},
			"/p/v1/models/m:classify", `{"signature_name":"sig","examples":[{"age":31.0}]}`,
		},
		"examples": {
			backends.Target{Model: "m", Endpoint: regress},
			backends.Request{Body: []byte(`{"examples": [{"a": 1}, {"a": 2}], "context": {"b": "x"}}`)},
			"/p/v1/models/m:regress", `{"context":{"b":"x"},"examples":[{"a":1},{"a":2}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			call, err := overREST(t, c.target).Prepare(c.r)
			if c.path == "" {
				if fmt.Sprint(err) != c.body {
					t.Errorf("%v, want %s", err, c.body)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			head := string(call.Head)
			if body := string(call.Body[0]); !strings.HasPrefix(head, "POST "+c.path+" HTTP/1.1\r\n") || body != c.body {
				t.Errorf("%s\n%s\nwant %s\n%s", head, body, c.path, c.body)
			}
		})
	}
}

// judged returns the class and note of a reply with this JSON.
func judged(t testing.TB, target backends.Target, r backends.Request, json string) string {
	t.Helper()
	call, err := overREST(t, target).Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	c := overREST(t, target)
	wire := c.NewWire().(*http1.Wire)
	s := &backends.Sample{}
	wire.Begin(0, call, backends.Fields{}, s)
	wire.Feed(fmt.Appendf(nil, "HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", len(json), json), 1)
	return strings.TrimSpace(s.Class.String() + " " + string(s.Note))
}

// TestRESTReplies: the JSON of replies against what is expected, and the model's metadata.
func TestRESTReplies(t *testing.T) {
	sig := &backends.Signature{Model: "m", Batched: true, Configured: true, Outputs: []backends.Port{
		{Name: "y", Type: tensor.FP32, Shape: []int64{2}},
		{Name: "t", Type: tensor.Bytes, Shape: []int64{}},
	}}
	only := &backends.Signature{Model: "m", Batched: true, Configured: true, Outputs: sig.Outputs[:1]}
	base := backends.Request{Inputs: []backends.Tensor{floats("x", []int64{2, 1}, 1, 2)}, Signature: sig, Items: 2}
	expects := base
	expects.Expect = &backends.Expect{Outputs: []backends.Tensor{
		floats("y", []int64{2, 2}, 1, 2, 3, math.Inf(1)), texts("t", []int64{2}, "a", "b"),
	}}
	alone := base
	alone.Signature = only
	alone.Expect = &backends.Expect{Outputs: expects.Expect.Outputs[:1]}
	const good = `{"predictions": [{"y": [1.0, 2.0], "t": "a"}, {"y": [3, Infinity], "t": {"b64": "Yg=="}}]}`
	const columns = `{"outputs": {"y": [[1, 2], [3, Infinity]], "t": ["a", "b"]}}`
	for _, c := range []struct {
		name   string
		layout string
		r      backends.Request
		json   string
		want   string
	}{
		{"rows", "", expects, good, "ok"},
		{"nothing expected", "", base, good, "ok"},
		{"columns", "columns", expects, columns, "ok"},
		{"one output", "", alone, `{"predictions": [[1, 2], [3, Infinity]]}`, "ok"},
		{"one output by columns", "columns", alone, `{"outputs": [[1, 2], [3, Infinity]]}`, "ok"},
		{"another value", "", alone, `{"predictions": [[1, 2], [4, Infinity]]}`, "mismatch output y [2] is 4, want 3"},
		{
			"another text", "columns", expects, `{"outputs": {"y": [[1, 2], [3, Infinity]], "t": ["a", "c"]}}`,
			`mismatch output t [1] is "c", want "b"`,
		},
		{
			"fewer rows", "", base, `{"predictions": [{"y": [1, 2], "t": "a"}]}`,
			`decode the reply has a list of 1 predictions, want 2: {"predictions": [{"y": [1, 2], "t": "a"}]}`,
		},
		{"by columns unasked", "", base, columns, "decode the reply has no predictions: " + columns},
		{"missing", "", base, `{"predictions": [{"y": [1, 2], "t": "a"}, {"y": [1, 2]}]}`, "decode output t is not in every prediction"},
		{"ragged", "", base, `{"predictions": [{"y": [1, 2], "t": "a"}, {"y": [1], "t": "b"}]}`, "decode output y has lists of different lengths"},
		{"mixed", "", base, `{"predictions": [{"y": [1, [2]], "t": "a"}, {"y": [1, 2], "t": "b"}]}`, "decode output y has values and lists side by side"},
		{"another shape", "", alone, `{"predictions": [[1], [2]]}`, "decode output y has the shape [2,1], the model's is [-1,2]"},
		{"no number", "", alone, `{"predictions": [["a", 2], [3, 4]]}`, "decode the reply's JSON cannot be read"},
		{"not the model's", "", base, `{"predictions": [{"z": 1}, {"z": 2}]}`, "decode the reply has none of the model's outputs (y, t), but z"},
		{"cut", "", base, `{"predictions": [{"y": [1`, `decode the reply is not JSON: {"predictions": [{"y": [1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := judged(t, backends.Target{Model: "m", Layout: c.layout}, c.r, c.json); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestDescribeREST: metadata and status of the embedded server, and the errors that a user meets first.
func TestDescribeREST(t *testing.T) {
	s, err := builtin.Start(t.Context(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	target := backends.Target{URL: s.HTTPURL(), Model: "simple"}
	over := overREST(t, target)
	got, err := over.Describe(t.Context(), "")
	if err != nil || !got.Batched || len(got.Inputs) != 2 || got.Inputs[0].Type != tensor.Int32 ||
		got.Inputs[0].Name != "INPUT0" || len(got.Outputs) != 2 || got.Outputs[0].Shape[0] != 16 {
		t.Errorf("%+v %v", got, err)
	}
	if err := errors.Join(over.Ready(t.Context(), ""), over.Ready(t.Context(), "simple")); err != nil {
		t.Error(err)
	}
	for want, wrong := range map[string]func(*backends.Target){
		`the server does not know model "nosuch"`:                                func(t *backends.Target) { t.Model = "nosuch" },
		`the server does not know version 9 of model "simple"`:                   func(t *backends.Target) { t.ModelVersion = "9" },
		`Unrecognized servable version label: canary`:                            func(t *backends.Target) { t.ModelVersion = "canary" },
		"has no signature \"a\": name one with `signature`; it has serving_def":  func(t *backends.Target) { t.Signature = "a" },
		"signature serving_default of model simple is for predict: remove `endp": func(t *backends.Target) { t.Endpoint = classify },
	} {
		wronged := target
		wrong(&wronged)
		c := overREST(t, wronged)
		_, err := c.Describe(t.Context(), "")
		if err = errors.Join(err, c.Ready(t.Context(), wronged.Model)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestLawREST: faults of connections and replies over HTTP.
func TestLawREST(t *testing.T) {
	backendtest.Run(t, backendtest.Suite{
		Kind: Kind(), Target: backends.Target{Model: "m", Endpoint: predict},
		Request: backends.Request{Inputs: []backends.Tensor{floats("x", []int64{1}, 1)}},
		Servers: backendtest.HTTP(backendtest.RawOptions{},
			"HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{\"outputs\":1}"),
	})
}

// TestRESTReplyAllocations: judging a good reply allocates nothing.
func TestRESTReplyAllocations(t *testing.T) {
	x := floats("y", []int64{2, 2}, 1, 2, 3, 4)
	w := &jsonWant{rows: true, items: 2, ports: []backends.Port{{Name: "y", Type: tensor.FP32}}, only: []byte("y")}
	w.want = kserve.WantOf(&backends.Request{Expect: &backends.Expect{Outputs: []backends.Tensor{x}}})
	j, s, text := &jsonReader{}, &backends.Sample{}, []byte(`{"predictions": [[1.0, 2.0], [3.0, 4.0]]}`)
	if n := testing.AllocsPerRun(100, func() { j.Read(w, text, s) }); n != 0 || s.Class != backends.OK {
		t.Errorf("%v allocations, class %v, note %q", n, s.Class, s.Note)
	}
}

// FuzzRESTReply: no reply makes the reader fail.
func FuzzRESTReply(f *testing.F) {
	f.Add([]byte(`{"predictions":[{"y":[[1,NaN]],"t":{"b64":"YQ=="}},[]]}`), true)
	f.Add([]byte(`{"outputs":{"y":[[1,2],[3]],"t":["a"]}}`), false)
	r := backends.Request{
		Inputs: []backends.Tensor{floats("x", []int64{2, 1}, 1, 2)},
		Expect: &backends.Expect{Outputs: []backends.Tensor{
			floats("y", []int64{2, 2}, 1, 2, 3, 4), texts("t", []int64{2}, "a", "b"),
		}},
	}
	f.Fuzz(func(t *testing.T, body []byte, rows bool) {
		target := backends.Target{Model: "m", Layout: map[bool]string{true: "rows", false: "columns"}[rows]}
		if got := judged(t, target, r, string(body)); strings.HasPrefix(got, "ok") &&
			!strings.Contains(string(body), "y") && !strings.Contains(string(body), `\u`) {
			t.Errorf("%q is %s", body, got)
		}
	})
}
