package drive

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/load"
)

// TestClosedTurnaround checks that a closed loop records when the slot's request before was
// answered, only where the server stamps its replies in this process, and where nothing but the
// client lay between the two: no pause, no failure.
func TestClosedTurnaround(t *testing.T) {
	closedWays(t, func(t *testing.T, fresh func(int) *world) {
		for name, c := range map[string]struct {
			inProcess bool
			think     int64
			want      bool
		}{
			"a server of its own":             {want: false},
			"a server in this process":        {inProcess: true, want: true},
			"a server in this process, think": {inProcess: true, think: ms / 10, want: false},
		} {
			w := fresh(2)
			o := w.options()
			o.Limit = 40
			pools := w.closed()
			pools[0].InProcess = c.inProcess
			w.finished(within(t, func() Played {
				return Closed(background, load.Level(2), &mixedFeed{think: c.think}, pools, w.out, &w.c, o)
			}))
			followed, first := 0, 0
			for i := range w.out.lanes[:2] {
				kept := w.out.lanes[i].kept
				first += min(len(kept), 1)
				for j, s := range kept {
					if s.Flags&backends.Followed == 0 {
						if s.Free != s.Due {
							t.Errorf("%s: request %d is free at %d and due at %d", name, s.N, s.Free, s.Due)
						}
						continue
					}
					followed++
					if j == 0 || s.Free != kept[j-1].LastByte || s.SendStart < s.Free {
						t.Errorf("%s: request %d, number %d of its slot, is free at %d and sent at %d",
							name, s.N, j, s.Free, s.SendStart)
					}
				}
			}
			if want := 40 - first; c.want && followed != want || !c.want && followed != 0 {
				t.Errorf("%s: %d requests follow another at once", name, followed)
			}
		}
	})
}
