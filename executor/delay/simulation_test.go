package delay

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// ms is the unit of the simulation, and service the mean service time of its servers.
const (
	ms      = int64(1e6)
	service = 5 * ms
)

// runs is the number of runs for each kind of server and load, of four percentiles each. .ci/slow asks for as
// many as the counts in the guide are of.
var runs = flag.Int("runs", 60, "simulated runs")

// TestTruthIsWithinBounds counts how often what a client on time would have measured lies outside the
// interval of a late one's numbers. Where the truth is worse than the interval a pass is wrong, where it is
// better a fail.
func TestTruthIsWithinBounds(t *testing.T) {
	servers := []struct {
		name string
		make func() server
		fifo bool
	}{
		{"FIFO, 1 instance", newFIFO(1), true},
		{"FIFO, 4 instances", newFIFO(4), true},
		{"FIFO, 8 instances", newFIFO(8), true},
		{"sharing", newSharing, false},
		{"batching", newBatcher, false},
	}
	loads := []struct {
		name string
		play func(*rand.Rand, func() server) *trial
	}{
		{"open", playOpen},
		{"drops", playDrops},
		{"closed", playClosed},
	}
	for _, l := range loads {
		for _, s := range servers {
			t.Run(l.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(1, 2))
				var all counts
				for range *runs {
					l.play(r, s.make).compare(&all)
				}
				sum := all.sum()
				t.Logf("%d numbers: %d wrong passes, %d wrong fails%s", sum.n, sum.wrongPass, sum.wrongFail, &all)
				pass, fail := sum.n/500, sum.n/200
				if *runs < 500 {
					pass++ // one may be chance
				}
				if l.name == "open" && s.fifo { // a theorem
					pass, fail = 0, 0
				}
				if sum.wrongPass > pass || sum.wrongFail > fail {
					t.Errorf("of %d numbers %d make a wrong pass, %d a wrong fail", sum.n, sum.wrongPass,
						sum.wrongFail)
				}
			})
		}
	}
}

// counts holds a count for each kind of number.
type counts []*count

type count struct {
	name                    string
	n, wrongPass, wrongFail int
	widths                  []float64 // of the interval, as a share of what was measured
}

func (c *counts) of(name string) *count {
	for _, x := range *c {
		if x.name == name {
			return x
		}
	}
	*c = append(*c, &count{name: name})
	return (*c)[len(*c)-1]
}

func (c *counts) sum() (all count) {
	for _, x := range *c {
		all.n += x.n
		all.wrongPass += x.wrongPass
		all.wrongFail += x.wrongFail
	}
	return all
}

func (c *counts) String() string {
	var b strings.Builder
	for _, x := range *c {
		slices.Sort(x.widths)
		fmt.Fprintf(&b, "\n%-14s %6d: %4d wrong passes, %4d wrong fails, a median width of %.1f %%", x.name, x.n,
			x.wrongPass, x.wrongFail, 100*x.widths[len(x.widths)/2])
	}
	return b.String()
}

// lower counts a number that is better the lower it is.
func (c *count) lower(low, truth, measured, high float64) {
	below, above := c.outside(low, truth, measured, high)
	c.wrongPass += above
	c.wrongFail += below
}

// higher counts a number that is better the higher it is.
func (c *count) higher(low, truth, measured, high float64) {
	below, above := c.outside(low, truth, measured, high)
	c.wrongPass += below
	c.wrongFail += above
}

// outside counts a number, and returns whether the truth is below or above the interval, as 0 or 1.
func (c *count) outside(low, truth, measured, high float64) (below, above int) {
	const rounding = 1e-9
	c.n++
	width := high - low
	if measured > 0 {
		width /= measured
	}
	c.widths = append(c.widths, width)
	switch {
	case truth < min(low, measured)*(1-rounding):
		return 1, 0
	case truth > max(high, measured)*(1+rounding):
		return 0, 1
	}
	return 0, 0
}

// request holds the times of one request and how it ended.
type request struct {
	due, sent, read int64 // never: it was dropped
	delay           Delay
}

func (x request) latency() int64 { return x.read - x.due }

// trial is one run: what a late client measured, and what one on time would have.
type trial struct {
	late, onTime []request // by number
	dropped      bool      // requests are dropped where too many are open
	droppedLate  int64     // those that the client's delays may have made find no room
	droppedMore  int64     // by how many more there may be on time
	pauses       int64     // closed loops: their time
}

// latencies returns those of what was answered: low, measured and high, and the true ones.
func (x *trial) latencies() (low, measured, high, truth []int64) {
	for i, q := range x.late {
		if q.read != never {
			lo, hi := q.interval()
			low, measured, high = append(low, lo), append(measured, q.latency()), append(high, hi)
		}
		if o := x.onTime[i]; o.read != never {
			truth = append(truth, o.latency())
		}
	}
	return low, measured, high, truth
}

func (q request) interval() (low, high int64) {
	if q.delay.IsZero() {
		return q.latency(), q.latency()
	}
	return q.delay.Due(q.latency())
}

// limit is that of a good request, and a timeout.
const limit = 6 * service

// compare enters the numbers of a trial that have bounds, as executor/measure makes them.
func (x *trial) compare(c *counts) {
	if low, measured, high, truth := x.latencies(); x.droppedMore == 0 && len(measured) > 0 && len(truth) > 0 {
		for _, p := range []float64{50, 90, 95, 99} {
			c.of("percentiles").lower(rank(low, p), rank(truth, p), rank(measured, p), rank(high, p))
		}
		c.of("means").lower(mean(low), mean(truth), mean(measured), mean(high))
		c.of("good requests").higher(good(high), good(truth), good(measured), good(low))
		x.compareRates(c)
	}
	x.compareTimeouts(c)
	if x.dropped {
		n := dropped(x.late)
		c.of("drops").lower(n-float64(x.droppedLate), dropped(x.onTime), n, n+float64(x.droppedMore))
	}
}

func good(list []int64) (n float64) {
	for _, m := range list {
		n += number(m <= limit)
	}
	return n
}

func (x *trial) compareTimeouts(c *counts) {
	var sure, all, most, onTime float64
	sooner := limit
	if x.dropped { // requests may take far longer than they did
		sooner /= 2
	}
	for i, q := range x.late {
		onTime += number(x.onTime[i].read != never && x.onTime[i].latency() > limit)
		if q.read == never {
			continue
		}
		late := q.latency() > limit
		_, latest := q.interval()
		all += number(late)
		most += number(late || latest > sooner && !q.delay.IsZero())
		sure += number(late && q.delay.IsZero())
	}
	if x.droppedMore == 0 || sure == most {
		c.of("timeouts").lower(sure, onTime, all, most)
	}
}

// compareRates compares completions in hold: those that are within at both ends of their interval, or at
// either. A closed loop of a number of requests ends earlier by the pauses at most.
func (x *trial) compareRates(c *counts) {
	if x.pauses >= 0 {
		n, end, onTime := float64(len(x.late)), lastRead(x.late), lastRead(x.onTime)
		c.of("rates").higher(n/end, n/onTime, n/end, n/(end-float64(x.pauses)))
		return
	}
	end := x.late[len(x.late)-1].due
	holds := func(at int64) bool { return at >= end/10 && at < end-end/10 }
	var rate, good [4]float64 // low, truth, measured, high
	for i, q := range x.late {
		if o := x.onTime[i]; o.read != never && holds(o.read) {
			rate[1]++
			good[1] += number(o.latency() <= limit)
		}
		if q.read == never {
			continue
		}
		low, high := q.interval()
		first, last, now := holds(q.due+low), holds(q.due+high), holds(q.read)
		rate[0] += number(first && last)
		good[0] += number(first && last && high <= limit)
		rate[2] += number(now)
		good[2] += number(now && q.latency() <= limit)
		rate[3] += number(first || last || now)
		good[3] += number((first || last || now) && low <= limit)
	}
	c.of("rates").higher(rate[0], rate[1], rate[2], rate[3])
	c.of("goodput").higher(good[0], good[1], good[2], good[3])
}

func lastRead(list []request) float64 {
	last := int64(0)
	for _, q := range list {
		last = max(last, q.read)
	}
	return float64(last)
}

func dropped(list []request) (n float64) {
	for _, q := range list {
		n += number(q.read == never)
	}
	return n
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// rank returns a percentile by nearest rank.
func rank(list []int64, p float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return float64(sorted[int(math.Ceil(p/100*float64(len(sorted))))-1])
}

func mean(list []int64) (sum float64) {
	for _, v := range list {
		sum += float64(v) / float64(len(list))
	}
	return sum
}
