package feed

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario"
)

// TestLikePerfAnalyzer: the steps, batches and mistakes that perf_analyzer's own tests are about.
func TestLikePerfAnalyzer(t *testing.T) {
	const one, three = "a:INT32[1]", "a:INT32[3]"
	for _, c := range []struct {
		name, model string
		maxBatch    int
		batch       int
		shapes      []scenario.Shape
		files       []string
		want        string
	}{
		{
			"batch of 2", one, 8, 2, nil,
			[]string{`{"data":[{"a":[1]},{"a":[2]},{"a":[3]}]}`},
			"a[2,1]=1,2 items 2; a[2,1]=3,1 items 2; a[2,1]=2,3 items 2",
		},
		{
			"batch of 4", one, 8, 4, nil,
			[]string{`{"data":[{"a":[1]},{"a":[2]},{"a":[3]}]}`},
			"a[4,1]=1,2,3,1 items 4; a[4,1]=2,3,1,2 items 4; a[4,1]=3,1,2,3 items 4",
		},
		{
			"shape tensor", "s!:INT32[1] b:INT32[1]", 8, 2, nil,
			[]string{`{"data":[{"s":[1],"b":[21]},{"s":[1],"b":[22]},{"s":[1],"b":[23]}]}`},
			"s[1]=1 b[2,1]=21,22 items 2; s[1]=1 b[2,1]=23,21 items 2; s[1]=1 b[2,1]=22,23 items 2",
		},
		{
			"shape tensors that differ", "s!:INT32[1] b:INT32[1]", 8, 2, nil,
			[]string{`{"data":[{"s":[1],"b":[21]},{"s":[2],"b":[22]}]}`},
			`error: "s" holds a shape, which is sent once`,
		},
		{
			"shape tensors that differ, one by one", "s!:INT32[1]", 8, 1, nil,
			[]string{`{"data":[{"s":[1]},{"s":[2]}]}`},
			"s[1]=1; s[1]=2",
		},
		{
			"optional in one step", "a:INT32[1] b?:INT32[1]", 8, 1, nil,
			[]string{`{"data":[{"a":[1]},{"a":[2],"b":[22]},{"a":[3]}]}`},
			"a[1,1]=1; a[1,1]=2 b[1,1]=22; a[1,1]=3",
		},
		{
			"optional in one step of a batch", "a:INT32[1] b?:INT32[1]", 8, 2, nil,
			[]string{`{"data":[{"a":[1]},{"a":[2],"b":[22]},{"a":[3]}]}`},
			`error: do not have the same tensors ("b" is missing in one)`,
		},
		{
			"optional in the other step of a batch", "a:INT32[1] b?:INT32[1]", 8, 2, nil,
			[]string{`{"data":[{"a":[2],"b":[22]},{"a":[1]}]}`},
			`error: do not have the same tensors ("b" is missing in one)`,
		},
		{
			"steps of unequal shape", "a:INT32[-1]", 8, 2, nil,
			[]string{`{"data":[{"a":[1]},{"a":[2,3]}]}`},
			`error: have "a" in the shapes [1] and [2]`,
		},

		{
			"missing tensor", "a:INT32[1] b:INT32[1]", 0, 1, nil,
			[]string{`{"data":[[{"a":[1],"b":[1]},{"a":[1]}]]}`},
			`error: f0.json, stream 0, step 1 has no data for "b"`,
		},
		{
			"null", one, 0, 1, nil,
			[]string{`{"data":[{"a":null}]}`},
			`error: f0.json, row 0, input "a": a tensor is a list, or a map with content or b64; found null`,
		},
		{"number", one, 0, 1, nil, []string{`{"data":[{"a":1}]}`}, "error: found a number"},
		{
			"b64 is a number", one, 0, 1, nil,
			[]string{`{"data":[{"a":{"b64":1}}]}`},
			"error: b64 is a string, found a number",
		},
		{
			"neither", one, 0, 1, nil,
			[]string{`{"data":[{"a":{"shape":[1]}}]}`},
			"error: a tensor map needs content or b64",
		},
		{
			"content is a number", one, 0, 1, nil,
			[]string{`{"data":[{"a":{"content":1}}]}`},
			"error: content is a list or",
		},
		{
			"shape of text", one, 0, 1, nil,
			[]string{`{"data":[{"a":{"content":[1],"shape":["x"]}}]}`},
			"error: f0.json, row 0, input \"a\": ",
		},
		{
			"shape below 0", one, 0, 1, nil,
			[]string{`{"data":[{"a":{"content":[1],"shape":[-1]}}]}`},
			"error: a dimension must be a whole number from 0 on, found -1",
		},
		{
			"unknown tensor", one, 0, 1, nil,
			[]string{`{"data":[{"a":[1],"INVALID_INPUT":[1]}]}`},
			`error: f0.json, row 0: model "m" has no input "INVALID_INPUT"`,
		},
		{
			"mixed in a file", one, 0, 1, nil,
			[]string{`{"data":[{"a":[1]},[{"a":[1]}]]}`},
			"error: entry 1 of \"data\": rows and lists of rows are mixed",
		},
		{
			"data twice", one, 0, 1, nil,
			[]string{`{"data":[{"a":[1]}],"data":[{"a":[2]}]}`},
			`error: f0.json: line 1, column 28: duplicate "data"`,
		},
		{
			"validation twice", one, 0, 1, nil,
			[]string{`{"validation_data":[{}],"data":[{"a":[1]}],"validation_data":[{}]}`},
			`error: duplicate "validation_data"`,
		},
		{
			"validation misspelt", one, 0, 1, nil,
			[]string{`{"data":[{"a":[1]}],"validaton_data":[{}]}`},
			`error: a file of rows has no "validaton_data": did you mean "validation_data"`,
		},
		{"no data", one, 0, 1, nil, []string{`{"rows":[]}`}, "error: there are no rows"},
		{
			"bad text", one, 0, 1, nil,
			[]string{`{"data":[}`},
			"error: f0.json: line 1, column 10: f0.json, row 0 is \"}\", not a map of tensors",
		},
		{"empty stream", one, 0, 1, nil, []string{`{"data":[[]]}`}, "error: stream 0 of \"data\" has no steps"},

		{
			"data of 2 for 3", three, 0, 1, nil,
			[]string{`{"data":[{"a":[1,2]}]}`},
			"error: shape [3] has 3 elements, 2 found (12 bytes of INT32, 8 found)",
		},
		{
			"b64 of 1 for 3", three, 0, 1, nil,
			[]string{`{"data":[{"a":{"b64":"AAAAAQ=="}}]}`},
			"error: 12 bytes of INT32, 4 found",
		},
		{
			"shape 1 for 3", three, 0, 1, nil,
			[]string{`{"data":[{"a":{"content":[1],"shape":[1]}}]}`},
			"error: shape [1] does not fit the model's [3]",
		},
		{
			"shape 1,1 for -1,2", "a:INT32[-1,2]", 0, 1, nil,
			[]string{`{"data":[{"a":{"content":[1],"shape":[1,1]}}]}`},
			"error: shape [1 1] does not fit the model's [-1 2]",
		},
		{
			"too many dimensions", "a:INT32[-1]", 0, 1, nil,
			[]string{`{"data":[{"a":{"content":[1],"shape":[1,1]}}]}`},
			"error: shape [1 1] has 2 dimensions",
		},
		{
			"two free dimensions", "a:INT32[-1,-1]", 0, 1, nil,
			[]string{`{"data":[{"a":[1,2]}]}`},
			"error: say which under `shapes`",
		},
		{
			"two free dimensions given", "a:INT32[-1,-1]", 0, 1,
			[]scenario.Shape{{Input: "a", Dims: []int64{2, 1}}},
			[]string{`{"data":[{"a":[1,2]}]}`},
			"a[2,1]=1,2",
		},
		{
			"shape of the step", "a:INT32[-1,-1]", 0, 1, nil,
			[]string{`{"data":[{"a":{"content":[1,2,3,4,5,6],"shape":[3,2]}},` +
				`{"a":{"b64":"AQAAAAIAAAADAAAABAAAAAUAAAAGAAAA","shape":[3,2]}}]}`},
			"a[3,2]=1,2,3,4,5,6; a[3,2]=1,2,3,4,5,6",
		},
		{
			"empty tensor", "a:INT32[-1,-1]", 0, 1, nil,
			[]string{`{"data":[{"a":{"content":[],"shape":[0,2]}}]}`},
			"a[0,2]=",
		},

		{
			"three files", "a:INT32[1] -> o:INT32[1]", 0, 1, nil,
			[]string{
				`{"data":[{"a":[1]}]}`, `{"data":[{"a":[2]},{"a":[3]}]}`,
				`{"data":[{"a":[4]}],"validation_data":[{"o":[5]}]}`,
			},
			"a[1]=1; a[1]=2; a[1]=3; a[1]=4 -> o[1]=5",
		},
		{
			"three files of streams", one, 0, 1, nil,
			[]string{`{"data":[[{"a":[1]}]]}`, `{"data":[[{"a":[2]},{"a":[3]}]]}`, `{"data":[[{"a":[4]}]]}`},
			"a[1]=1; a[1]=2; a[1]=3; a[1]=4 streams [[0] [1 2] [3]]",
		},
		{
			"mixed files", one, 0, 1, nil,
			[]string{`{"data":[{"a":[1]}]}`, `{"data":[[{"a":[2]}]]}`},
			"error: f1.json: rows and lists of rows are mixed",
		},
		{
			"validation of 2 for 1", one, 0, 1, nil,
			[]string{`{"data":[{"a":[1]}],"validation_data":[{},{}]}`},
			`error: "validation_data" has 2 rows, "data" has 1`,
		},
		{
			"validation of 1 for 2", one, 0, 1, nil,
			[]string{`{"data":[{"a":[1]},{"a":[1]}],"validation_data":[{}]}`},
			`error: "validation_data" has 1 rows, "data" has 2`,
		},
		{
			"validation of streams for rows", one, 0, 1, nil,
			[]string{`{"data":[{"a":[1]}],"validation_data":[[{}]]}`},
			"error: must both hold rows, or both streams",
		},
		{
			"validation of fewer streams", one, 0, 1, nil,
			[]string{`{"data":[[{"a":[1]}],[{"a":[1]}]],"validation_data":[[{}]]}`},
			`error: "validation_data" has 1 streams, "data" has 2`,
		},
		{
			"validation of fewer steps", one, 0, 1, nil,
			[]string{`{"data":[[{"a":[1]},{"a":[1]}]],"validation_data":[[{}]]}`},
			`error: stream 0 of "validation_data" has 1 steps, that of "data" has 2`,
		},

		{
			"half floats", "a:FP16[3] b:BF16[3]", 0, 1, nil,
			[]string{`{"data":[{"a":[1.0,65504,1e-8],"b":[1.0,65504,1e-8]}]}`},
			"a[3]=1,65504,0 b[3]=1,65536,1.0011717677116394e-08",
		},
		{
			"over half", "a:FP16[1]", 0, 1, nil,
			[]string{`{"data":[{"a":[1e6]}]}`},
			`error: input "a"[0]: 1e6 does not fit FP16: it is out of range`,
		},
		{"integers for floats", "a:FP32[2]", 0, 1, nil, []string{`{"data":[{"a":[1,-2]}]}`}, "a[2]=1,-2"},
		{
			"bool for a number", "a:FP32[1]", 0, 1, nil,
			[]string{`{"data":[{"a":[true]}]}`},
			`error: input "a"[0]: true does not fit FP32: it is a bool, not a number`,
		},
		{
			"number for a bool", "a:BOOL[1]", 0, 1, nil,
			[]string{`{"data":[{"a":[1]}]}`},
			`error: input "a"[0]: 1 does not fit BOOL: it is a number, not a bool`,
		},
		{
			"number for a string", "a:BYTES[1]", 0, 1, nil,
			[]string{`{"data":[{"a":[7]}]}`},
			`error: input "a"[0]: 7 does not fit BYTES: it is a number, not a string`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list []string
			for i, text := range c.files {
				list = append(list, "f"+string(rune('0'+i))+".json", text)
			}
			check(t, files(t, list...), &scenario.Request{Batch: c.batch, Shapes: c.shapes},
				model(t, c.maxBatch, c.model), c.want)
		})
	}
}

// TestOtherMembers: what stands beside the rows of a file is named, as nothing reads it.
func TestOtherMembers(t *testing.T) {
	d := files(t, "f.json", `{"comment":"x","data":[{"a":[1]}],"version":{"a":1},"validation_set":"z"}`)
	built, diags := Build(d, &scenario.Request{Batch: 1}, model(t, 0, "a:INT32[1]"), 1)
	want := `f.json: nothing reads "comment", "version", "validation_set"`
	if len(diags) != 1 || diags.HasErrors() || diags[0].Summary != want || show(built) != "a[1]=1" {
		t.Errorf("%s, %v; want the warning %q", show(built), diags, want)
	}
}

// TestGeneratesLikePerfAnalyzer: sizes and values of what is made up. Unlike there, an optional
// input that nobody names is left out.
func TestGeneratesLikePerfAnalyzer(t *testing.T) {
	one := &scenario.Request{Batch: 1}
	check(t, generated(&scenario.Generate{Default: "zero"}, 1), one, model(t, 0, "a:INT32[3] o?:INT32[1]"),
		"a[3]=0,0,0")
	d := generated(&scenario.Generate{
		Default: "zero", Inputs: []scenario.Generator{{Input: "o", Constant: []any{int64(5)}}},
	}, 1)
	check(t, d, one, model(t, 0, "a:INT32[3] o?:INT32[1]"), "a[3]=0,0,0 o[1]=5")
	d = generated(&scenario.Generate{Default: "zero"}, 1)
	shaped := &scenario.Request{Batch: 1, Shapes: []scenario.Shape{{Input: "o", Dims: []int64{2}}}}
	check(t, d, shaped, model(t, 0, "a:INT32[1] o?:INT32[-1] p?:INT32[1]"), "a[1]=0 o[2]=0,0")
	check(t, d, one, model(t, 0, "o?:INT32[1] p?:INT32[1]"), "o[1]=0 p[1]=0")
	for size, g := range map[int]scenario.Generator{
		30: {Input: "s", Constant: []any{"FOOBAR"}},
		27: {Input: "s", Word: "random"},
	} {
		d := generated(&scenario.Generate{Inputs: []scenario.Generator{g}}, 1)
		d.StringLength = scenario.Dist{Shape: "constant", Mean: 5}
		built, diags := Build(d, one, model(t, 0, "s:BYTES[3]"), 1)
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		data := built.Requests[0].Inputs[0].Data
		if len(data) != size {
			t.Errorf("%d bytes, want %d", len(data), size)
		}
		for i, c := range data {
			if i%(size/3) >= 4 && !strings.ContainsRune(printable, rune(c)) {
				t.Errorf("%q in a string", c)
			}
		}
	}
	d = generated(&scenario.Generate{Default: "random"}, 2)
	check(t, d, &scenario.Request{Batch: 1}, model(t, 0, "s!:INT32[2]"),
		"error: input \"s\" holds a shape, which cannot be drawn")
	d.Generate.Inputs = []scenario.Generator{{Input: "s", Constant: []any{int64(3), int64(4)}}}
	check(t, d, &scenario.Request{Batch: 2}, model(t, 4, "s!:INT32[2]"), "s[2]=3,4 items 2")
}
