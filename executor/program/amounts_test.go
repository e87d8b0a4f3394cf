package program

import (
	"testing"

	"github.com/sluice-bench/sluice/scenario/expression"
)

// fixed gives every metric one value; below 0: nobody knows it.
type fixed float64

func (f fixed) Quantity(expression.Ref) expression.Quantity {
	if f < 0 {
		return expression.Quantity{Why: "stage find was skipped"}
	}
	return expression.Quantity{Known: true, V: float64(f), Lo: float64(f), Hi: float64(f), N: 1}
}

// TestAmount: a load that comes from a result is what its formula gives, within the bounds of a
// written one; else it says why there is none.
func TestAmount(t *testing.T) {
	for _, c := range []struct {
		load  string
		found fixed
		want  float64
		why   string
	}{
		{`rate: '${0.8 * stage("find").requests.rate}'`, 500, 400, ""},
		{
			`rate: '${0.8 * stage("find").requests.rate}'`, 0, 0,
			`${0.8 * stage("find").requests.rate} is 0/s here; a rate is above 0 and at most 10000000/s`,
		},
		{
			`rate: '${0.8 * stage("find").requests.rate}'`, -1, 0,
			`${0.8 * stage("find").requests.rate} has no value: stage("find").requests.rate: stage find was skipped`,
		},
		{`rate: '${max(100/s, 0.8 * stage("find").requests.rate)}'`, 10, 100, ""},
		{
			`rate: '${100 * stage("find").requests.rate}'`, 1e6, 0,
			`${100 * stage("find").requests.rate} is 1e+08/s here; a rate is above 0 and at most 10000000/s`,
		},
		{`concurrency: '${0.8 * stage("find").in_flight.max}'`, 13, 10, ""}, // 10.4
		{`concurrency: '${stage("find").in_flight.max / 4}'`, 14, 4, ""},    // 3.5
		{
			`concurrency: '${0.1 * stage("find").in_flight.max}'`, 4, 0,
			`${0.1 * stage("find").in_flight.max} is 0.4 here; requests in flight are from 1 to 65536`,
		},
		{`concurrency: '${stage("find").in_flight.max * stage("find").in_flight.max}'`, 1000, 0, ""},
	} {
		p, diags := compiling(t,
			"stages:\n  - {id: find, load: {concurrency: 1}, for: 1s}\n  - {id: hold, load: {"+c.load+"}, for: 1s}")
		if diags.HasErrors() {
			if c.want == 0 && c.why == "" {
				continue // refused when it was compiled
			}
			t.Errorf("%s: %v", c.load, diags)
			continue
		}
		hold := p.Nodes[1]
		got, why := hold.Amount(hold.Level, c.found)
		if got != c.want || why != c.why {
			t.Errorf("%s of %v: %v %q, want %v %q", c.load, c.found, got, why, c.want, c.why)
		}
	}
}

// TestAmountsOf: every place of a load that may be a formula is compiled.
func TestAmountsOf(t *testing.T) {
	for _, load := range []string{
		`rate: {ramp: [{to: 10/s, hold: 1s}, {to: '${2 * stage("find").requests.rate}', hold: 1s}]}`,
		`rate: {search: {from: '${0.5 * stage("find").requests.rate}', to: '${2 * ` +
			`stage("find").requests.rate}', while: latency.p50 < 1s}}`,
		`concurrency: {search: {from: 1, to: '${2 * stage("find").in_flight.max}', while: latency.p50 < 1s}}`,
	} {
		p, diags := compiling(t,
			"stages:\n  - {id: find, load: {concurrency: 1}, for: 1s}\n  - {id: hold, load: {"+load+"}, for: 1s}")
		if diags.HasErrors() {
			t.Errorf("%s: %v", load, diags)
			continue
		}
		hold := p.Nodes[1]
		all := amountsOf(hold.Stage, hold.Level)
		if len(all) == 0 || len(hold.takes) != 1 {
			t.Errorf("%s: %d formulas, %d nodes", load, len(all), len(hold.takes))
		}
		for _, l := range all {
			if v, why := hold.Amount(l, fixed(50)); why != "" || v != 100 && v != 25 {
				t.Errorf("%s: %v %s", load, v, why)
			}
		}
	}
}
