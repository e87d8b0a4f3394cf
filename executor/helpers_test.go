package executor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/schema"
)

// TestMain lets more tests run side by side than there are processors: most of the time they wait
// for a plan's seconds to pass. Those whose measure is this machine's time are not among them: they
// run alone, before the others.
func TestMain(m *testing.M) {
	cases.Parallel(6)
	goleak.VerifyTestMain(m)
}

// serve starts the embedded server for one test, which may close it long before its clients are done.
func serve(t *testing.T, c builtin.Config) *builtin.Server {
	t.Helper()
	if !c.TLS { // its certificate is for 127.0.0.1
		c.HTTP, c.GRPC = cmp.Or(c.HTTP, backendtest.Loopback()), cmp.Or(c.GRPC, backendtest.Loopback())
	}
	s, err := builtin.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// compile makes a program of a plan's text, which must have no mistake. "URL" in it is replaced.
func compile(t *testing.T, text, url string) *program.Program {
	t.Helper()
	plan, diags := scenario.Parse("plan.yaml",
		[]byte(strings.ReplaceAll(text, "URL", url)), scenario.Overrides{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := program.Compile(plan, all.Kinds())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p
}

// play runs a plan and checks what must hold for every result.
func play(t *testing.T, text, url string, env Env) *result.Result {
	t.Helper()
	r, diags := Run(context.Background(), compile(t, text, url), env)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	checkResult(t, r)
	return r
}

// checkResult holds the stored form to its schema and every node's books to each other.
func checkResult(t *testing.T, r *result.Result) {
	t.Helper()
	var b bytes.Buffer
	if err := result.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := schema.ValidateResult(b.Bytes()); err != nil {
		t.Errorf("%v\n%s", err, b.Bytes())
	}
	for _, n := range r.Nodes {
		if n.Outcome == result.SkippedNode || n.Outcome == result.Failed {
			continue
		}
		sent, failed, ok := count(n, "requests.count"), count(n, "errors.count"), int64(0)
		if d := n.Metrics["latency"]; d != nil && d.Count != nil {
			ok = *d.Count
		}
		var classes int64
		for _, e := range n.Errors {
			classes += e.Count
		}
		stopped := sent - failed - ok
		if failed != classes || stopped < 0 {
			t.Errorf("%s: sent %d, ok %d, failed %d, classes %d", n.ID, sent, ok, failed, classes)
		}
	}
}

func count(n *result.Node, name string) int64 {
	v, _ := n.Metrics[name].Stat(metric.Stat{})
	return int64(v)
}

func value(t *testing.T, n *result.Node, name string) float64 {
	t.Helper()
	leaf, ok := mustCatalogue(t).Leaf(name)
	if !ok {
		t.Fatalf("no metric %s", name)
	}
	v, ok := n.Metrics[leaf.Row.Name].Stat(leaf.Stat)
	if !ok {
		t.Errorf("%s: no data for %s", n.ID, name)
	}
	return v
}

func mustCatalogue(t *testing.T) *metric.Catalogue {
	t.Helper()
	c, err := program.Catalogue(all.Kinds()[1])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func node(t *testing.T, r *result.Result, id string) *result.Node {
	t.Helper()
	for _, n := range r.Nodes {
		if n.ID == id {
			return n
		}
	}
	t.Fatalf("no node %q", id)
	return nil
}

// arrivals are the true arrival times that the server saw, ns since its first.
func arrivals(t *testing.T, s *builtin.Server) []int64 {
	t.Helper()
	reply, err := http.Get(s.URLs().Control + "/sim/arrivals")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	var page struct{ Arrivals []int64 }
	if err := json.Unmarshal(data, &page); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return page.Arrivals
}

// inHold sends the signal that asks for an orderly end once hold has lasted 200 ms.
func inHold(e Event, interrupt chan<- int) {
	if e.Phase != PhaseHold || e.Elapsed <= 200*time.Millisecond {
		return
	}
	select {
	case interrupt <- 2:
	default: // it was sent
	}
}
