package drive

import "testing"

// TestOpenWaitBehindAWait: slots that become free together answer for one arrival that waited; those that stood behind it
// find an idle slot at once, and have waited for the full pool all the same.
func TestOpenWaitBehindAWait(t *testing.T) {
	const lanes, arrivals = 4, 40
	w := newWorld(t, lanes)
	w.gate = make(chan struct{})
	close(w.gate) // every request ends at once, in any order
	o := OpenOptions{Options: w.options()}
	p := playOpen(background, w, burst(arrivals), &fakeFeed{}, inline, o)
	waited, behind := int64(0), int64(0)
	for n := range uint64(arrivals) {
		s := w.out.samples()[n]
		behind = max(behind, s.Free)
		if s.Free > s.Due {
			waited++
		}
		if behind > s.Due && s.Free < behind {
			t.Errorf("arrival %d was free to go at %d, one before it only at %d", n, s.Free-o.Start, behind-o.Start)
		}
	}
	if waited != p.WaitedPool {
		t.Errorf("%d samples say they waited, played %d", waited, p.WaitedPool)
	}
}
