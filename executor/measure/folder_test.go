package measure

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Who counts where: hold is [0, 100) ms. Counts by due, flow by completion.
func TestAttribution(t *testing.T) {
	tests := []struct {
		name       string
		due, end   int64
		change     func(*backends.Sample)
		sent, flow int64
		latency    bool
	}{
		{name: "within", due: 10, end: 20, sent: 1, flow: 1, latency: true},
		{name: "due at the start", due: 0, end: 20, sent: 1, flow: 1, latency: true},
		{name: "warm-up, done in hold", due: -5, end: 20, change: warm, flow: 1},
		{name: "flagged warm-up although due in hold", due: 5, end: 20, change: warm, flow: 1},
		{name: "due before hold without a flag", due: -5, end: 20, flow: 1},
		{name: "done before hold", due: -20, end: -1, change: warm},
		{name: "done at the start", due: -20, end: 0, change: warm, flow: 1},
		{name: "done in the drain", due: 99, end: 250, sent: 1, latency: true},
		{name: "done at the end", due: 99, end: 100, sent: 1, latency: true},
		{name: "due at the end", due: 100, end: 110},
		{name: "failed", due: 10, end: 20, change: failed(backends.Status, "503"), sent: 1},
		{
			name: "failed without a stamp", due: 10,
			change: func(s *backends.Sample) { s.Class, s.LastByte = backends.Dial, 0 }, sent: 1,
		},
		{name: "stopped by us", due: 10, end: 300, change: failed(backends.Stopped, ""), sent: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNode(t, Config{})
			n.end = n.start + 100*ms
			if tt.change == nil {
				tt.change = func(*backends.Sample) {}
			}
			n.done(tt.due, tt.end, tt.change)
			n.at(400)
			a := n.Finish(n.start + 500*ms).Aggregate
			if a.Sent != tt.sent || a.Completed != tt.flow {
				t.Errorf("sent %d, flow %d; want %d, %d", a.Sent, a.Completed, tt.sent, tt.flow)
			}
			want := 0.0
			if tt.latency {
				want = 1
			}
			if got, _ := value(t, a, "latency.count"); got != want {
				t.Errorf("latency.count = %v, want %v", got, want)
			}
			if sum := a.OK() + a.Failed() + a.Stopped(); sum != a.Sent {
				t.Errorf("ok + failed + stopped = %d, sent = %d", sum, a.Sent)
			}
		})
	}
}

func TestMeasurement(t *testing.T) {
	n := newNode(t, Config{})
	n.end = n.start + 1000*ms
	n.done(0, 20)
	n.done(100, 140, func(s *backends.Sample) { s.Items, s.Responses = 8, 3 })
	n.done(200, 230, func(s *backends.Sample) {
		s.Free, s.SendStart = s.Due+4*ms, s.Due+
			6*ms
		s.Flags = backends.Resent
	})
	n.done(300, 900, failed(backends.TimedOut, "first"))
	n.done(400, 950, failed(backends.TimedOut, "second"))
	n.done(500, 510, failed(backends.Status, "busy | now"))
	n.done(600, 2000, failed(backends.Stopped, "drain"))
	n.at(1500)
	total := n.Finish(n.start + 2500*ms)
	want := map[string]float64{
		"requests.count": 7, "errors.count": 3, "errors.ratio": 3.0 / 7, "errors.timeout.count": 2,
		"errors.status.ratio": 1.0 / 7,
		"errors.dial.count":   0, "reconnects.count": 1, "late.count": 1, "late.ratio": 1.0 / 7,
		"throughput": 10, "requests.rate": 3, "responses.rate": 5, "bytes.sent.rate": 600,
		"bytes.received.rate": 60,
		"latency.p50":         0.03, "latency.max": 0.04, "latency.min": 0.02, "latency.mean": 0.03,
		"latency.std": 0.01, "latency.count": 3,
		"service_time.min": 0.02, "service_time.max": 0.04, "service_time.p50": 0.024,
		"send_delay.max": 0.006, "send_delay.client.max": 0.002, "send_delay.pool.max": 0.004,
		"send_delay.count": 7,
	}
	for path, w := range want {
		if got, ok := value(t, total.Aggregate, path); !ok || math.Abs(got-w) > 1e-12 {
			t.Errorf("%s = %v, %v; want %v", path, got, ok, w)
		}
	}
	if got := total.Aggregate.Examples[backends.TimedOut]; got != "first" {
		t.Errorf("example of timeouts = %q", got)
	}
	if total.From != n.start || total.To != n.end || total.Aggregate.Window != 1000*ms {
		t.Errorf("window [%d, %d), %d ns", total.From, total.To, total.Aggregate.Window)
	}
}

// Nothing was sent: every value but the number of requests is unknown, none is zero.
func TestNothingIsNoData(t *testing.T) {
	n := newNode(t, Config{})
	n.end = n.start + 100*ms
	n.at(50)
	a := n.Finish(n.start + 200*ms).Aggregate
	for _, row := range catalogue(t).Rows() {
		v, ok := a.Value(row)
		if row.Name == "requests.count" {
			if !ok || v != 0 {
				t.Errorf("%s = %v, %v", row.Name, v, ok)
			}
		} else if ok {
			t.Errorf("%s = %v although nothing was sent", row.Name, v)
		}
		if d := a.Dist(row); d != nil && d.N() != 0 {
			t.Errorf("%s has %d values", row.Name, d.N())
		}
	}
}

func TestHoldNeverBegan(t *testing.T) {
	n := newNode(t, Config{Windows: Windows{Length: 10 * ms, Keep: 3}})
	n.start = 0
	n.done(0, 5, warm)
	n.at(10)
	total := n.Finish(1010 * ms)
	if total.From != 0 || total.To != 0 || total.Aggregate.Sent != 0 || total.Aggregate.Completed != 0 ||
		len(total.Slices) != 0 || n.CompleteWindows() != nil {
		t.Errorf("total = %+v", total)
	}
}

// The start of hold becomes known while samples are on their way (warm-up by count).
func TestHoldBeginsDuringTheDrain(t *testing.T) {
	n := newNode(t, Config{})
	start := n.start
	calls := 0
	n.c.HoldStart = func() int64 {
		if calls++; calls == 1 {
			return 0
		}
		return start
	}
	n.done(-10, -5, warm)
	n.done(0, 5)
	n.at(10)
	if got := n.hold.Sent; got != 1 {
		t.Errorf("sent = %d, want 1", got)
	}
}

// perf_analyzer throws away the clamp of its window for counts, and reports 100 requests of 0.4 s
// as 100/s.
func TestOpenWindowEndsWithTheLastCompletion(t *testing.T) {
	n := newNode(t, Config{})
	for i := range int64(50) {
		n.done(i*8, (i+1)*8)
	}
	n.at(410)
	n.done(300, 9000, failed(backends.Stopped, ""))
	total := n.Finish(n.start + 10000*ms)
	if got, _ := value(t, total.Aggregate, "requests.rate"); got != 125 {
		t.Errorf("requests.rate = %v, want 125", got)
	}
	if total.To != n.start+400*ms {
		t.Errorf("hold ends at %d ms", (total.To-n.start)/ms)
	}
}

func TestLateLimitGrowsWithServiceTime(t *testing.T) {
	late := func(delay int64) func(*backends.Sample) {
		return func(s *backends.Sample) { s.SendStart = s.Due + delay*ms }
	}
	n := newNode(t, Config{})
	for i := range int64(10) {
		n.done(i, i+400) // median service time 400 ms: late from 4 ms on
	}
	n.done(20, 30, late(3))
	n.done(21, 30, late(4))
	n.done(22, 30, late(5))
	if a := n.Finish(n.start + 1000*ms).Aggregate; a.Late() != 1 || a.LateLimit(time.Millisecond) != 4*ms {
		t.Errorf("late = %d beyond %d ns", a.Late(), a.LateLimit(time.Millisecond))
	}
}

func TestMergeIsAssociative(t *testing.T) {
	part := func(seed int64) *Aggregate {
		n := newNode(t, Config{})
		n.end = n.start + 100*ms
		for i := range int64(40) {
			n.done(i, i+seed+i%7)
		}
		n.done(50, 60, failed(backends.Server, string(rune('a'+seed))))
		return n.Finish(n.start + 200*ms).Aggregate
	}
	left, right, bc := &Aggregate{}, &Aggregate{}, &Aggregate{}
	for i := range int64(3) {
		left.Merge(part(i))
	}
	bc.Merge(part(1))
	bc.Merge(part(2))
	right.Merge(part(0))
	right.Merge(bc)
	if left.Counts != right.Counts || left.PlayerCounts != right.PlayerCounts || left.Flow != right.Flow ||
		left.Window != right.Window || left.Examples != right.Examples {
		t.Errorf("left %+v %+v\nright %+v %+v", left.Counts, left.Flow, right.Counts, right.Flow)
	}
	for i := range left.dists {
		l, err := left.dists[i].MarshalJSON()
		r, err2 := right.dists[i].MarshalJSON()
		if err != nil || err2 != nil || string(l) != string(r) {
			t.Errorf("%s: %s\n%s (%v %v)", extracts[i].row, l, r, err, err2)
		}
	}
}

type failingSink struct{ n int }

func (f *failingSink) Write(*backends.Sample) error {
	f.n++
	return errors.New("disk full")
}

func TestSinkErrorStopsTheSinkOnly(t *testing.T) {
	sink := &failingSink{}
	n := newNode(t, Config{Sink: sink})
	n.done(0, 1)
	n.done(1, 2)
	if a := n.Finish(n.start + 10*ms).Aggregate; a.Sent != 2 || sink.n != 1 || n.SinkErr() == nil {
		t.Errorf("sent %d, %d writes, error %v", a.Sent, sink.n, n.SinkErr())
	}
}

func TestLive(t *testing.T) {
	n := newNode(t, Config{InFlight: func() int64 { return 5 }})
	if l := n.Progress(); l == nil || l.Sent != 0 {
		t.Fatalf("live before the start = %+v", l)
	}
	n.at(0)
	for i := range int64(20) {
		n.done(i, i+10)
	}
	n.done(1, 5, failed(backends.Status, ""))
	n.at(500)
	if l := n.Progress(); l.Sent != 0 {
		t.Errorf("published before a second was over: %+v", l)
	}
	n.at(1000)
	want := &Progress{
		At: 2000 * ms, Sent: 21, OK: 20, Failed: 1, InFlight: 5, Rate: 20, N: 20,
		P50: 10 * ms, P99: 10 * ms,
	}
	if diff := cmp.Diff(want, n.Progress()); diff != "" {
		t.Error(diff)
	}
	n.at(2000)
	if l := n.Progress(); l.N != 0 || l.Rate != 0 || l.Sent != 21 {
		t.Errorf("live of a silent second = %+v", l)
	}
}

func TestFoldDoesNotAllocate(t *testing.T) {
	latency, _ := catalogue(t).Row("latency")
	n := newNode(t, Config{
		Windows: Windows{Length: 1 << 40, Keep: 3}, Length: 1 << 46,
		Breakdown: Breakdown{Timed: []Timed{{Scope: -1, Rows: []*metric.Row{latency}}}},
	})
	now := int64(0)
	repeat := func() {
		for range 32 {
			now++
			n.done(now, now+5)
		}
		n.at(now + 6)
	}
	for range 200 { // until every distribution is a histogram
		repeat()
	}
	if got := testing.AllocsPerRun(20, repeat); got != 0 {
		t.Errorf("%v allocations for 32 samples", got)
	}
}

func BenchmarkFold(b *testing.B) {
	latency, _ := catalogue(b).Row("latency")
	for name, c := range map[string]Config{
		"hold": {}, "windows": {Windows: Windows{Length: 1 << 40, Keep: 3}},
		"goodput": {Breakdown: Breakdown{Goodput: []Bound{{latency, 1}}}},
		"mix":     {Breakdown: Breakdown{Scopes: []Scope{{Entry: 0}, {Entry: 1}}}},
		"every": {Breakdown: Breakdown{Every: []Every{{
			Length: 1 << 40, Scope: -1,
			Rows: []*metric.Row{latency},
		}}}},
		"timed": {Length: 1 << 46, Breakdown: Breakdown{Timed: []Timed{{
			Scope: -1, Rows: []*metric.Row{latency},
		}}}},
	} {
		b.Run(name, func(b *testing.B) {
			rings := NewRings(1, 256, 0)
			unknown := func() int64 { return 0 }
			c.Rings, c.HoldStart, c.HoldEnd = rings, func() int64 { return 1 }, unknown
			c.Settled, c.InFlight = unknown, unknown
			f := New(c)
			now := int64(1)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s := rings.Get(0)
				now += 10_000
				s.Due, s.Free, s.SendStart, s.SendEnd = now, now, now+1000+int64(i&1023), now+6000
				s.FirstByte, s.LastByte, s.Items, s.Responses = now+300_000, now+310_000+int64(i&4095), 1, 1
				rings.Put(0, s)
				if i&127 == 127 {
					f.Drain(now + 400_000)
				}
			}
		})
	}
}

// In a closed loop latency and service time are one distribution, and nothing is said of a send delay.
func TestClosedLoop(t *testing.T) {
	n := newNode(t, Config{Closed: true, Windows: Windows{Length: 100 * ms, Keep: 1}})
	n.end = n.start + 1000*ms
	n.done(0, 20, func(s *backends.Sample) { s.FirstByte = s.LastByte - ms })
	n.done(30, 70, func(s *backends.Sample) { s.SendStart, s.SendEnd = s.Due+ms, s.Due+2*ms })
	n.done(80, 90, failed(backends.Status, "503"))
	n.at(150)
	n.at(300)
	closed := n.CompleteWindows()
	if len(closed) != 1 {
		t.Fatalf("%d windows", len(closed))
	}
	merged, _ := MergeWindows(closed)
	for name, a := range map[string]*Aggregate{
		"hold": n.hold, "completed": closed[0].Completed,
		"due": closed[0].Due, "merged": merged,
	} {
		for path, want := range map[string]float64{
			"latency.count": 2, "latency.max": 0.04, "latency.mean": 0.03, "service_time.count": 2,
			"service_time.max":  0.04,
			"service_time.mean": 0.03, "send_time.count": 1, "send_time.max": 0.001,
			"first_response.count": 1,
			"send_delay.count":     0, "send_delay.pool.count": 0, "send_delay.client.count": 0,
		} {
			if got, ok := value(t, a, path); !ok || math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: %s = %v %v, want %v", name, path, got, ok, want)
			}
		}
	}
}
