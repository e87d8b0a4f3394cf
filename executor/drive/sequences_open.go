package drive

import (
	"runtime"

	"github.com/sluice-bench/sluice/backends"
)

// begins reports whether an arrival begins a sequence, which then goes on by itself.
func (op *open) begins() bool { return op.o.Sequences != nil && op.o.Sequences.Begin }

// holds reports whether arrival k, which may not be sent, counts.
func (p *pacer) holds(k uint64, due int64) bool {
	if q := p.o.Sequences; q != nil && (q.CountsWarm || q.Begin) && p.o.WarmCount > 0 {
		return p.c.HoldStart.Load() != 0 // what is counted is something else
	}
	return !p.warm(k, due)
}

// step plays an arrival of a load of sequences. The slot comes first: it decides which sequence goes on. False: nothing
// more is to be sent.
func (p *pacer) step(due, after, now int64) bool {
	k, hold := p.k, p.holds(p.k, due)
	p.k++
	p.hash = p.hash.Add(after)
	for {
		home, free := p.place(hold)
		switch {
		case home == nil && p.retired > 0:
			return !p.halt.Load() // the sequences that are left are fewer than the schedule was made for
		case home == nil:
			return p.unsent(hold)
		case free != 0:
			p.poolFree = free
		case hold && due < p.poolFree:
			p.WaitedPool++ // behind those that waited, and as long
		}
		if p.halt.Load() { // it may be idle only because its request was cancelled
			p.pools[0].idle.push(home)
			return p.unsent(hold)
		}
		if !p.joins(home) {
			continue
		}
		if p.begins() {
			k = p.steps.Add(1) - 1
		}
		a := arrival{n: p.o.Shard.Number(k), due: due, free: max(due, p.poolFree)}
		flags, ok := p.admit(home, k, due)
		a.flags = flags
		if !ok && !p.o.Sequences.CountsLimit {
			p.quits(home)
			p.exhausted()
			return false
		}
		if ok && p.src.Next(home.live.number, a.n, &p.turn) {
			return p.launch(home, a, max(now, free))
		}
		if p.begins() {
			p.pools[0].idle.push(home)
			return false
		}
		home.live.over()
		home.live.retired = true
		if p.retired++; p.retired == p.homes() {
			return false
		}
	}
}

// homes is how many sequences there can be at a time.
func (p *pacer) homes() int { return (int(p.pools[0].count.Load()) + p.atOnce - 1) / p.atOnce }

// place is the slot that an arrival goes out on. Once the first has no sequence any more, what finds none idle does not
// wait: the rest of the sequences cannot keep up the rate.
func (p *pacer) place(hold bool) (home *slot, free int64) {
	if p.turn.Pool = 0; p.retired == 0 {
		home, free, _ = p.idleSlot(arrival{}, hold)
		return home, free
	}
	home, _ = p.claim(&p.pools[0])
	return home, 0
}

// launch sends the turn. False: that was the last.
func (p *pacer) launch(home *slot, a arrival, now int64) bool {
	sl := &p.pools[p.turn.Pool].slots[home.index]
	hold := a.flags&backends.Warmup == 0
	s := p.buffer(sl)
	if s == nil {
		p.quits(home)
		return p.unsent(hold)
	}
	if p.atOnce > 1 && p.turn.Fields.Start {
		home.live.word.Add(uint64(p.turn.Left) * oneLeft)
	}
	p.send(sl, a, s, now)
	switch {
	case !hold:
		p.WarmSent++
	case p.begins():
		p.Arrivals++
		fallthrough
	default:
		p.Planned++
		p.Sent++
	}
	if p.o.Limit == 0 || p.held.Load() < p.o.Limit {
		return true
	}
	if !p.o.Sequences.CountsLimit {
		p.exhausted()
		return false
	}
	return !p.begins()
}

// follow hands off the answered request of a sequence, and plays what comes of it. Of the goroutine that received it.
func (op *open) follow(home, sl *slot) {
	op.returns(sl)
	switch {
	case sl.closing.Load():
		op.settled(sl)
		return
	case op.atOnce > 1:
		op.leaves(sl)
		return
	}
	op.conclude(sl, op.src, &sl.turn)
	for home.live.open && op.begins() && op.goOn(home, sl) {
		op.conclude(sl, op.src, &sl.turn)
	}
}

// returns waits until the pacer has left the Send of the answered request: a lane takes one at a time.
func (op *open) returns(sl *slot) {
	for !sl.line.shared() && !sl.returned.Load() && !op.crashed() {
		runtime.Gosched() // it is on its way
	}
}

// goOn sends the next step of a sequence that an arrival began, and waits for its end. False: it does not go on. Of the
// goroutine that received the step before.
func (op *open) goOn(home, sl *slot) bool {
	now := op.o.Clock.Now()
	if op.halt.Load() || now >= op.c.StopAt.Load() || op.over.Load() != 0 {
		op.closeOpen(home, op.src, &sl.turn)
		return false
	}
	k := op.steps.Add(1) - 1
	a := arrival{n: op.o.Shard.Number(k), due: now, free: now}
	var ok bool
	if a.flags, ok = op.admit(home, k, now); !ok {
		op.exhausted()
		op.closeOpen(home, op.src, &sl.turn)
		return false
	}
	s := op.out.Get(sl.index)
	if s == nil {
		op.paused.Add(1)
		s = op.spare(sl)
	}
	if s == nil || !op.src.Next(home.live.number, a.n, &sl.turn) {
		op.closeOpen(home, op.src, &sl.turn)
		return false
	}
	if a.flags&backends.Warmup != 0 {
		op.warmed.Add(1)
	} else {
		op.sent.Add(1)
	}
	op.take(sl, a, s, &sl.turn)
	sl.handed = false
	sl.send()
	return sl.receive()
}

// closeSequences ends what the slots are in the middle of, each when it is idle.
func (p *pacer) closeSequences() {
	if p.o.Sequences == nil {
		return
	}
	homes := p.homes()
	for left := homes - p.retired; left > 0; {
		home := p.nextIdle()
		if home == nil {
			return
		}
		q := home.live
		if q.retired || q.number >= homes {
			continue
		}
		q.retired = true
		left--
		if p.atOnce > 1 && !q.stop() {
			continue // whoever leaves it last closes it
		}
		if q.open && p.src.Finish(q.number, &p.turn) {
			p.close(home)
		}
	}
}

// nextIdle waits for a slot to become idle, whatever the state of the player. nil: it broke.
func (p *pacer) nextIdle() *slot {
	g := &p.pools[0]
	for !p.crashed() {
		if sl := p.pop(g); sl != nil {
			return sl
		}
		p.waiting.Store(true)
		if sl := p.pop(g); sl != nil {
			p.waiting.Store(false)
			return sl
		}
		<-p.freed
	}
	return nil
}

// close sends what closes a sequence. Its reply is the lane's goroutine's.
func (p *pacer) close(home *slot) {
	home.live.open = false
	sl := &p.pools[p.turn.Pool].slots[home.index]
	s := p.spare(sl)
	if s == nil {
		p.leftOpen.Add(1)
		return
	}
	p.c.InFlight.Add(1)
	p.take(sl, p.closing(sl), s, &p.turn)
	p.dispatch(sl)
}
