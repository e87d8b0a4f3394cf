package executor

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// The level at which `while` is not true is told from those that were reached, whether others would
// have followed or it is the last; no other one is.
func TestLevelOverItsLimit(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for _, c := range []struct{ load, want string }{
		{
			"{concurrency: {levels: {from: 1, to: 4, while: latency.p50 < 1ns}}}",
			"a[concurrency=1]: latency.p50 < 1ns is not true here: the levels after this one did not run",
		},
		{
			"{concurrency: {levels: {from: 1, step: 1, while: throughput < 1/s}}}",
			"a[concurrency=1]: throughput < 1/s is not true here: the levels after this one did not run",
		},
		{
			"{concurrency: {levels: {from: 1, to: 2, while: in_flight.max < 2}}}",
			"a[concurrency=2]: in_flight.max < 2 is not true here",
		},
		{"{concurrency: {levels: {from: 1, to: 2, while: latency.p50 < 10m}}}", ""},
		{"{concurrency: 1}", ""},
	} {
		r := play(t,
			"version: 1\ntarget: {backend: kserve, url: URL, model: slow}\nstages: [{id: a, load: "+c.load+", for: 10 requests}]\n",
			s.HTTPURL(), Env{})
		var got []string
		for _, n := range r.Nodes {
			for _, f := range n.Validity.Findings {
				if f.Code == result.LadderEnd {
					got = append(got, n.ID+": "+f.Text)
				}
			}
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", c.load, text, c.want)
		}
	}
	r := play(t,
		"version: 1\ntarget: {backend: kserve, url: URL, model: slow}\nstages: [{id: a, load: {concurrency: "+
			"1}, for: 10 requests, assert: [{that: latency.p50 < 1ns, abort: true}]}]\n",
		s.HTTPURL(), Env{})
	for _, f := range r.Nodes[0].Validity.Findings {
		if f.Code == result.LadderEnd {
			t.Errorf("a stage without levels: %s", f.Text)
		}
	}
}
