package program

import (
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

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
