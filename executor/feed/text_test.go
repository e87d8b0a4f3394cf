package feed

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// textOf writes requests of text: rows as "name=value …", those of a batch with "; " between them.
func textOf(list []backends.Request) (lines []string) {
	for _, r := range list {
		var rows []string
		if r.Body != nil {
			rows = append(rows, "body "+string(r.Body))
		}
		for _, row := range r.Rows {
			var members []string
			for _, m := range row {
				members = append(members, m.Name+"="+string(m.Value))
			}
			if len(members) > 0 {
				rows = append(rows, strings.Join(members, " "))
			}
		}
		lines = append(lines, strings.Join(rows, "; "))
	}
	return lines
}

// TestTextExpects: what a plan expects of replies is asked of requests of text as of others.
func TestTextExpects(t *testing.T) {
	d := files(t, "a.jsonl", `{"text":"a"}`+"\n"+`{"text":"b"}`+"\n"+`{"payload":{"text":"c"}}`)
	built, diags := Build(d, &scenario.Request{Data: d, Batch: 1, Expect: &scenario.Expect{
		Status: []int{501}, Sample: 0.5, Fields: []scenario.Parameter{{Name: "error.code", Value: int64(501)}},
	}}, backends.Signature{Text: true}, 0)
	if len(diags) > 0 || len(built.Requests) != 3 {
		t.Fatal(diags)
	}
	want := &backends.Expect{
		Status: []int{501}, Share: backends.ShareOf(0.5), Fields: []backends.Field{{Path: "error.code", Want: int64(501)}},
	}
	for _, r := range built.Requests {
		if diff := cmp.Diff(want, r.Expect); diff != "" {
			t.Error(diff)
		}
	}
}

// TestText: rows of each format for an endpoint that takes text.
func TestText(t *testing.T) {
	columns := []scenario.Column{
		{Field: "prompt", Name: "question"}, {Field: "parameters.seed", Name: "n"}, {Field: "output_tokens", Name: "len"},
	}
	for name, c := range map[string]struct {
		files   []string
		columns []scenario.Column
		batch   int
		want    string
	}{
		"lines": {
			files: []string{
				"a.jsonl",
				`{"prompt":"a \"b\"","temperature":0.5,"timestamp":5}` + "\n" + `{"messages":[{"role":"user"}],"x":null}`,
			},
			want: `prompt="a \"b\"" temperature=0.5` + "\n" + `messages=[{"role":"user"}] x=null`,
		},
		"a table": {
			files: []string{"a.csv", "text,output_tokens,image\n\"say \"\"5\"\"\",7,\n6,,https://h\n"},
			want:  `text="say \"5\"" output_tokens=7` + "\n" + `text="6" image="https://h"`,
		},
		"columns": {
			files: []string{"a.csv", "question,n,len,other\nwhy,3,9,z\n"}, columns: columns,
			want: `prompt="why" output_tokens=9`,
		},
		"columns of lines": {
			files: []string{"a.jsonl", `{"question":"why","n":3,"len":9,"other":1}`}, columns: columns,
			want: `prompt="why" output_tokens=9`,
		},
		"perf_analyzer": {
			files: []string{"a.json", `{"data":[{"text_input":["a"]},{"payload":[{"model":"m","messages":[]}]}]}`},
			want:  `text_input="a"` + "\n" + `body {"model":"m","messages":[]}`,
		},
		"a batch": {
			files: []string{"a.jsonl", "{\"text\":\"a\"}\n{\"text\":\"b\"}"}, batch: 2,
			want: `text="a"; text="b"`,
		},
	} {
		d := files(t, c.files...)
		d.Columns = c.columns
		sig := backends.Signature{Model: "m", Text: true, Batched: c.batch > 1}
		built, diags := Build(d, &scenario.Request{Data: d, Batch: max(c.batch, 1)}, sig, 0)
		if got := strings.Join(textOf(built.Requests), "\n"); got != c.want || len(diags) > 0 {
			t.Errorf("%s: %v\n got %s\nwant %s", name, diags, got, c.want)
			continue
		}
		if c.columns == nil {
			continue
		}
		if p := built.Requests[0].Parameters; len(p) != 1 || p[0].Name != "seed" || p[0].Value != int64(3) {
			t.Errorf("%s: parameters %v", name, p)
		}
	}
}

// TestTextMistakes: what an endpoint that takes text cannot be sent.
func TestTextMistakes(t *testing.T) {
	sig := backends.Signature{Model: "m", Text: true}
	for name, c := range map[string]struct {
		data    *scenario.Dataset
		request scenario.Request
		want    string
	}{
		"generated": {
			&scenario.Dataset{Generate: &scenario.Generate{Default: "random"}, Source: "generate", Count: 1},
			scenario.Request{},
			"generated data are tensors",
		},
		"a batch": {
			files(t, "a.jsonl", `{"text":"a"}`), scenario.Request{Batch: 2}, "a request of this endpoint has one row",
		},
		"outputs": {
			files(t, "a.jsonl", `{"text":"a"}`),
			scenario.Request{Outputs: []scenario.Wanted{{Name: "O"}}},
			`output "O": the endpoint takes text`,
		},
		"expected": {
			files(t, "a.jsonl", `{"text":"a","outputs":{"O":[1]}}`), scenario.Request{}, "has outputs, which are tensors",
		},
		"a tensor": {files(t, "a.npy", "\x93NUMPY"), scenario.Request{}, ""},
		"a payload and more": {
			files(t, "a.json", `{"data":[{"payload":[{}],"text":["a"]}]}`), scenario.Request{}, `"text" beside a whole body`,
		},
		"two values": {files(t, "a.json", `{"data":[{"text":["a","b"]}]}`), scenario.Request{}, `"text" is no JSON`},
		"a broken cell": {
			files(t, "a.csv", "messages\n[{\n"), scenario.Request{}, `"messages" is no JSON`,
		},
	} {
		c.request.Data, c.request.Batch = c.data, max(c.request.Batch, 1)
		_, diags := Build(c.data, &c.request, sig, 0)
		if !diags.HasErrors() || !strings.Contains(summaries(diags), c.want) {
			t.Errorf("%s: %v, want %q", name, diags, c.want)
		}
	}
}

func summaries(diags source.Diagnostics) string {
	var all []string
	for _, d := range diags {
		all = append(all, d.Summary)
	}
	return strings.Join(all, "\n")
}
