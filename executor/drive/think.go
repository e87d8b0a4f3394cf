package drive

import "time"

// mostNaps is how many pauses end on timers of threads at one time; the rest ends with the runtime's, 1 ms late at worst.
const mostNaps = 256

// pause lets the time between a reply and the slot's next request pass. It gives when the pause is over, and returns then
// or when nothing more is to be sent.
func (w *worker) pause(think int64) (until int64) {
	until = w.o.Clock.Now() + think
	w.home.floor.Store(until)
	for !w.halt.Load() && w.over.Load() == 0 {
		now := w.o.Clock.Now()
		left := until - now
		switch {
		case left <= 0 || now >= w.c.StopAt.Load():
			return until
		case left > int64(coarse):
			w.doze(time.Duration(left) - coarse)
		case w.napping.Add(1) <= mostNaps:
			nap(min(left, int64(napMost)))
			w.napping.Add(-1)
		default:
			w.napping.Add(-1)
			w.doze(time.Duration(left))
		}
	}
	return until
}

// doze waits on the runtime's timer, or until the worker is woken.
func (w *worker) doze(d time.Duration) {
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	select {
	case <-w.timer.C:
	case <-w.home.wake:
		w.timer.Stop()
	}
}
