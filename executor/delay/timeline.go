package delay

import (
	"cmp"
	"slices"
)

// maxSteps bounds the memory of E: beyond it the older half is kept half as finely, which widens
// intervals and never narrows them.
const maxSteps = 1 << 15

// Timeline records when a client was late, idle and paused, and returns the Delay of each request. The
// zero Timeline is that of a client on time. It is not safe for concurrent use.
type Timeline struct {
	// E by time, ascending: the value holds from at to the next step. A value of 0 is an idle client.
	steps  []step
	late   []slot  // slots with late sends, ascending
	pauses []pause // ascending and disjoint
	// lastLate is the latest late send.
	lastLate int64
	beats    int64 // least time between two beats that is a pause, ns; 0: by PauseLimit
}

// pause is a time in which the client stood still, as far as its heartbeat knows. Short requests that were
// sent and answered meanwhile show that it ran from the first send to the last answer.
type pause struct {
	from, to  int64
	sent, end int64 // the first of these sends and the last of these answers; 0: none
}

// still returns for how long the client may have stood still.
func (p pause) still() int64 {
	if p.end == 0 {
		return p.to - p.from
	}
	return max(p.sent-p.from, p.to-p.end)
}

// with returns a pause that is both.
func (p pause) with(o pause) pause {
	if p.end == 0 || o.end != 0 && o.sent < p.sent {
		p.sent = o.sent
	}
	return pause{min(p.from, o.from), max(p.to, o.to), p.sent, max(p.end, o.end)}
}

type step struct{ at, most int64 }

// slot is a part of 100 ms of the run clock.
type slot struct{ index, most int64 }

// Late records a request that was sent at send, delay ns late by the client's own fault, which is over
// the limit.
func (t *Timeline) Late(send, delay int64) {
	t.raise(send, delay)
	t.lastLate = max(t.lastLate, send)
	at, i := send/slotLength, len(t.late)
	for i > 0 && t.late[i-1].index >= at {
		i--
	}
	if i == len(t.late) || t.late[i].index != at {
		t.late = slices.Insert(t.late, i, slot{index: at})
	}
	t.late[i].most = max(t.late[i].most, delay)
}

// raise makes E at least delay from send on, until the client is idle.
func (t *Timeline) raise(send, delay int64) {
	i := t.after(send)
	if t.before(i) < delay {
		t.steps = slices.Insert(t.steps, i, step{send, delay})
		i++
	}
	for ; i < len(t.steps) && t.steps[i].most != 0; i++ {
		t.steps[i].most = max(t.steps[i].most, delay)
	}
	if len(t.steps) > maxSteps {
		t.coarsen()
	}
}

// after returns the index of the first step after at. Most events come in order.
func (t *Timeline) after(at int64) (i int) {
	n := len(t.steps)
	if n == 0 || t.steps[n-1].at <= at {
		return n
	}
	i, _ = slices.BinarySearchFunc(t.steps, at+1, func(s step, at int64) int { return cmp.Compare(s.at, at) })
	return i
}

// before returns E just before step i.
func (t *Timeline) before(i int) int64 {
	if i == 0 {
		return 0
	}
	return t.steps[i-1].most
}

// coarsen joins the older steps in pairs.
func (t *Timeline) coarsen() {
	old, n := t.steps[:maxSteps/2], 0
	for i := 0; i+1 < len(old); i += 2 {
		old[n] = step{old[i].at, max(old[i].most, old[i+1].most)}
		n++
	}
	t.steps = slices.Delete(t.steps, n, len(old))
}

// Idle records that nothing was in flight at a time, and nothing due and unsent: what was late before
// has no effect on what ends later. An event that comes after those of later late sends is left out, which
// widens intervals.
func (t *Timeline) Idle(at int64) {
	if i := t.after(at); at >= t.lastLate && t.before(i) != 0 {
		t.steps = slices.Insert(t.steps, i, step{at: at + 1})
	}
}

// Pause records that the client stood still. What several observers saw of one pause is one.
func (t *Timeline) Pause(from, to int64) {
	i := len(t.pauses)
	for i > 0 && t.pauses[i-1].to >= from {
		i--
	}
	j, all := i, pause{from: from, to: to}
	for ; j < len(t.pauses) && t.pauses[j].from <= to; j++ {
		all = all.with(t.pauses[j])
	}
	t.pauses = slices.Replace(t.pauses, i, j, all)
}

// Of returns the delay of a request that was sent at send and ended at end, with slices of that length.
// Recent may grow until Settles.
//
// A closed loop sends late after a pause: at once what it would have sent one by one, to a server that has
// had nothing to do meanwhile. Of several instances these change the order little: in the simulation a 16th of
// the pause is enough for E.
func (t *Timeline) Of(send, end, slice int64, closed bool) Delay {
	d := Delay{E: t.before(t.after(end)), R: t.longest(send, end)}
	to := Settles(send, slice)
	from := to - 2*slice
	if closed {
		for i := t.firstPause(from); i < len(t.pauses) && t.pauses[i].from < send; i++ {
			d.Recent = max(d.Recent, t.pauses[i].to-t.pauses[i].from)
		}
		d.E = max(d.E, d.Recent/16)
	} else if d.IsZero() {
		return d
	}
	i, _ := slices.BinarySearchFunc(t.late, from/slotLength,
		func(s slot, at int64) int { return cmp.Compare(s.index, at) })
	for ; i < len(t.late) && t.late[i].index < to/slotLength; i++ {
		d.Recent = max(d.Recent, t.late[i].most)
	}
	return d
}

// SliceLength returns the length of a slice for a median service time, ns.
func SliceLength(service int64) int64 {
	return max((perService*service+slotLength-1)/slotLength, 1) * slotLength
}

// Settles returns when the slice in which a request was sent is over: its delay is final once all sends
// before that are recorded.
func Settles(send, slice int64) int64 { return (send/slice + 1) * slice }

// least returns the least time between two signs of life that is a pause.
func (t *Timeline) least() int64 { return cmp.Or(t.beats, BeatEvery+PauseLimit) }

// longest returns the longest part of a pause that lies within a request. A short one that was sent when a
// beat was missing, and answered before the next, shows that the client ran.
func (t *Timeline) longest(send, end int64) (most int64) {
	for i := t.firstPause(send); i < len(t.pauses) && t.pauses[i].from < end; i++ {
		p := &t.pauses[i]
		if send <= p.from || end >= p.to || end-send > t.least() {
			most = max(most, min(end, p.to)-max(send, p.from))
		} else if send > p.from+BeatEvery {
			*p = p.with(pause{p.from, p.to, send, end})
		}
	}
	return most
}

// firstPause returns the index of the first pause that ends after at.
func (t *Timeline) firstPause(at int64) int {
	ends := func(p pause, at int64) int { return cmp.Compare(p.to, at) }
	i, _ := slices.BinarySearchFunc(t.pauses, at+1, ends)
	return i
}

// overlap returns how much of one period lies in another.
func overlap(a, b, from, to int64) int64 { return max(min(b, to)-max(a, from), 0) }

// Paused returns how many pauses overlap a period, and their time within it, ns.
func (t *Timeline) Paused(from, to int64) (n, within int64) {
	for i := t.firstPause(from); i < len(t.pauses) && t.pauses[i].from < to; i++ {
		if p := t.pauses[i]; p.still() >= t.least() {
			n++
			within += overlap(p.from, p.to, from, to) - overlap(p.sent, p.end, from, to)
		}
	}
	return n, within
}
