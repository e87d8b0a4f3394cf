package measure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// TestSteady: rates and times are those of the longest span with at least 90 % of the peak in flight: the
// ramp-up and the tail of a short run are in none of them. Ten users come one by one every 100 ms and stay for
// requests of 100 ms, 100 ms apart from 1 s to 3 s, and leave one by one.
func TestSteady(t *testing.T) {
	for _, length := range []int64{4000 * ms, 0} { // known before, and not
		n := newNode(t, Config{
			Breakdown: Breakdown{Scopes: []Scope{{Entry: -1, Steady: true}, {Entry: 1, Steady: true}}}, Length: length,
		})
		n.end = 0
		if length > 0 {
			n.end = n.start + length
		}
		for at := int64(0); at < 4000; at += 100 {
			users := min(at/100+1, 10, (4000-at)/100)
			for u := range users {
				took := int64(100)
				if users < 10 {
					took = 50 // faster where there are fewer, and idle then
				}
				n.done(at, at+took, func(s *backends.Sample) { s.Entry = uint16(u % 2) })
				n.at(at)
			}
		}
		total := n.Finish(n.start + 5000*ms)
		for i, want := range []struct{ rate, users float64 }{{100, 10}, {50, 5}} {
			a := total.Scopes[i]
			rate, _ := value(t, a, "requests.rate")
			longest, _ := value(t, a, "latency.p10")
			if math.Abs(rate-want.rate) > 0.05*want.rate || longest != 0.1 {
				t.Errorf("hold %d, scope %d: %v/s, a tenth of the latencies up to %v s", length, i, rate, longest)
			}
		}
		if s := total.Steady; s.From < 800*ms || s.From > 1100*ms || s.To < 2900*ms || s.To > 3200*ms {
			t.Errorf("hold %d: steady from %d to %d", length, s.From/ms, s.To/ms)
		}
		if rate, _ := value(t, total.Aggregate, "requests.rate"); rate > 90 {
			t.Errorf("%v/s as a whole", rate)
		}
	}
}

// TestSteadyPoisson: of random arrivals no short span with more of them by chance is a steady one: it has no
// value, and the reason names the span. At 2000 requests in flight the load is the same to 10 %.
func TestSteadyPoisson(t *testing.T) {
	for _, c := range []struct {
		rate, took float64 // per ms, ms
		steady     bool
	}{{0.04, 20, false}, {0.2, 20, false}, {2, 1000, true}} {
		r := rand.New(rand.NewPCG(1, uint64(1000*c.rate)))
		n := newNode(t, Config{Breakdown: Breakdown{Scopes: []Scope{{Entry: -1, Steady: true}}}, Length: 12000 * ms})
		n.end = n.start + 12000*ms
		for at := -c.took; at < 12000; at += r.ExpFloat64() / c.rate {
			if at >= 0 {
				n.done(int64(at), int64(at+c.took))
				n.at(int64(at))
			}
		}
		total := n.Finish(n.start + 14000*ms)
		rate, ok := value(t, total.Scopes[0], "requests.rate")
		switch length := total.Steady.To - total.Steady.From; {
		case c.steady && (!ok || math.Abs(rate-1000*c.rate) > 100*c.rate || length < 3000*ms || total.NotSteady != ""):
			t.Errorf("%v/ms: %v/s over %d ms: %s", c.rate, rate, length/ms, total.NotSteady)
		case !c.steady && (ok || length != 0 || !strings.Contains(total.NotSteady, "of 12s of hold, less than a quarter")):
			t.Errorf("%v/ms: %v/s over %d ms: %s", c.rate, rate, length/ms, total.NotSteady)
		}
	}
}

// TestSteadyNone: without requests there is no steady span, and no metric of it.
func TestSteadyNone(t *testing.T) {
	n := newNode(t, Config{Breakdown: Breakdown{Scopes: []Scope{{Entry: -1, Steady: true}}}, Length: 1000 * ms})
	n.end = n.start + 1000*ms
	n.at(1)
	total := n.Finish(n.start + 2000*ms)
	if v, ok := value(t, total.Scopes[0], "requests.rate"); ok || total.Steady != (Span{}) {
		t.Errorf("%v, %v", v, total.Steady)
	}
}

// TestSteadyShards: two clients of a run have one steady span, of both together.
func TestSteadyShards(t *testing.T) {
	play := func(from, to int64) *Total {
		n := newNode(t, Config{Breakdown: Breakdown{Scopes: []Scope{{Entry: -1, Steady: true}}}, Length: 600 * ms})
		n.end = n.start + 600*ms
		for at := from; at < to; at += 10 {
			n.done(at, at+10)
			n.at(at)
		}
		total := n.Finish(n.start + 2000*ms)
		return &total
	}
	var all Total
	all.MergeShard(play(0, 400))
	all.MergeShard(play(200, 600))
	if all.Steady != (Span{200 * ms, 400 * ms}) {
		t.Errorf("steady from %d to %d", all.Steady.From/ms, all.Steady.To/ms)
	}
	if rate, _ := value(t, all.Scopes[0], "requests.rate"); math.Abs(rate-200) > 11 {
		t.Errorf("%v/s", rate)
	}
}

// TestInFlight: the mean number in flight by part is that of a slow count.
func TestInFlight(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f := inFlight{width: 1 + r.Int64N(4)}
		var all []Span
		for range r.IntN(40) {
			from := r.Int64N(300) - 20
			s := Span{from, from + r.Int64N(200)}
			all = append(all, s)
			f.add(s.From, s.To)
		}
		for k, mean := range f.means() {
			area := int64(0)
			for _, s := range all {
				from, to := int64(k)*f.width, int64(k+1)*f.width
				area += max(min(s.To, to)-max(s.From, from), 0)
			}
			if want := float64(area) / float64(f.width); math.Abs(mean-want) > 1e-9 {
				t.Fatalf("part %d of %d ns: %v, want %v", k, f.width, mean, want)
			}
		}
	}
}
