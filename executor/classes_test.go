package executor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// TestClasses: an output that is asked for as classes is compared as texts, over every transport; one that differs is told.
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
			want := result.ErrorClass{Class: "mismatch", Count: 2, Example: `row 1: output OUTPUT0 [1] is "8.000000:1", want "7.000000:0"`}
			if diff := cmp.Diff([]result.ErrorClass{want}, node(t, r, "s").Errors); diff != "" {
				t.Errorf("%s (-want +got):\n%s", url, diff)
			}
		}
	}
}

// TestClassesElsewhere: what gives no classes is refused at the line that asks for them.
func TestClassesElsewhere(t *testing.T) {
	for plan, want := range map[string]string{
		`{backend: triton, url: "http://h", model: m, endpoint: generate}`:                      "backend triton has no classification here",
		`{backend: triton_inprocess, model: m, inprocess: {repository: .}}`:                     "backend triton_inprocess has no classification here",
		`{backend: triton, url: "grpc://h", model: m}, defaults: {shared_memory: system}`:       `output "O" is wanted as classes, which servers do not put into shared memory`,
		`{backend: triton, url: "grpc://h", model: m, streaming: true}`:                         "",
		`{backend: kserve, url: "http://h", model: m}, defaults: {headers: {Accept: "*/*"}}`:    "",
		`{backend: tfserving, url: "grpc://h", model: m}, defaults: {headers: {Accept: "*/*"}}`: "backend tfserving has no classification here",
	} {
		p, diags := scenario.Parse("plan.yaml", []byte(`{version: 1, target: `+plan+`, stages: [{id: s, load: {concurrency: 1}, for: 5 requests,
  outputs: [P, {name: O, classification: 3}]}]}`), scenario.Overrides{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		_, diags = Compile(p, all.Kinds())
		if want == "" {
			if diags.HasErrors() {
				t.Errorf("%s: %v", plan, diags)
			}
			continue
		}
		if len(diags) != 1 || diags[0].Code != "no-classes" || diags[0].Pos.Line != 2 || diags[0].Summary != want {
			t.Errorf("%s: %v", plan, diags)
		}
	}
}
