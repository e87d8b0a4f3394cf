//go:build inprocess

package inprocess

import (
	"errors"
	"runtime"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/native"
)

// Recv implements backends.Lane.
func (l *lane) Recv() (slot int, done bool) {
	for {
		switch l.word.Load() & stateMask {
		case cancelled:
			l.end()
			return 0, true
		case cancelling:
			runtime.Gosched()
			continue
		case inFlight:
			if l.failed.Load() {
				l.end()
				return 0, true
			}
		case idle:
			if l.closed.Load() {
				l.drain()
				return backends.None, false
			}
		}
		select {
		case e := <-l.events:
			if !e.flight.current.Load() {
				l.drop(e)
				continue
			}
			if slot, done = l.handleEvent(e); slot != backends.None {
				return slot, done
			}
		case <-l.wake:
		}
	}
}

// handleEvent handles an event of the request in flight. slot None: more events will follow.
func (l *lane) handleEvent(e event) (slot int, done bool) {
	s := l.sample
	if e.released {
		l.part(e.flight)
		return backends.None, false
	}
	if s.FirstByte == 0 {
		s.FirstByte = e.at
	}
	s.LastByte = e.at
	if e.response != 0 {
		l.response(e.response, e.at)
		l.recvFrame.Call(l.conn.InferenceResponseDelete, e.response)
	}
	if e.final {
		l.end()
		l.part(e.flight)
		return 0, true
	}
	if len(s.Events) > 0 && len(s.Events) == cap(s.Events) {
		return 0, false
	}
	return backends.None, false
}

// settle drops the remaining events of the request that has ended, and waits until Send has
// finished with the sample: the end can arrive before that, and Send may still be in a callback
// whose event does not fit.
func (l *lane) settle(gen uint32) {
	l.drain()
	for l.sent.Load() != gen {
		runtime.Gosched()
		l.drain()
	}
}

// end makes the lane idle and completes the sample. Later events of the request are dropped.
func (l *lane) end() {
	s, why := l.sample, backends.Cause(0)
	at := uint64(s.Gen) << stateBits
	for !l.word.CompareAndSwap(at|inFlight, at) {
		if l.word.Load() == at|cancelled {
			why = l.cause
			l.word.Store(at)
			break
		}
		runtime.Gosched()
	}
	if f := l.flight.Swap(nil); f != nil {
		f.current.Store(false)
	}
	l.settle(s.Gen)
	s.BoundSend()
	if s.LastByte == 0 {
		s.LastByte = l.conn.clock.Now()
	}
	switch {
	case why != 0:
		s.SetCancelled(why, l.conn.clock.Now(), s.SendEnd != 0)
	case l.err != nil:
		l.failRefused(l.err)
	}
	l.sample, l.request = nil, nil
}

// failRefused sets the class that follows from an error of the server.
func (l *lane) failRefused(err error) {
	s := l.sample
	var e *serverError
	switch {
	case !errors.As(err, &e):
		s.Class = backends.Client
	case e.status == statusCancelled:
		s.Class, s.Status = backends.Cancelled, e.status
	case l.request.want.Accepts(e.status):
		s.Status = e.status
		s.Responses = max(s.Responses, 1)
		return
	default:
		s.Class, s.Status = backends.Status, e.status
	}
	s.SetNote([]byte(err.Error()))
}

// response reads one response. After a wrong one the others are only counted.
func (l *lane) response(r uintptr, at int64) {
	s, c := l.sample, l.conn
	if failed := l.recvFrame.Call(c.InferenceResponseError, r); failed != 0 { // it belongs to the response
		if s.Class == backends.OK {
			l.failRefused(&serverError{
				status: statusOf(l.recvFrame.Call(c.ErrorCode, failed) & 0xffffffff),
				text:   string(native.String(l.recvFrame.Call(c.ErrorMessage, failed))),
			})
		}
		return
	}
	s.Responses++
	if cap(s.Events) > len(s.Events) {
		s.Events = append(s.Events, backends.Event{At: at})
	}
	want := l.request.want
	if s.Class == backends.OK && !want.Accepts(0) {
		s.Class = backends.Status
		s.SetNote([]byte("the server answered OK, which is not expected"))
	}
	if err := l.outputs(r, s.Class == backends.OK && want.Outputs()); err != nil && s.Class == backends.OK {
		s.Class = backends.Decode
		s.SetNote([]byte(err.Error()))
	}
}

var (
	errLacks = errors.New("the response lacks a requested output")
	errSize  = errors.New("an output of the response has another size than its shape takes")
)

// outputs counts the bytes of a response, and compares its outputs if compare is set. In either
// case there must be as much data as shape and datatype take, and the outputs that the request
// names; of several responses each may have some of them.
func (l *lane) outputs(r uintptr, compare bool) error {
	s, c := l.sample, l.conn
	if err := c.check(l.recvFrame.Call(c.InferenceResponseOutputCount, r,
		native.Address(l.results[:]))); err != nil {
		return err
	}
	judge := s.Class == backends.OK
	l.reply.Begin(l.request.want, compare)
	count := uint32(l.results[0])
	if asked := len(l.request.outputs); int(count) < asked && !c.target.Streaming {
		return errLacks
	}
	for i := range count {
		clear(l.results[:])
		// name, datatype, shape, dimensions, base, size, memory, device; the device also receives the
		// user pointer
		g := &l.results
		err := c.check(l.recvFrame.Call(c.InferenceResponseOutput, r, uintptr(i),
			native.Address(g[0:]), native.Address(g[1:]), native.Address(g[2:]),
			native.Address(g[3:]), native.Address(g[4:]), native.Address(g[5:]), native.Address(g[6:]),
			native.Address(g[7:]), native.Address(g[7:])))
		if err != nil {
			return err
		}
		s.BytesReceived += int64(g[5])
		datatype, shape := tensor.DataType(""), native.Slice[int64](g[2], int(g[3]))
		if at := uint32(g[1]); at < uint32(len(datatypes)) {
			datatype = datatypes[at]
		}
		if n, err := tensor.Elements(shape); err != nil ||
			datatype.Size() > 0 && n*int64(datatype.Size()) != int64(g[5]) {
			return errSize
		}
		if judge {
			judge = l.reply.Output(native.String(g[0]), []byte(datatype), shape,
				native.Slice[byte](g[4], int(g[5])), s)
		}
	}
	if judge {
		l.reply.End(s)
	}
	return nil
}
