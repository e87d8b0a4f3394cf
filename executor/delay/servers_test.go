package delay

import (
	"cmp"
	"math"
	"slices"
)

// never is later than any time of the simulation.
const never = int64(math.MaxInt64)

// server is a model of a server. Times are ns from the start of a run.
type server interface {
	// arrive takes request i, which the server would answer after service if it had nothing else.
	arrive(now int64, i int, service int64)
	// next returns when the server does something by itself, never if it has nothing to do.
	next() int64
	// step does that, and returns the requests that are answered by it.
	step() []int
}

// replies holds the requests that are being served, the first to be answered first.
type replies []reply

type reply struct {
	at int64
	i  int
}

func (r *replies) add(x reply) {
	at, _ := slices.BinarySearchFunc(*r, x.at+1, func(y reply, at int64) int { return cmp.Compare(y.at, at) })
	*r = slices.Insert(*r, at, x)
}

func (r *replies) next() int64 {
	if len(*r) == 0 {
		return never
	}
	return (*r)[0].at
}

func (r *replies) step() []int {
	first := (*r)[0]
	*r = (*r)[1:]
	return []int{first.i}
}

// fifo serves in the order of arrival by some instances, each as many times slower.
type fifo struct {
	replies
	free []int64 // by instance
}

func newFIFO(instances int) func() server {
	return func() server { return &fifo{free: make([]int64, instances)} }
}

func (f *fifo) arrive(now int64, i int, service int64) {
	first := slices.Index(f.free, slices.Min(f.free))
	f.free[first] = max(now, f.free[first]) + service*int64(len(f.free))
	f.add(reply{f.free[first], i})
}

// sharing serves all requests at once, each at an equal share.
type sharing struct {
	now  float64
	open []share
}

type share struct {
	i    int
	left float64
}

func newSharing() server { return &sharing{} }

func (s *sharing) advance(now float64) {
	for k := range s.open {
		s.open[k].left -= (now - s.now) / float64(len(s.open))
	}
	s.now = now
}

func (s *sharing) first() (k int, at float64) {
	for j, x := range s.open {
		if x.left < s.open[k].left {
			k = j
		}
	}
	return k, s.now + max(s.open[k].left, 0)*float64(len(s.open))
}

func (s *sharing) arrive(now int64, i int, service int64) {
	s.advance(float64(now))
	s.open = append(s.open, share{i, float64(service)})
}

func (s *sharing) next() int64 {
	if len(s.open) == 0 {
		return never
	}
	_, at := s.first()
	return int64(math.Ceil(at))
}

func (s *sharing) step() []int {
	k, at := s.first()
	s.advance(math.Ceil(at))
	i := s.open[k].i
	s.open = slices.Delete(s.open, k, k+1)
	return []int{i}
}

// batcher is a dynamic batcher: it waits 2 ms for up to 8 requests, and takes 5 ms and 1 ms for each.
type batcher struct {
	replies
	queue []reply // by arrival
	free  int64
}

func newBatcher() server { return &batcher{} }

const largestBatch = 8

func (b *batcher) arrive(now int64, i int, _ int64) { b.queue = append(b.queue, reply{now, i}) }

// leaves returns when the next batch leaves the queue.
func (b *batcher) leaves() int64 {
	switch {
	case len(b.queue) == 0:
		return never
	case len(b.queue) >= largestBatch:
		return max(b.free, b.queue[largestBatch-1].at)
	}
	return max(b.free, b.queue[0].at+2*ms)
}

func (b *batcher) next() int64 { return min(b.replies.next(), b.leaves()) }

func (b *batcher) step() []int {
	at := b.leaves()
	if b.replies.next() <= at {
		return b.replies.step()
	}
	n := min(len(b.queue), largestBatch)
	b.free = at + 5*ms + int64(n)*ms
	for _, x := range b.queue[:n] {
		b.add(reply{b.free, x.i})
	}
	b.queue = b.queue[n:]
	return nil
}

// client says when it sends, and which times of its clock it skips as it stands still.
type client struct {
	reads []pause // replies that come meanwhile are read at its end; ascending
	room  int     // requests in flight at most, others are dropped; 0: as many as there are
	first bool    // reads before it sends, where both are due
}

// open sends at fixed times, and returns when each reply is read; never: it was dropped.
func (c client) open(s server, sent, services []int64) []int64 {
	read := make([]int64, len(sent))
	var unread []int64 // when those will be read that are answered or open
	open := 0
	for i := 0; ; {
		if i == len(sent) && s.next() == never {
			return read
		}
		if i == len(sent) || s.next() < sent[i] {
			at := awake(s.next(), c.reads)
			for _, k := range s.step() {
				read[k] = at
				unread, open = append(unread, at), open-1
			}
			continue
		}
		for len(unread) > 0 && (unread[0] < sent[i] || c.first && unread[0] == sent[i]) {
			unread = unread[1:]
		}
		if read[i] = never; c.room == 0 || open+len(unread) < c.room {
			s.arrive(sent[i], i, services[i])
			open++
		}
		i++
	}
}

// closed keeps some requests in flight, and returns when each was sent and its reply read.
func (c client) closed(s server, slots int, services []int64) (sent, read []int64) {
	sent, read = make([]int64, len(services)), make([]int64, len(services))
	free := make([]int64, slots) // when each idle slot became so, ascending
	for i := 0; ; {
		if i < len(services) && len(free) > 0 && free[0] <= s.next() {
			sent[i] = free[0]
			s.arrive(sent[i], i, services[i])
			free = free[1:]
			i++
			continue
		}
		if s.next() == never {
			return sent, read
		}
		at := awake(s.next(), c.reads)
		for _, k := range s.step() {
			read[k] = at
			free = append(free, at)
		}
	}
}
