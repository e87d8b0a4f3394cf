package delay

import (
	"cmp"
	"sync/atomic"
)

// logRoom is the number of events between two updates that a log has room for.
const logRoom = 1 << 13

// Log takes what the senders of one player and its heartbeat notice. Many goroutines write and one
// reads; writing neither blocks nor allocates. What exceeds its room is counted as lost.
type Log struct {
	cells [logRoom]cell
	_     [64]byte // the ends on their own cache lines
	tail  atomic.Uint64
	_     [64]byte
	head  uint64 // used by the reader

	least    int64        // of limit, ns
	pause    int64        // by which a beat may come late, ns
	limit    atomic.Int64 // of a delay on time, ns
	wasLate  atomic.Bool  // since the client was last idle
	lastBeat atomic.Int64 // 0: none yet
	lost     atomic.Int64
	lates    atomic.Int64 // arrivals that were late
}

// cell holds the event written as number turn-1, or is free for number turn.
type cell struct {
	turn atomic.Uint64
	event
}

// event is what one of Timeline's methods records.
type event struct {
	record        func(t *Timeline, a, b int64)
	first, second int64
}

func newLog(limits Limits) *Log {
	l := &Log{least: cmp.Or(limits.Send, SendLimit), pause: cmp.Or(limits.Pause, PauseLimit)}
	for i := range l.cells {
		l.cells[i].turn.Store(uint64(i))
	}
	l.limit.Store(l.least)
	return l
}

// SetService sets the median service time, ns, by which the limit grows.
func (l *Log) SetService(median int64) { l.limit.Store(max(l.least, median/100)) }

// Limit returns the own send delay, ns, up to which a request is on time.
func (l *Log) Limit() int64 { return l.limit.Load() }

// Late records a request that is being sent at now, delay ns late by the client's own fault. It must be
// called before the request can be answered.
func (l *Log) Late(now, delay int64) {
	if delay > l.Limit() {
		l.lates.Add(1)
		l.wasLate.Store(true)
		l.add(event{(*Timeline).Late, now, delay})
	}
}

// Dropped records an arrival that found no room, delay ns late by the client's own fault, and reports
// whether it may have found some on time.
func (l *Log) Dropped(delay int64) bool {
	if delay > l.Limit() {
		l.lates.Add(1)
	}
	return l.lates.Load() > 0
}

// MaxDropped returns by how many the drops of a client that was late differ from those of one on time; 0: it
// was not late. In the simulation it is more in 1 of 500 runs.
func (l *Log) MaxDropped() int64 {
	if n := l.lates.Load(); n > 0 {
		return 3*n + 1
	}
	return 0
}

// WasLate reports whether there were late sends since the last Idle.
func (l *Log) WasLate() bool { return l.wasLate.Load() }

// Idle records that nothing was in flight at now, and nothing due and unsent.
func (l *Log) Idle(now int64) {
	l.wasLate.Store(false)
	l.add(event{idle, now, 0})
}

func idle(t *Timeline, at, _ int64) { t.Idle(at) }

// Beat records that the client ran at now, as its heartbeat's thread or what folds its samples knows. A
// beat that comes too late ends a pause.
func (l *Log) Beat(now int64) {
	if last := l.lastBeat.Swap(now); l.isPause(last, now) {
		l.add(event{(*Timeline).Pause, last, now})
	}
}

// Rest ends the beats: what follows is no pause.
func (l *Log) Rest() { l.lastBeat.Store(0) }

// isPause reports whether the client stood still between two beats; 0: there was none yet.
func (l *Log) isPause(last, now int64) bool { return last != 0 && now-last > BeatEvery+l.pause }

func (l *Log) add(e event) {
	for {
		at := l.tail.Load()
		c := &l.cells[at%logRoom]
		turn := c.turn.Load()
		if turn < at { // not read yet
			l.lost.Add(1)
			return
		}
		if turn == at && l.tail.CompareAndSwap(at, at+1) {
			c.event = e
			c.turn.Store(at + 1)
			return
		}
	}
}

// next returns the oldest event, false if there is none.
func (l *Log) next() (e event, ok bool) {
	c := &l.cells[l.head%logRoom]
	if c.turn.Load() != l.head+1 {
		return event{}, false
	}
	e = c.event
	c.turn.Store(l.head + logRoom)
	l.head++
	return e, true
}
