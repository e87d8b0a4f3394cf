package openai

import (
	"net/http"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// TestLearn: what a refusal says of exact lengths is decided by the request without what may have been refused, for
// the rows of that model that leave it to the server.
func TestLearn(t *testing.T) {
	auto, always := asker{model: "m", auto: true}, asker{model: "m"}
	answered := func(tokens int64) *backends.Sample {
		return &backends.Sample{Tokens: backends.Tokens{OutputTokens: backends.CountOf(tokens)}}
	}
	refused := func(text string) *backends.Sample {
		return &backends.Sample{Class: backends.Status, Status: http.StatusBadRequest, Note: []byte(text)}
	}
	const unknown = "the server refuses min_tokens and ignore_eos, so answers end where the model ends them: "
	for name, c := range map[string]struct {
		at      string // endpoint
		asker   asker
		replies []*backends.Sample
		want    lengthWay
		note    string
	}{
		"refused with them": {
			completions, auto,
			[]*backends.Sample{refused("no ignore_eos"), answered(5)},
			lengthWay{plain: true},
			unknown + "no ignore_eos",
		},
		"refused without a reason": {
			completions, auto, []*backends.Sample{refused(""), answered(5)}, lengthWay{plain: true}, unknown + "status 400",
		},
		"refused for another reason": {
			completions, auto,
			[]*backends.Sample{refused("too long"), refused("too long")},
			lengthWay{},
			"the server refuses the request: too long",
		},
		"refused for two reasons": {
			completions, auto,
			[]*backends.Sample{refused("no ignore_eos"), refused("too long")},
			lengthWay{plain: true},
			"the server refuses the request: too long",
		},
		"refused and then not answered": {
			completions, auto,
			[]*backends.Sample{refused("no ignore_eos"), {Class: backends.Status, Status: 500}},
			lengthWay{plain: true},
			unknown + "no ignore_eos",
		},
		"refused with them, and the limit ignored": {
			chat, auto,
			[]*backends.Sample{refused("no ignore_eos"), answered(50), answered(8)},
			lengthWay{plain: true, newName: true},
			unknown + "no ignore_eos",
		},
		"always":   {completions, always, []*backends.Sample{refused("no ignore_eos")}, lengthWay{}, "the server refuses the request: no ignore_eos"},
		"as asked": {completions, auto, []*backends.Sample{answered(8)}, lengthWay{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c2 := &conn{target: backends.Target{Endpoint: c.at}, ways: map[asker]lengthWay{}}
			call := &backends.Call{Impl: &expectation{length: exactLength{tokens: 8, asker: c.asker}}}
			note, again := "", true
			for _, s := range c.replies {
				if !again || !c2.AsksExactly(call) {
					t.Fatal("settled before the last reply")
				}
				note, again = c2.Learn(call, s)
			}
			c.want.settled = true
			if got := c2.ways[c.asker]; got != c.want || note != c.note || again {
				t.Errorf("way %+v, note %q, again %t; want %+v, %q", got, note, again, c.want, c.note)
			}
			if len(c2.ways) != 1 {
				t.Errorf("it says something of other rows: %v", c2.ways)
			}
		})
	}
}
