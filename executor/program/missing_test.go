package program

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// small is a plan of one stage and one target, without a file behind it.
func small(t scenario.Target, assert string) *scenario.Plan {
	target := &t
	target.Name, target.Pos = "main", source.Pos{File: "p", Line: 2, Column: 1}
	for i, name := range []string{"backend", "url", "endpoint"} {
		target.Keys = append(target.Keys,
			scenario.Key{Name: name, Pos: source.Pos{File: "p", Line: 3 + i, Column: 3}})
	}
	if t.Endpoint == "" {
		target.Keys = target.Keys[:2]
	}
	data := &scenario.Dataset{Name: "main", Generate: &scenario.Generate{Default: "random"}, Count: 1}
	stage := &scenario.Stage{
		ID: "s", Request: scenario.Request{Target: target, Data: data, Batch: 1}, Repeat: 1,
		Load:   scenario.Concurrency{Level: scenario.Fixed{Value: scenario.Level{Value: 1, Text: "1"}}},
		Extent: scenario.For{Span: scenario.Span{Duration: time.Second}},
	}
	if assert != "" {
		stage.Assert = []scenario.Assertion{
			{ID: "s/1", That: source.Text{Text: assert, Pos: source.Pos{File: "p", Line: 9, Column: 7}}},
		}
	}
	return &scenario.Plan{
		Targets: []*scenario.Target{target}, Datasets: []*scenario.Dataset{data}, Stages: []*scenario.Stage{stage},
	}
}

// TestMissing: what this binary was built without compiles, and says so at its line; what no binary could do
// is a mistake.
func TestMissing(t *testing.T) {
	kinds := append(all.Kinds(), backends.Kind{
		Name: "planned", Schemes: []string{"http"}, Keys: []string{"streaming"},
		Abilities: func(t backends.Target) backends.Ability {
			a := backends.Unary | backends.TokenCounts
			if t.Streaming {
				a |= backends.Stream | backends.TokenEvents
			}
			return a
		},
	})
	open := scenario.Target{Backend: "planned", URL: "http://h:1", Streaming: true}
	shut := scenario.Target{Backend: "planned", URL: "http://h:1"}
	for _, row := range []struct {
		name    string
		target  scenario.Target
		assert  string
		want    string // diagnostics that refuse the plan
		missing string // those that refuse to run it
	}{
		{"a kind that can run", scenario.Target{Backend: "kserve", URL: "http://h:1"}, "latency.p50 < 1s", "", ""},
		{
			"a kind that is known", open, "latency.p50 < 1s", "",
			"3:3 not-in-binary: this binary was built without backend planned",
		},
		{
			"times of tokens", open, "errors.count == 0 and ttft.p95 < 1s", "",
			"3:3 not-in-binary: this binary was built without backend planned",
		},
		{
			"tokens without streaming", shut, "tokens.output.rate > 5/s", "",
			"3:3 not-in-binary: this binary was built without backend planned",
		},
		{
			"token times without streaming", shut, "ttft.p95 < 1s",
			"9:7 unknown-metric: ttft cannot be measured here: the target does not say `streaming: true`", "",
		},
		{
			"token times without text",
			scenario.Target{Backend: "triton", URL: "grpc://h:1", Streaming: true},
			"ttft.p95 < 1s", "9:7 unknown-metric: ttft cannot be measured here: backend triton has no token events here",
			"",
		},
		{
			"tokens of triton",
			scenario.Target{Backend: "triton", URL: "grpc://h:1", Endpoint: "vllm"},
			"tokens.output.p50 < 9",
			"9:7 unknown-metric: tokens.output cannot be measured here: backend triton has no token counts here", "",
		},
		{
			"response gaps of triton",
			scenario.Target{Backend: "triton", URL: "grpc://h:1", Streaming: true},
			"response_gap.p50 < 1s", "", "",
		},
		{
			"statistics of kserve",
			scenario.Target{Backend: "kserve", URL: "grpc://h:1"},
			"server.queue.mean < 1s",
			"9:7 unknown-metric: there is no metric server.queue.mean", "",
		},
		{
			"a GPU without metrics",
			scenario.Target{Backend: "kserve", URL: "grpc://h:1"},
			"gpu.power.mean < 1",
			"9:7 unknown-metric: gpu.power cannot be measured here: the target names no `metrics` to read", "",
		},
		{
			"a GPU",
			scenario.Target{Backend: "kserve", URL: "grpc://h:1", Metrics: &scenario.Metrics{URLs: []string{"http://h/metrics"}}},
			"gpu.memory.max < 1GiB", "", "",
		},
		{
			"no endpoint of triton's",
			scenario.Target{Backend: "triton", URL: "http://h:1", Endpoint: "chat"},
			"",
			"5:3 not-allowed: target \"main\": backend triton has no endpoint \"chat\"", "",
		},
		{
			"no endpoint at all",
			scenario.Target{Backend: "http", URL: "http://h:1", Endpoint: "infer"},
			"",
			"5:3 key-not-read: backend http does not read \"endpoint\"", "",
		},
		{"no URL", scenario.Target{Backend: "kserve"}, "", "2:1 missing-key: target \"main\" has no `url`", ""},
		{
			"no URL in process",
			scenario.Target{Backend: "triton_inprocess"},
			"", "",
			"3:3 not-in-binary: this binary was built without backend triton_inprocess",
		},
		{
			"a URL in process",
			scenario.Target{Backend: "triton_inprocess", URL: "http://h:1"},
			"",
			"4:3 scheme: target \"main\": backend triton_inprocess has no URL", "",
		},
		{
			"a scheme that is not spoken",
			scenario.Target{Backend: "openai", URL: "grpc://h:1"},
			"",
			"4:3 scheme: target \"main\": backend openai does not speak grpc://", "",
		},
	} {
		program, diags := Compile(small(row.target, row.assert), kinds)
		if got := told(diags); got != row.want {
			t.Errorf("%s: refused with\n%s\nwant\n%s", row.name, got, row.want)
		}
		if row.want == "" || row.missing != "" {
			if got := told(program.Missing); got != row.missing {
				t.Errorf("%s: missing\n%s\nwant\n%s", row.name, got, row.missing)
			}
		}
	}
}

// told is the errors among diagnostics, one a line.
func told(ds source.Diagnostics) string {
	var lines []string
	for _, d := range ds {
		if d.Severity == source.Error {
			lines = append(lines, fmt.Sprintf("%d:%d %s: %s", d.Pos.Line, d.Pos.Column, d.Code, d.Summary))
		}
	}
	return strings.Join(lines, "\n")
}

// TestUnreadKey: a key that a kind does not read is one mistake.
func TestUnreadKey(t *testing.T) {
	const text = `version: 1
targets:
  a: {backend: kserve, url: "http://h:1", model: m, signature: s, protos: {files: []}, method: GET}
  b: {backend: tfserving, url: "grpc://h:1", model: m, signature: s}
stages: [{id: s, target: a, load: {concurrency: 1}, for: 1s}, {id: t, target: b, load: {concurrency: 1}, for: 1s}]
`
	plan, diags := scenario.Parse("p", []byte(text), scenario.Overrides{})
	if plan == nil {
		t.Fatal(diags)
	}
	program, diags := Compile(plan, all.Kinds())
	got := told(diags) + "\n" + told(program.Missing)
	want := `3:53 key-not-read: backend kserve does not read "signature"
3:67 key-not-read: backend kserve does not read "protos"
3:88 key-not-read: backend kserve does not read "method"
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
