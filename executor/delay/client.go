package delay

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Client joins the logs of all players that run at the same time into one timeline: a late send of one
// changes what the others measure on the same server. It is safe for concurrent use.
type Client struct {
	mu       sync.Mutex
	timeline Timeline
	logs     []*Log
	// several players were there at once: the client is idle only when all of them are, which is
	// unknown, so late sends count to the end
	several  bool
	lost     int64
	recorded atomic.Bool // something was: not all is exact
}

// Join returns the log of one more player with its limits.
func (c *Client) Join(limits Limits) *Log {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := newLog(limits)
	c.logs = append(c.logs, l)
	if least := BeatEvery + l.pause; c.timeline.beats == 0 || least < c.timeline.beats {
		c.timeline.beats = least
	}
	c.several = c.several || len(c.logs) > 1
	return l
}

// Leave ends a log at now, when its player has ended.
func (c *Client) Leave(l *Log, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take(l)
	c.logs = slices.DeleteFunc(c.logs, func(other *Log) bool { return other == l })
	if len(c.logs) == 0 {
		c.timeline.Idle(now)
	}
}

// Update records what the logs hold. A pause that goes on at now is recorded so far.
func (c *Client) Update(now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.logs {
		c.take(l)
		if last := l.lastBeat.Load(); l.isPause(last, now) {
			c.timeline.Pause(last, now)
			c.recorded.Store(true)
		}
	}
}

func (c *Client) take(l *Log) {
	for e, ok := l.next(); ok; e, ok = l.next() {
		if e.second == 0 && c.several { // idle
			continue
		}
		e.record(&c.timeline, e.first, e.second)
		c.recorded.Store(true)
	}
	c.lost += l.lost.Swap(0)
}

// Late records a late send that its sample tells of: the client was stopped between its last look at
// the clock and the send.
func (c *Client) Late(send, delay int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timeline.Late(send, delay)
	for _, l := range c.logs {
		l.wasLate.Store(true)
	}
	c.recorded.Store(true)
}

// Of returns the delay of a request, of a closed loop or an open one, that was sent at send and ended at end,
// as of now. slice is the length of a slice, ns (see SliceLength).
func (c *Client) Of(send, end, slice int64, closed bool) Delay {
	if !c.recorded.Load() {
		return Delay{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timeline.Of(send, end, slice, closed)
}

// Paused returns how many pauses overlap a period, and their time within it, ns.
func (c *Client) Paused(from, to int64) (n, within int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timeline.Paused(from, to)
}

// Lost counts the events for which a log had no room: without them nothing is known of the delays.
func (c *Client) Lost() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lost
}
