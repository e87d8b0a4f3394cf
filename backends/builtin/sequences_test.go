package builtin

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestUnloadedSequences: what a model kept is gone once it was unloaded, also where it is loaded again.
func TestUnloadedSequences(t *testing.T) {
	s := start(t, Config{})
	step := func(id int, flags string) answer {
		return post(t, s.HTTPURL()+"/v2/models/sequence_acc/infer", fmt.Sprintf(
			`{"inputs":[{"name":"INPUT","shape":[1,1],"datatype":"INT32","data":[5]}],`+
				`"parameters":{"sequence_id":%d%s}}`, id, flags))
	}
	const begin, end = `,"sequence_start":true`, `,"sequence_end":true`
	for _, id := range []int{7, 8} {
		if a := step(id, begin); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if a := step(8, end); a.status != 200 || !strings.Contains(string(a.body), "[10]") {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, verb := range []string{"unload", "load"} {
		if a := post(t, s.HTTPURL()+"/v2/repository/models/sequence_acc/"+verb, ""); a.status != 200 {
			t.Fatalf("%s: %d %s", verb, a.status, a.body)
		}
		want := map[string]int{"unload": http.StatusNotFound, "load": http.StatusBadRequest}[verb]
		if a := step(7, ""); a.status != want {
			t.Errorf("a step after %s: %d %s", verb, a.status, a.body)
		}
	}
	if a := step(7, begin+end); a.status != 200 || !strings.Contains(string(a.body), "[5]") {
		t.Errorf("the sequence begins anew: %d %s", a.status, a.body)
	}
	n := decode[countReply](t, get(t, s.URLs().Control+"/sim/count").body).Sequences
	if want := (sequenceCounts{
		Begun: 3, Ended: 2, Lost: 1, Most: 2, Wrong: 1, Last: "a request of sequence 7, which is not open",
	}); n != want {
		t.Errorf("%+v, want %+v", n, want)
	}
}

// A request that looked for its model before that was unloaded does not open a sequence of it
// afterwards.
func TestUnloadedInBetween(t *testing.T) {
	m := accumulator("acc", "TYPE_UINT64")
	m.sequences.load(false)
	in := []tensor{{name: "INPUT", typ: m.inputs[0].typ, shape: []int64{1, 1}, data: make([]byte, 4)}}
	if _, bad := m.sequences.addStep(&inference{sequence: sequenceStep{id: "1", start: true}}, m.name,
		in); bad == nil || bad.http != http.StatusNotFound || len(m.sequences.open) != 0 {
		t.Errorf("%v, %d are open", bad, len(m.sequences.open))
	}
}
