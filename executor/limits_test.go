package executor

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestLimits: a client that sends late is judged by the limits of the stage, which are in its result.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
validity: {send_delay: 10s}
defaults: {load: {rate: 20/s}, for: 10 requests}
stages:
  - {id: loose, validity: {pause: 50ms, paused: 30%}, repeat: 2}
  - {id: tight, validity: {send_delay: 2ms}}
`, s.HTTPURL(), Env{Delay: func(uint64) { time.Sleep(5 * time.Millisecond) }}) //nolint:forbidigo // the delay is the fault
	loose, tight := node(t, r, "loose"), node(t, r, "tight")
	for n, want := range map[*result.Node]result.ValidityLimits{
		loose: {SendDelay: 10, Pause: 0.05, Paused: 0.3}, tight: {SendDelay: 0.002, Pause: 0.02, Paused: 0.1},
	} {
		if diff := cmp.Diff(&want, n.Validity.Limits); diff != "" {
			t.Errorf("%s: %s", n.ID, diff)
		}
	}
	if !loose.Validity.OK || loose.Finding(result.ClientLate) != nil || tight.Finding(result.ClientLate) == nil {
		t.Errorf("loose: %+v\ntight: %+v", loose.Validity, tight.Validity)
	}
}
