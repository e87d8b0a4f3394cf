package delay

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// requests is the number of requests of a run.
const requests = 400

// playOpen plays an open loop that stands still a few times.
func playOpen(r *rand.Rand, server func() server) *trial {
	loads := []float64{0.3, 0.6, 0.85, 0.95}
	return openLoop(r, server, loads[r.IntN(len(loads))], 0)
}

// playDrops plays an open loop that drops what finds no room.
func playDrops(r *rand.Rand, server func() server) *trial {
	loads, rooms := []float64{0.5, 0.9, 1.2, 2, 4}, []int{1, 2, 4, 8, 16}
	return openLoop(r, server, loads[r.IntN(len(loads))], rooms[r.IntN(len(rooms))])
}

func openLoop(r *rand.Rand, server func() server, load float64, room int) *trial {
	due, now := make([]int64, requests), 0.0
	for i := range due {
		now += r.ExpFloat64() * float64(service) / load
		due[i] = int64(now)
	}
	services, pauses := servicesOf(r), pausesOf(r, due[requests-1])
	c := client{room: room, first: r.IntN(2) == 0}
	onTime, sent := slices.Clone(due), slices.Clone(due)
	for i, at := range due {
		if sent[i] = awake(at, pauses); sent[i] <= at+SendLimit { // late by less is on time
			onTime[i] = sent[i]
		}
	}
	truth := c.open(server(), onTime, services)
	if r.IntN(2) == 0 { // else replies are stamped by the kernel
		c.reads = seen(pauses)
	}
	read := c.open(server(), sent, services)
	x := &trial{pauses: -1, dropped: room > 0}
	for i := range due {
		x.late = append(x.late, request{due: due[i], sent: sent[i], read: read[i]})
		x.onTime = append(x.onTime, request{due: due[i], sent: onTime[i], read: truth[i]})
	}
	x.delays(c.reads)
	return x
}

// playClosed plays a closed loop that stands still a few times.
func playClosed(r *rand.Rand, server func() server) *trial {
	slots := []int{1, 2, 4, 8, 16}[r.IntN(5)]
	services, pauses := servicesOf(r), seen(pausesOf(r, requests*service))
	sentOnTime, truth := client{}.closed(server(), slots, services)
	sent, read := client{reads: pauses}.closed(server(), slots, services)
	x := new(trial)
	for i := range sent {
		x.late = append(x.late, request{due: sent[i], sent: sent[i], read: read[i]})
		x.onTime = append(x.onTime, request{due: sentOnTime[i], sent: sentOnTime[i], read: truth[i]})
	}
	end := int64(lastRead(x.late))
	for _, p := range merged(pauses) {
		x.pauses += overlap(p.from, p.to, 0, end)
	}
	var all Client
	log := all.Join(Limits{})
	for _, p := range pauses {
		all.timeline.Pause(p.from, p.to)
		all.recorded.Store(true)
	}
	x.setDelays(&all, log)
	return x
}

// delays fills in the delays of an open loop, from what the player tells its log, and counts the drops that
// these may have caused.
func (x *trial) delays(pauses []pause) {
	var all Client
	log := all.Join(Limits{})
	var busy int64
	for _, q := range x.late { // in the order of sends
		if q.due > busy && log.WasLate() {
			log.Idle(busy)
		}
		own := q.sent - q.due
		if q.read == never {
			if log.Dropped(own) {
				x.droppedLate = min(x.droppedLate+1, log.MaxDropped())
			}
			continue
		}
		log.Late(q.sent, own)
		busy = max(busy, q.read)
	}
	if dropped(x.late) > 0 {
		x.droppedMore = log.MaxDropped()
	}
	for _, p := range pauses {
		all.timeline.Pause(p.from, p.to)
		all.recorded.Store(true)
	}
	x.setDelays(&all, log)
}

func (x *trial) setDelays(all *Client, log *Log) {
	all.Update(0)
	var times []int64
	for _, q := range x.late {
		if q.read != never {
			times = append(times, q.read-q.sent)
		}
	}
	if len(times) == 0 {
		return
	}
	slice := SliceLength(int64(rank(times, 50)))
	for i, q := range x.late {
		if q.read != never {
			x.late[i].delay = all.Of(q.sent, q.read, slice, x.pauses >= 0)
		}
	}
}

// servicesOf returns service times: half of them alike, the others of an exponential distribution.
func servicesOf(r *rand.Rand) (list []int64) {
	for range requests {
		s := service
		if r.IntN(2) == 0 {
			s = int64(r.ExpFloat64() * float64(service))
		}
		list = append(list, s)
	}
	return list
}

// pausesOf returns pauses of one length, ascending.
func pausesOf(r *rand.Rand, end int64) (list []pause) {
	length := []int64{2, 5, 20, 50, 200}[r.IntN(5)] * ms
	for range 1 + r.IntN(6) {
		from := r.Int64N(end)
		list = append(list, pause{from: from, to: from + length})
	}
	slices.SortFunc(list, func(a, b pause) int { return cmp.Compare(a.from, b.from) })
	return list
}

// seen returns the pauses that the heartbeat notices for sure: a shorter one counts as none.
func seen(pauses []pause) []pause {
	return slices.DeleteFunc(slices.Clone(pauses), func(p pause) bool { return p.to-p.from <= BeatEvery+PauseLimit })
}

// merged returns pauses that overlap as one.
func merged(pauses []pause) (list []pause) {
	for _, p := range pauses {
		if n := len(list); n > 0 && p.from <= list[n-1].to {
			list[n-1].to = max(list[n-1].to, p.to)
			continue
		}
		list = append(list, p)
	}
	return list
}

// awake returns the end of the pauses that a time lies in.
func awake(at int64, pauses []pause) int64 {
	for _, p := range pauses {
		if at >= p.from && at < p.to {
			at = p.to
		}
	}
	return at
}
