package trial

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/executor/measure"
)

// TestReadingsWithin: which readings tell what counters were at the edges of a span of hold, which began at 100, and
// which of these are outside of it.
func TestReadingsWithin(t *testing.T) {
	type got struct {
		At            []int64
		Before, After bool
	}
	for name, c := range map[string]struct {
		at         []int64
		from, to   int64
		warm, ends bool
		noLast     bool // the question at the end failed
		want       got
	}{
		"all of hold": {
			at: []int64{90, 110, 150, 201}, to: 100, ends: true, want: got{At: []int64{90, 110, 150, 201}},
		},
		"an answer that came when hold was over": {
			at: []int64{90, 110, 203, 207}, to: 100, ends: true, want: got{At: []int64{90, 110, 207}},
		},
		"such an answer, and none at the end": {
			at: []int64{90, 110, 203}, to: 100, ends: true, noLast: true, want: got{At: []int64{90, 110, 203}, After: true},
		},
		"after a warm-up": {
			at: []int64{90, 110, 201}, to: 100, warm: true, ends: true, want: got{At: []int64{90, 110, 201}, Before: true},
		},
		"a part of hold": {
			at: []int64{90, 110, 130, 150, 201}, from: 20, to: 40, warm: true,
			want: got{At: []int64{110, 130, 150}, Before: true, After: true},
		},
		"none at the end": {at: []int64{90, 110}, to: 100, ends: true, want: got{At: []int64{90, 110}}},
	} {
		t.Run(name, func(t *testing.T) {
			x := &scraping{}
			for _, at := range c.at {
				x.taken = append(x.taken, scraped{at: at, last: at == c.at[len(c.at)-1] && !c.noLast})
			}
			list, before, after := x.within(100, measure.Span{From: c.from, To: c.to}, c.warm, c.ends)
			read := got{Before: before, After: after}
			for _, s := range list {
				read.At = append(read.At, s.at)
			}
			if diff := cmp.Diff(c.want, read); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
