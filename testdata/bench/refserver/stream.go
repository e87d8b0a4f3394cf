package main

import (
	"bytes"
	"cmp"
	"container/heap"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// pace holds the times of a stream's events.
type pace struct {
	ttft, gap time.Duration // from the request's arrival to the first event, and from event to event
	tokens    int
	whole     bool // all events in one write, as soon as the first is due

	events [][]byte // as chunks; the last one has the end of the stream with it
	// asked is the same for who asks for the usage: it comes with no choice, which not all clients can read.
	asked [][]byte
}

// newPace makes the events: each has one token, the first one names the role, as a role by itself is a
// token to some clients.
func newPace(ttft, gap time.Duration, tokens int, whole bool) *pace {
	const event = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"M",` +
		`"choices":[{"index":0,"delta":{%s"content":" copy"},"logprobs":null,"finish_reason":%s}]}`
	const usage = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"M",` +
		`"choices":[],"usage":{"prompt_tokens":8,"completion_tokens":%d,"total_tokens":%d}}`
	p := &pace{ttft: ttft, gap: gap, tokens: tokens, whole: whole}
	for i := range tokens {
		role, reason := "", "null"
		if i == 0 {
			role = `"role":"assistant",`
		}
		if i == tokens-1 {
			reason = `"length"`
		}
		p.events = append(p.events, chunk(fmt.Sprintf(event, role, reason)))
	}
	p.events[0] = append([]byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"+
		"Transfer-Encoding: chunked\r\n\r\n"), p.events[0]...)
	end := append(chunk("[DONE]"), "0\r\n\r\n"...)
	last := p.events[tokens-1]
	p.asked = slices.Clone(p.events)
	p.asked[tokens-1] = slices.Concat(last, chunk(fmt.Sprintf(usage, tokens, tokens+8)), end)
	p.events[tokens-1] = slices.Concat(last, end)
	if whole {
		p.events, p.asked = [][]byte{slices.Concat(p.events...)}, [][]byte{slices.Concat(p.asked...)}
	}
	return p
}

// chunk returns an event as a chunk of a body.
func chunk(data string) []byte {
	event := "data: " + data + "\n\n"
	return fmt.Appendf(nil, "%x\r\n%s\r\n", len(event), event)
}

// isChat reports whether the path of a POST is that of a chat, which is answered with a stream.
func isChat(path []byte) bool { return bytes.HasSuffix(path, []byte("/chat/completions")) }

// stream is one that is being written. Times are ns since the origin of the arrivals.
type stream struct {
	*pace
	events  [][]byte
	c       *conn // nil: the client has gone
	due     int64 // of the next event
	turn    uint64
	arrival int64   // of the request, stamped by the kernel
	at      []int64 // of the events, just before the write that hands them to the client
}

// streams are the ones that have ended, and the pace of those to come.
type streams struct {
	pace       atomic.Pointer[pace]
	now, most  atomic.Int64 // in flight
	mu         sync.Mutex
	ended      []*stream
	abandoned  int
	events     int64
	keepStamps bool
}

// start sets the pace and forgets what was written.
func (s *streams) start(p *pace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace.Store(p)
	s.most.Store(s.now.Load())
	s.ended, s.abandoned, s.events, s.keepStamps = nil, 0, 0, p.gap > 0
}

func (s *streams) begin() {
	now := s.now.Add(1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
}

// end notes a stream that was written, or left by its client.
func (s *streams) end(st *stream) {
	s.now.Add(-1)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case st.c == nil:
		s.abandoned++
		return
	case !s.keepStamps: // millions of them: the first and the last are enough
		st.at = []int64{st.at[0], st.at[len(st.at)-1]}
	}
	st.c = nil
	s.events += int64(st.tokens)
	s.ended = append(s.ended, st)
}

// written is the truth about the streams, as means in ms.
type written struct {
	Streams   int     `json:"streams"`
	Abandoned int     `json:"abandoned"`
	Events    int64   `json:"events"`
	Most      int64   `json:"most"` // in flight
	TTFT      float64 `json:"ttft"` // from the arrival of the request to the write of the first event
	ITL       float64 `json:"itl"`
	Late      float64 `json:"late"` // p99 of the events' own lateness: server's, not a client's
}

func (s *streams) written() written {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := written{Streams: len(s.ended), Abandoned: s.abandoned, Events: s.events, Most: s.most.Load()}
	var late []float64
	for _, st := range s.ended {
		first, last := st.at[0], st.at[len(st.at)-1]
		w.TTFT += float64(first-st.arrival) / 1e6 / float64(len(s.ended))
		w.ITL += float64(last-first) / 1e6 / float64(max(st.tokens-1, 1)) / float64(len(s.ended))
		for i, at := range st.at {
			if s.keepStamps || i == 0 {
				due := st.arrival + int64(st.ttft) + int64(i)*int64(st.gap)
				late = append(late, float64(at-due)/1e6)
			}
		}
	}
	if len(late) > 0 {
		slices.Sort(late)
		w.Late = rank(late, 0.99)
	}
	return w
}

// stamps returns the times of each stream in the order of arrival, ns since 1970: of the request, then of
// its events.
func (s *streams) stamps(origin time.Time) [][]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	sorted := slices.SortedFunc(slices.Values(s.ended), func(a, b *stream) int {
		return cmp.Compare(a.arrival, b.arrival)
	})
	list := make([][]int64, len(sorted))
	for i, st := range sorted {
		list[i] = append(list[i], origin.UnixNano()+st.arrival)
		for _, at := range st.at {
			list[i] = append(list[i], origin.UnixNano()+at)
		}
	}
	return list
}

// queue orders the streams of a loop by the time of their next event, then by who has waited longer.
type queue []*stream

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	return q[i].due < q[j].due || q[i].due == q[j].due && q[i].turn < q[j].turn
}
func (q *queue) Push(x any) { *q = append(*q, x.(*stream)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

var asksUsage = regexp.MustCompile(`"include_usage": ?true`)

// open begins the stream that answers a request.
func (l *loop) open(c *conn, at int64, request []byte) {
	p := l.streams.pace.Load()
	c.stream = &stream{pace: p, c: c, arrival: at, due: at + int64(p.ttft), at: make([]int64, 0, len(p.events))}
	if c.stream.events = p.events; asksUsage.Match(request) {
		c.stream.events = p.asked
	}
	l.streams.begin()
	l.push(c.stream)
}

func (l *loop) push(st *stream) {
	l.turn++
	st.turn = l.turn
	heap.Push(&l.queue, st)
}

// play writes one event of each stream that is due, and reports whether others are due by now. Without
// delays the streams thus take turns, and no two events of one are written together.
func (l *loop) play() (more bool) {
	now := l.now()
	l.ready = l.ready[:0]
	for len(l.queue) > 0 && l.queue[0].due <= now {
		l.ready = append(l.ready, heap.Pop(&l.queue).(*stream))
	}
	for _, st := range l.ready {
		if st.c == nil {
			l.streams.end(st)
			continue
		}
		i := len(st.at)
		st.at = append(st.at, l.now())
		if !write(st.c.fd, st.events[i]) {
			l.drop(st.c)
			l.streams.end(st)
			continue
		}
		if i+1 < len(st.events) {
			st.due += int64(st.gap)
			l.push(st)
			continue
		}
		st.c.stream = nil
		l.streams.end(st)
	}
	if len(l.queue) == 0 {
		return false
	}
	wait := l.queue[0].due - l.now()
	if wait <= 0 {
		return true
	}
	// Not the timeout of epoll's wait, which is whole milliseconds.
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(wait)}
	_ = unix.TimerfdSettime(l.timer, 0, &spec, nil)
	return false
}

func (l *loop) now() int64 { return int64(time.Since(l.rec.origin)) }
