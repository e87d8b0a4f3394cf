package drive

import (
	"runtime"
	"sync/atomic"
	"time"
)

// awakeNap is how long StayAwake's goroutine sleeps at a time. A scheduler that wants to stop it wakes it by a signal, and
// does so anyway to what has run for 10 ms.
const awakeNap = 5 * time.Millisecond

// StayAwake keeps Go's scheduler from going to sleep between a request and its reply, until asleep is called. A program
// whose goroutines all wait is idle: its monitor thread sleeps too, and the thread that gets the next reply has to wake it,
// which costs two switches of threads and a timer for each request of a short closed loop. A goroutine that is in a system
// call the scheduler does not know of makes the program look busy and takes no time. It has a processor of its own beside
// those that there are, of which at most most stay. From then on GOMAXPROCS does not follow a container's limit any more.
//
// Measured beside a real Triton on two cores: over HTTP 35 to 20 µs of CPU a request at 1 in flight and 16 to 10 at 16, over
// gRPC 50 to 45 and 21 to 16; and with one processor in place of two, 1 in flight over gRPC, 56 to 32 µs and a fifth more
// requests.
func StayAwake(most int) (asleep func()) {
	var over atomic.Bool
	done := make(chan struct{})
	before := runtime.GOMAXPROCS(0)
	meanwhile := min(before, most) + 1
	runtime.GOMAXPROCS(meanwhile)
	go func() {
		defer close(done)
		for !over.Load() {
			rawNap(awakeNap)
		}
	}()
	return func() {
		over.Store(true)
		<-done
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + before - meanwhile) // another run may have changed it too
	}
}
