package kserve

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// TestBodyItems: the inferences of a whole body are the batch dimension of its first input that has one.
func TestBodyItems(t *testing.T) {
	batches := &backends.Signature{
		Model: "m", Configured: true, Batched: true, MaxBatch: 8,
		Inputs: []backends.Port{{Name: "S", ShapeTensor: true}, {Name: "IN"}},
	}
	single := &backends.Signature{Model: "m", Configured: true}
	input := func(name string, shape ...int64) []byte {
		return protow.AppendString([]byte(nil), 5, outputMessage(name, "INT32", shape, nil))
	}
	unpacked := protow.AppendString([]byte(nil), 5,
		protow.AppendUint(protow.AppendUint(protow.AppendString([]byte(nil), 1, "IN"), 3, 6), 3, 2))
	raw := `{"inputs":[{"parameters":{"binary_data_size":4},"shape":[5,1],"name":"IN","datatype":"INT32"}]}` +
		"\x00\x01\x02\x03"
	model := func(name string, rest ...[]byte) string {
		m := protow.AppendString([]byte(nil), 1, name)
		for _, r := range rest {
			m = append(m, r...)
		}
		return string(m)
	}
	for _, c := range []struct {
		name, url, body string
		sig             *backends.Signature
		want            uint32
	}{
		{
			"json", "http", `{"id":"1","inputs":[{"name":"IN","shape":[3,4],"datatype":"INT32","data":[1]}]}`,
			batches, 3,
		},
		{
			"numbers that JSON does not have", "http",
			`{"inputs":[{"name":"IN","shape":[4,1],"data":[NaN,1,-Infinity,3]}]}`, batches, 4,
		},
		{"raw tensors behind", "http", raw, batches, 5},
		{
			"a shape goes once", "http", `{"inputs":[{"name":"S","shape":[2]},{"name":"IN","shape":[7,2]}]}`, batches,
			7,
		},
		{"no batches", "http", `{"inputs":[{"name":"IN","shape":[3,4]}]}`, single, 1},
		{"no shape", "http", `{"inputs":[{"name":"IN"}]}`, batches, 0},
		{"an empty batch", "http", `{"inputs":[{"name":"IN","shape":[0,4]}]}`, batches, 0},
		{"a shape of words", "http", `{"inputs":[{"name":"IN","shape":["a"]}]}`, batches, 0},
		{"no inputs", "http", `{"x":1}`, batches, 0},
		{"inputs that are no list", "http", `{"inputs":3}`, batches, 0},
		{"nothing is known of the model", "http", `{"inputs":[{"name":"IN","shape":[3,4]}]}`, nil, 0},
		{"message", "grpc", model("m", input("IN", 3, 4)), batches, 3},
		{"message, not packed", "grpc", model("m", unpacked), batches, 6},
		{"message, a shape goes once", "grpc", model("m", input("S", 2), input("IN", 4, 1)), batches, 4},
		{"message, no batches", "grpc", model("m", input("IN", 3)), single, 1},
		{"message, no inputs", "grpc", model("m"), batches, 0},
		{"message for another model", "grpc", model("x", input("IN", 3, 4)), batches, 0},
	} {
		call, err := openFor(t, backends.Target{URL: c.url + "://h:1", Model: "m"}).Prepare(backends.Request{
			Body: []byte(c.body), Signature: c.sig,
		})
		if err != nil || call.Items != c.want {
			t.Errorf("%s: %d items, %v; want %d", c.name, call.Items, err, c.want)
		}
	}
	generate := backends.Target{URL: "http://h:1", Model: "m", Endpoint: Generate}
	if call, err := openFor(t, generate).Prepare(backends.Request{
		Body: []byte(`{"text_input":"a"}`), Signature: batches,
	}); err != nil || call.Items != 1 {
		t.Errorf("generate: %+v, %v", call, err)
	}
}
