package executor

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestCompression: what is sent is smaller than what it holds, replies are compared as what they hold.
func TestCompression(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	const plan = `
version: 1
target: {backend: kserve, url: URL, model: identity, compression: CODING}
data: {file: "FILE"}
stages: [{id: s, load: {concurrency: 2}, for: 10 requests}]
`
	right, wrong := wide(t, 0), wide(t, 1)
	for protocol, url := range bothURLs(s) {
		for coding, small := range map[string]bool{"none": false, "gzip": true, "deflate": true} {
			text := strings.ReplaceAll(plan, "CODING", coding)
			n := node(t, play(t, strings.ReplaceAll(text, "FILE", right), url, Env{}), "s")
			each := value(t, n, "bytes.sent.rate") / value(t, n, "requests.rate")
			if count(n, "errors.count") != 0 || each < 12_000 != small {
				t.Errorf("%s %s: %.0f bytes a request, errors %+v", protocol, coding, each, n.Errors)
			}
			back := value(t, n, "bytes.received.rate") / value(t, n, "requests.rate")
			if protocol == "http" && back < 12_000 != small {
				t.Errorf("%s %s: %.0f bytes a reply", protocol, coding, back)
			}
			n = node(t, play(t, strings.ReplaceAll(text, "FILE", wrong), url, Env{}), "s")
			if count(n, "errors.count") != 10 || n.Errors[0].Class != "mismatch" {
				t.Errorf("%s %s: errors %+v, want mismatches", protocol, coding, n.Errors)
			}
		}
	}
}
