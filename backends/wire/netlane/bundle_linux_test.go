package netlane

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// plainJudge takes every reply for right.
type plainJudge struct{}

func (plainJudge) Keep(*backends.Call, int, *backends.Sample) int { return 0 }

func (plainJudge) Reply(*backends.Call, int, *http1.Header, []byte, *backends.Sample) {}

// answered is a script that answers one request.
const answered = "read head\n" + `send "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"` + "\n"

// responder answers every request on every connection or, with leave above 0, closes each without a
// word on that request.
func responder(t *testing.T, leave int) string {
	t.Helper()
	script := "accept\n" + answered + "repeat"
	if leave > 0 {
		script = "accept\n" + strings.Repeat(answered, leave-1) + "read head\nclose"
	}
	return backendtest.StartRaw(t, backendtest.RawOptions{}, nil, script).Address
}

// bundleOf dials one bundle of n connections, and makes a call for it.
func bundleOf(t *testing.T, address string, n int) (*bundle, *backends.Call) {
	t.Helper()
	o := Options{Network: "tcp", Address: address, MaxBlocked: 1, Clock: backends.Clock{Origin: time.Now()}}
	o.New = func() backends.Wire { return http1.New(plainJudge{}) }
	lanes, limits, err := Dial(t.Context(), o, n)
	if err != nil || limits.Depth != n {
		t.Fatalf("%+v, %v", limits, err)
	}
	head, holes, err := http1.Encode(http1.Request{Method: "POST", Host: "h", Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	return lanes[0].(*bundle), &backends.Call{Head: head, Holes: holes, Size: len(head)}
}

// TestBundleStops: a wait for several connections keeps the collector from nothing, and ends when
// the lane does.
func TestBundleStops(t *testing.T) {
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	b, _ := bundleOf(t, responder(t, 0), 5)
	ended := make(chan int)
	go func() {
		slot, _ := b.Recv()
		ended <- slot
	}()
	for range 20 {
		runtime.GC()
	}
	select {
	case slot := <-ended:
		t.Errorf("slot %d ended before", slot)
	default:
	}
	_ = b.Close()
	if slot := <-ended; slot != backends.None {
		t.Errorf("slot %d at the end", slot)
	}
	if slot, done := b.Recv(); slot != backends.None || done {
		t.Errorf("after the end: slot %d, %t", slot, done)
	}
}

// TestBundleFromEverywhere: requests come from other goroutines than the one that receives, are
// cancelled from a third, and connections end now and then: each is answered once, for its slot.
func TestBundleFromEverywhere(t *testing.T) {
	const slots, each = 4, 300
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	b, call := bundleOf(t, responder(t, 7), slots)
	answers := make([]chan struct{}, slots)
	for i := range answers {
		answers[i] = make(chan struct{}, 1)
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			slot, done := b.Recv()
			switch {
			case slot == backends.None && !done:
				return
			case slot == backends.None || !done:
				t.Errorf("slot %d, %t", slot, done)
			default:
				answers[slot] <- struct{}{}
			}
		}
	})
	var sender sync.Mutex // one Send at a time
	var senders sync.WaitGroup
	for slot := range slots {
		senders.Go(func() {
			s := &backends.Sample{}
			for i := range each {
				s.Reset()
				s.Gen, s.Slot = uint32(i+1), uint16(slot)
				sender.Lock()
				b.Send(slot, call, backends.Fields{}, s)
				sender.Unlock()
				cancelled := i%5 == slot
				if cancelled {
					b.Cancel(slot, s.Gen, backends.CauseTimeout)
				}
				<-answers[slot]
				if s.Gen != uint32(i+1) || s.Class != backends.OK && (!cancelled || s.Class != backends.TimedOut) {
					t.Errorf("slot %d, request %d: %v %s", slot, i, s.Class, s.Note)
				}
			}
		})
	}
	senders.Wait()
	_ = b.Close()
	reader.Wait()
}
