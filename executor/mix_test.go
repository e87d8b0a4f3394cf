package executor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestMixKeys: every key of a request may stand on a kind of a mix; parameters and headers come on
// top of the stage's.
func TestMixKeys(t *testing.T) {
	t.Parallel()
	w := watch(t, nil)
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
datasets: {ones: {generate: {IN: 1}}, twos: {generate: {IN: 2}}}
stages:
  - id: s
    load: {concurrency: 1}
    shapes: {IN: [2]}
    data: ones
    parameters: {p: stage, q: stage}
    headers: {X-A: stage, X-B: stage}
    mix:
      plain: {}
      own: {model: other, batch: 3, shapes: {IN: [4]}, data: twos, outputs: [OUT2], parameters: {p: own}, headers: {X-A: own}, expect: {status: [503]}}
    for: 6 requests
    assert: [errors.count == 3, 'mix("own").errors.count == 3', 'mix("plain").errors.count == 0']
`, w.url("http"), Env{})
	var got []string
	for _, q := range w.all() {
		got = append(got,
			fmt.Sprint(q.model, q.shape, ints(q.data)[0], q.outputs, q.params["p"], q.params["q"], q.header.Get("X-A"),
				q.header.Get("X-B")))
	}
	plain, own := "m[1 2] 1 []stagestagestagestage", "other[3 4] 2 [OUT2]ownstageownstage"
	if want := []string{plain, own, plain, own, plain, own}; !slices.Equal(got, want) {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, a := range node(t, r, "s").Assertions {
		if a.Verdict != "pass" {
			t.Errorf("%s: %s %s", a.That, a.Verdict, a.Reason)
		}
	}
}
