package feed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/scenario"
)

// fileOf returns a dataset of one file.
func fileOf(t *testing.T, name, format, text string) *scenario.Dataset {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return &scenario.Dataset{Name: "main", Source: "file", Format: format, Files: []scenario.Path{{Name: path}}}
}

// TestMessages: files of protobuf messages become requests.
func TestMessages(t *testing.T) {
	const two = "\x01\x00\x00\x00a\x00\x00\x00\x00"
	for _, c := range []struct {
		name, format, text string
		several            bool
		bodies             []string
		form, err          string
	}{
		{name: "a.textproto", format: "textproto", text: `x: 1`, bodies: []string{`x: 1`}, form: backends.TextProto},
		{name: "f", format: "frames", text: two, bodies: []string{"a", ""}},
		{name: "f", format: "frames", text: two, several: true, bodies: []string{two}, form: backends.Frames},
		{name: "f", format: "frames", text: "\x05\x00\x00\x00a", err: "f: frame 0 is cut: a frame is 4 bytes with the " +
			"length of the message, little-endian, and the message"},
		{name: "f", format: "frames", text: two + "\x01", err: "f: frame 2 is cut: a frame is 4 bytes with the " +
			"length of the message, little-endian, and the message"},
		{name: "f", format: "frames", err: "f: there are no frames in this file"},
		{name: "g", format: "perf_analyzer", text: `{"data": [{"message_generator": ["./run"]}]}`, err: `g, row 0: ` +
			`"message_generator" runs a command: give it in the plan, data: {command: [PROGRAM, ARGUMENT, …], ` +
			`format: frames}, and run that with --allow-exec`},
		{
			name: "l.jsonl", text: `[{"x": 1}, {"x": 2}]`, several: true, bodies: []string{`[{"x": 1}, {"x": 2}]`},
			form: "application/json",
		},
	} {
		built, diags := Build(fileOf(t, c.name, c.format, c.text), &scenario.Request{Batch: 1, Target: &scenario.Target{}},
			backends.Signature{Bodies: true, Several: c.several}, 0)
		if c.err != "" {
			if len(diags) != 1 || diags[0].Summary != c.err {
				t.Errorf("%s %s: %v, want %q", c.name, c.format, diags, c.err)
			}
			continue
		}
		var got []string
		for _, r := range built.Requests {
			got = append(got, string(r.Body))
			if r.BodyType != c.form {
				t.Errorf("%s: media type %q", c.name, r.BodyType)
			}
		}
		if diff := cmp.Diff(c.bodies, got); diff != "" || len(diags) > 0 {
			t.Errorf("%s %s: %v %s", c.name, c.format, diags, diff)
		}
	}
	_, diags := Build(fileOf(t, "a.textproto", "textproto", "x: 1"), &scenario.Request{Batch: 1},
		signature(false, 0, port("x", tensor.FP32, 1)), 0)
	if len(diags) != 1 || diags[0].Summary != "a.textproto: the file holds whole messages, and the target takes tensors" {
		t.Errorf("tensors: %v", diags)
	}
}

// TestUndescribedModel: rows that name datatypes and shapes need no metadata, and a model may take any
// shape.
func TestUndescribedModel(t *testing.T) {
	const body = `{"inputs":[{"name":"a","shape":[2,1],"datatype":"INT16","data":[1,4]}]}`
	built, diags := Build(fileOf(t, "b.json", "v2", body), &scenario.Request{Batch: 1}, backends.Signature{Model: "m"}, 0)
	want := []backends.Tensor{{Name: "a", Type: tensor.Int16, Shape: []int64{2, 1}, Data: []byte{1, 0, 4, 0}}}
	if len(diags) > 0 || len(built.Requests) != 1 || cmp.Diff(want, built.Requests[0].Inputs) != "" {
		t.Errorf("%v %+v", diags, built.Requests)
	}
	expecting := strings.TrimSuffix(body, "}") + `, "outputs": [{"name": "y", "datatype": "FP32", "shape": [1], "data": [1.5]}]}`
	built, diags = Build(fileOf(t, "b.json", "v2", expecting), &scenario.Request{Batch: 1}, backends.Signature{Model: "m"}, 0)
	expected := []backends.Tensor{{Name: "y", Type: tensor.FP32, Shape: []int64{1}, Data: []byte{0, 0, 0xc0, 0x3f}}}
	if len(diags) > 0 || len(built.Requests) != 1 || cmp.Diff(expected, built.Requests[0].Expect.Outputs) != "" {
		t.Errorf("an expected output: %v %+v", diags, built.Requests)
	}
	rows := fileOf(t, "r.jsonl", "jsonl", `{"a": 1}`)
	if _, diags = Build(rows, &scenario.Request{Batch: 1}, backends.Signature{Model: "m"}, 0); len(diags) != 1 ||
		diags[0].Code != "no-inputs" {
		t.Errorf("rows without datatypes: %v", diags)
	}
	any := backends.Signature{Model: "m", Inputs: []backends.Port{{Name: "a", Type: tensor.Int16, AnyRank: true}}}
	random := &scenario.Dataset{Source: "generate", Generate: &scenario.Generate{Default: "random"}, Count: 1}
	r := &scenario.Request{Batch: 1}
	if _, diags = Build(random, r, any, 0); len(diags) != 1 ||
		diags[0].Summary != `input "a" (INT16): the model takes any shape: say which under `+"`shapes`" {
		t.Errorf("any shape: %v", diags)
	}
	r.Shapes = []scenario.Shape{{Input: "a", Dims: []int64{2, 3}}}
	built, diags = Build(random, r, any, 0)
	if len(diags) > 0 || len(built.Requests) != 1 || cmp.Diff([]int64{2, 3}, built.Requests[0].Inputs[0].Shape) != "" {
		t.Errorf("a shape of the plan: %v", diags)
	}
}
