package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// lateNode is a node whose client may be late.
func lateNode(t *testing.T, c Config) (*node, *delay.Log) {
	t.Helper()
	c.Client = new(delay.Client)
	c.Log = c.Client.Join(delay.Limits{})
	n := newNode(t, c)
	n.end = n.start + 1000*ms
	return n, c.Log
}

// late hands over a request that was sent 5 ms late.
func (n *node) late(log *delay.Log, due, end int64, change ...func(*backends.Sample)) {
	log.Late(n.start+(due+5)*ms, 5*ms)
	n.done(due, end, append(change, func(s *backends.Sample) { s.SendStart += 5 * ms })...)
}

// sets are the values of a leaf in the low, the measured and the high set, ms.
func sets(t *testing.T, a *Aggregate, path string) []float64 {
	t.Helper()
	low, high, ok := a.Sets()
	if !ok {
		low, high = a, a
	}
	l, found := catalogue(t).Leaf(path)
	if !found {
		t.Fatalf("no leaf %s", path)
	}
	var list []float64
	for _, set := range []*Aggregate{low, a, high} {
		v, _ := set.LeafValue(l)
		if l.Dim() == metric.Duration {
			v *= 1000
		}
		list = append(list, v)
	}
	return list
}

func expect(t *testing.T, a *Aggregate, path string, want ...float64) {
	t.Helper()
	if diff := cmp.Diff(want, sets(t, a, path), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestLateRequest counts a late request in three sets, and those of an idle client in none but one.
func TestLateRequest(t *testing.T) {
	n, log := lateNode(t, Config{})
	n.late(log, 10, 35)
	log.Idle(n.start + 40*ms)
	n.done(300, 330)
	n.at(350)
	a := n.Finish(n.start + 1000*ms).Aggregate
	expect(t, a, "latency.min", 5, 25, 30)
	expect(t, a, "latency.max", 30, 30, 30.5)
	expect(t, a, "service_time.min", 1e-6, 20, 30)
	expect(t, a, "service_time.max", 30, 30, 30.4)
	expect(t, a, "send_delay.max", 5, 5, 5)
	expect(t, a, "requests.count", 2, 2, 2)
}

// TestOnTime: without a late send there is one set.
func TestOnTime(t *testing.T) {
	n, _ := lateNode(t, Config{})
	n.done(10, 35)
	if _, _, ok := n.Finish(n.start + 1000*ms).Aggregate.Sets(); ok {
		t.Error("there are bounds")
	}
}

// TestLateCompletion: what may have ended on either side of the end of hold is in the high set of a
// rate, and in the low one only if it surely ended within.
func TestLateCompletion(t *testing.T) {
	n, log := lateNode(t, Config{})
	n.late(log, 950, 990)
	n.late(log, 970, 1010)
	n.late(log, 500, 540)
	n.at(1100)
	a := n.Finish(n.start + 1500*ms).Aggregate
	expect(t, a, "requests.rate", 2, 2, 3)
}

// TestLateFailures: a timeout of a late client may be its own, a wrong answer is not.
func TestLateFailures(t *testing.T) {
	n, log := lateNode(t, Config{})
	n.late(log, 10, 35)
	n.late(log, 20, 500, failed(backends.TimedOut, ""))
	n.late(log, 30, 50, failed(backends.Status, "busy"), func(s *backends.Sample) { s.Status = 503 })
	n.late(log, 40, 60, failed(backends.Mismatch, "other"))
	n.at(600)
	a := n.Finish(n.start + 1000*ms).Aggregate
	expect(t, a, "errors.count", 1, 3, 3)
	expect(t, a, "errors.timeout.count", 0, 1, 1)
	expect(t, a, "errors.mismatch.count", 1, 1, 1)
	expect(t, a, "latency.count", 1, 1, 1)
}

// TestMayTimeOut: a request of a late client that was answered just in time may have been given up on time.
func TestMayTimeOut(t *testing.T) {
	n, log := lateNode(t, Config{Timeout: 30 * ms})
	n.late(log, 10, 35)
	n.late(log, 110, 130)
	n.at(400)
	a := n.Finish(n.start + 1000*ms).Aggregate
	expect(t, a, "errors.timeout.count", 0, 0, 1)
	expect(t, a, "errors.ratio", 0, 0, 0.5)
}

// TestPausedClosedLoop: what a closed loop sends after a pause meets a server that has had nothing to do.
func TestPausedClosedLoop(t *testing.T) {
	n, log := lateNode(t, Config{Closed: true})
	n.done(10, 35)
	n.done(452, 472)
	log.Beat(n.start + 300*ms)
	for at := int64(450); at <= 1000; at += 20 {
		log.Beat(n.start + at*ms)
	}
	n.at(900)
	a := n.Finish(n.start + 1000*ms).Aggregate
	expect(t, a, "latency.min", 1e-6, 20, 25)
	expect(t, a, "latency.max", 25, 25, 1.02*20+150)
}

// TestLateGoodput: a request is surely good if it is with all that the client may have hidden.
func TestLateGoodput(t *testing.T) {
	row, _ := catalogue(t).Row(metric.Latency)
	n, log := lateNode(t, Config{Breakdown: Breakdown{Goodput: []Bound{{Row: row, Limit: 0.028}}}})
	n.late(log, 10, 35)
	n.late(log, 110, 130)
	n.late(log, 210, 250)
	n.at(600)
	total := n.Finish(n.start + 1000*ms)
	total.Aggregate.Planned = 3
	for i, want := range []float64{1, 2, 3} {
		if got := sets(t, total.Aggregate, "goodput.ratio")[i] * 3; got < want-1e-9 || got > want+1e-9 {
			t.Errorf("set %d: %v good, want %v", i, got, want)
		}
	}
}

// TestLateDrops: a late client may have dropped more than one on time, and fewer.
func TestLateDrops(t *testing.T) {
	n, _ := lateNode(t, Config{})
	n.done(10, 35)
	a := n.Finish(n.start + 1000*ms).Aggregate
	a.PlayerCounts = PlayerCounts{Planned: 10, DroppedPool: 9, DroppedLate: 2, DroppedMore: 4}
	expect(t, a, "dropped.count", 7, 9, 10)
	a.PlayerCounts = PlayerCounts{Planned: 100, DroppedPool: 9, DroppedLate: 2, DroppedMore: 4}
	expect(t, a, "dropped.ratio", 0.07, 0.09, 0.13)
}

// TestPausedLoop: in its pauses a closed loop sends nothing, so its rates may have been higher, and its
// count too unless the plan says how many are sent.
func TestPausedLoop(t *testing.T) {
	for limited, most := range map[bool]float64{false: 3, true: 2} {
		pausedLoop(t, limited, most)
	}
}

// pausedLoop checks a closed loop that a client on time would have sent up to most requests in.
func pausedLoop(t *testing.T, limited bool, most float64) {
	n, log := lateNode(t, Config{Closed: true, Limited: limited})
	n.done(10, 35)
	n.done(300, 450)
	log.Beat(n.start + 300*ms)
	for at := int64(400); at <= 1000; at += 20 {
		log.Beat(n.start + at*ms)
	}
	n.at(600)
	a := n.Finish(n.start + 1000*ms).Aggregate
	expect(t, a, "requests.rate", 2, 2, 2/0.9)
	expect(t, a, "requests.count", 2, 2, most)
	expect(t, a, "latency.max", 50, 150, 153)
}

// TestLateThinkTimes: in a closed loop what follows a late send in its slot is put off, whatever entry of the mix it
// is, so that rates may have been higher in each part of hold by the share of its open slots.
func TestLateThinkTimes(t *testing.T) {
	var start int64
	row, _ := catalogue(t).Row("requests.rate")
	n, log := lateNode(t, Config{
		Closed: true, Waits: true, Breakdown: Breakdown{
			Scopes: []Scope{{Entry: 1}, {Entry: -1, Spans: []Span{{500 * ms, 1000 * ms}}}},
			Every:  []Every{{Length: 500 * ms, Scope: -1, Rows: []*metric.Row{row}}},
		},
		SlotsAt: func(at int64) int {
			if at-start < 500*ms {
				return 1
			}
			return 2
		},
	})
	start = n.start
	n.late(log, 10, 40)
	n.late(log, 600, 640)
	n.done(700, 740, func(s *backends.Sample) { s.Entry = 1 })
	total := n.Finish(n.start + 1000*ms)
	expect(t, total.Aggregate, "requests.rate", 3, 3, 3/0.9925)
	expect(t, total.Scopes[0], "requests.rate", 1, 1, 1/0.9925)
	expect(t, total.Scopes[1], "requests.rate", 4, 4, 2/0.4975)
	expect(t, total.Series[0].Windows[0].Aggregate, "requests.rate", 2, 2, 1/0.495)
	expect(t, total.Series[0].Windows[1].Aggregate, "requests.rate", 4, 4, 2/0.4975)
}

// TestMergeSets: parts of which one is exact add up to three sets.
func TestMergeSets(t *testing.T) {
	late, log := lateNode(t, Config{})
	late.late(log, 10, 35)
	exact := newNode(t, Config{})
	exact.done(10, 50)
	a := exact.Finish(exact.start + 1000*ms).Aggregate
	a.Merge(late.Finish(late.start + 1000*ms).Aggregate)
	expect(t, a, "latency.min", 5, 25, 30.5)
	expect(t, a, "latency.max", 40, 40, 40)
	expect(t, a, "latency.count", 2, 2, 2)
}

// TestLateWindows: each window of a series has its own sets.
func TestLateWindows(t *testing.T) {
	row, _ := catalogue(t).Row(metric.Latency)
	every := Every{Length: 500 * ms, Scope: -1, Rows: []*metric.Row{row}}
	n, log := lateNode(t, Config{Breakdown: Breakdown{Every: []Every{every}}})
	n.done(10, 35)
	n.late(log, 600, 625)
	n.at(800)
	w := n.Finish(n.start + 1000*ms).Series[0].Windows
	expect(t, w[0].Aggregate, "latency.max", 25, 25, 25)
	expect(t, w[1].Aggregate, "latency.max", 5, 25, 30.5)
}
