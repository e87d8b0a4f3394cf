package trial

import (
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestLostSamples: a request that was sent and left no sample makes the measurement invalid.
func TestLostSamples(t *testing.T) {
	for lost, valid := range map[int64]bool{0: true, 1: false, -1: false} {
		out := &result.Node{Validity: result.Validity{OK: true}}
		if lostSamples(20, 20-lost).addTo(out); out.Validity.OK != valid {
			t.Errorf("%d lost: valid is %v", lost, out.Validity.OK)
		}
	}
}

// TestUsersBehind: users that send less than their rates ask for are a note; one request of each may be yet to come, and
// at the end of a number of sessions some users have none.
func TestUsersBehind(t *testing.T) {
	for name, c := range map[string]struct {
		sent     int64
		sessions bool
		want     string
	}{
		"on time":                 {sent: 400},
		"the last yet to come":    {sent: 376},
		"behind":                  {sent: 300, want: "4 users sent 30/s of the 40/s that their rates make together"},
		"in a number of sessions": {sent: 300, sessions: true},
	} {
		p := &program.Load{Slots: 4, Every: int64(100 * time.Millisecond)}
		if c.sessions {
			p.Sequences = &load.Sequences{Sessions: true, LimitCountsSequences: true}
		}
		a := &measure.Aggregate{}
		a.Sent, a.Window = c.sent, int64(10*time.Second)
		list := usersBehind(p, a)
		if (len(list) > 0) != (c.want != "") || len(list) > 0 && !strings.Contains(list[0].Text, c.want) {
			t.Errorf("%s: %v", name, list)
		}
	}
}
