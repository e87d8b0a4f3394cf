package builtin

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// errReset makes a protocol's handler reset the connection instead of answering.
var errReset = errors.New("connection cut on purpose")

// faults draws the fault of each request, in the order of arrival.
type faults struct {
	mu     sync.Mutex
	rand   *rand.Rand
	errors float64
	reset  float64
	stall  *Stall
}

func (f *faults) draw() (fail, reset bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// Both are always drawn, so that one ratio does not change the other's pattern.
	e, r := f.rand.Float64(), f.rand.Float64()
	return e < f.errors, r < f.reset
}

// wait returns how long a request is stalled; since is its arrival after the first one.
func (f *faults) wait(since time.Duration) time.Duration {
	s := f.stall
	if s == nil || since < s.At {
		return 0
	}
	phase := since - s.At
	if s.Every > 0 {
		phase %= s.Every
	}
	return max(s.For-phase, 0)
}

// reseed restarts the draws.
func (f *faults) reseed(seed uint64) {
	f.mu.Lock()
	f.rand = rand.New(rand.NewPCG(seed, 0x66617574))
	f.mu.Unlock()
}

// infer runs the steps that both protocols share, from a request that has just been read to its
// results. parse converts the wire form to an inference once the arrival is stamped; on errReset
// the connection has to be reset.
func (s *Server) infer(
	ctx context.Context, name, v string, parse func(*model) (*inference, error),
) (*inference, error) {
	now, first := s.arrivals.stamp()
	r, err := s.answer(ctx, now, first, name, v, parse)
	s.count(err)
	return r, err
}

func (s *Server) answer(
	ctx context.Context, now, first int64, name, v string, parse func(*model) (*inference, error),
) (*inference, error) {
	fail, reset := s.faults.draw()
	if err := sleep(ctx, s.faults.wait(time.Duration(now-first))); err != nil {
		return nil, err
	}
	if reset {
		return nil, errReset
	}
	m, err := s.find(name, v)
	if err != nil {
		return nil, err
	}
	r, err := parse(m)
	var j *job
	if err == nil {
		r.model, r.arrived = m, now
		j, err = r.enter()
	}
	if err != nil {
		m.stats.failed(s.clock.now() - now)
		return nil, err
	}
	j.fail = fail
	if err := m.do(ctx, r, j); err != nil {
		return nil, err
	}
	if r.results = j.out; m.moves == nil {
		r.results, err = wanted(r, j.out)
		r.outputs = nil
	}
	return r, err
}

// enter checks r, and enters it into its sequence.
func (r *inference) enter() (*job, error) {
	m := r.model
	in, rows, err := m.check(r)
	if err == nil && m.sequences != nil {
		r.turn.wait()
		in, err = m.sequences.addStep(r, m.name, in)
		r.turn.done()
	}
	if err != nil {
		return nil, err
	}
	return &job{in: in, rows: rows, arrived: r.arrived, done: make(chan struct{})}, nil
}

// do runs j through the model's queue, that of an ensemble through its steps.
func (m *model) do(ctx context.Context, r *inference, j *job) error {
	if m.steps != nil {
		return m.compose(ctx, r, j)
	}
	ran, err := m.queue.runAtOnce(j)
	if !ran {
		err = m.queue.push(j)
	}
	if err != nil {
		m.stats.failed(m.queue.clock.now() - j.arrived)
		return unavailable(r.id, m.name, err)
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		if m.queue.abandon(j) {
			m.stats.failed(m.queue.clock.now() - j.arrived)
		}
		return ctx.Err()
	}
	switch {
	case j.err != nil:
		return unavailable(r.id, m.name, j.err)
	case j.fail:
		return simulated(r.id, m.name)
	}
	return nil
}

// simulated returns a simulated failure.
func simulated(id, model string) *failure {
	return internal("%ssimulated failure of model '%s'", errorPrefix(id), model)
}

// count adds the outcome of a request to the results.
func (s *Server) count(err error) {
	var f *failure
	n := &s.counter.results
	switch {
	case err == nil:
		s.counter.add(&n.OK)
	case errors.Is(err, errReset):
		s.counter.add(&n.Reset)
	case !errors.As(err, &f):
		s.counter.add(&n.Cancelled)
	case f.http == http.StatusServiceUnavailable:
		s.counter.add(&n.Rejected)
	case f.http == http.StatusInternalServerError:
		s.counter.add(&n.Failed)
	default:
		s.counter.add(&n.Invalid)
	}
}

// find returns the model of a name and a version; an empty version matches any.
func (s *Server) find(name, v string) (*model, error) {
	m := s.models[name]
	if m == nil || m.unloaded.Load() {
		return nil, unknownModel(name)
	}
	if v != "" && v != version {
		return nil, notFound("Request for unknown model: '%s' version %s is not found", name, v)
	}
	return m, nil
}

// sleep waits d, up to 1 ms longer in an idle process, or until ctx is done. It is for faults;
// service times are exact.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
