package measure

import (
	"math"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/stats"
)

// Config is what a folder needs. All times are ns on the run clock.
type Config struct {
	Rings *Rings
	// HoldStart is the due time from which requests count; 0 while unknown (drive's Control.HoldStart.Load).
	HoldStart func() int64
	// HoldEnd is the end of the hold window; 0 or math.MaxInt64 while open (`for: N requests`, `until: stable`). It may
	// become known later (Control.StopAt.Load), but not earlier than what was folded before. nil: open.
	HoldEnd func() int64
	// InFlight is how many requests are open now, for slices and the live view; nil: not known.
	InFlight func() int64
	Slice    int64 // length of a slice; 0: 1 s. It doubles while a node has more than 3,600
	Windows  Windows
	Closed   bool // the load is a closed loop: see Aggregate.Closed
	Sink     Sink // nil: none
}

// Live is what a progress display shows. Immutable once published.
type Live struct {
	At               int64 // run clock
	Sent, OK, Failed int64 // finished requests that were due in hold
	InFlight         int64
	// Of the last second, in every phase.
	Rate     float64 // ok completions, 1/s
	N        int64   // latencies behind P50 and P99; 0: both unknown
	P50, P99 int64   // ns
}

// Total is a node's measurement. Times on the run clock; slices since From.
type Total struct {
	From, To  int64 // the hold window; both 0 when it never began
	Aggregate *Aggregate
	Slices    []Slice
}

// Folder folds finished samples of one node. All methods but Live belong to one goroutine.
type Folder struct {
	c       Config
	hold    *Aggregate
	slices  *slicer  // nil until hold began
	windows *windows // nil without Config.Windows or until hold began
	last    int64    // time of the drain before this one
	sinkErr error

	live     atomic.Pointer[Live]
	recent   stats.Dist // latencies since the last Live
	recentOK int64
	liveAt   int64
}

// New makes the folder of one node.
func New(c Config) *Folder {
	if c.Slice <= 0 {
		c.Slice = nsPerSecond
	}
	c.Windows.closed = c.Closed
	f := &Folder{c: c, hold: &Aggregate{Closed: c.Closed}}
	f.live.Store(&Live{})
	return f
}

// Drain folds every finished sample and gives its buffer back. now is the run clock.
func (f *Folder) Drain(now int64) (folded int) {
	start, end := f.bounds()
	f.begin(start, min(now, end-1))
	for i := range f.c.Rings.lanes {
		l := &f.c.Rings.lanes[i]
		for s := l.full.pop(); s != nil; s = l.full.pop() {
			if start == 0 && s.Flags&backends.Warmup == 0 {
				start, end = f.bounds()
				f.begin(start, min(now, end-1))
			}
			f.fold(s, start, end, now)
			l.empty.push(s)
			folded++
		}
	}
	if f.slices != nil && now < end {
		f.slices.inFlight(now, f.inFlight())
	}
	if f.windows != nil {
		f.windows.advance(f.last, now, end)
	}
	f.publish(now)
	f.last = now
	return folded
}

// bounds is the hold window as far as it is known: 0 for a start to come, math.MaxInt64 for an open end.
func (f *Folder) bounds() (start, end int64) {
	start, end = f.c.HoldStart(), math.MaxInt64
	if f.c.HoldEnd != nil {
		if e := f.c.HoldEnd(); e > 0 {
			end = e
		}
	}
	return start, end
}

// begin opens slices and windows once hold has begun, and the windows up to t.
func (f *Folder) begin(start, t int64) {
	if start == 0 {
		return
	}
	if f.slices == nil {
		f.slices = newSlicer(start, f.c.Slice)
		if f.c.Windows.Keep > 0 {
			f.windows = newWindows(f.c.Windows, start)
		}
	}
	if f.windows != nil {
		f.windows.extend(t)
	}
}

func (f *Folder) fold(s *backends.Sample, start, end, now int64) {
	if f.c.Sink != nil && f.sinkErr == nil {
		f.sinkErr = f.c.Sink.Write(s)
	}
	ended := s.LastByte
	if ended == 0 {
		ended = now // a failure that left no stamp ended since the last drain
	}
	if s.Class == backends.OK {
		f.recentOK++
		f.recent.Add(ended - s.Due)
	}
	if start == 0 {
		return
	}
	due := s.Flags&backends.Warmup == 0 && s.Due >= start && s.Due < end
	if due {
		f.hold.count(s, ended)
		f.slices.sent(s.Due)
	}
	completed := ended >= start && ended < end
	if completed {
		f.hold.flow(s)
		f.slices.completed(s, ended)
	}
	if f.windows != nil {
		f.windows.fold(s, due, completed, ended)
	}
}

func (f *Folder) inFlight() int64 {
	if f.c.InFlight == nil {
		return 0
	}
	return f.c.InFlight()
}

// publish replaces the live view once a second.
func (f *Folder) publish(now int64) {
	if f.liveAt == 0 { // the node begins: there is no second behind it
		f.liveAt = now
	}
	if now-f.liveAt < nsPerSecond {
		return
	}
	l := &Live{
		At: now, Sent: f.hold.Sent, OK: f.hold.OK(), Failed: f.hold.Failed(), InFlight: f.inFlight(),
		Rate: float64(f.recentOK) / (float64(now-f.liveAt) / nsPerSecond), N: f.recent.N(),
	}
	l.P50, _ = f.recent.Rank(50)
	l.P99, _ = f.recent.Rank(99)
	f.live.Store(l)
	f.recent.Reset()
	f.recentOK, f.liveAt = 0, now
}

// Live is the latest live view; from any goroutine, never nil.
func (f *Folder) Live() *Live { return f.live.Load() }

// SinkErr is the first error of the sink.
func (f *Folder) SinkErr() error { return f.sinkErr }

// Closed are the latest Config.Windows.Keep complete stability windows, oldest first. They go on collecting the ends
// of requests due in them until Finish.
func (f *Folder) Closed() []*Window {
	if f.windows == nil {
		return nil
	}
	return f.windows.closed()
}

// Finish folds what is left, after the player has ended, and gives the node's measurement. An open hold window ends
// with the last completion.
func (f *Folder) Finish(now int64) Total {
	f.Drain(now)
	start, end := f.bounds()
	if f.slices == nil {
		return Total{Aggregate: f.hold}
	}
	if end == math.MaxInt64 {
		end = f.hold.Last
	}
	end = max(start, min(end, now))
	f.hold.Window = end - start
	return Total{From: start, To: end, Aggregate: f.hold, Slices: f.slices.finish(end)}
}
