package kserve

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// TestSharedOutputs: what a reply has left in shared memory is read there, each output as far as it
// goes; one that cannot be there is no reply to read, and memory that cannot be read is the
// client's own trouble. The slot's region is "ab", "é" as texts at 0 in a room of 16, then 1, 2 as
// INT32 at 64.
func TestSharedOutputs(t *testing.T) {
	memory := make([]byte, 72)
	copy(memory, "\x02\x00\x00\x00ab\x02\x00\x00\x00\xc3\xa9")
	copy(memory[64:], "\x01\x00\x00\x00\x02\x00\x00\x00")
	texts := backends.Tensor{Name: "T", Type: tensor.Bytes, Shape: []int64{2}, Data: memory[:12]}
	numbers := backends.Tensor{Name: "N", Type: tensor.Int32, Shape: []int64{2}, Data: memory[64:]}
	for _, c := range []struct {
		name, reply string
		wrong       error // of what reads
		reads       string
		class       backends.ErrorClass
		note        string
	}{
		{
			"both", `{"name":"T","datatype":"BYTES","shape":[2]},{"name":"N","datatype":"INT32","shape":[2]}`, nil,
			"7+0+16 7+64+8 ", backends.OK, "",
		},
		{
			"a number less",
			`{"name":"T","datatype":"BYTES","shape":[2]},{"name":"N","datatype":"INT32","shape":[1]}`, nil,
			"7+0+16 7+64+4 ", backends.Mismatch, "output N",
		},
		{
			"other numbers", `{"name":"T","datatype":"BYTES","shape":[2]},{"name":"N","datatype":"FP32","shape":[2]}`,
			nil, "7+0+16 ", backends.Mismatch, "FP32",
		},
		{
			"more than its room", `{"name":"N","datatype":"INT32","shape":[3]}`, nil, "", backends.Decode,
			"the data cannot be read of output N",
		},
		{
			"texts that are not there", `{"name":"T","datatype":"BYTES","shape":[5]}`, nil, "7+0+16 ",
			backends.Decode, "the data cannot be read of output T",
		},
		{
			"no shape", `{"name":"T","datatype":"BYTES","shape":[-1]}`, nil, "", backends.Decode,
			"output T has a shape that no tensor can have: [-1]",
		},
		{
			"memory that fails", `{"name":"N","datatype":"INT32","shape":[2]}`, errors.New("GPU 0 is gone"),
			"7+64+8 ", backends.Client, "shared memory: GPU 0 is gone",
		},
	} {
		reads := ""
		e := expect(&backends.Request{
			Outputs: []backends.Output{{Name: "T"}, {Name: "N"}},
			Expect:  &backends.Expect{Outputs: []backends.Tensor{texts, numbers}},
		}, &Places{
			Outputs: []Place{{At: 0, Size: 16}, {At: 64, Size: 8}},
			Read: func(region uint32, at, size int64) ([]byte, error) {
				reads += fmt.Sprintf("%d+%d+%d ", region, at, size)
				return memory[at : at+size], c.wrong
			},
		})
		w, s := http1.New(&httpJudge{}), &backends.Sample{Region: 7}
		w.Begin(0, &backends.Call{Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: e}, backends.Fields{}, s)
		w.Feed([]byte(jsonReply(200, `{"model_name":"m","outputs":[`+c.reply+`]}`)), 5)
		if s.Class != c.class || !strings.Contains(string(s.Note), c.note) || reads != c.reads {
			t.Errorf("%s: %s %q, read %q\nwant %s %q, %q", c.name, s.Class, s.Note, reads, c.class, c.note, c.reads)
		}
	}
}
