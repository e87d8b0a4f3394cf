package kserve

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// body is a reply over HTTP as it is kept.
func body(size int, text string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(size)), text...)
}

// Replies that were kept give back their outputs, whatever form they came in.
func TestOutputsOfReplies(t *testing.T) {
	const head = `{"outputs":[{"name":"A","datatype":"INT32","shape":[1,2],` +
		`"parameters":{"binary_data_size":8}},{"name":"B","datatype":"BOOL","shape":[1],"data":[true]}]}`
	http := []struct {
		name  string
		reply []byte
		want  []backends.Tensor
	}{
		{"raw and JSON", body(len(head), head+"\x01\x00\x00\x00\x02\x00\x00\x00"), []backends.Tensor{
			{Name: "A", Type: tensor.Int32, Shape: []int64{1, 2}, Data: []byte{1, 0, 0, 0, 2, 0, 0, 0}},
			{Name: "B", Type: tensor.Bool, Shape: []int64{1}, Data: []byte{1}},
		}},
		{
			"shared memory",
			body(83, `{"outputs":[{"name":"A","datatype":"INT32","shape":[2],"parameters":{"x":"region"}}]}`)[:4+85],
			nil,
		},
		{"what JSON has no numbers for", body(88,
			`{"outputs":[{"name":"A","datatype":"FP32","shape":[3],`+
				`"data":[NaN,Infinity,-Infinity]}]}`), []backends.Tensor{
			{
				Name: "A", Type: tensor.FP32, Shape: []int64{3},
				Data: floats(float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))),
			},
		}},
		{"cut", body(len(head), head+"\x01"), nil},
		{"no JSON", body(3, "{]}"), nil},
		{"short", []byte{1, 2}, nil},
		{"longer than it is", body(9, "{}"), nil},
	}
	for _, tt := range http {
		got, err := new(HTTP).Outputs(tt.reply)
		if diff := cmp.Diff(tt.want, got); diff != "" && tt.want != nil ||
			err == nil && tt.want == nil && len(got) > 1 {
			t.Errorf("%s: %v %s", tt.name, err, diff)
		}
	}
	output := protow.AppendString(protow.AppendString(nil, 1, "A"), 2, "INT16")
	output = protow.AppendInts(output, 3, []int64{2})
	contents := protow.AppendString(nil, 5, protow.AppendInts(nil, 2, []int64{7, -8}))
	want := []backends.Tensor{{Name: "A", Type: tensor.Int16, Shape: []int64{2}, Data: []byte{7, 0, 0xf8, 0xff}}}
	for name, reply := range map[string][]byte{
		"raw":   protow.AppendString(protow.AppendString(nil, 5, output), 6, "\x07\x00\xf8\xff"),
		"typed": protow.AppendString(nil, 5, append(append([]byte(nil), output...), contents...)),
	} {
		got, err := new(GRPC).Outputs(reply)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for _, reply := range [][]byte{
		{0xff}, protow.AppendString(nil, 5, "\xff"), protow.AppendString(protow.AppendString(nil, 6, "a"), 6, "b"),
	} {
		if got, err := new(GRPC).Outputs(reply); err == nil {
			t.Errorf("%x: %v", reply, got)
		}
	}
}

func FuzzOutputs(f *testing.F) {
	f.Add(body(2, "{}"))
	f.Add([]byte(`{"A":["x",""],"B":[[1,2.5]],"C":{}}`))
	f.Add(body(70, `{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"data":[[1]]}]}`))
	f.Add(protow.AppendString(nil, 5, protow.AppendString(nil, 1, "A")))
	f.Fuzz(func(_ *testing.T, reply []byte) {
		_, _ = new(HTTP).Outputs(reply)
		_, _ = (&HTTP{target: backends.Target{Endpoint: Generate}}).Outputs(reply)
		_, _ = new(GRPC).Outputs(reply)
	})
}
