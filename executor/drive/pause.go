package drive

import "time"

// pause lets one goroutine wait for a time of the run clock. The zero pause is ready to use.
type pause struct {
	long  *time.Timer // nil before the first wait
	short *shortTimer
}

// wait returns at until, or when over says so. A token of wake makes it ask again before the time.
func (p *pause) wait(until int64, now func() int64, wake <-chan struct{}, over func(now int64) bool) {
	for {
		at := now()
		left := until - at
		switch {
		case left <= 0 || over(at):
			return
		case p.long == nil:
			p.short, p.long = newShortTimer(), time.NewTimer(time.Hour)
		case left > int64(coarseSleep):
			p.long.Reset(time.Duration(left) - coarseSleep)
			select {
			case <-p.long.C:
			case <-wake:
				p.long.Stop()
			}
		default:
			p.short.wait(left)
		}
	}
}

// close releases the timers.
func (p *pause) close() {
	if p.long != nil {
		p.short.close()
		p.long.Stop()
	}
}
