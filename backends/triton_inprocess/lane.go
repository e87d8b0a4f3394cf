//go:build inprocess

package inprocess

import (
	"errors"
	"runtime"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/wire/native"
)

// lane carries one request at a time. Its state is a word of {generation, state}:
//
//	state       next         by
//	idle        inFlight     Send
//	inFlight    idle         Recv: the final response was received, or the server has refused the request
//	inFlight    cancelling   Cancel: the generation matches
//	cancelling  cancelled    the same caller, once the server has been notified
//	cancelled   idle         Recv, which does not wait for the server any longer
//
// The request of a flight is deleted only after Recv has seen the state, so that Cancel never names
// a deleted one.
type lane struct {
	conn     *conn
	word     atomic.Uint64
	sent     atomic.Uint32 // generation whose Send has returned
	closed   atomic.Bool
	events   chan event    // from the server's threads, which wait when it is full
	wake     chan struct{} // the state changed without an event
	active   atomic.Int64
	inServer atomic.Int64 // flights that the server has
	flight   atomic.Pointer[flight]
	cause    backends.Cause
	err      error // why the server refused the request; set before failed
	failed   atomic.Bool

	// The request in flight.
	request   *request
	sample    *backends.Sample
	refs      [2]uintptr // for Send: outputs of library functions
	id        [idDigits + 1]byte
	text      [idDigits + 1]byte
	sendFrame native.Frame

	// The fields below belong to Recv.
	results   [8]uintptr
	recvFrame native.Frame
	reply     kserve.Reply
}

const (
	idle uint64 = iota
	inFlight
	cancelling
	cancelled
	stateBits = 2
	stateMask = 1<<stateBits - 1
)

// idDigits is the length of request ids and of sequence ids that are strings.
const idDigits = 20

// eventRoom is the number of events that a lane buffers before the server's threads wait.
const eventRoom = 256

func newLane(c *conn) *lane {
	return &lane{conn: c, events: make(chan event, eventRoom), wake: make(chan struct{}, 1)}
}

// push is called by threads of the server. Events of abandoned flights never make a thread wait.
func (l *lane) push(e event) {
	if !e.flight.current.Load() {
		l.drop(e)
		return
	}
	if e.at != 0 {
		l.active.Store(e.at)
	}
	l.events <- e // if the flight has ended meanwhile, the lane's next request or its end handles it
}

// drop handles an event of an abandoned flight.
func (l *lane) drop(e event) {
	if e.final || e.released {
		l.part(e.flight)
	}
	if e.response != 0 {
		l.conn.flights.call(l.conn.InferenceResponseDelete, e.response)
	}
}

// part counts a received part of a flight.
func (l *lane) part(f *flight) {
	if l.conn.flights.done(f) {
		l.inServer.Add(-1)
	}
}

// drain drops the remaining events of finished requests.
func (l *lane) drain() {
	for {
		select {
		case e := <-l.events:
			l.drop(e)
		default:
			return
		}
	}
}

// isDrained reports whether no further events can arrive.
func (l *lane) isDrained() bool { return l.closed.Load() && l.inServer.Load() == 0 }

func (l *lane) wakeRecv() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Send implements backends.Lane.
func (l *lane) Send(_ int, c *backends.Call, f backends.Fields, s *backends.Sample) {
	l.request, l.sample, l.err = c.Impl.(*request), s, nil
	l.failed.Store(false)
	l.word.Store(uint64(s.Gen)<<stateBits | inFlight)
	s.SendStart = l.conn.clock.Now()
	l.active.Store(s.SendStart)
	var err error
	if l.closed.Load() {
		l.Cancel(0, s.Gen, backends.CauseStop)
	} else {
		err = l.transmit(&f, s.Gen)
	}
	s.SendEnd = l.conn.clock.Now()
	if err == nil {
		s.BytesSent = int64(c.Size)
	} else {
		l.err = err
		l.failed.Store(true)
		l.wakeRecv()
	}
	l.sent.Store(s.Gen)
}

var errTooManyRequests = errors.New("more than a million requests are in the server")

// transmit builds a request and passes it to the server.
func (l *lane) transmit(f *backends.Fields, gen uint32) error {
	c, q := l.conn, l.request
	fl := c.flights.take(l)
	if fl == nil {
		return errTooManyRequests
	}
	l.inServer.Add(1)
	err := l.build(fl, q, f)
	if err == nil {
		fl.current.Store(true)
		l.flight.Store(fl)
		if l.word.Load() != uint64(gen)<<stateBits|inFlight { // cancelled meanwhile
			err = errStopped
		} else {
			err = l.call(c.ServerInferAsync, c.handle, fl.request, 0)
		}
	}
	if err != nil { // the server does not have it: there will be no event
		fl.current.Store(false)
		l.flight.CompareAndSwap(fl, nil)
		l.abort(fl, gen)
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

var errStopped = errors.New("stopped")

// abort gives up a flight that was never sent, after a concurrent Cancel has finished with it.
func (l *lane) abort(fl *flight, gen uint32) {
	for l.word.Load() == uint64(gen)<<stateBits|cancelling {
		runtime.Gosched()
	}
	for range flightParts {
		l.part(fl)
	}
}

// call calls a function of the library for Send.
func (l *lane) call(function uintptr, args ...uintptr) error {
	return l.conn.check(l.sendFrame.Call(function, args...))
}

// build converts a request to the library's form.
func (l *lane) build(fl *flight, q *request, f *backends.Fields) error {
	c := l.conn
	if err := l.call(c.InferenceRequestNew, native.Address(l.refs[:]), c.handle, q.model,
		q.version); err != nil {
		return err
	}
	fl.request = l.refs[0]
	r := fl.request
	backends.PutDigits(l.id[:idDigits], f.ID)
	err := l.call(c.InferenceRequestSetId, r, native.Address(l.id[:]))
	for i := 0; err == nil && i < len(q.inputs); i++ {
		in := &q.inputs[i]
		err = l.call(c.InferenceRequestAddInput, r, in.name, in.datatype, in.shape, in.dims)
		if err == nil {
			err = l.call(c.InferenceRequestAppendInputData, r, in.name, in.data, in.size, 0, 0)
		}
	}
	for i := 0; err == nil && i < len(q.outputs); i++ {
		err = l.call(c.InferenceRequestAddRequestedOutput, r, q.outputs[i])
	}
	for i := 0; err == nil && i < len(q.parameters); i++ {
		err = l.parameter(r, &q.parameters[i])
	}
	if err == nil {
		err = l.sequence(r, q, f)
	}
	if err == nil {
		err = l.call(c.InferenceRequestSetReleaseCallback, r, c.flights.released, fl.number)
	}
	if err == nil {
		err = l.call(c.InferenceRequestSetResponseCallback, r, c.allocator, fl.number,
			c.flights.answered, fl.number)
	}
	return err
}

func (l *lane) parameter(r uintptr, p *parameter) error {
	c := l.conn
	switch {
	case p.name == 0:
		return l.call(p.function, r, p.value)
	case p.function == c.InferenceRequestSetDoubleParameter:
		return c.check(c.setDouble(r, p.name, p.number))
	}
	return l.call(p.function, r, p.name, p.value)
}

// sequence sets the sequence of a request, and its position in it.
func (l *lane) sequence(r uintptr, q *request, f *backends.Fields) error {
	c, flags := l.conn, q.flags
	if q.sequence != nil {
		var err error
		if q.sequence.Text {
			backends.PutDigits(l.text[:idDigits], f.Sequence)
			err = l.call(c.InferenceRequestSetCorrelationIdString, r, native.Address(l.text[:]))
		} else {
			err = l.call(c.InferenceRequestSetCorrelationId, r, uintptr(f.Sequence))
		}
		if err != nil {
			return err
		}
		if f.Start {
			flags |= flagStart
		}
		if f.End {
			flags |= flagEnd
		}
	}
	if flags == 0 {
		return nil
	}
	return l.call(c.InferenceRequestSetFlags, r, uintptr(flags))
}

// Activity implements backends.Lane.
func (l *lane) Activity(int) int64 {
	if l.conn.target.Streaming {
		return l.active.Load()
	}
	return 0
}

// Cancel implements backends.Lane. The server is notified, and may continue: the lane does not wait
// for it.
func (l *lane) Cancel(_ int, gen uint32, why backends.Cause) {
	at := uint64(gen) << stateBits
	if !l.word.CompareAndSwap(at|inFlight, at|cancelling) {
		return
	}
	l.cause = why
	if f := l.flight.Load(); f != nil {
		// a model that cannot be cancelled continues
		_ = l.conn.check(native.Call(l.conn.InferenceRequestCancel, f.request))
	}
	l.word.Store(at | cancelled)
	l.wakeRecv()
}

// Close implements backends.Lane.
func (l *lane) Close() error {
	l.closed.Store(true)
	l.Cancel(0, uint32(l.word.Load()>>stateBits), backends.CauseStop)
	l.wakeRecv()
	return nil
}
