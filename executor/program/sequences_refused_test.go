package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// mistakes are the errors of a plan, as text.
func mistakes(t *testing.T, text string) string {
	t.Helper()
	plan, diags := scenario.Parse("p", []byte(text), scenario.Overrides{})
	if plan != nil {
		_, more := Compile(plan, all.Kinds())
		diags = append(diags, more...)
	}
	return fmt.Sprint(diags)
}

// TestSequenceMistakes: what does not go with sequences is said at its line.
func TestSequenceMistakes(t *testing.T) {
	for _, c := range []struct{ stage, want string }{
		{"load: {rate: 5/s, of: sequences}, for: 1s", "counts sequences, and its requests form none"},
		{"load: {concurrency: 1}, for: 5 sequences", "lasts for sequences, and its requests form none"},
		{
			"load: {concurrency: 1}, warmup: 5 sequences, for: 1s",
			"the warm-up of stage \"s\" lasts for sequences, and its requests form none",
		},
		{
			"load: {concurrency: 1}, until: {stable: {window: 5 sequences}}, sequences: {}",
			"a window cannot be a number of sequences",
		},
		{"load: {concurrency: 2}, batch: 2, for: 1s, sequences: {}", "batch is 2, but the requests form sequences"},
		{"load: {concurrency: 4}, for: 1s, sequences: {ids: {to: 3}}", "3 ids are fewer than the 4"},
		{"load: {rate: 4/s}, for: 1s, sequences: {live: 9, ids: {from: 1, to: 8}}", "8 ids are fewer than the 9"},
		{
			"load: {rate: 4/s, of: sequences}, for: 1s, sequences: {live: 9}",
			"\"live\" does not fit `of: sequences`",
		},
		{"load: {concurrency: 1}, for: 1s, assert: [sequences.rate > 1/s]", "its requests form no sequences"},
	} {
		got := mistakes(t, `
version: 1
target: {backend: kserve, url: "http://h", model: m}
stages: [{id: s, `+c.stage+`}]
`)
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.stage, got)
		}
	}
	got := mistakes(t, `
version: 1
target: {backend: kserve, url: "http://h", model: m}
defaults: {load: {concurrency: 3}, for: 1s, sequences: {ids: {to: 5}}}
stages: [{parallel: [{id: a}, {id: b}]}, {id: c}]
`)
	if want := "5 ids are fewer than the 6"; !strings.Contains(got, want) {
		t.Errorf("%s", got)
	}
	got = mistakes(t, `
version: 1
target: {backend: kserve, url: "http://h", model: m}
defaults: {load: {concurrency: 2}, for: 1s}
stages:
  - parallel:
      - {id: a, sequences: {ids: {from: 1, to: 50}}}
      - {id: b, sequences: {ids: {from: 50, to: 90}}}
      - {id: c, sequences: {ids: {from: 91, to: 99}}}
`)
	if want := `ids 50 to 90 have some in common with those of stage "a"`; !strings.Contains(got, want) ||
		strings.Count(got, "have some in common") != 1 {
		t.Errorf("%s", got)
	}
}
