package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTensorParameters: the parameters of inputs and outputs go to the server, from a body in a
// file and from a row of the plan, over every protocol.
func TestTensorParameters(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "body.json")
	body := `{"parameters":{"content_type":"pd"},"inputs":[{"name":"IN","datatype":"INT32","shape":[1,2],"parameters":{"content_type":"np","n":3,"f":0.5,"ok":true,"none":null},"data":[1,2]}],
		"outputs":[{"name":"OUT","parameters":{"content_type":"str","binary_data":false}}]}`
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	in := map[string]any{"content_type": "np", "n": int64(3), "f": 0.5, "ok": true}
	for from, c := range map[string]struct {
		data, stage string
		out         map[string]any
	}{
		"file": {fmt.Sprintf("{file: %q}", file), "", map[string]any{"content_type": "str"}},
		"row": {
			`{rows: [{inputs: {IN: {content: [1, 2], parameters: {content_type: np, n: 3, f: 0.5, ok: true}}}}]}`, "",
			map[string]any{},
		},
		"plan": {
			`{rows: [{IN: {content: [1, 2], parameters: {content_type: np, n: 3, f: 0.5, ok: true}}}]}`,
			`, outputs: [{name: OUT, parameters: {content_type: str, k: 2}}]`,
			map[string]any{"content_type": "str", "k": int64(2)},
		},
	} {
		for over, target := range map[string]string{
			"json": `"http://HOST", tensors: {input: json, output: json}`, "binary": `"http://HOST"`,
			"grpc": `"grpc://HOST"`,
		} {
			t.Run(from+"/"+over, func(t *testing.T) {
				t.Parallel()
				w := watch(t, func(w *witness) { w.dim = 2 })
				r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, model: m, url: %s}
data: %s
stages: [{id: s, load: {concurrency: 1}, for: 5 requests%s}]
`, strings.Replace(target, "HOST", strings.TrimPrefix(w.URL, "http://"), 1), c.data, c.stage), "", Env{})
				if len(r.Nodes[0].Errors) > 0 {
					t.Error(r.Nodes[0].Errors)
				}
				for _, q := range w.all() {
					if diff := cmp.Diff([]map[string]any{in, c.out}, []map[string]any{q.in, q.out}); diff != "" {
						t.Fatal(diff)
					}
					if want := from == "file"; (q.params["content_type"] == "pd") != want {
						t.Fatalf("parameters %v", q.params)
					}
				}
			})
		}
	}
}
