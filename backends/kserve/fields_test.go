package kserve

import (
	"math"
	"strconv"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// replyHead is a reply without data, over HTTP and gRPC.
func replyHead() (json string, message []byte) {
	json = `{"id":"7","model_name":"a ` +
		`\"b\"","model_version":"2","parameters":{"n":-3,"yes":true,"t":"x","f":1.5},` +
		`"outputs":[{"name":"o","datatype":"FP32","shape":[1,2],"data":[1,2]},{"name":"p","datatype":"INT8",` +
		`"shape":[],"data":[3]}]}`
	parameter := func(name string, value []byte) {
		message = protow.AppendString(message, 4,
			protow.AppendString(protow.AppendString([]byte(nil), 1, name), 2, value))
	}
	message = protow.AppendString(message, 1, `a "b"`)
	message = protow.AppendString(message, 2, "2")
	parameter("n", protow.AppendUint(nil, 2, ^uint64(2)))
	parameter("yes", protow.AppendUint(nil, 1, 1))
	parameter("t", protow.AppendString([]byte(nil), 3, "x"))
	parameter("f", protow.AppendFixed64(nil, 4, math.Float64bits(1.5)))
	message = protow.AppendString(message, 3, "7")
	for _, o := range []struct {
		name, typ string
		shape     []int64
	}{{"o", "FP32", []int64{1, 2}}, {"p", "INT8", nil}} {
		out := protow.AppendString(protow.AppendString([]byte(nil), 1, o.name), 2, o.typ)
		message = protow.AppendString(message, 5, protow.AppendInts(out, 3, o.shape))
	}
	message = protow.AppendString(message, 6, floats(1, 2))
	return json, protow.AppendString(message, 6, []byte{3})
}

// TestFields: values of a reply are found by path, the same over HTTP and gRPC.
func TestFields(t *testing.T) {
	json, message := replyHead()
	for _, c := range []struct {
		path string
		want any
		note string
	}{
		{"model_version", "2", ""},
		{"model_name", `a "b"`, ""},
		{"id", "7", ""},
		{"parameters.n", int64(-3), ""},
		{"parameters.n", -3.0, ""},
		{"parameters.yes", true, ""},
		{"parameters.f", 1.5, ""},
		{"parameters.t", "x", ""},
		{"outputs.0.shape.1", int64(2), ""},
		{"outputs.1.name", "p", ""},
		{"model_version", int64(2), `field model_version is "2", want 2`},
		{"model_version", "3", `field model_version is "2", want "3"`},
		{"parameters.yes", false, "field parameters.yes is true, want false"},
		{"parameters.f", int64(1), "field parameters.f is 1.5, want 1"},
		{"parameters.n", nil, "field parameters.n is -3, want null"},
		{"parameters", "x", ""},
		{"outputs.2.name", "p", "field outputs.2.name is missing"},
		{"outputs.-1", "p", "field outputs.-1 is missing"},
		{"outputs.x", "p", "field outputs.x is missing"},
		{"outputs.1.shape.0", int64(1), "field outputs.1.shape.0 is missing"},
		{"id.0", "7", "field id.0 is missing"},
	} {
		e := &backends.Expect{Fields: []backends.Field{{Path: c.path, Want: c.want}}}
		over := map[string]*backends.Sample{
			"http": judgeHTTP(t, "HTTP/1.1 200 OK\r\nContent-Length: "+strconv.Itoa(len(json))+"\r\n\r\n"+json, e),
			"grpc": {},
		}
		(&grpcJudge{}).compare(expect(&backends.Request{Expect: e}, nil), message, over["grpc"])
		for protocol, s := range over {
			class := backends.OK
			if c.note != "" || c.path == "parameters" {
				class = backends.Mismatch
			}
			if s.Class != class || c.path != "parameters" && string(s.Note) != c.note {
				t.Errorf("%s %s = %v: %s %q, want %q", protocol, c.path, c.want, s.Class, s.Note, c.note)
			}
		}
	}
}

// TestComparingAllocatesNothing: a reply that is as it should be costs no memory, over HTTP in JSON
// and over gRPC.
func TestComparingAllocatesNothing(t *testing.T) {
	text, message := replyHead()
	json := []byte(text)
	e := expect(&backends.Request{Expect: &backends.Expect{
		Fields: []backends.Field{
			{Path: "outputs.1.name", Want: "p"},
			{Path: "parameters.f", Want: 1.5},
			{Path: "parameters.n", Want: int64(-3)},
		},
		Outputs: []backends.Tensor{
			{Name: "o", Type: tensor.FP32, Shape: []int64{1, 2}, Data: floats(1, 2.0001)},
			{Name: "p", Type: tensor.Int8, Shape: []int64{}, Data: []byte{3}},
		},
		// The first output differs in its bits, so that every element is looked at.
		Absolute: 0.001,
	}}, nil)
	var s backends.Sample
	g, h := &grpcJudge{}, &httpJudge{}
	for name, compare := range map[string]func(){
		"grpc": func() { g.compare(e, message, &s) },
		"http": func() {
			h.c.begin(e)
			if !h.parse(json) || !h.c.fields(e, json, &s) {
				t.Error("the reply does not fit")
			}
			h.each(e, nil, &s)
		},
	} {
		if n := testing.AllocsPerRun(100, compare); n > 0 || s.Class != backends.OK {
			t.Errorf("%s: %v allocations, %s %q", name, n, s.Class, s.Note)
		}
	}
}
