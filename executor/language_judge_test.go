package executor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestAssertions: each key of an assertion by verdict and exit code.
func TestAssertions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		assert, id, verdict string
		exit                int
	}{
		{"latency.p50 < 1ns", "s/1", "fail", 1},
		{"{that: latency.p50 < 1ns, severity: warn}", "s/1", "fail", 0},
		{"{that: latency.p50 < 1ns, severity: gate}", "s/1", "fail", 1},
		{"{that: latency.p50 < 1h, min_samples: 1000}", "s/1", "inconclusive", 3},
		{"{that: latency.p99 < 1h}", "s/1", "inconclusive", 3},
		{"{that: latency.p99 < 1h, min_samples: 5}", "s/1", "pass", 0},
		{"{that: connect.p50 < 1h, on_no_data: pass}", "s/1", "pass", 0},
		{"{that: connect.p50 < 1h, on_no_data: fail}", "s/1", "fail", 1},
		{"{that: connect.p50 < 1h, on_no_data: inconclusive}", "s/1", "inconclusive", 3},
		{"{that: connect.p50 < 1h}", "s/1", "inconclusive", 3},
		{"{that: latency.p50 < 1h, id: mine, description: Why.}", "mine", "pass", 0},
		{"{slo: fast}", "s/own", "pass", 0},
		{"{slo: fast, severity: warn, id: used}", "used", "pass", 0},
	} {
		w := watch(t, fourInts)
		r := play(t, `
version: 1
slos: {fast: [{that: latency.p50 < 1h, id: own, description: Why.}], other: [latency.p50 < 1h]}
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages:
  - {id: s, load: {concurrency: 1}, for: 10 requests, assert: [`+c.assert+`, errors.count == 0]}
`, w.URL, Env{})
		a := node(t, r, "s").Assertions[0]
		if a.ID != c.id || string(a.Verdict) != c.verdict || r.ExitCode != c.exit {
			t.Errorf("%s: %s %s, exit %d (%s)", c.assert, a.ID, a.Verdict, r.ExitCode, a.Reason)
		}
		if strings.Contains(c.assert, "Why") && a.Description != "Why." ||
			strings.Contains(c.assert, "slo") && a.SLO != "fast" {
			t.Errorf("%s: %+v", c.assert, a)
		}
	}
	w := watch(t, fourInts)
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: {concurrency: 1}, for: 10 requests}]
assert: [stage("s").requests.count == 10, {that: stage("s").latency.max < 1ns, id: never}]
`, w.URL, Env{})
	if a := r.Assertions; len(a) != 2 || a[0].ID != "plan/1" || a[0].Verdict != result.Pass ||
		a[1].ID != "never" || a[1].Verdict != result.Fail || r.ExitCode != 1 {
		t.Errorf("the plan's own: %+v, exit %d", a, r.ExitCode)
	}
}

// TestPercentiles: those of the plan stand in every distribution, and no others.
func TestPercentiles(t *testing.T) {
	t.Parallel()
	w := watch(t, fourInts)
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: {concurrency: 1}, for: 10 requests}]
output: {percentiles: [25, 99.99]}
`, w.URL, Env{})
	var b bytes.Buffer
	if err := result.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Nodes []struct{ Metrics map[string]map[string]any }
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	var got []string
	for k := range doc.Nodes[0].Metrics["latency"] {
		if strings.HasPrefix(k, "p") {
			got = append(got, k)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"p25", "p99.99"}) {
		t.Errorf("latency has %v", got)
	}
}

// TestWords: words that stand in two packages because one may not import the other are the same.
func TestWords(t *testing.T) {
	var failures []string
	for i, name := range backends.ClassNames {
		if backends.ErrorClass(i).Failed() {
			failures = append(failures, name)
		}
	}
	if diff := cmp.Diff(failures, metric.ErrorClasses()); diff != "" {
		t.Errorf("classes of backends and of metrics: %s", diff)
	}
	for _, k := range all.Kinds() {
		c, err := program.Catalogue(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range c.Rows() {
			if row.Needs != "" && !slices.Contains(backends.AbilityNames, row.Needs) {
				t.Errorf("%s needs %q, which is no ability", row.Name, row.Needs)
			}
		}
	}
	if last := backends.SharesProcess; 1<<(len(backends.AbilityNames)-1) != last {
		t.Errorf("%d words for abilities up to %b", len(backends.AbilityNames), last)
	}
}
