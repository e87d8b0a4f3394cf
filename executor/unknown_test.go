package executor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestUnknownModel: a model that a live server does not know is not waited for, wherever the plan
// names it; the server's models are named.
func TestUnknownModel(t *testing.T) {
	both(t, builtin.Config{}, func(t *testing.T, _ *builtin.Server, url string) {
		for what, c := range map[string]struct{ target, stage, want string }{
			"of the target": {
				"model: simpel", "",
				`the server does not know model "simpel": Request for unknown model: 'simpel' is not found; did you ` +
					`mean "simple"? It has ensemble, identity, `,
			},
			"of a mix": {
				"model: simple", ", mix: {x: {model: simpel}}",
				`the server does not know model "simpel": Request for unknown model: 'simpel' is not found; did you ` +
					`mean "simple"? It has ensemble, identity, `,
			},
			"a version": {
				`model: simple, model_version: "9"`, "",
				`the server does not know version 9 of model "simple": Request for unknown model: 'simple' version 9 ` +
					`is not found; it has version 1`,
			},
			"nothing near": {
				"model: resnet50", "",
				`the server does not know model "resnet50": Request for unknown model: 'resnet50' is not found; it ` +
					`has ensemble, identity, `,
			},
		} {
			began := time.Now()
			r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, ready: 5m, %s}
stages: [{id: s, load: {concurrency: 1}, for: 5 requests%s}]
`, c.target, c.stage), url, Env{})
			if n := r.Nodes[0]; r.ExitCode != 4 || n.Outcome != result.Failed || !strings.Contains(n.Reason, c.want) ||
				strings.Contains(n.Reason, "within") {
				t.Errorf("%s: exit %d: %s", what, r.ExitCode, n.Reason)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("%s: it took %v", what, took)
			}
		}
	})
}

// TestLoadingModel: a model that the server's index has is waited for.
func TestLoadingModel(t *testing.T) {
	t.Parallel()
	w := watch(t, func(w *witness) { w.dim = 4 })
	var asked atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		switch {
		case in.URL.Path == "/v2/repository/index":
			asked.Add(1)
			fmt.Fprint(out, `[{"name":"m","version":"1","state":"LOADING"}]`)
		case in.Method == http.MethodGet && strings.HasPrefix(in.URL.Path, "/v2/models/m") && asked.Load() < 3:
			out.WriteHeader(http.StatusNotFound)
			fmt.Fprint(out, `{"error":"Request for unknown model: 'm' is not found"}`)
		default:
			w.ServeHTTP(out, in)
		}
	}))
	t.Cleanup(front.Close)
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 5m}
stages: [{id: s, load: {concurrency: 1}, for: 5 requests}]
`, front.URL, Env{})
	if n := r.Nodes[0]; n.Outcome == result.Failed || asked.Load() < 3 {
		t.Errorf("%s: %s, the index was read %d times", n.Outcome, n.Reason, asked.Load())
	}
}
