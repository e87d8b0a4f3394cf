package drive

import "time"

// pause lets the time between a reply and the slot's next request pass. It gives when the pause is over, and returns then
// or when nothing more is to be sent.
func (w *worker) pause(think int64) (until int64) {
	until = w.o.Clock.Now() + think
	w.home.floor.Store(until)
	if w.alarm == nil {
		w.alarm, w.timer = newAlarm(), time.NewTimer(time.Hour)
	}
	for !w.halt.Load() && w.over.Load() == 0 {
		now := w.o.Clock.Now()
		left := until - now
		switch {
		case left <= 0 || now >= w.c.StopAt.Load():
			return until
		case left > int64(coarse):
			w.doze(time.Duration(left) - coarse)
		default:
			w.alarm.wait(left)
		}
	}
	return until
}

// doze waits on the runtime's timer, or until the worker is woken.
func (w *worker) doze(d time.Duration) {
	w.timer.Reset(d)
	select {
	case <-w.timer.C:
	case <-w.home.wake:
		w.timer.Stop()
	}
}

// rest gives back what pauses took.
func (w *worker) rest() {
	if w.alarm != nil {
		w.alarm.close()
		w.timer.Stop()
	}
}
