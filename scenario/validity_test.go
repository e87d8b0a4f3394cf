package scenario

import (
	"testing"
	"time"
)

// TestValidity: each limit of the client is that of the stage, else of the defaults, else of the plan, else
// of the language.
func TestValidity(t *testing.T) {
	const head = "version: 1\ntarget: {backend: kserve, url: \"http://h:1\", model: m}\nvars: {late: 3ms}\n"
	const ms = time.Millisecond
	usual := Validity{time.Millisecond, 20 * ms, 0.1}
	for _, row := range []struct {
		plan, stage string
		want        Validity
	}{
		{"", "", usual},
		{"validity: {}\n", "", usual},
		{"validity: {send_delay: 5ms, paused: 20%}\n", "", Validity{5 * ms, 20 * ms, 0.2}},
		{"", ", validity: {pause: 50ms}", Validity{ms, 50 * ms, 0.1}},
		{
			"validity: {send_delay: 5ms, paused: 20%}\n", ", validity: {pause: 50ms, paused: 30%}",
			Validity{5 * ms, 50 * ms, 0.3},
		},
		{
			"validity: {send_delay: 5ms, pause: 30ms}\ndefaults: {validity: {send_delay: \"${late}\"}}\n", "",
			Validity{3 * ms, 30 * ms, 0.1},
		},
	} {
		p := mustParse(t, head+row.plan+"stages: [{id: s, load: {concurrency: 1}, for: 1s"+row.stage+"}]\n",
			Overrides{})
		if got := p.Stages[0].Validity; got != row.want {
			t.Errorf("%s%s: %+v", row.plan, row.stage, got)
		}
	}
	stage := "stages: [{parallel: [{id: s, load: {concurrency: 1}, for: 1s}]}]\n"
	p := mustParse(t, head+"validity: {pause: 50ms}\n"+stage, Overrides{Sets: []string{"validity.pause=60ms"}})
	if got := p.Stages[0].Validity.Pause; got != 60*ms {
		t.Errorf("in a group, by --set: %s", got)
	}
	for _, o := range p.Origins() {
		if o.Key == "stages.s.validity.pause" && o.From != "--set" {
			t.Errorf("%s is from %q", o.Key, o.From)
		}
	}
	_, ds := Parse("plan.yaml", []byte(head+"validity: {pause: 5s}\n"+stage), Overrides{})
	if len(ds) != 1 || ds[0].Pos.Line != 4 {
		t.Errorf("out of range: %v", ds)
	}
}
