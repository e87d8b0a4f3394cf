package executor

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestStalledTarget: a target that answers nothing, with all its connections taken, does not hold
// up what is due on another one: that arrives as planned by the stamps of its server. What waited
// is sent when the first answers again.
func TestStalledTarget(t *testing.T) {
	stalled := watch(t, func(w *witness) { w.dim, w.hold = 4, make(chan struct{}) })
	other := serve(t, builtin.Config{})
	const each, gap = 100, int64(10 * time.Millisecond)
	seen := make(chan struct{})
	// The first answers when the other has been sent all that it gets: no sooner, or nothing would be
	// shown
	go func() {
		defer close(seen)
		defer close(stalled.hold)
		for len(arrivals(t, other)) < each && len(stalled.all()) < 3 {
			<-time.After(20 * time.Millisecond)
		}
	}()
	var kept sent
	r := play(t, `
version: 1
targets:
  stalled: {backend: kserve, url: "`+stalled.URL+`", model: m, ready: 0s, connections: 2, timeout: 20s}
  other: {backend: kserve, url: "`+other.HTTPURL()+`", model: simple, ready: 0s}
stages:
  - {id: s, load: {rate: 200/s}, mix: {x: {target: stalled}, y: {target: other}}, for: 200 requests}
`, "", Env{Record: keep(&kept)})
	<-seen
	times := arrivals(t, other)
	if n := len(stalled.all()); n != each || len(times) != each || len(r.Nodes[0].Errors) != 0 {
		t.Fatalf("%d of %d requests to the stalled target, %d to the other, %v",
			n, each, len(times), r.Nodes[0].Errors)
	}
	kept.dues()
	var client []int64
	waited := 0
	for _, one := range kept.all {
		switch {
		case one.Entry == 1 && one.Free != one.Due:
			t.Errorf("an arrival of the other target waited %v for a connection", time.Duration(one.Free-one.Due))
		case one.Entry == 1:
			client = append(client, one.SendStart-one.Due)
		case one.Free > one.Due:
			waited++
		}
	}
	if waited < each-2 {
		t.Errorf("%d arrivals waited for the stalled target, all but two have to", waited)
	}
	if slices.Sort(client); client[len(client)*9/10] > gap {
		t.Logf("the machine is too busy to judge times: %v late", time.Duration(client[len(client)*9/10]))
		return
	}
	late := 0
	for k, at := range times {
		if at-times[0] > int64(k)*gap+3*gap {
			late++
		}
	}
	if late > each/5 {
		t.Errorf("%d of %d arrivals came late to the other target: %v", late, each, times)
	}
}

// TestTargetsKeepTheirTimeouts: two targets of one stage that both answer nothing: a request fails
// at its own target's timeout, not at the longer one of the other.
func TestTargetsKeepTheirTimeouts(t *testing.T) {
	t.Parallel()
	for _, load := range []string{"{rate: 100/s}", "{concurrency: 4}"} {
		silent := watch(t, func(w *witness) { w.dim, w.hold = 4, make(chan struct{}) })
		var kept sent
		play(t, `
version: 1
targets:
  short: {backend: kserve, url: URL, model: m, ready: 0s, timeout: 300ms}
  long: {backend: kserve, url: URL, model: m, ready: 0s, timeout: 900ms}
stages:
  - {id: s, load: `+load+`, mix: {x: {target: short}, y: {target: long}}, for: 8 requests}
`, silent.URL, Env{Record: keep(&kept)})
		http.DefaultClient.CloseIdleConnections()
		least := int64(time.Hour)
		for _, one := range kept.all {
			if took := one.LastByte - one.Due; one.Class != backends.TimedOut ||
				took < []int64{300e6, 900e6}[one.Entry] {
				t.Errorf("%s: a request of entry %d ended as %v after %v",
					load, one.Entry, one.Class, time.Duration(took))
			} else if one.Entry == 0 {
				least = min(least, took)
			}
		}
		if len(kept.all) != 8 || least >= 900e6 {
			t.Errorf("%s: %d requests, those of the short timeout took %v at least",
				load, len(kept.all), time.Duration(least))
		}
	}
}
