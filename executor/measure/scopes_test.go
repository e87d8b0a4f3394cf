package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// request is one finished request, in ms of hold.
type request struct {
	due, end int64
	entry    uint16
	class    backends.ErrorClass
}

func (n *node) play(list []request) {
	for i, r := range list {
		n.done(r.due, r.end, func(s *backends.Sample) { s.Entry, s.Class = r.entry, r.class })
		if i%32 == 31 {
			n.at(r.due)
		}
	}
}

// random are requests whose dues go up, as a player sends them, and whose ends do not.
func random(seed uint64, n int, entries uint16) []request {
	rng := rand.New(rand.NewPCG(seed, 1))
	var list []request
	for i := range n {
		due := int64(i)*1000/int64(n) + rng.Int64N(3)
		r := request{due: due, end: due + 1 + rng.Int64N(120), entry: uint16(rng.IntN(int(entries)))}
		if rng.IntN(10) == 0 {
			r.class = backends.Status
		}
		list = append(list, r)
	}
	return list
}

// ramp is [up 0–300) base [300–500) up [500–600) top [600–700) and [800–end): two holds of one name.
var ramp = struct{ up, base, top []Span }{
	up:   []Span{{0, 300 * ms}, {500 * ms, 600 * ms}, {700 * ms, 800 * ms}},
	base: []Span{{300 * ms, 500 * ms}},
	top:  []Span{{600 * ms, 700 * ms}, {800 * ms, math.MaxInt64}},
}

func rampHolds() []Span { return append(append([]Span{}, ramp.base...), ramp.top...) }

// Each scope counts the requests due in its spans and of its entry, and the completions there, as a
// plain count does. What is in no hold is in no unscoped number; together they are all that was
// sent.
func TestScopes(t *testing.T) {
	scopes := []Scope{
		{Phase: "ramp", Spans: ramp.up, Entry: -1},
		{Phase: "base", Spans: ramp.base, Entry: -1},
		{Phase: "top", Spans: ramp.top, Entry: -1},
		{Spans: rampHolds(), Entry: 0},
		{Spans: rampHolds(), Entry: 2},
		{Phase: "top", Spans: ramp.top, Entry: 1},
		{Entry: -1},
		{Entry: 1},
	}
	for seed := range uint64(5) {
		list := random(seed, 400, 4)
		n := newNode(t, Config{Breakdown: Breakdown{Holds: rampHolds(), Scopes: scopes}})
		n.end = n.start + 1000*ms
		n.play(list)
		total := n.Finish(n.start + 2000*ms)
		in := func(spans []Span, at int64) bool { return spans == nil || covers(spans, at*ms) }
		check := func(name string, a *Aggregate, spans []Span, entry int) {
			var sent, failed, completed, window int64
			for _, r := range list {
				if entry >= 0 && int(r.entry) != entry {
					continue
				}
				if r.due < 1000 && in(spans, r.due) {
					sent++
					if r.class != backends.OK {
						failed++
					}
				}
				if r.end < 1000 && in(spans, r.end) && r.class == backends.OK {
					completed++
				}
			}
			for at := range int64(1000) {
				if in(spans, at) {
					window += ms
				}
			}
			want := []int64{sent, failed, sent - failed, sent - failed, completed, window}
			latencies, _ := value(t, a, "latency.count")
			got := []int64{a.Sent, a.Failed(), a.OK(), int64(latencies), a.Completed, a.Window}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d, %s (- counted, + folded)\n%s", seed, name, diff)
			}
		}
		check("unscoped", total.Aggregate, rampHolds(), -1)
		for i, s := range scopes {
			check(fmt.Sprintf("scope %d", i), total.Scopes[i], s.Spans, s.Entry)
		}
		if got := total.Aggregate.Sent + total.Scopes[0].Sent; got != total.Scopes[6].Sent {
			t.Errorf("seed %d: holds and ramp are %d of %d", seed, got, total.Scopes[6].Sent)
		}
	}
}

// A phase that the hold window does not reach is as long as nothing, and its rates are no data.
func TestScopeBeyondTheEnd(t *testing.T) {
	n := newNode(t, Config{Breakdown: Breakdown{
		Holds:  rampHolds(),
		Scopes: []Scope{{Phase: "top", Spans: ramp.top, Entry: -1}},
	}})
	n.end = n.start + 550*ms
	n.done(400, 410)
	n.done(520, 530)
	total := n.Finish(n.start + 600*ms)
	if a := total.Scopes[0]; a.Window != 0 || a.Sent != 0 {
		t.Errorf("top: %d ns, %d sent", a.Window, a.Sent)
	}
	if _, ok := value(t, total.Scopes[0], "requests.rate"); ok {
		t.Error("a rate over no time")
	}
	if total.Aggregate.Sent != 1 || total.Aggregate.Window != 200*ms {
		t.Errorf("hold: %d sent in %d ms", total.Aggregate.Sent, total.Aggregate.Window/ms)
	}
}

// The live view counts the ramp as well: who looks wants to see that something happens.
func TestLiveCountsTheRamp(t *testing.T) {
	n := newNode(t, Config{Breakdown: Breakdown{Holds: ramp.base}})
	n.at(0)
	n.done(10, 20)
	n.done(400, 410)
	n.done(420, 430, failed(backends.Status, ""))
	n.at(1000)
	if l := n.Progress(); l.Sent != 3 || l.OK != 2 || l.Failed != 1 {
		t.Errorf("live: %+v", l)
	}
}

// Stability windows have the scopes' numbers too, so that what is reported of a mix is that of the
// accepted windows.
func TestScopesOfStabilityWindows(t *testing.T) {
	n := newNode(t, Config{
		Windows:   Windows{Length: 100 * ms, Keep: 2},
		Breakdown: Breakdown{Scopes: []Scope{{Entry: 0}, {Entry: 1}}},
	})
	list := random(3, 200, 2)
	n.play(list)
	n.at(1001)
	n.at(1002)
	all, scopes := MergeWindows(n.CompleteWindows())
	var want [2]int64
	for _, r := range list {
		if r.due >= 800 && r.due < 1000 {
			want[r.entry]++
		}
	}
	// Requests whose end lies beyond the last drain are not there yet; they are in both counts or
	// in none.
	if scopes[0].Sent+scopes[1].Sent != all.Sent || scopes[0].Completed+
		scopes[1].Completed != all.Completed || all.Sent == 0 {
		t.Errorf("scopes %d + %d of %d", scopes[0].Sent, scopes[1].Sent, all.Sent)
	}
	if scopes[0].Window != 200*ms || scopes[0].Sent != want[0] || scopes[1].Sent != want[1] {
		t.Errorf("scopes %d, %d in %d ms; want %v", scopes[0].Sent, scopes[1].Sent,
			scopes[0].Window/ms, want)
	}
}

// Windows are whole, follow each other in their scope, and count what was due in them; what is
// beyond the cap is counted as missing. Packing what is settled changes nothing.
func TestEvery(t *testing.T) {
	latency, _ := catalogue(t).Row("latency")
	parts := Breakdown{
		Holds: rampHolds(),
		Scopes: []Scope{
			{Phase: "top", Spans: ramp.top, Entry: -1},
			{Spans: rampHolds(), Entry: 1},
			{Entry: 1},
		},
		Every: []Every{
			{Length: 70 * ms, Scope: -1, Rows: []*metric.Row{latency}},
			{Length: 30 * ms, Scope: 0, Rows: []*metric.Row{latency}},
			{Length: 50 * ms, Scope: 1},
			{Length: 40 * ms, Scope: 2, Rows: []*metric.Row{latency}},
		},
	}
	// By the spans: [300,500) has two windows of 70, [600,700) one, [800,1000) two.
	from := [][]int64{
		{300, 370, 600, 800, 870},
		{600, 630, 660, 800, 830, 860, 890, 920, 950},
		{300, 350, 400, 450, 600, 650, 800, 850, 900, 950},
		nil, // a scope without spans takes those of the unscoped numbers
	}
	for k := range int64(5) {
		from[3] = append(from[3], 300+40*k)
	}
	from[3] = append(from[3], 600, 640, 800, 840, 880, 920, 960)
	list := random(7, 600, 3)
	settled := int64(0)
	for name, f := range map[string]func() int64{
		"never settled": nil,
		"settled":       func() int64 { return settled },
	} {
		n := newNode(t, Config{Breakdown: parts, Settled: f})
		n.end = n.start + 1000*ms
		for i, r := range list {
			n.done(r.due, r.end, func(s *backends.Sample) { s.Entry, s.Class = r.entry, r.class })
			if i%32 == 31 {
				settled = n.start + (r.due-3)*ms // dues go up by at most 3 out of order
				n.at(r.due)
			}
		}
		total := n.Finish(n.start + 2000*ms)
		for k, series := range total.Series {
			var got []int64
			for _, w := range series.Windows {
				got = append(got, w.From/ms)
				if w.To-w.From != parts.Every[k].Length || w.Aggregate.Window != w.To-w.From {
					t.Errorf("%s, series %d: window [%d, %d)", name, k, w.From, w.To)
				}
				var sent, ok int64
				for _, r := range list {
					if r.due*ms >= w.From && r.due*ms < w.To && (k < 2 || r.entry == 1) {
						sent++
						if r.class == backends.OK {
							ok++
						}
					}
				}
				latencies, _ := value(t, w.Aggregate, "latency.count")
				if parts.Every[k].Rows == nil {
					ok = 0 // no distribution was asked for
				}
				if w.Aggregate.Sent != sent || int64(latencies) != ok {
					t.Errorf("%s, series %d from %d: sent %d, latencies %v; want %d, %d", name, k,
						w.From/ms, w.Aggregate.Sent, latencies, sent, ok)
				}
			}
			if diff := cmp.Diff(from[k], got); diff != "" {
				t.Errorf("%s, series %d: windows begin (- want, + got)\n%s", name, k, diff)
			}
		}
	}
}

func TestEveryIsBounded(t *testing.T) {
	n := newNode(t, Config{Breakdown: Breakdown{Every: []Every{{Length: ms, Scope: -1}}}})
	n.end = n.start + (MaxWindows+50)*ms
	n.done(5, 6)
	n.at(10)
	n.done(MaxWindows+20, MaxWindows+21)
	total := n.Finish(n.start + 2*MaxWindows*ms)
	s := total.Series[0]
	if len(s.Windows) != MaxWindows || s.Missing != 50 || s.Windows[5].Aggregate.Sent != 1 ||
		total.Aggregate.Sent != 2 {
		t.Errorf("%d windows, %d missing, %d sent", len(s.Windows), s.Missing, total.Aggregate.Sent)
	}
}

// A request is good when it was answered well, within every bound, limits included, on the side
// that the row's direction says.
func TestGoodput(t *testing.T) {
	row := func(name string) *metric.Row { r, _ := catalogue(t).Row(name); return r }
	fast := *row("service_time")
	// no row is so yet: the direction is the catalogue's, not a word of the fold
	fast.Better = metric.Higher
	tests := []struct {
		name   string
		bounds []Bound
		change func(*backends.Sample)
		good   int64
	}{
		{name: "within", bounds: []Bound{{row("latency"), 0.030}}, good: 1},
		{name: "at the limit", bounds: []Bound{{row("latency"), 0.020}}, good: 1},
		{name: "beyond", bounds: []Bound{{row("latency"), 0.0199}}},
		{name: "one of two beyond", bounds: []Bound{{row("latency"), 1}, {row("first_response"), 0.001}}},
		{name: "both within", bounds: []Bound{{row("latency"), 1}, {row("first_response"), 0.012}}, good: 1},
		{name: "failed", bounds: []Bound{{row("latency"), 1}}, change: failed(backends.Status, "")},
		{name: "without a value", bounds: []Bound{{row("connect"), 1}}},
		{name: "higher is better, at it", bounds: []Bound{{&fast, 0.020}}, good: 1},
		{name: "higher is better, below", bounds: []Bound{{&fast, 0.021}}},
		{name: "warm-up", bounds: []Bound{{row("latency"), 1}}, change: warm},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNode(t,
				Config{Breakdown: Breakdown{Goodput: tt.bounds, Scopes: []Scope{{Entry: 0}, {Entry: 1}}}})
			n.end = n.start + 1000*ms
			first := func(s *backends.Sample) { s.FirstByte = s.SendStart + 12*ms }
			if tt.change == nil {
				tt.change = func(*backends.Sample) {}
			}
			n.done(10, 30, first, tt.change)
			a := n.Finish(n.start + 2000*ms)
			if a.Aggregate.Good != tt.good || a.Scopes[0].Good != tt.good || a.Scopes[1].Good != 0 {
				t.Errorf("good = %d, of its entry %d, of the other %d; want %d", a.Aggregate.Good,
					a.Scopes[0].Good, a.Scopes[1].Good, tt.good)
			}
		})
	}
}

// goodput.ratio is over what was planned: what failed and what was dropped is not good either.
func TestGoodputRatio(t *testing.T) {
	latency, _ := catalogue(t).Row("latency")
	n := newNode(t, Config{Breakdown: Breakdown{Goodput: []Bound{{latency, 0.015}}}})
	n.end = n.start + 1000*ms
	n.done(0, 10)
	n.done(100, 115)
	n.done(200, 216)
	n.done(300, 310, failed(backends.Status, ""))
	n.done(995, 1005) // good, and completed after hold: in the ratio, not in the rate
	total := n.Finish(n.start + 2000*ms)
	total.Aggregate.PlayerCounts = PlayerCounts{
		Planned: 8, DroppedPool: 2, DroppedStop: 1,
		Offered: 1000 * ms, PeakInFlight: 3,
	}
	for path, want := range map[string]float64{
		"goodput": 2, "goodput.ratio": 3.0 / 8, "offered.rate": 8, "dropped.count": 3,
		"dropped.ratio": 3.0 / 8, "incomplete.count": 1, "in_flight.max": 3,
	} {
		if got, ok := value(t, total.Aggregate, path); !ok || got != want {
			t.Errorf("%s = %v %v, want %v", path, got, ok, want)
		}
	}
	if _, ok := value(t, newNode(t, Config{}).Finish(0).Aggregate, "goodput"); ok {
		t.Error("goodput without bounds is a number")
	}
}

// Repeats that are joined, and shards that are joined, are the sum of their parts, however they are
// put together.
func TestJoin(t *testing.T) {
	latency, _ := catalogue(t).Row("latency")
	parts := Breakdown{
		Scopes: []Scope{{Entry: 0}, {Entry: 1}}, Goodput: []Bound{{latency, 0.05}},
		Every: []Every{{Length: 200 * ms, Scope: -1, Rows: []*metric.Row{latency}}},
	}
	part := func(seed uint64) Total {
		n := newNode(t, Config{Breakdown: parts, Slice: 500 * ms})
		n.end = n.start + 1000*ms
		n.play(random(seed, 150, 2))
		total := n.Finish(n.start + 2000*ms)
		total.Aggregate.PlayerCounts = PlayerCounts{
			Planned: 151, DroppedStop: 1,
			PeakInFlight: int64(seed), Offered: 1000 * ms,
		}
		return total
	}
	joined := func(groups ...[]uint64) Total {
		var all Total
		repeat := 0
		for _, g := range groups {
			for _, seed := range g {
				p := part(seed)
				all.AddRepeat(&p, repeat)
				repeat++
			}
		}
		return all
	}
	all := joined([]uint64{1, 2, 3})
	var sent, good int64
	for seed := range uint64(3) {
		p := part(seed + 1)
		sent, good = sent+p.Aggregate.Sent, good+p.Aggregate.Good
	}
	a := all.Aggregate
	if a.Sent != sent || a.Good != good || good == 0 || a.Planned != 453 || a.PeakInFlight != 3 ||
		a.Window != 3000*ms || a.Offered != 3000*ms {
		t.Errorf("joined: sent %d of %d, good %d of %d, books %+v", a.Sent, sent, a.Good, good,
			a.PlayerCounts)
	}
	if all.Scopes[0].Sent+all.Scopes[1].Sent != sent || len(all.Series[0].Windows) != 15 ||
		len(all.Slices) != 6 {
		t.Errorf("scopes %d + %d, %d windows, %d slices", all.Scopes[0].Sent, all.Scopes[1].Sent,
			len(all.Series[0].Windows), len(all.Slices))
	}
	for i, w := range all.Series[0].Windows {
		if w.Repeat != i/5 || w.From != int64(i%5)*200*ms {
			t.Errorf("window %d: repeat %d from %d ms", i, w.Repeat, w.From/ms)
		}
	}
	if all.Slices[5].Repeat != 2 || all.Slices[0].Repeat != 0 {
		t.Errorf("repeats of slices: %d … %d", all.Slices[0].Repeat, all.Slices[5].Repeat)
	}
	again := joined([]uint64{3}, []uint64{1, 2})
	if form(t, all.Aggregate) != form(t, again.Aggregate) {
		t.Error("another order gives other sums")
	}
}

// form is an aggregate as text: its sums and the stored form of its distributions.
func form(t *testing.T, a *Aggregate) string {
	t.Helper()
	var text strings.Builder
	fmt.Fprint(&text, a.Counts, a.Flow, a.PlayerCounts, a.Window)
	for i := range a.dists {
		stored, err := json.Marshal(&a.dists[i])
		if err != nil {
			t.Fatal(err)
		}
		text.Write(stored)
	}
	return text.String()
}

func TestFoldOfPartsDoesNotAllocate(t *testing.T) {
	latency, _ := catalogue(t).Row("latency")
	n := newNode(t, Config{Breakdown: Breakdown{
		Holds: []Span{{0, 1 << 40}, {1 << 41, math.MaxInt64}}, Goodput: []Bound{{latency, 1}},
		Scopes: []Scope{{Phase: "a", Spans: []Span{{0, 1 << 40}}, Entry: -1}, {Entry: 1}},
		Every:  []Every{{Length: 1 << 39, Scope: -1, Rows: []*metric.Row{latency}}},
	}})
	now := int64(0)
	repeat := func() {
		for i := range 32 {
			now++
			n.done(now, now+5, func(s *backends.Sample) { s.Entry = uint16(i % 3) })
		}
		n.at(now + 6)
	}
	for range 300 { // until every distribution is a histogram
		repeat()
	}
	if got := testing.AllocsPerRun(20, repeat); got != 0 {
		t.Errorf("%v allocations for 32 samples", got)
	}
}
