package program

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// TestGoodputNames: a bound by another tool's name for a metric gets a diagnostic with the name here.
func TestGoodputNames(t *testing.T) {
	const head = "version: 1\ntarget: {backend: openai, url: \"http://h\", model: m, streaming: true}\n" +
		"data: {rows: [{prompt: a}]}\nstages: [{id: s, load: {concurrency: 1}, for: 1s, goodput: {"
	for name, want := range map[string]string{
		"time_to_first_token": "ttft", "inter_token_latency": "itl", "tpot_ms": "itl", "request_latency": "latency",
		"e2el": "latency", "ttft": "", "latency_content": "",
	} {
		plan, diags := scenario.Parse("plan.yaml", []byte(head+name+": 1s}}]\n"), scenario.Overrides{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		_, diags = Compile(plan, all.Kinds())
		got := ""
		for _, d := range diags {
			if d.Code == "goodput-bound" {
				got = d.Nearest
				if !strings.Contains(d.Summary, "it is called "+want+" here") {
					t.Errorf("%s: %s", name, d.Summary)
				}
			}
		}
		if got != want {
			t.Errorf("%s: nearest %q, want %q", name, got, want)
		}
	}
}
