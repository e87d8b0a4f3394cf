package measure

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A window takes what completed in it, whenever it was due.
func TestWindowAttribution(t *testing.T) {
	tests := []struct {
		name     string
		from, to int64
		requests [][2]int64 // due, end
		want     []int64    // latencies
	}{
		// Cases of perf_analyzer's own tests. Its windows include their end, ours do not, so that
		// neighbours share nothing.
		{"47", 4, 18, [][2]int64{{1, 2}, {3, 5}, {6, 9}, {10, 14}, {15, 20}, {21, 27}}, []int64{2, 3, 4}},
		{"49", 0, 5, [][2]int64{{1, 2}, {3, 4}, {5, 6}}, []int64{1, 1}},
		{"end belongs to the next", 0, 4, [][2]int64{{1, 2}, {3, 4}}, []int64{1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNode(t, Config{Windows: Windows{Length: (tt.to - tt.from) * ms, Keep: 2}})
			n.start += tt.from * ms
			for _, r := range tt.requests {
				if r[1] < tt.from {
					continue // was drained before hold
				}
				n.done(r[0], r[1])
			}
			n.at(tt.to)
			n.at(tt.to + 1)
			closed := n.CompleteWindows()
			if len(closed) != 1 {
				t.Fatalf("%d windows are complete", len(closed))
			}
			d := &closed[0].Completed.dists[latency]
			var got []int64
			for i := range d.N() {
				v, _ := d.Rank(100 * (float64(i) + 0.5) / float64(d.N()))
				got = append(got, v/ms)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Cases of perf_analyzer's own tests: sums over sums, never a mean of rates.
func TestMergeWindows(t *testing.T) {
	window := func(responses, seconds int64) *Window {
		a := &Aggregate{Window: seconds * 1000 * ms}
		a.Completed, a.Responses, a.Sent = responses, responses, responses
		return &Window{Due: a}
	}
	merged, _ := MergeWindows([]*Window{window(8, 2), window(10, 4)})
	if got, _ := value(t, merged, "responses.rate"); got != 3 || merged.Responses != 18 {
		t.Errorf("merged: %d responses, %v/s; want 18, 3/s", merged.Responses, got)
	}
	if got, _ := value(t, window(8, 2).Due, "responses.rate"); got != 4 {
		t.Errorf("one window: %v/s, want 4/s", got)
	}
	// of its documentation: 4.94 and 19.6 a second
	for n, want := range map[int64]float64{89: 89.0 / 18, 353: 353.0 / 18} {
		third := n / 3
		merged, _ := MergeWindows([]*Window{window(third, 6), window(third, 6), window(n-2*third, 6)})
		if got, _ := value(t, merged, "requests.rate"); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d requests in 18 s: %v/s, want %v/s", n, got, want)
		}
	}
}

// A case of perf_analyzer's own tests: the clamp of (5,20), (3,15), (7,17) is [3, 20], and it is
// what rates are over.
func TestClamp(t *testing.T) {
	n := newNode(t, Config{})
	for _, r := range [][2]int64{{5, 20}, {3, 15}, {7, 17}} {
		n.done(r[0], r[1])
	}
	n.start += 3 * ms
	total := n.Finish(n.start + 100*ms)
	a := total.Aggregate
	if a.First != 1003*ms || a.Last != 1020*ms || total.To-total.From != 17*ms {
		t.Errorf("clamp [%d, %d] ms, window %d ms", a.First/ms, a.Last/ms, (total.To-total.From)/ms)
	}
}

func TestWindowsFollowEachOther(t *testing.T) {
	n := newNode(t, Config{Windows: Windows{Length: 10 * ms, Keep: 3}})
	for i := range int64(100) {
		n.done(i, i+1)
		n.at(i + 1)
	}
	n.at(102)
	closed := n.CompleteWindows()
	if len(closed) != 3 {
		t.Fatalf("%d windows, want 3", len(closed))
	}
	for i, w := range closed {
		if w.Index != 7+i || w.From != n.start+int64(w.Index)*10*ms || w.To != w.From+10*ms {
			t.Errorf("window %d: index %d, [%d, %d)", i, w.Index, w.From, w.To)
		}
		if w.Due.Sent != 10 || w.Completed.Sent != 10 || w.Due.Completed != 10 || w.Due.Window != 10*ms {
			t.Errorf("window %d: due %d, completed %d, flow %d", w.Index, w.Due.Sent, w.Completed.Sent,
				w.Due.Completed)
		}
	}
	if got, _ := MergeWindows(closed); got.Sent != 30 || got.Window != 30*ms {
		t.Errorf("merged: %d requests in %d ms", got.Sent, got.Window/ms)
	}
}

// Requests that are due in an accepted window and end in the drain are in the measurement.
func TestWindowAwaitsItsRequests(t *testing.T) {
	n := newNode(t, Config{Windows: Windows{Length: 10 * ms, Keep: 1}})
	n.done(1, 2)
	n.at(10)
	n.at(11)
	accepted := n.CompleteWindows()
	n.end = n.start + 11*ms
	n.done(5, 500)
	n.Finish(n.start + 600*ms)
	merged, _ := MergeWindows(accepted)
	if got, _ := value(t, merged, "latency.max"); got != 0.495 || merged.Sent != 2 || merged.Completed != 1 {
		t.Errorf("latency.max = %v of %d requests, %d completed", got, merged.Sent, merged.Completed)
	}
	if got := accepted[0].Completed.Sent; got != 1 {
		t.Errorf("%d requests completed in the window, want 1", got)
	}
}

// The drain may be many windows long: those accepted stay, and nothing in them moves but the ends
// of their requests.
func TestWindowsSurviveTheDrain(t *testing.T) {
	for name, c := range map[string]Windows{
		"time":  {Length: 10 * ms, Keep: 2},
		"count": {Requests: 10, Keep: 2},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, Config{Windows: c})
			for i := range int64(22) {
				n.done(i, i+1)
				n.at(i + 1)
			}
			accepted := n.CompleteWindows()
			if len(accepted) != 2 {
				t.Fatalf("%d windows", len(accepted))
			}
			n.end = n.start + 22*ms
			n.done(4, 90)
			for i := range int64(100) {
				n.done(22+i, 23+i, warm)
				n.at(23 + i)
			}
			n.Finish(n.start + 200*ms)
			if got := n.CompleteWindows(); len(got) != 2 || got[0] != accepted[0] || got[1] != accepted[1] {
				t.Errorf("other windows after the drain: %v", got)
			}
			merged, _ := MergeWindows(accepted)
			if got, _ := value(t, merged, "latency.max"); got != 0.086 || merged.Sent != 21 {
				t.Errorf("latency.max = %v of %d requests", got, merged.Sent)
			}
		})
	}
}

// A window that was handed out stays as it is when later ones push it out.
func TestWindowsAreNotReused(t *testing.T) {
	n := newNode(t, Config{Windows: Windows{Length: 10 * ms, Keep: 1}})
	var first *Window
	for i := range int64(60) {
		n.done(i, i+1)
		n.at(i + 1)
		if c := n.CompleteWindows(); first == nil && len(c) > 0 {
			first = c[0]
		}
	}
	if first.Index != 0 || first.Due.Sent != 10 || first.Completed.Sent != 9 {
		t.Errorf("first window: index %d, %d due, %d completed", first.Index, first.Due.Sent,
			first.Completed.Sent)
	}
}

// A late drain over several windows puts each completion where it belongs.
func TestWindowsOfALateDrain(t *testing.T) {
	n := newNode(t, Config{Windows: Windows{Length: 10 * ms, Keep: 9}})
	for i := range int64(5) {
		n.done(i*10+1, i*10+2)
	}
	n.at(50)
	n.at(51)
	var got []string
	for _, w := range n.CompleteWindows() {
		got = append(got, fmt.Sprint(w.Index, w.Completed.Sent))
	}
	if diff := cmp.Diff([]string{"0 1", "1 1", "2 1", "3 1", "4 1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCountWindows(t *testing.T) {
	n := newNode(t, Config{Windows: Windows{Requests: 4, Keep: 2}})
	for i := range int64(13) {
		n.done(i, i+1)
		n.at(i + 1)
	}
	closed := n.CompleteWindows()
	if len(closed) != 2 || closed[1].Index != 2 {
		t.Fatalf("%d windows, want the last two of three", len(closed))
	}
	for _, w := range closed {
		if w.Completed.Sent != 4 {
			t.Errorf("window %d has %d requests", w.Index, w.Completed.Sent)
		}
		if got, _ := value(t, w.Completed, "requests.rate"); got != 1000 {
			t.Errorf("window %d: %v/s, want 1000/s", w.Index, got)
		}
	}
}
