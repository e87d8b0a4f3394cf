package executor

import (
	"context"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestPausesOfOpenLoops: where the load says when requests are due, pauses that rows ask for are
// told to mean nothing.
func TestPausesOfOpenLoops(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for load, told := range map[string]bool{
		"concurrency: 1": false, "rate: 100/s": true, "intervals: {file: testdata/gaps.txt, unit: ms}": true,
	} {
		_, diags := Run(context.Background(), compile(t, `
version: 1
target: {backend: kserve, url: URL, model: identity_fp32}
data: {rows: [{INPUT0: [1], delay: 1}], time_unit: ms}
stages: [{id: s, load: {`+load+`}, for: 3 requests}]
`, s.HTTPURL()), Env{})
		found := false
		for _, d := range diags {
			found = found || d.Code == "no-effect" && d.Pos.Line == 5
		}
		if found != told || diags.HasErrors() {
			t.Errorf("%s: %v", load, diags)
		}
	}
}
