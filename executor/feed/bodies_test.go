package feed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
)

// described lists requests as tests compare them.
func described(reqs []backends.Request) string {
	var b strings.Builder
	for _, r := range reqs {
		if r.Parts == nil {
			fmt.Fprintf(&b, "%s %s", r.BodyType, r.Body)
		}
		for _, p := range r.Parts {
			fmt.Fprintf(&b, "[%s %s %s %s]", p.Name, p.File, p.Type, p.Data)
		}
		if r.Expect != nil {
			fmt.Fprintf(&b, " want %v", r.Expect.Fields)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestBodies: the requests of rows that are whole bodies.
func TestBodies(t *testing.T) {
	for name, c := range map[string]struct {
		format, file, text string
		batch              int
		want               string // of the requests, or part of a diagnostic
	}{
		"lines": {
			"", "a.jsonl", "{\"id\": 1}\n[2]\n\"text\"\n", 1,
			"application/json {\"id\": 1}\napplication/json [2]\napplication/json \"text\"\n",
		},
		"bodies beside what is known of them": {
			"", "a.jsonl", `{"body": {"a": 1}, "outputs": {"b.0": 2, "c": "d"}, "id": "x"}` + "\n" +
				`{"body": "a \"text\"", "timestamp": 5}` + "\n" + `{"body": {"body": 1, "other": 2}}` + "\n" +
				`{"a": {"body": 1}, "b": "body"}`, 1,
			"application/json {\"a\": 1} want [{b.0 2} {c d}]\ntext/plain a \"text\"\n" +
				"application/json {\"body\": 1, \"other\": 2}\napplication/json {\"a\": {\"body\": 1}, \"b\": \"body\"}\n",
		},
		"a table": {"", "a.csv", "n,text,none\n1,x,\n", 1, "application/json {\"n\":1,\"text\":\"x\"}\n"},
		"forms": {
			format.Multipart, "a.jsonl", `{"f": ["p.jpg", "q"], "k": 5, "t": {"text": "u"}}`, 1,
			"[f p.jpg image/jpeg P][f q application/octet-stream Q][k   5][t   u]\n",
		},
		"forms in batches": {
			format.Multipart, "a.jsonl", "{\"f\": \"p.jpg\"}\n{\"f\": \"q\"}", 2,
			"[f p.jpg image/jpeg P][f q application/octet-stream Q]\n",
		},
		"perf_analyzer's uploads": {
			"", "a.json", `{"data": [{"TORCHSERVE_INPUT": ["p.jpg"]}]}`, 1, "[data p.jpg image/jpeg P]\n",
		},
		"bodies in batches": {"", "a.jsonl", "1\n2", 2, "whole bodies, which cannot be joined"},
		"no such file":      {format.Multipart, "a.jsonl", `{"f": "nowhere"}`, 1, "there is no such file"},
		"no form": {
			format.Multipart, "a.jsonl", `["p.jpg"]`, 1,
			"a row of format multipart is a map from field to file, found a list",
		},
		"null in a form": {format.Multipart, "a.jsonl", `{"f": null}`, 1, `a number or a bool; found null`},
		"infinite":       {format.Multipart, "a.jsonl", `{"f": -Infinity}`, 1, `a number or a bool; found -Infinity`},
		"NaN in a form":  {format.Multipart, "a.jsonl", `{"f": [1, NaN]}`, 1, `field "f" is a file's path`},
		"outputs that are no map": {
			"", "a.jsonl", `{"body": 1, "outputs": [8]}`, 1,
			"outputs are a map from path to value, such as {label: 8}; found a list",
		},
		"a slip beside a body": {
			"", "a.jsonl", "1\n" + `{"body": {"a": 1}, "output": {"label": 7}}`, 1,
			`line 2, column 43: beside "body" a row has no "output": did you mean "outputs"? (it may have timestamp, ` +
				`delay, session_id, id, model, outputs; a row that is itself what is sent is {"body": ROW})`,
		},
		"anything beside a body": {
			"", "a.jsonl", `{"subject": "x", "id": "1", "body": "y", "to": "z"}`, 1,
			`beside "body" a row has no "subject" (it may have `,
		},
		"no value": {"", "a.jsonl", `{"body": 1, "outputs": {"a": [1]}}`, 1, "must be text, a number"},
	} {
		t.Run(name, func(t *testing.T) {
			d := files(t, c.file, c.text)
			d.Format = c.format
			dir := filepath.Dir(d.Files[0].Name)
			for file, text := range map[string]string{"p.jpg": "P", "q": "Q"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			built, diags := Build(d,
				&scenario.Request{Batch: c.batch, Target: &scenario.Target{Name: "main"}}, backends.Signature{Bodies: true}, 0)
			if diags.HasErrors() {
				if !strings.Contains(diags.Error(), c.want) {
					t.Errorf("%s, want %s", diags.Error(), c.want)
				}
				return
			}
			if got := described(built.Requests); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}
