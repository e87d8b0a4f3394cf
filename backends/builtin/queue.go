package builtin

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// clock counts nanoseconds since the server started, monotonic.
type clock struct{ origin time.Time }

func (c clock) now() int64 { return int64(time.Since(c.origin)) }

// Reasons why a queue refuses a job.
var (
	errFull   = errors.New("exceeds maximum queue size")
	errClosed = errors.New("server is shutting down")
)

// job is one request in a queue. The handler fills the first group and reads the second when done
// is closed.
type job struct {
	in   []tensor
	rows int
	fail bool // fails after its service time

	out  []tensor
	err  error
	done chan struct{}

	arrived, queued, started int64 // of the server's clock
	abandoned, taken         bool  // the client is gone; an instance has it; guarded by queue.mu
}

// queue is one model's FIFO and its instances. An execution takes the oldest jobs up to batch rows:
//
//	batch ≤ 1   one job, at once
//	batch > 1   jobs while their rows fit; if there are fewer, only after the oldest has waited delay
//
// Instances start with the first job, so that idle models cost nothing.
type queue struct {
	clock   clock
	run     func([]tensor) []tensor
	service *Dist
	batch   int
	delay   time.Duration
	size    int
	count   int // instances
	stats   *stats

	mu        sync.Mutex // guards batch, delay and count too
	ready     sync.Cond  // an execution can start, or the queue is closed
	jobs      []*job     // that wait, oldest first
	rows      int        // in jobs
	rand      *rand.Rand
	alarm     *timer // wakes instances when the oldest job has waited delay; nil without delay
	timers    []*timer
	started   bool
	closed    bool
	loaded    int // how often it was reconfigured: instances of before end
	instances sync.WaitGroup
}

// push queues j, or returns why it is refused.
func (q *queue) push(j *job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return errClosed
	}
	if len(q.jobs) >= q.size {
		return errFull
	}
	if !q.started {
		if err := q.start(); err != nil {
			return err
		}
	}
	j.queued = q.clock.now()
	q.jobs = append(q.jobs, j)
	q.rows += j.rows
	switch {
	case q.due():
		q.ready.Signal()
	case len(q.jobs) == 1:
		q.alarm.arm(q.delay)
	}
	return nil
}

// waiting returns the number of jobs that wait for an instance.
func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs)
}

// runAtOnce runs j in the caller's goroutine if no job ever waits for another: executions take no
// time and none is delayed to gather more. It saves the client, which shares the machine, two
// thread switches.
func (q *queue) runAtOnce(j *job) (ran bool, err error) {
	if q.service != nil {
		return false, nil
	}
	q.mu.Lock()
	closed, waits := q.closed, q.batch > 1 && q.delay > 0
	q.mu.Unlock()
	if waits {
		return false, nil
	}
	if closed {
		return true, errClosed
	}
	j.queued = q.clock.now()
	q.execute([]*job{j}, nil)
	return true, nil
}

// start creates timers and instances. The caller holds q.mu.
func (q *queue) start() error {
	if q.batch > 1 && q.delay > 0 {
		t, err := newTimer()
		if err != nil {
			return err
		}
		q.alarm = t
		q.timers = append(q.timers, t)
		q.instances.Go(func() { q.watch(t) })
	}
	for range q.count {
		t, err := newTimer()
		if err != nil {
			return fmt.Errorf("start an instance: %w", err)
		}
		q.timers = append(q.timers, t)
		load := q.loaded
		q.instances.Go(func() { q.work(t, load) })
	}
	q.started = true
	return nil
}

// reconfigure changes the instances, and how they take jobs. Executions end as they began.
func (q *queue) reconfigure(count, batch int, delay time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count, q.batch, q.delay = count, batch, delay
	if !q.started || q.closed {
		return nil
	}
	q.loaded++
	if q.alarm != nil {
		q.end(q.alarm)
		q.alarm = nil
	}
	q.ready.Broadcast()
	return q.start()
}

// end closes a timer that has no waiter left. The caller holds q.mu.
func (q *queue) end(t *timer) {
	if i := slices.Index(q.timers, t); i >= 0 {
		q.timers = slices.Delete(q.timers, i, i+1)
		t.close()
	}
}

// watch forwards the alarm to the instances.
func (q *queue) watch(alarm *timer) {
	for alarm.fired() {
		q.mu.Lock()
		if q.due() {
			q.ready.Signal()
		}
		q.mu.Unlock()
	}
}

// due reports whether an execution can start now. The caller holds q.mu.
func (q *queue) due() bool {
	return len(q.jobs) > 0 &&
		(q.alarm == nil || q.rows >= q.batch || q.clock.now() >= q.jobs[0].queued+int64(q.delay))
}

// take waits for the next execution's jobs; an empty result means that the queue is closed, or was
// reconfigured since load.
func (q *queue) take(into []*job, load int) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for !q.closed && q.loaded == load && !q.due() {
			q.ready.Wait()
		}
		if q.closed || q.loaded != load {
			return nil
		}
		if into = q.gather(into[:0]); len(into) > 0 {
			q.rearm()
			return into
		}
	}
}

// gather removes the oldest jobs that make one execution, skipping those whose client is gone. The
// caller holds q.mu.
func (q *queue) gather(into []*job) []*job {
	rows := 0
	for len(q.jobs) > 0 {
		j := q.jobs[0]
		if len(into) > 0 && (q.batch <= 1 || rows+j.rows > q.batch) {
			break
		}
		q.jobs[0] = nil
		q.jobs = q.jobs[1:]
		q.rows -= j.rows
		if j.taken = true; !j.abandoned {
			into, rows = append(into, j), rows+j.rows
		}
	}
	return into
}

// rearm handles the remaining jobs: another instance may start, or the alarm waits for the oldest.
// The caller holds q.mu.
func (q *queue) rearm() {
	switch {
	case len(q.jobs) == 0:
	case q.due():
		q.ready.Signal()
	default:
		q.alarm.arm(time.Duration(q.jobs[0].queued + int64(q.delay) - q.clock.now()))
	}
}

// work is the goroutine of one instance.
func (q *queue) work(t *timer, load int) {
	var room []*job
	for {
		room = q.take(room, load)
		if len(room) == 0 {
			q.mu.Lock()
			defer q.mu.Unlock()
			if !q.closed { // else close has closed it
				q.end(t)
			}
			return
		}
		q.execute(room, t)
		clear(room)
	}
}

// execute runs the jobs as one execution: the outputs are computed within the service time, not on
// top of it.
func (q *queue) execute(jobs []*job, t *timer) {
	start := q.clock.now()
	service := q.draw()
	infer := q.clock.now()
	for _, j := range jobs {
		j.started = start
		if !j.fail {
			j.out = q.run(j.in)
		}
	}
	whole := service == 0 || t.waitUntil(q.clock, infer+int64(service))
	end := q.clock.now()
	for _, j := range jobs {
		if !whole {
			j.err = errClosed
		}
	}
	q.stats.executed(jobs, start, infer, end, q.clock.now())
	for _, j := range jobs {
		close(j.done)
	}
}

func (q *queue) draw() time.Duration {
	if q.service == nil {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.service.draw(q.rand)
}

// reseed restarts the drawn service times.
func (q *queue) reseed(r *rand.Rand) {
	q.mu.Lock()
	q.rand = r
	q.mu.Unlock()
}

// abandon removes a job's client. It returns true if the job was still waiting and is never
// executed.
func (q *queue) abandon(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.abandoned = true
	return !j.taken
}

// close answers waiting jobs with errClosed and ends the instances.
func (q *queue) close() {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	q.closed = true
	for _, j := range q.jobs {
		j.err = errClosed
		close(j.done)
	}
	q.jobs, q.rows = nil, 0
	q.ready.Broadcast()
	for _, t := range q.timers {
		t.close()
	}
	q.mu.Unlock()
	q.instances.Wait()
}
