package executor

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
)

// TestInterim: the result is handed out before anything is sent, then with each node that has
// ended, without secrets, and not after the run.
func TestInterim(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	var mu sync.Mutex
	var ended [][]string
	over := false
	r := play(t, `
version: 1
vars: {token: {default: hunter2-0451, secret: true}}
description: with ${token}
labels: {who: "${token}"}
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: a, load: {concurrency: [1, 2]}, for: 10 requests, description: "with ${token}"}
  - parallel:
      - {id: b, load: {concurrency: 1}, for: 10 requests}
      - {id: c, load: {concurrency: 1}, for: 10 requests}
`, s.HTTPURL(), Env{Interim: func(r *result.Result) error {
		mu.Lock()
		defer mu.Unlock()
		r.State = result.StateRunning
		var b bytes.Buffer
		if err := result.Write(&b, r); err != nil {
			t.Error(err)
		}
		if over || strings.Contains(b.String(), "hunter2") {
			t.Errorf("after the run: %t\n%s", over, &b)
		}
		ids := []string{}
		for _, n := range r.Nodes {
			ids = append(ids, n.ID)
		}
		if ended = append(ended, ids); len(ids) == 0 && len(arrivals(t, s)) > 0 {
			t.Error("the first interim result comes after a request")
		}
		return nil
	}})
	mu.Lock()
	over = true
	mu.Unlock()
	if r.ExitCode != 0 && r.ExitCode != 5 {
		t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
	}
	if len(ended) != 5 || len(ended[0]) != 0 || len(ended[4]) != 4 || ended[2][1] != "a[concurrency=2]" {
		t.Errorf("interim results have the nodes %q", ended)
	}
}

// TestInterimRefuses: where the folder cannot say that a run goes on, nothing is sent.
func TestInterimRefuses(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages: [{id: a, load: {concurrency: [1, 2]}, for: 10 requests}]
`, s.HTTPURL(), Env{Interim: func(*result.Result) error { return errors.New("no room") }})
	if r.ExitCode != verdict.CodePlan || r.Reason != "nothing was sent: no room" || len(r.Nodes) != 2 ||
		len(arrivals(t, s)) > 0 {
		t.Errorf("exit %d, %d nodes: %s", r.ExitCode, len(r.Nodes), r.Reason)
	}
}

// TestInterimCost: results of many nodes are written less often, the latest in the end.
func TestInterimCost(t *testing.T) {
	saved := make(chan int, 100)
	i := interim{mask: func(s string) string { return s }, save: func(r *result.Result) error {
		saved <- len(r.Nodes)
		return nil
	}}
	if err := i.begin(&result.Result{}); err != nil {
		t.Fatal(err)
	}
	i.mu.Lock()
	i.spent = interimFree + time.Millisecond // 50 ms after the beginning there is time for more
	i.mu.Unlock()
	for k := range 40 {
		i.add(&result.Node{ID: strconv.Itoa(k)})
	}
	saves, last := 0, -1
	for ; last != 40; saves++ {
		last = <-saved
	}
	if saves > 20 {
		t.Errorf("%d saves for 40 nodes", saves)
	}
	i.end()
	i.add(&result.Node{})
	if len(saved) > 0 {
		t.Errorf("%d saved after the end", len(saved))
	}
}
