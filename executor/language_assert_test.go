package executor

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestConfidence: with it bounds decide, so the same share of errors passes with many requests and proves nothing with few.
func TestConfidence(t *testing.T) {
	for _, c := range []struct {
		that     string
		requests int
		verdict  string
		exit     int
		reason   string
	}{
		{"{that: errors.ratio < 1%, confidence: 95%}", 299, "pass", 0, "errors.ratio is 0 % (0 % … 0.9969 % at 95 %), the limit is 1 % (n = 299)"},
		{"{that: errors.ratio < 1%, confidence: 95%}", 99, "inconclusive", 3, "if it stays so, about 200 more requests decide it"},
		{"{that: errors.ratio < 1%, confidence: 99%}", 299, "inconclusive", 3, "if it stays so, about 160 more requests decide it"},
		{"errors.ratio < 1%", 99, "pass", 0, "errors.ratio is 0 %, the limit is 1 % (n = 99)"},
		{"{that: latency.p99 < 1h, confidence: 95%}", 299, "pass", 0, "the limit is 3600 s (n = 299); 0 of 299 are over it, 0 may be"},
		{"{that: latency.p99 < 1ns, confidence: 95%}", 20, "fail", 1, "the limit is 1 ns (n = 20)"},
		{"{that: latency.max < 1h, confidence: 95%}", 20, "inconclusive", 3, "latency.max has no confidence bounds"},
	} {
		w := watch(t, fourInts)
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: {concurrency: 2}, for: %d requests, assert: [%s, errors.count == 0]}]
`, c.requests, c.that), w.URL, Env{})
		a := node(t, r, "s").Assertions[0]
		if string(a.Verdict) != c.verdict || r.ExitCode != c.exit || !strings.Contains(a.Reason, c.reason) {
			t.Errorf("%s of %d: %s, exit %d (%s), want %s, %d (%s)", c.that, c.requests, a.Verdict, r.ExitCode, a.Reason, c.verdict, c.exit, c.reason)
		}
		if (a.Confidence > 0) != strings.Contains(c.that, "confidence") || c.verdict == "pass" && a.Confidence > 0 && (a.Low == nil || a.High == nil) {
			t.Errorf("%s: stored as %+v", c.that, a)
		}
	}
}

// TestWindows: the first three requests fail. As a whole they are few; the window that they are in is false.
func TestWindows(t *testing.T) {
	for _, c := range []struct{ that, verdict, reason string }{
		{"{that: errors.ratio < 50%}", "pass", "the limit is 50 %"},
		{"{that: errors.count == 0, every: 100ms}", "fail", "; the first that is false, 0 s to 100 ms: errors.count is "},
		{"{that: errors.count == 0, every: 100ms, allow: 90%}", "pass", "90 % of them may be false; the first that is false, 0 s to 100 ms"},
		{"{that: errors.count == 0, every: 100ms, within: 900ms}", "pass", "it must be from 900 ms on; before, 0 s to 100 ms: errors.count is "},
		{"{that: errors.count == 0, every: 100ms, within: 1ms}", "fail", "it must be from 1 ms on; before, 0 s to 100 ms: errors.count is "},
		{"{that: errors.count == 0, within: 1s}", "inconclusive", "no data: its scope has no whole window of 1 s"},
	} {
		w := watch(t, func(w *witness) { w.dim, w.status, w.fails, w.takes = 4, 500, 3, 5*time.Millisecond })
		load := "for: 1s"
		if strings.Contains(c.reason, "no whole window") {
			load = "for: 30 requests"
		}
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, load: {concurrency: 1}, `+load+`, assert: [`+c.that+`]}]
`, w.URL, Env{})
		a := node(t, r, "s").Assertions[0]
		if string(a.Verdict) != c.verdict || !strings.Contains(a.Reason, c.reason) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.that, a.Verdict, a.Reason, c.verdict, c.reason)
		}
	}
}
