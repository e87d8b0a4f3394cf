//go:build inprocess

package inprocess

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends/wire/native"
)

// flight is one request that the server has. The server knows it by its number, never by a Go
// pointer. It is reused when the server has finished with it: the final response was received and
// the request has been released.
type flight struct {
	number    uintptr
	request   uintptr
	lane      *lane
	current   atomic.Bool // its lane waits for it; otherwise its responses are dropped
	partsLeft atomic.Int32
	next      *flight // in the list of free flights
}

// flightParts is the number of parts of a flight that must be received before it is over: final
// response and release.
const flightParts = 2

// event is a callback of the server about a flight.
type event struct {
	flight   *flight
	response uintptr // 0: none
	at       int64
	released bool // the request is no longer in use
	final    bool
}

// flightChunk is the number of flights that are allocated at once.
const flightChunk = 256

// flights holds the flights of all servers of a host, and the callbacks for the servers: a process
// can have few of them. Callbacks run on threads of a server and find their flight without a lock.
type flights struct {
	answered, released, allocated, discarded uintptr

	chunks [4096]atomic.Pointer[[flightChunk]flight]
	mu     sync.Mutex
	made   uintptr
	free   *flight
	frames sync.Pool // of *native.Frame, for calls on any thread
}

// call calls a library function from a callback, or concurrently with one.
func (fs *flights) call(function uintptr, args ...uintptr) uintptr {
	f := fs.frames.Get().(*native.Frame)
	defer fs.frames.Put(f)
	return f.Call(function, args...)
}

// prepare makes the callbacks, once.
func (fs *flights) prepare() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.answered == 0 {
		fs.answered, fs.released = native.Callback(fs.answer), native.Callback(fs.release)
		fs.allocated, fs.discarded = native.Callback(fs.allocate), native.Callback(fs.discard)
	}
}

// take returns a free flight; nil: more than a million are in use.
func (fs *flights) take(l *lane) *flight {
	fs.mu.Lock()
	f := fs.free
	if f == nil {
		if f = fs.grow(); f == nil {
			fs.mu.Unlock()
			return nil
		}
	}
	fs.free, f.next = f.next, nil
	fs.mu.Unlock()
	f.lane, f.request = l, 0
	f.partsLeft.Store(flightParts)
	return f
}

// grow allocates a chunk of flights and returns the first, linked to the others.
func (fs *flights) grow() *flight {
	n := fs.made / flightChunk
	if n >= uintptr(len(fs.chunks)) {
		return nil
	}
	all := new([flightChunk]flight)
	for i := range all {
		all[i].number = fs.made + uintptr(i)
		if i+1 < flightChunk {
			all[i].next = &all[i+1]
		}
	}
	fs.chunks[n].Store(all)
	fs.made += flightChunk
	return &all[0]
}

func (fs *flights) at(number uintptr) *flight {
	return &fs.chunks[number/flightChunk].Load()[number%flightChunk]
}

// done counts a received part. After the last one the request is deleted and the flight is free.
func (fs *flights) done(f *flight) (over bool) {
	if over = f.partsLeft.Add(-1) == 0; over {
		fs.put(f)
	}
	return over
}

func (fs *flights) put(f *flight) {
	if f.request != 0 {
		fs.call(f.lane.conn.InferenceRequestDelete, f.request)
	}
	fs.mu.Lock()
	f.lane, f.request = nil, 0
	f.next, fs.free = fs.free, f
	fs.mu.Unlock()
}

// answer is TRITONSERVER_InferenceResponseCompleteFn_t.
func (fs *flights) answer(response uintptr, flags uint32, number uintptr) {
	f := fs.at(number)
	f.lane.push(event{flight: f, response: response, at: f.lane.conn.clock.Now(), final: flags&1 != 0})
}

// release is TRITONSERVER_InferenceRequestReleaseFn_t.
func (fs *flights) release(_ uintptr, _ uint32, number uintptr) {
	f := fs.at(number)
	f.lane.push(event{flight: f, released: true})
}

// errUnavailable is TRITONSERVER_ERROR_UNAVAILABLE.
const errUnavailable = 4

// allocate is TRITONSERVER_ResponseAllocatorAllocFn_t: every output gets memory of C's, on the CPU.
// The address of the function that frees it is stored with it: it can outlive its flight.
func (fs *flights) allocate(
	_, _, size uintptr, _ int32, _ int64, number uintptr, buffer, user, memory, device uintptr,
) uintptr {
	at, l := uintptr(0), fs.at(number).lane.conn.library
	if size > 0 {
		if at = fs.call(l.malloc, size); at == 0 {
			text := native.Text("out of memory for an output")
			defer runtime.KeepAlive(text)
			return native.Call(l.ErrorNew, errUnavailable, native.Address(text))
		}
	}
	*native.At[uintptr](buffer), *native.At[uintptr](user) = at, l.free
	*native.At[int32](memory), *native.At[int64](device) = 0, 0
	return 0
}

// discard is TRITONSERVER_ResponseAllocatorReleaseFn_t.
func (fs *flights) discard(_, buffer, free, _ uintptr, _ int32, _ int64) uintptr {
	if buffer != 0 {
		fs.call(free, buffer)
	}
	return 0
}
