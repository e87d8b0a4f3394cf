package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/schema"
)

// TestServerConfig: every key of `builtin` reaches the embedded server, in its units; what each
// does there is builtin's to show.
func TestServerConfig(t *testing.T) {
	ptr := func(v float64) *float64 { return &v }
	for text, want := range map[string]builtin.Config{
		"{instances: 3, max_batch: 4, queue_delay: 2ms, errors: 1%, reset: 2%, slow_body: 5ms, stall: {at: 1s, " +
			"for: 2s, every: 3s}, service_time: 7ms}": {
			Instances: 3, MaxBatch: 4, QueueDelay: 2 * time.Millisecond, Errors: 0.01, Reset: 0.02,
			SlowBody:    5 * time.Millisecond,
			Stall:       &builtin.Stall{At: time.Second, For: 2 * time.Second, Every: 3 * time.Second},
			ServiceTime: &builtin.Dist{Shape: "constant", Mean: 0.007},
		},
		"{service_time: {mean: 5ms, std: 1ms, min: 2ms, max: 9ms}}": {
			ServiceTime: &builtin.Dist{
				Shape: "normal", Mean: 0.005, Std: 0.001, Min: ptr(0.002),
				Max: ptr(0.009),
			},
		},
		"{service_time: {shape: lognormal, mean: 5ms, std: 1ms}}": {
			ServiceTime: &builtin.Dist{Shape: "lognormal", Mean: 0.005, Std: 0.001},
		},
		"{service_time: {shape: exponential, mean: 5ms}}": {
			ServiceTime: &builtin.Dist{Shape: "exponential", Mean: 0.005},
		},
		"{service_time: {min: 2ms, max: 9ms}}": {
			ServiceTime: &builtin.Dist{Shape: "uniform", Min: ptr(0.002), Max: ptr(0.009)},
		},
		"{service_time: {values: {2ms: 1, 3ms: 4}}}": {
			ServiceTime: &builtin.Dist{Shape: "values", Values: []float64{0.002, 0.003}, Weights: []float64{1, 4}},
		},
		"{ttft: 50ms, itl: {values: {5ms: 1}}, api_key: sk-1, generation: {output_tokens: 1, tokens_per_event: 2, " +
			"first_event_tokens: 3, burst: 4, hidden_tokens: 5, held_tokens: 6, reasoning_tokens: 7, usage: every, " +
			"fail_after: 8, stuck: 9%, tool_calls: true, prefix_cache: true, close_silent: true}}": {
			TTFT: &builtin.Dist{Shape: "constant", Mean: 0.05}, APIKey: "sk-1",
			ITL: &builtin.Dist{Shape: "values", Values: []float64{0.005}, Weights: []float64{1}},
			Generation: &builtin.Generation{
				OutputTokens: 1, TokensPerEvent: 2, FirstEventTokens: 3, Burst: 4, HiddenTokens: 5, HeldTokens: 6,
				ReasoningTokens: 7, Usage: "every", FailAfter: 8, Stuck: 0.09, ToolCalls: true, PrefixCache: true,
				CloseSilent: true,
			},
		},
	} {
		plan, diags := scenario.Parse("plan.yaml",
			[]byte("version: 1\nseed: 9\ntarget: {backend: openai, url: \"builtin://http\", model: chat, builtin: "+text+
				"}\nstages: [{id: s, load: {concurrency: 1}, for: 1s}]\n"), scenario.Overrides{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		want.Seed = 9
		want.MaxBatch = max(want.MaxBatch, 1)
		if diff := cmp.Diff(want, serverConfig(plan.Targets[0].Builtin, plan.Seed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestServerConfigKeepsTheModelsOwn: a key of `builtin` changes what it says and nothing else of
// the server.
func TestServerConfigKeepsTheModelsOwn(t *testing.T) {
	config := func(text string) builtin.Config {
		plan, diags := scenario.Parse("plan.yaml",
			[]byte("version: 1\ntarget: {backend: openai, url: \"builtin://http\", model: chat, builtin: "+text+
				"}\nstages: [{id: s, load: {concurrency: 1}, for: 1s}]\n"), scenario.Overrides{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return serverConfig(plan.Targets[0].Builtin, plan.Seed)
	}
	keys := map[string]struct {
		value string
		unset func(*builtin.Config)
	}{
		"service_time": {"5ms", func(c *builtin.Config) { c.ServiceTime = nil }},
		"instances":    {"2", func(c *builtin.Config) { c.Instances = 0 }},
		"max_batch":    {"8", func(c *builtin.Config) { c.MaxBatch = 1 }},
		"queue_delay":  {"2ms", func(c *builtin.Config) { c.QueueDelay = 0 }},
		"errors":       {"0.1%", func(c *builtin.Config) { c.Errors = 0 }},
		"reset":        {"0.1%", func(c *builtin.Config) { c.Reset = 0 }},
		"stall":        {"{at: 1s, for: 2s}", func(c *builtin.Config) { c.Stall = nil }},
		"slow_body":    {"5ms", func(c *builtin.Config) { c.SlowBody = 0 }},
		"ttft":         {"5ms", func(c *builtin.Config) { c.TTFT = nil }},
		"itl":          {"5ms", func(c *builtin.Config) { c.ITL = nil }},
		"generation":   {"{output_tokens: 4}", func(c *builtin.Config) { c.Generation = nil }},
		"api_key":      {"sk-test", func(c *builtin.Config) { c.APIKey = "" }},
	}
	none := builtin.Config{MaxBatch: 1} // one request an execution, as without `builtin`
	for _, key := range scenarioKeys(t, "target.builtin") {
		k, ok := keys[key]
		if !ok {
			t.Errorf("nothing shows what %s leaves alone", key)
			continue
		}
		c := config("{" + key + ": " + k.value + "}")
		if cmp.Equal(none, c) {
			t.Errorf("%s changes nothing", key)
		}
		k.unset(&c)
		if diff := cmp.Diff(none, c); diff != "" {
			t.Errorf("%s changes more than it says (-none +got):\n%s", key, diff)
		}
	}
}

// scenarioKeys are the keys of a map of the plan.
func scenarioKeys(t *testing.T, path string) []string {
	t.Helper()
	p, ok := schema.Lookup(path)
	if !ok || len(p.Keys) == 0 {
		t.Fatalf("%s has no keys", path)
	}
	return p.Keys
}

// TestServeHelp: the help of serve names the protocol of every kind of target that has one, as the embedded server
// speaks them all, and what asks for its API key.
func TestServeHelp(t *testing.T) {
	c := serveCommand(&app{})
	protocols := map[string][]string{
		"kserve": {"KServe v2", "KServe v1"}, "triton": {"Triton's extensions"}, "tfserving": {"TensorFlow Serving's API"},
		"torchserve": {"TorchServe's"}, "openai": {"OpenAI's API", "Anthropic's messages"}, "grpc": {"reflection"},
		"http": {"HTTP"}, "triton_inprocess": nil,
	}
	for _, k := range all.Kinds() {
		words, known := protocols[k.Name]
		if !known {
			t.Errorf("kind %s is new: does the embedded server speak it, and does the help say so?", k.Name)
		}
		for _, w := range words {
			if !strings.Contains(c.Long, w) {
				t.Errorf("no %q in the help of serve, for kind %s", w, k.Name)
			}
		}
	}
	if use := c.Flag("api-key").Usage; !strings.Contains(use, "TorchServe") {
		t.Errorf("--api-key: %s", use)
	}
}
