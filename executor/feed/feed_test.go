package feed

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

func port(name string, t tensor.DataType, shape ...int64) backends.Port {
	return backends.Port{Name: name, Type: t, Shape: shape}
}

func signature(batched bool, maxBatch int, inputs ...backends.Port) backends.Signature {
	return backends.Signature{
		Model: "m", Inputs: inputs, Outputs: []backends.Port{port("OUT", tensor.FP32, -1)}, Batched: batched,
		MaxBatch: maxBatch,
	}
}

// dataset writes text to a file and names it.
func dataset(t *testing.T, text string) *scenario.Dataset {
	t.Helper()
	name := filepath.Join(t.TempDir(), "data.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &scenario.Dataset{
		Name: "main", Source: "file", Files: []scenario.Path{{Name: name, Pos: source.Pos{Line: 1, Column: 1}}},
		Order: "sequential", AtEnd: "repeat",
	}
}

// TestFile reads rows for one FP32 input "a" (shape -1, batched) unless the case says otherwise.
func TestFile(t *testing.T) {
	a := port("a", tensor.FP32, -1)
	for _, c := range []struct {
		name, text string
		inputs     []backends.Port
		shape      []int64 // of the first input of the first request
		want       string  // part of the first diagnostic; "" for success
	}{
		{"flat", `{"data":[{"a":[1,2.5]}]}`, []backends.Port{a}, []int64{1, 2}, ""},
		{
			"shape given", `{"data":[{"a":{"content":[1,2,3,4],"shape":[4]}}]}`,
			[]backends.Port{a},
			[]int64{1, 4},
			"",
		},
		{"base64", `{"data":[{"a":{"b64":"AACAPwAAAEA="}}]}`, []backends.Port{a}, []int64{1, 2}, ""},
		{
			"base64 inside content", `{"data":[{"a":{"content":{"b64":"AACAPw=="},"shape":[1]}}]}`,
			[]backends.Port{a},
			[]int64{1, 1},
			"",
		},
		{"not finite", `{"data":[{"a":[NaN,Infinity,-Infinity]}]}`, []backends.Port{a}, []int64{1, 3}, ""},
		{"model key is ignored", `{"data":[{"a":[1],"model":"x"}]}`, []backends.Port{a}, []int64{1, 1}, ""},
		{
			"nested lists with a colon in the name",
			`{"data":[{"input_1:0":[[[[1,2,3],[4,5,6]],[[7,8,9],[10,11,12]]]]}]}`,
			[]backends.Port{port("input_1:0", tensor.FP32, -1, -1, 3)},
			[]int64{1, 2, 2, 3},
			"",
		},
		{
			"optional input missing", `{"data":[{"a":[1],"b":[2]},{"a":[3]}]}`,
			[]backends.Port{a, {Name: "b", Type: tensor.FP32, Shape: []int64{-1}, Optional: true}},
			[]int64{1, 1},
			"",
		},
		{"empty tensor", `{"data":[{"a":{"content":[],"shape":[0]}}]}`, []backends.Port{a}, []int64{1, 0}, ""},

		{
			"misplaced shape", `{"data":[{"a":[0.5,0.5],"shape":[1,26]}]}`,
			[]backends.Port{a},
			nil,
			`has no input "shape"`,
		},
		{"unknown tensor", `{"data":[{"a":[1],"bb":[1]}]}`, []backends.Port{a}, nil, `has no input "bb"`},
		{"missing tensor", `{"data":[{}]}`, []backends.Port{a}, nil, `row 0 has no data for "a"`},
		{
			"wrong literal", `{"data":[{"input2":[1.84,2]}]}`,
			[]backends.Port{port("input2", tensor.Int32, -1)},
			nil,
			`input "input2"[0]: `,
		},
		{
			"whole float for an integer", `{"data":[{"a":[1.0,2]}]}`,
			[]backends.Port{port("a", tensor.Int32, -1)},
			[]int64{1, 2},
			"",
		},
		{"string for a number", `{"data":[{"a":["x"]}]}`, []backends.Port{a}, nil, `"a"[0]`},
		{
			"wrong count", `{"data":[{"a":[1,2]}]}`,
			[]backends.Port{port("a", tensor.FP32, 3)},
			nil,
			"has 3 elements, 2 found",
		},
		{
			"wrong rank", `{"data":[{"a":{"content":[1,2],"shape":[1,2]}}]}`,
			[]backends.Port{a},
			nil,
			"has 2 dimensions",
		},
		{
			"ragged", `{"data":[{"a":[[1,2],[3]]}]}`,
			[]backends.Port{port("a", tensor.FP32, -1, -1)},
			nil,
			"2 and 1 entries",
		},
		{
			"element beside lists", `{"data":[{"a":[[1,2],3]}]}`,
			[]backends.Port{port("a", tensor.FP32, -1, -1)},
			nil, "an element is mixed with lists",
		},
		{
			"two free dimensions", `{"data":[{"a":[1,2]}]}`,
			[]backends.Port{port("a", tensor.FP32, -1, -1)},
			nil,
			"say which under `shapes`",
		},
		{"no rows", `{"data":[]}`, []backends.Port{a}, nil, "no rows"},
		{"no data", `{}`, []backends.Port{a}, nil, "no rows"},
		{
			"rows beside lists of rows", `{"data":[[{"a":[1]}],{"a":[1]}]}`,
			[]backends.Port{a},
			nil,
			"are mixed",
		},
		{
			"validation of another length", `{"data":[{"a":[1]}],"validation_data":[]}`,
			[]backends.Port{a},
			nil,
			`"validation_data" has 0 rows`,
		},
		{"no JSON", "{\"data\":[\n{\"a\":[1,]}]}", []backends.Port{a}, nil, "line 2, column 9"},
		{"data is no list", `{"data":{"a":[1]}}`, []backends.Port{a}, nil, "must be a list of rows"},
		{"list of rows alone", `[{"a":[1]}]`, []backends.Port{a}, []int64{1, 1}, ""},
		{"no map", `5`, []backends.Port{a}, nil, "what form this has cannot be told"},
		{"null", `{"data":[{"a":null}]}`, []backends.Port{a}, nil, "a tensor is a list"},
		{"b64 is no base64", `{"data":[{"a":{"b64":"?"}}]}`, []backends.Port{a}, nil, "not base64"},
		{
			"b64 of a part of an element", `{"data":[{"a":{"b64":"AAA="}}]}`,
			[]backends.Port{a},
			nil,
			"no whole number of FP32",
		},
		{
			"lying length of a string", `{"data":[{"a":{"b64":"/////wA="}}]}`,
			[]backends.Port{port("a", tensor.Bytes, -1)},
			nil, "does not fit the data",
		},
		{"unknown key in a tensor", `{"data":[{"a":{"contents":[1]}}]}`, []backends.Port{a}, nil, `content or b64`},
	} {
		t.Run(c.name, func(t *testing.T) {
			built, diags := Build(dataset(t, c.text), &scenario.Request{Batch: 1}, signature(true, 8, c.inputs...), 0)
			if c.want != "" {
				if len(diags) == 0 || !strings.Contains(diags[0].Summary, c.want) {
					t.Fatalf("diagnostics %v, want %q", diags, c.want)
				}
				return
			}
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			if diff := cmp.Diff(c.shape, built.Requests[0].Inputs[0].Shape); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestStreams: lists of rows are sequences, of one file after the other.
func TestStreams(t *testing.T) {
	d := dataset(t,
		`{"data":[[{"a":[1]},{"a":[2]}],[{"a":[3]}]],"validation_data":[[{"OUT":[1]},{"OUT":[2]}],[{"OUT":[3]}]]}`)
	d.Files = append(d.Files, dataset(t, `{"data":[[{"a":[4]},{"a":[5]},{"a":[6]}]]}`).Files...)
	sig := signature(true, 8, port("a", tensor.FP32, 1))
	built, diags := Build(d, &scenario.Request{Batch: 1}, sig, 0)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if diff := cmp.Diff([][]int{{0, 1}, {2}, {3, 4, 5}}, built.Streams); diff != "" {
		t.Error(diff)
	}
	for i, r := range built.Requests {
		if want := floats(float32(i + 1)); !cmp.Equal(r.Inputs[0].Data, want) || (r.Expect != nil) != (i < 3) {
			t.Errorf("request %d: %v, expect %v", i, r.Inputs[0].Data, r.Expect)
		}
	}
	if _, diags := Build(d, &scenario.Request{Batch: 2}, sig,
		0); !strings.Contains(diags[0].Summary, "one by one") {
		t.Error(diags)
	}
	d.Files = append(d.Files, dataset(t, `{"data":[{"a":[4]}]}`).Files...)
	if _, diags := Build(d, &scenario.Request{Batch: 1}, sig, 0); !strings.Contains(diags[0].Summary, "mixed") {
		t.Error(diags)
	}
}

// TestWhereItStands: whoever reads of a reply that differs is told where to look, if the number of
// a row does not say it.
func TestWhereItStands(t *testing.T) {
	const row = `{"data":[{"a":[1]},{"a":[2]}],"validation_data":[{"OUT":[1]},{"OUT":[2]}]}`
	const streams = `{"data":[[{"a":[1]}],[{"a":[2]},{"a":[3]}]],"validation_data":[[{"OUT":[1]}],` +
		`[{"OUT":[2]},{"OUT":[3]}]]}`
	for _, c := range []struct {
		files []string
		want  []string
	}{
		{[]string{"r.json", row}, []string{"", ""}},
		{
			[]string{"r.json", row, "s.json", row},
			[]string{"r.json, row 0", "r.json, row 1", "s.json, row 0", "s.json, row 1"},
		},
		{
			[]string{"s.json", streams},
			[]string{"s.json, stream 0, step 0", "s.json, stream 1, step 0", "s.json, stream 1, step 1"},
		},
	} {
		built, diags := Build(files(t, c.files...), &scenario.Request{Batch: 1},
			signature(true, 8, port("a", tensor.FP32, 1)), 0)
		var got []string
		for _, r := range built.Requests {
			got = append(got, r.Expect.Source)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v: %v\n%s", c.files, diags, diff)
		}
	}
}

func TestExpectedOutputs(t *testing.T) {
	d := dataset(t, `{"data":[{"a":[1]},{"a":[2]}],"validation_data":[{"OUT":[10]},{"OUT":[20]}]}`)
	sig := signature(true, 8, port("a", tensor.FP32, 1))
	built, diags := Build(d, &scenario.Request{Batch: 2}, sig, 0)
	if len(diags) > 0 || len(built.Requests) != 1 {
		t.Fatalf("%d requests, %v", len(built.Requests), diags)
	}
	want := &backends.Expect{
		Outputs: []backends.Tensor{{Name: "OUT", Type: tensor.FP32, Shape: []int64{2, 1}, Data: floats(10, 20)}},
		Source:  "data.json, row 0 and those after it",
	}
	if diff := cmp.Diff(want, built.Requests[0].Expect); diff != "" {
		t.Error(diff)
	}
	built, _ = Build(d, &scenario.Request{Batch: 1, Expect: &scenario.Expect{Outputs: false}}, sig, 0)
	if built.Requests[0].Expect.Outputs != nil {
		t.Error("outputs are compared although the plan says not to")
	}
}

func floats(list ...float32) []byte {
	var b []byte
	for _, f := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// TestBatches: request i takes rows i*B … wrapping, until they repeat; with at_end stop only whole
// batches.
func TestBatches(t *testing.T) {
	d := dataset(t, `{"data":[{"a":[0]},{"a":[1]},{"a":[2]}]}`)
	sig := signature(true, 8, port("a", tensor.FP32, 1))
	for _, c := range []struct {
		batch int
		atEnd string
		want  [][]float32
	}{
		{1, "repeat", [][]float32{{0}, {1}, {2}}},
		{2, "repeat", [][]float32{{0, 1}, {2, 0}, {1, 2}}},
		{3, "repeat", [][]float32{{0, 1, 2}}},
		{4, "repeat", [][]float32{{0, 1, 2, 0}, {1, 2, 0, 1}, {2, 0, 1, 2}}},
		{2, "stop", [][]float32{{0, 1}}},
	} {
		d.AtEnd = c.atEnd
		built, diags := Build(d, &scenario.Request{Batch: c.batch}, sig, 0)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var got [][]byte
		for _, r := range built.Requests {
			got = append(got, r.Inputs[0].Data)
			if int(r.Items) != c.batch || r.Inputs[0].Shape[0] != int64(c.batch) {
				t.Errorf("batch %d: items %d, shape %v", c.batch, r.Items, r.Inputs[0].Shape)
			}
		}
		var want [][]byte
		for _, w := range c.want {
			want = append(want, floats(w...))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("batch %d %s: %s", c.batch, c.atEnd, diff)
		}
	}
}

func TestBatchLimits(t *testing.T) {
	d := &scenario.Dataset{Name: "main", Generate: &scenario.Generate{Default: "zero"}, Count: 2}
	for _, c := range []struct {
		batch int
		sig   backends.Signature
		want  string
	}{
		{16, signature(true, 1, port("a", tensor.FP32, 1, 32)), "takes at most 1"},
		{2, signature(false, 0, port("a", tensor.FP32, 1)), "takes no batches"},
		{1 << 10, signature(true, 0, port("a", tensor.FP32, 1)), ""}, // batched, no limit told
	} {
		_, diags := Build(d, &scenario.Request{Batch: c.batch}, c.sig, 0)
		if got := len(diags); got > 1 || (got == 1) != (c.want != "") ||
			got == 1 && !strings.Contains(diags[0].Summary, c.want) {
			t.Errorf("batch %d: %v, want %q", c.batch, diags, c.want)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	d := &scenario.Dataset{
		Name: "main",
		Generate: &scenario.Generate{
			Default: "random", Inputs: []scenario.Generator{{Input: "imput", Word: "zero"}},
		},
		Count: 1,
	}
	_, diags := Build(d,
		&scenario.Request{Batch: 1, Shapes: []scenario.Shape{{Input: "inputt", Dims: []int64{1}}}},
		signature(false, 0, port("input", tensor.FP32, 1)), 0)
	var got []string
	for _, d := range diags {
		got = append(got, d.Summary+" → "+d.Nearest)
	}
	want := []string{`model "m" has no input "inputt" → input`, `model "m" has no input "imput" → input`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
