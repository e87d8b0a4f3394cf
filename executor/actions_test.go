package executor

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-bench/sluice/executor/result"
)

// admin is in front of a witness and writes down the calls to /admin, which it answers with the
// status in their path.
func admin(t *testing.T) (url string, calls func() []string) {
	t.Helper()
	w := watch(t, fourInts)
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		path, ok := strings.CutPrefix(in.URL.Path, "/admin/")
		if !ok {
			w.ServeHTTP(out, in)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, in.Method+" "+path+in.Header.Get("X-Key"))
		if strings.HasSuffix(path, "bad") {
			http.Error(out, "the admin refuses", http.StatusConflict)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen)
	}
}

// TestBeforeAfter: calls come before and after the stage's nodes, with the target's headers, on
// every way out; one that fails is a set-up failure.
func TestBeforeAfter(t *testing.T) {
	t.Parallel()
	const head = `
version: 1
target: {backend: kserve, url: URL, model: m, headers: {X-Key: "!"}}
stages:
`
	for _, c := range []struct {
		name, stages, calls string
		exit                int
		outcomes            string
	}{
		{
			"around all levels",
			`  - {id: a, before: [{call: "POST /admin/up"}, {call: "PUT /admin/warm"}], after: [{call: "DELETE ` +
				`/admin/down"}], load: {concurrency: [1, 2]}, for: 5 requests}`,
			"POST up!, PUT warm!, DELETE down!", 0, "done done",
		},
		{
			"around each point",
			`  - {id: a, matrix: {batch: [1, 2]}, batch: '${matrix.batch}', repeat: 2, before: [{call: "POST ` +
				`/admin/up-${matrix.batch}"}], after: [{call: "POST /admin/down-${matrix.batch}"}], load: ` +
				`{concurrency: 1}, for: 5 requests}`,
			"POST up-1!, POST down-1!, POST up-2!, POST down-2!, POST up-1!, POST down-1!", 0, "done done",
		},
		{
			"before fails", `  - {id: a, before: [{call: "POST /admin/bad"}, {call: "POST /admin/never"}], after: [{call: "POST /admin/down"}], load: {concurrency: 1}, for: 5 requests}
  - {id: b, load: {concurrency: 1}, for: 5 requests}`,
			"POST bad!, POST down!", 4, "failed skipped",
		},
		{
			"after fails", `  - {id: a, after: [{call: "POST /admin/bad"}, {call: "POST /admin/rest"}], load: {concurrency: 1}, for: 5 requests}
  - {id: b, load: {concurrency: 1}, for: 5 requests}`,
			"POST bad!, POST rest!", 4, "done skipped",
		},
		{
			"skipped", `  - {id: a, load: {concurrency: 1}, for: 5 requests, assert: [latency.p50 < 1ns, errors.count == 0]}
  - {id: b, before: [{call: "POST /admin/up"}], after: [{call: "POST /admin/down"}], load: {concurrency: 1}, for: 5 requests}`,
			"", 1, "done skipped",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, calls := admin(t)
			r := play(t, head+c.stages+"\n", url, Env{})
			if got := strings.Join(calls(), ", "); got != c.calls || r.ExitCode != c.exit {
				t.Errorf("calls %s, want %s; exit %d: %s", got, c.calls, r.ExitCode, r.Reason)
			}
			var outcomes []string
			for _, n := range r.Nodes {
				outcomes = append(outcomes, string(n.Outcome))
			}
			if got := strings.Join(outcomes, " "); got != c.outcomes {
				t.Errorf("outcomes %s, want %s", got, c.outcomes)
			}
			if c.exit == 4 && !strings.Contains(r.Reason, "the admin refuses") {
				t.Errorf("the reason does not say what the server said: %s", r.Reason)
			}
		})
	}
}

// TestAfterOnEveryWayOut: an interrupt and a mistake of this program leave nothing undone.
func TestAfterOnEveryWayOut(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"interrupt", "panic"} {
		url, calls := admin(t)
		interrupt := make(chan int, 1)
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: m}
stages:
  - {id: a, before: [{call: "POST /admin/up"}], after: [{call: "POST /admin/down"}], load: {concurrency: 1}, for: 60s}
`, url, Env{Interrupt: interrupt, Events: func(e Event) {
			switch {
			case how == "panic" && e.Phase == PhaseOpen && e.Node == "a":
				panic("planted")
			case how == "interrupt" && e.Phase == PhaseHold && len(interrupt) == 0:
				select {
				case interrupt <- 2:
				default:
				}
			}
		}})
		if got := strings.Join(calls(), ", "); got != "POST up, POST down" {
			t.Errorf("%s: calls %s", how, got)
		}
		if want := map[string]int{"interrupt": 130, "panic": 6}[how]; r.ExitCode != want {
			t.Errorf("%s: exit %d", how, r.ExitCode)
		}
	}
}

// TestReadyAfterBefore: the real request that shows that a model is there comes after what its
// stage does first.
func TestReadyAfterBefore(t *testing.T) {
	t.Parallel()
	url, calls := admin(t)
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: m}
stages:
  - {id: a, before: [{call: "POST /admin/bad"}], load: {concurrency: 1}, for: 5 requests}
`, url, Env{})
	if n := node(t, r, "a"); n.Outcome != result.Failed || !strings.Contains(n.Reason, "before: POST") ||
		len(calls()) != 1 {
		t.Errorf("%s %s", n.Outcome, n.Reason)
	}
}
