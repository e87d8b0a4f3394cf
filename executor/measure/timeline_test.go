package measure

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// timed asks for parts of the whole node, of its entry 1 and of the top of the ramp.
func timed(t *testing.T) Breakdown {
	latency, _ := catalogue(t).Row("latency")
	rows := []*metric.Row{latency}
	return Breakdown{
		Holds: rampHolds(), Scopes: []Scope{{Entry: 1}, {Phase: "top", Spans: ramp.top, Entry: -1}},
		Timed: []Timed{{Scope: -1, Rows: rows}, {Scope: 0, Rows: rows}, {Scope: 1, Rows: rows}},
	}
}

// TestPartsAddUp: the parts of a scope's time together are what it measured, whether the length of hold was
// known or parts grew with it, and they are equally long.
func TestPartsAddUp(t *testing.T) {
	for name, length := range map[string]int64{"known": 1000 * ms, "unknown": 0} {
		n := newNode(t, Config{Breakdown: timed(t), Length: length})
		n.end = n.start + 1000*ms
		n.play(random(1, 4000, 2))
		total := n.Finish(n.start + 2000*ms)
		for i, whole := range append([]*Aggregate{total.Aggregate}, total.Scopes...) {
			timeline := total.Timelines[i]
			sum := Aggregate{kept: whole.kept}
			for _, a := range timeline.Parts {
				if sum.Merge(a); a.Window != timeline.Width {
					t.Errorf("%s %d: a part of %d ns, others of %d", name, i, a.Window, timeline.Width)
				}
			}
			if timeline.Rest != nil {
				sum.Merge(timeline.Rest)
			}
			if diff := cmp.Diff([]any{whole.Counts, whole.Flow}, []any{sum.Counts, sum.Flow}); diff != "" {
				t.Errorf("%s %d (-whole +parts):\n%s", name, i, diff)
			}
			values, _, _ := timeline.Values(timedRow(t))
			ok := int64(0)
			for _, k := range values.Counts() {
				ok += k
			}
			for _, a := range timeline.Parts {
				ok -= a.OK()
			}
			if parts := len(timeline.Parts); ok != 0 || parts < stats.MaxParts/2 || parts != values.Parts() ||
				length > 0 && parts != stats.MaxParts {
				t.Errorf("%s %d: %d parts, %d of values, %d values too many", name, i, parts, values.Parts(), ok)
			}
		}
	}
}

func timedRow(t *testing.T) *metric.Row {
	row, _ := catalogue(t).Row("latency")
	return row
}

// TestLateParts: a late request counts in the low and the high set of its part with the values that a client
// on time would have measured.
func TestLateParts(t *testing.T) {
	b := Breakdown{Timed: []Timed{{Scope: -1, Rows: []*metric.Row{timedRow(t)}}}}
	n, log := lateNode(t, Config{Breakdown: b, Length: 600 * ms})
	n.end = n.start + 600*ms
	for i := range int64(60) {
		n.done(10*i+1, 10*i+4)
	}
	n.at(600)
	n.late(log, 305, 330, failed(backends.TimedOut, ""))
	n.late(log, 405, 430)
	timeline := n.Finish(n.start + 5000*ms).Timelines[0]
	for i, want := range map[int][3]int64{29: {0, 0, 0}, 30: {0, 1, 1}, 40: {0, 0, 0}} {
		low, high, ok := timeline.Parts[i].Sets()
		if !ok {
			low, high = timeline.Parts[i], timeline.Parts[i]
		}
		got := [3]int64{low.Failed(), timeline.Parts[i].Failed(), high.Failed()}
		if got != want {
			t.Errorf("part %d: errors %v, want %v", i, got, want)
		}
	}
	measured, low, high := timeline.Values(timedRow(t))
	for _, set := range []*stats.Table{measured, low, high} {
		if c := set.Counts(); c[40] != 2 || c[30] != 1 || c[0] != 1 {
			t.Errorf("values by part: %v", c)
		}
	}
	if slices.Equal(text(t, measured), text(t, low)) || slices.Equal(text(t, measured), text(t, high)) {
		t.Error("the sets have the same values")
	}
}

func text(t *testing.T, table *stats.Table) []byte {
	t.Helper()
	b, err := table.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPartsOfShards: parts of two clients that played the same hold add up, those of other lengths do not.
func TestPartsOfShards(t *testing.T) {
	play := func(seed uint64, length int64) *Total {
		n := newNode(t, Config{Breakdown: timed(t), Length: length})
		n.end = n.start + 1000*ms
		n.play(random(seed, 1000, 2))
		total := n.Finish(n.start + 2000*ms)
		return &total
	}
	var all Total
	all.MergeShard(play(1, 1000*ms))
	all.MergeShard(play(2, 1000*ms))
	sent := int64(0)
	for _, a := range all.Timelines[0].Parts {
		sent += a.Sent
	}
	if sent != all.Aggregate.Sent {
		t.Errorf("%d requests in parts, %d in all", sent, all.Aggregate.Sent)
	}
	all.MergeShard(play(3, 500*ms))
	if v, _, _ := all.Timelines[0].Values(timedRow(t)); v != nil || len(all.Timelines[0].Parts) != 0 {
		t.Error("parts of different lengths were merged")
	}
}
