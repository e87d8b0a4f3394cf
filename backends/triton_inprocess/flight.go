//go:build inprocess

package inprocess

import (
	"sync"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends/wire/native"
)

// flight is one request that the server has. The server knows it by its number, never by a Go pointer. It is used again when
// the server is through with it: when the final response has come and the request has been released.
type flight struct {
	number  uintptr
	request uintptr
	lane    *lane
	current atomic.Bool // it is the one that its lane waits for; else nobody wants its responses any more
	left    atomic.Int32
	next    *flight // of the free ones
}

// Parts of a flight that must have come before it is over.
const flightParts = 2

// event is what the server said about a flight.
type event struct {
	flight   *flight
	response uintptr // 0: none came with it
	at       int64
	released bool // the request is no longer used
	final    bool
}

// chunk is how many flights are made at once.
const chunk = 256

// flights are those of one server. Callbacks come on threads of the server and find theirs without a lock.
type flights struct {
	library *library
	chunks  [4096]atomic.Pointer[[chunk]flight]
	mu      sync.Mutex
	made    uintptr
	free    *flight
}

// take gives a flight that is free; nil: more than a million are out.
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
	f.left.Store(flightParts)
	return f
}

// grow makes a chunk of flights and gives the first, which leads to the others.
func (fs *flights) grow() *flight {
	n := fs.made / chunk
	if n >= uintptr(len(fs.chunks)) {
		return nil
	}
	all := new([chunk]flight)
	for i := range all {
		all[i].number = fs.made + uintptr(i)
		if i+1 < chunk {
			all[i].next = &all[i+1]
		}
	}
	fs.chunks[n].Store(all)
	fs.made += chunk
	return &all[0]
}

func (fs *flights) at(number uintptr) *flight { return &fs.chunks[number/chunk].Load()[number%chunk] }

// done counts a part as come. With the last one the request is deleted and the flight is free.
func (fs *flights) done(f *flight) (over bool) {
	if over = f.left.Add(-1) == 0; over {
		fs.put(f)
	}
	return over
}

func (fs *flights) put(f *flight) {
	if f.request != 0 {
		native.Call(fs.library.InferenceRequestDelete, f.request)
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
func (fs *flights) allocate(_, _, size uintptr, _ int32, _ int64, _ uintptr, buffer, user, memory, device uintptr) uintptr {
	at := uintptr(0)
	if size > 0 {
		if at = native.Call(fs.library.malloc, size); at == 0 {
			text := native.Text("out of memory for an output")
			return native.Call(fs.library.ErrorNew, errUnavailable, native.Address(text))
		}
	}
	*native.At[uintptr](buffer), *native.At[uintptr](user) = at, 0
	*native.At[int32](memory), *native.At[int64](device) = 0, 0
	return 0
}

// discard is TRITONSERVER_ResponseAllocatorReleaseFn_t.
func (fs *flights) discard(_, buffer, _, _ uintptr, _ int32, _ int64) uintptr {
	if buffer != 0 {
		native.Call(fs.library.free, buffer)
	}
	return 0
}
