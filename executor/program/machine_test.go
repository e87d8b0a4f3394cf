package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/scenario"
)

// TestExceeded: a plan that asks for more than the machine has shown is warned of at the load's
// line, once.
func TestExceeded(t *testing.T) {
	shown := map[string]Shown{"http": {Rate: 5000, Slots: 64, Highest: 30000}}
	for _, row := range []struct {
		name, url, stages string
		machine           *Machine
		want              string
	}{
		{"within", "http://h:1", "  - {id: a, load: {rate: 5000/s}, for: 1s}", &Machine{Shown: shown}, ""},
		{
			"a rate", "http://h:1", "  - {id: a, load: {rate: 5001/s}, for: 1s}", &Machine{Shown: shown},
			"4:26 5001/s over http, and it has sent 5000/s on time",
		},
		{
			"concurrency", "http://h:1", "  - {id: a, load: {concurrency: 65}, for: 1s}", &Machine{Shown: shown},
			"4:33 65 requests in flight over http, and it has had 64",
		},
		{
			"concurrency within", "http://h:1", "  - {id: a, load: {concurrency: 64}, for: 1s}",
			&Machine{Shown: shown}, "",
		},
		{
			"levels", "http://h:1", "  - {id: a, load: {rate: [100/s, 6000/s, 7000/s]}, for: 1s}",
			&Machine{Shown: shown},
			"4:34 6000/s over http, and it has sent 5000/s on time\n4:42 7000/s over http, and it has sent 5000/s " +
				"on time",
		},
		{
			"a ladder says it once", "http://h:1",
			"  - {id: a, load: {rate: {levels: {from: 4000/s, to: 9000/s, step: 1000/s}}}, for: 1s}",
			&Machine{Shown: shown}, "4:42 6000/s over http, and it has sent 5000/s on time",
		},
		{
			"the embedded server", "builtin://http", "  - {id: a, load: {rate: 6000/s}, for: 1s}",
			&Machine{Shown: shown}, "4:26 6000/s over http, and it has sent 5000/s on time",
		},
		{
			"another transport", "grpc://h:1", "  - {id: a, load: {rate: 9000/s}, for: 1s}", &Machine{Shown: shown},
			"",
		},
		{
			"nothing known of open loops", "http://h:1", "  - {id: a, load: {rate: 9000/s}, for: 1s}",
			&Machine{Shown: map[string]Shown{"http": {Slots: 64}}}, "",
		},
		{"not calibrated", "http://h:1", "  - {id: a, load: {rate: 9000/s}, for: 1s}", nil, ""},
		{"another machine's", "http://h:1", "  - {id: a, load: {rate: 9000/s}, for: 1s}", &Machine{Other: "x"}, ""},
		{
			"a ramp", "http://h:1",
			"  - {id: a, load: {rate: {ramp: [{to: 100/s, over: 1s}, {to: 8000/s, over: 1s}, {to: 10/s}]}}, for: 5s}",
			&Machine{Shown: shown}, "4:62 8000/s over http, and it has sent 5000/s on time",
		},
		{
			"a search", "http://h:1",
			"  - {id: a, load: {rate: {search: {from: 100/s, to: 8000/s, while: latency.p99 < 1s}}}, for: 5s}",
			&Machine{Shown: shown}, "4:53 8000/s over http, and it has sent 5000/s on time",
		},
		{
			"a group", "http://h:1",
			"  - parallel:\n      - {id: a, load: {rate: 3000/s}, for: 1s}\n      - {id: b, load: {rate: 3000/s}, " +
				"for: 1s}",
			&Machine{Shown: shown},
			"5:24 the stages of this group send 6000/s over http together, and it has sent 5000/s on time",
		},
		{
			"a group within", "http://h:1",
			"  - parallel:\n      - {id: a, load: {rate: [1000/s, 2000/s]}, for: 1s}\n      - {id: b, load: " +
				"{rate: 3000/s}, for: 1s}",
			&Machine{Shown: shown}, "",
		},
	} {
		text := fmt.Sprintf("version: 1\ntarget: {backend: kserve, url: %q, model: simple}\nstages:\n%s\n",
			row.url, row.stages)
		plan, diags := scenario.Parse("p", []byte(text), scenario.Overrides{})
		if diags.HasErrors() {
			t.Errorf("%s: %v", row.name, diags)
			continue
		}
		program, diags := Compile(plan, all.Kinds())
		if diags.HasErrors() {
			t.Errorf("%s: %v", row.name, diags)
			continue
		}
		// side by side, however the graph is built
		if strings.Contains(row.stages, "parallel") && len(program.Units) > 1 {
			for _, u := range program.Units[1:] {
				program.Units[0].Members = append(program.Units[0].Members, u.Members...)
			}
			program.Units = program.Units[:1]
		}
		var got []string
		for _, d := range row.machine.Exceeded(program) {
			got = append(got,
				fmt.Sprintf("%d:%d %s", d.Pos.Line, d.Pos.Column,
					strings.TrimPrefix(d.Summary, "the plan asks for more than this machine has shown: ")))
		}
		if text := strings.Join(got, "\n"); text != row.want {
			t.Errorf("%s:\ngot  %s\nwant %s", row.name, text, row.want)
		}
	}
}
