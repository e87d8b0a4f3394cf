package executor

import (
	"fmt"
	"strings"
	"testing"
)

// TestWrongAnswers: a server that answers what the model's metadata do not allow fails each
// request, over every protocol; what is odd and no error is a note.
func TestWrongAnswers(t *testing.T) {
	type table []struct {
		name  string
		alter func(*replied)
		want  string // of the example; "": no error
		note  string // code of a finding
	}
	for _, c := range (table{
		{"right", func(*replied) {}, "", ""},
		{
			"no outputs", func(a *replied) { a.outputs = nil },
			"the reply has none of the model's outputs (OUT, OUT2)", "",
		},
		{
			"outputs of another model", func(a *replied) { a.outputs[0].name, a.outputs[1].name = "A", "B" },
			"the reply has none of the model's outputs (OUT, OUT2), but B", "",
		},
		{"datatype", func(a *replied) { a.outputs[1].typ = "INT8" }, "output OUT2 is INT8, wanted INT32", ""},
		{
			"rank", func(a *replied) { a.outputs[0].shape = []int64{2} },
			"output OUT has the shape [2], the model's is [-1,1]", "",
		},
		{
			"batch", func(a *replied) { a.outputs[0].shape[0] = 1 },
			"output OUT has the shape [1,1], the request has a batch of 2", "",
		},
		{
			"empty batch", func(a *replied) { a.outputs[0].shape[0] = 0 },
			"output OUT has the shape [0,1], the request has a batch of 2", "",
		},
		{
			"dimension", func(a *replied) { a.outputs[0].shape[1] = 3 },
			"output OUT has the shape [2,3], the model's is [-1,1]", "",
		},
		{"another model", func(a *replied) { a.model = "other" }, "the reply is from model other, wanted m", ""},
		{
			"another version", func(a *replied) { a.version = "99" },
			"the reply is from version 99 of model m, wanted version 1", "",
		},
		{"the right version", func(a *replied) { a.version = "1" }, "", ""},
		{"another id", func(a *replied) { a.id = "5" }, "", "other-ids"},
		{"no model", func(a *replied) { a.model = "" }, "", "unnamed-model"},
	}) {
		for over, target := range map[string]string{
			"json": "http://HOST\", tensors: {input: json, output: json}", "binary": "http://HOST\"",
			"grpc": "grpc://HOST\"", "shared grpc": "grpc://HOST\", connections: 1",
		} {
			t.Run(c.name+"/"+over, func(t *testing.T) {
				t.Parallel()
				w := watch(t, func(w *witness) { w.dim, w.alter = 4, c.alter })
				r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, model: m, model_version: "1", url: "%s}
stages: [{id: s, batch: 2, load: {concurrency: 1}, for: 20 requests}]
`, strings.Replace(target, "HOST", strings.TrimPrefix(w.URL, "http://"), 1)), "", Env{})
				n := r.Nodes[0]
				if c.want == "" {
					noted := c.note == ""
					for _, f := range n.Validity.Findings {
						noted = noted || f.Code == c.note
						if (f.Code == "other-ids" || f.Code == "unnamed-model") && f.Code != c.note {
							t.Errorf("finding %s: %s", f.Code, f.Text)
						}
					}
					if len(n.Errors) > 0 || !noted {
						t.Errorf("errors %v, findings %v", n.Errors, n.Validity.Findings)
					}
					return
				}
				if r.ExitCode != 1 || len(n.Errors) != 1 || n.Errors[0].Class != "decode" || n.Errors[0].Count != 20 ||
					n.Errors[0].Example != c.want {
					t.Errorf("exit %d: %s; errors %+v, want %q", r.ExitCode, r.Reason, n.Errors, c.want)
				}
			})
		}
	}
}
