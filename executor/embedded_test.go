package executor

import (
	"context"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// TestEmbeddedServerEnds: an embedded server that ended by itself is named as such, not only as
// refused connections.
func TestEmbeddedServerEnds(t *testing.T) {
	for how, want := range map[string]string{
		"": "", "signal: killed": `the embedded server of target "main" ended: signal: killed`,
	} {
		s := serve(t, builtin.Config{})
		r := play(t, `
version: 1
target: {backend: kserve, url: "builtin://http", model: simple}
stages: [{id: s, load: {concurrency: 1}, for: 5 requests}]
`, "", Env{Serve: func(context.Context, string, *scenario.Builtin, uint64) (Embedded, error) {
			return Embedded{URL: s.HTTPURL(), Stop: func() error { return nil }, Ended: func() string { return how }},
				nil
		}})
		got := ""
		for _, f := range r.Nodes[0].Validity.Findings {
			if f.Code == result.ServerEnded {
				got = f.Text
			}
		}
		if got != want || strings.Contains(r.Reason, "internal") {
			t.Errorf("%q: finding %q, want %q; %s", how, got, want, r.Reason)
		}
	}
}
