package executor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluice-bench/sluice/scenario/source"
)

// stops ends a run before its plan is done: by the first signal, the plan's max_duration, or an
// assertion with `abort`. All who wait are woken at once.
type stops struct {
	waiting context.Context         // done when the run is to end
	cancel  context.CancelCauseFunc // of waiting; nil: a signal, or the caller
	asked   <-chan int              // signals
	signal  atomic.Int64            // the first; 0: none
	limit   time.Duration           // max_duration; 0: none
	cut     atomic.Bool             // something was ended or left out because of it
	end     func()                  // stops listening: what was sent until then has been seen
}

// watchStops begins to listen. Its end must be called once, when the run is over.
func watchStops(ctx context.Context, interrupt <-chan int, limit time.Duration) *stops {
	s := &stops{asked: interrupt, limit: limit}
	s.waiting, s.cancel = context.WithCancelCause(ctx)
	over := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() { s.listen(interrupt, over) })
	s.end = func() {
		close(over)
		listening.Wait()
		s.cancel(nil)
	}
	return s
}

// listen waits for either cause. After max_duration a signal still counts: it says more.
func (s *stops) listen(asked <-chan int, over <-chan struct{}) {
	var late <-chan time.Time
	if s.limit > 0 {
		t := time.NewTimer(s.limit)
		defer t.Stop()
		late = t.C
	}
	for {
		select {
		case n := <-asked:
			s.take(n)
			asked = nil
		case <-late:
			s.cancel(fmt.Errorf("the run's max_duration of %s was over", source.Duration(s.limit)))
		case <-over:
			return
		}
	}
}

// abort ends the run because of an assertion. Nothing begins any more once it has returned.
func (s *stops) abort(why string) {
	s.cut.Store(true)
	s.cancel(errors.New(why))
}

// over says that max_duration or an assertion cost the run something, "" otherwise.
func (s *stops) over() string {
	if s.signal.Load() != 0 || !s.cut.Load() {
		return ""
	}
	return s.now() + ": the result is partial"
}

// now says why the run is to end, "" while it is not. Who asks acts on it.
func (s *stops) now() string {
	s.received()
	if s.waiting.Err() == nil { // where the caller has cancelled the run nothing begins any more either
		return ""
	}
	s.cut.Store(true)
	if why := context.Cause(s.waiting); !errors.Is(why, context.Canceled) && s.signal.Load() == 0 {
		return why.Error()
	}
	return "the run was interrupted"
}

// received returns the first signal, 0 for none. One that listen has not read yet counts: who
// cancels the context after a signal ends what is going on before it.
func (s *stops) received() int {
	select {
	case n := <-s.asked:
		s.take(n)
	default:
	}
	return int(s.signal.Load())
}

// take takes a signal; the first one counts.
func (s *stops) take(n int) {
	s.signal.CompareAndSwap(0, int64(n))
	s.cancel(nil)
}

// sleep waits for d or until the run is to end. False: before d was over.
func (s *stops) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-s.waiting.Done():
		return false
	}
}
