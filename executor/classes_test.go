package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestClasses: an output that is asked for as classes is compared as texts, over every transport;
// one that differs is told.
func TestClasses(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for _, target := range []string{"url: URL", "url: URL, tensors: {input: json, output: json}"} {
		for _, url := range []string{s.HTTPURL(), s.GRPCURL()} {
			if target != "url: URL" && url == s.GRPCURL() {
				continue
			}
			r := play(t, `
version: 1
target: {backend: kserve, `+target+`, model: identity, ready: 0s}
data:
  rows:
    - {inputs: {INPUT0: [0.5, -1, 2]}, outputs: {OUTPUT0: ["2.000000:2", "0.500000:0"]}}
    - {inputs: {INPUT0: [7, 8, 9]}, outputs: {OUTPUT0: ["9.000000:2", "7.000000:0"]}}
stages: [{id: s, outputs: [{name: OUTPUT0, classification: 2}], load: {concurrency: 1}, for: 4 requests}]
`, url, Env{})
			want := result.ErrorClass{
				Class: "mismatch", Count: 2, Example: `row 1: output OUTPUT0 [1] is "8.000000:1", want "7.000000:0"`,
			}
			if diff := cmp.Diff([]result.ErrorClass{want}, node(t, r, "s").Errors); diff != "" {
				t.Errorf("%s (-want +got):\n%s", url, diff)
			}
		}
	}
}
