package program

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// TestInside: what is wrong with the options of a server in this process stands where each of them
// does, all at once.
func TestInside(t *testing.T) {
	p, diags := scenario.Parse("plan.yaml", []byte(`version: 1
target:
  backend: triton_inprocess
  model: m
  inprocess:
    repository: .
    options:
      log_verbosity: 1
      exit_timeout_secs: 5
      log_info: maybe
stages: [{id: s, load: {concurrency: 1}, for: 5 requests}]
`), scenario.Overrides{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	_, diags = Compile(p, all.Kinds())
	var got []string
	for _, d := range diags {
		got = append(got, d.Pos.String()+" "+d.Code+" "+d.Summary+" "+d.Nearest)
	}
	const want = "plan.yaml:8:7 bad-target target \"main\": inprocess.options has no \"log_verbosity\" " +
		"log_verbose\n" +
		"plan.yaml:10:7 bad-target target \"main\": inprocess.options.log_info: \"maybe\" is not true or false "
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
