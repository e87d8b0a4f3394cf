package feed

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
)

// FuzzFile: no bytes of a data file make it panic, whatever its format, and what is accepted has
// fillRow that fill their shapes.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		`{"data":[{"a":[1,2]}]}`, `{"data":[{"a":{"b64":"AACAPw=="}}]}`, `{"data":[[{"a":[1]}]]}`,
		`{"data":[{"a":[[NaN],[1]]}]}`,
		`{"data":[{"a":{"content":[1],"shape":[-1]}}]}`, `{"data":[{"a":{"content":[],"shape":[0,99999999999]}}]}`,
		`{`, ``,
		`{"inputs":[{"name":"a","shape":[1,2],"datatype":"FP32","data":[1,2]}],"parameters":{"x":1}}`,
		`{"inputs":[{"name":"a","shape":[1],"datatype":"FP32","parameters":{"binary_data_size":4}}]}abcd`,
		`[{"a":"x","timestamp":1,"session_id":"s"},{"inputs":{"a":[{"b64":"eA=="}]}}]`,
		"a,timestamp\n1,2\n\"[1,2]\",3\n",
		"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }                   " +
			"                                       \nabcd",
		`{"a":"\u00e9\ud83d\ude00"}`,
	} {
		for i := range fuzzed {
			f.Add(i, []byte(seed))
		}
	}
	name := filepath.Join(f.TempDir(), "file")
	f.Fuzz(func(t *testing.T, i int, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, typ := range []tensor.DataType{tensor.FP32, tensor.Bytes, tensor.Bool, tensor.Int8, tensor.FP16} {
			d := &scenario.Dataset{
				Source: "file", Format: fuzzed[uint(i)%uint(len(fuzzed))], Files: []scenario.Path{{Name: name}},
			}
			whole := &scenario.Request{Batch: 1, Target: &scenario.Target{Name: "main"}}
			_, _ = Build(d, whole, backends.Signature{Bodies: true}, 0) // it must not panic
			r := format.Read(d)
			if r.Diags.HasErrors() {
				return
			}
			sig := signature(true, 8, port("a", typ, -1))
			b := &build{dataset: d, request: &scenario.Request{Batch: 1}, sig: sig}
			for _, row := range fileRows(b, r) {
				for _, in := range row.inputs {
					n, err := tensor.Elements(in.Shape)
					have, countErr := elementsOf(typ, in.Data)
					if n *= max(row.items, 1); err != nil || countErr != nil || have != n {
						t.Errorf("shape %v, %d elements of data (%v, %v)", in.Shape, have, err, countErr)
					}
				}
			}
		}
	})
}

var fuzzed = []string{"", "perf_analyzer", "v2", "jsonl", "json", "csv", "npy", "raw"}

// elementsOf counts the elements of raw data.
func elementsOf(t tensor.DataType, data []byte) (n int64, err error) {
	if size := t.Size(); size > 0 {
		return int64(len(data) / size), nil
	}
	for ; len(data) > 0; n++ {
		if len(data) < 4 || int(binary.LittleEndian.Uint32(data)) > len(data)-4 {
			return 0, errors.New("a length does not fit")
		}
		data = data[4+binary.LittleEndian.Uint32(data):]
	}
	return n, nil
}
