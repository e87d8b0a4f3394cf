package executor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repository is a server of models that call each other: config is what Triton says of each, calls
// how often each runs for a request of m. Whatever is asked of a version is answered for the model.
func repository(t *testing.T, config map[string]string, calls map[string]int64) (url string) {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		model, version, verb := parts(r.URL.Path)
		said, known := config[model]
		switch {
		case r.URL.Path == "/v2":
			_, _ = io.WriteString(w, `{"extensions":["model_configuration","statistics","binary_tensor_data"]}`)
		case model == "":
		case !known:
			http.Error(w, `{"error":"unknown model"}`, http.StatusBadRequest)
		case verb == "infer":
			n.Add(1)
			_, _ = io.Copy(io.Discard, r.Body)
			fmt.Fprintf(w, `{"model_name":%q,"outputs":[]}`, model)
		case verb == "config":
			_, _ = io.WriteString(w, said)
		case verb == "stats":
			if version == "" {
				version = "1"
			}
			k := n.Load() * calls[model]
			fmt.Fprintf(w,
				`{"model_stats":[{"name":%q,"version":%q,"inference_count":%[3]d,"execution_count":%[3]d,`+
					`"inference_stats":{"success":{"count":%[3]d,"ns":%[4]d},"queue":{"count":%[3]d,"ns":%[4]d}}}]}`,
				model, version, k, k*1000)
		default:
			fmt.Fprintf(w,
				`{"name":%q,"versions":["1"],"inputs":[{"name":"IN","datatype":"INT32","shape":[1]}],"outputs":[]}`,
				model)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func ensembleOf(steps ...string) string {
	var list []string
	for _, s := range steps {
		name, version, _ := strings.Cut(s, ":")
		if version == "" {
			version = "-1"
		}
		list = append(list, fmt.Sprintf(`{"model_name":%q,"model_version":%s}`, name, version))
	}
	return `{"max_batch_size":0,"ensemble_scheduling":{"step":[` + strings.Join(list, ",") + `]}}`
}

// TestComposingTree: what an ensemble is made of is found to its leaves, each once, with the
// versions that are wanted, and how often each runs for a request (perf_analyzer's row 115).
func TestComposingTree(t *testing.T) {
	t.Parallel()
	const plain = `{"max_batch_size":0}`
	for name, c := range map[string]struct {
		config map[string]string
		calls  map[string]int64
		keys   string
		want   []string
	}{
		"ensemble in an ensemble": {
			map[string]string{
				"m": ensembleOf("A:2", "B"), "A": ensembleOf("C", "D", "C"), "B": plain, "C": plain, "D": plain,
			},
			map[string]int64{"m": 1, "A": 1, "B": 1, "C": 2, "D": 1},
			"",
			[]string{"A:2 by m, 1", "C:1 by A, 2", "D:1 by A, 1", "B:1 by m, 1"},
		},
		"called from its code": {
			map[string]string{"m": plain, "A": plain, "B": plain},
			map[string]int64{"m": 1, "A": 3},
			", composing_models: [A, \"B:7\"]",
			[]string{"A:1 by m, 3", "B:7 by m, 0"},
		},
		"of an ensemble that calls itself": {
			map[string]string{"m": ensembleOf("A"), "A": ensembleOf("A")},
			map[string]int64{"m": 1, "A": 1},
			"",
			[]string{"A:1 by m, 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, `
version: 1
target: {backend: triton, url: URL, model: m`+c.keys+`}
stages: [{id: s, load: {concurrency: 2}, for: 20 requests}]
`, repository(t, c.config, c.calls), Env{})
			n := node(t, r, "s")
			var got []string
			for _, m := range n.Models {
				got = append(got, fmt.Sprintf("%s:%s by %s, %v", m.Name, m.Version, m.CalledBy, *m.Calls))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s\n%s %s", diff, n.Outcome, n.Reason)
			}
		})
	}
}
