package measure

import (
	"runtime"
	"strconv"
	"sync"
	"testing"
	"unsafe"

	"github.com/sluice-bench/sluice/backends"
)

func TestRingsBudget(t *testing.T) {
	tests := []struct{ lanes, perLane, want int }{
		{lanes: 1, want: 4096},
		{lanes: 4, want: 4096},
		{lanes: 64, want: 256},
		{lanes: 1000, want: 16},
		{lanes: 20000, want: 4},
		{lanes: 3, perLane: 7, want: 7},
	}
	for _, tt := range tests {
		t.Run(strconv.Itoa(tt.lanes), func(t *testing.T) {
			r := NewRings(tt.lanes, tt.perLane, 0)
			if got := len(r.lanes[0].unused); got != tt.want {
				t.Errorf("%d samples a lane, want %d", got, tt.want)
			}
			last := tt.lanes - 1
			for i := range tt.want {
				if r.Get(last) == nil {
					t.Fatalf("buffer %d is missing", i)
				}
			}
			if r.Get(last) != nil {
				t.Error("more buffers than the budget")
			}
		})
	}
}

// TestRingsLines: samples begin with a line of the cache, however many lanes there are.
func TestRingsLines(t *testing.T) {
	for _, lanes := range []int{1, 64, 160, 1000} {
		r := NewRings(lanes, 0, 0)
		for i := range lanes {
			if at := uintptr(unsafe.Pointer(r.Get(i))) % 64; at != 0 {
				t.Fatalf("%d lanes: the samples of lane %d begin %d bytes after a line", lanes, i, at)
			}
		}
	}
}

func TestRingsResetBuffers(t *testing.T) {
	r := NewRings(1, 1, 8)
	s := r.Get(0)
	s.Due, s.Class = 7, backends.Status
	s.SetNote([]byte("busy"))
	s.Events = append(s.Events, backends.Event{At: 1})
	r.Put(0, s)
	l := &r.lanes[0]
	l.empty.push(l.full.pop())
	s = r.Get(0)
	if s.Due != 0 || s.Class != backends.OK || len(s.Note) != 0 || len(s.Events) != 0 || cap(s.Events) != 8 {
		t.Errorf("buffer came back as %+v", s)
	}
}

// Every sample arrives once and in order, whatever the three goroutines' speeds are; with -race
// this is also the proof that a slot is not overwritten while it is read.
func TestRingsHandOver(t *testing.T) {
	const each = 20000
	for _, perLane := range []int{1, 3, 64} {
		r := NewRings(2, perLane, 0)
		var wg sync.WaitGroup
		for i := range r.lanes {
			// what a connection would be between pacer and lane
			handed := make(chan *backends.Sample, perLane)
			wg.Go(func() {
				for n := uint64(1); n <= each; {
					s := r.Get(i)
					if s == nil {
						runtime.Gosched()
						continue
					}
					s.N = n
					handed <- s
					n++
				}
				close(handed)
			})
			wg.Go(func() {
				for s := range handed {
					r.Put(i, s)
				}
			})
		}
		var next [2]uint64
		for next[0] < each || next[1] < each {
			for i := range r.lanes {
				l := &r.lanes[i]
				for s := l.full.pop(); s != nil; s = l.full.pop() {
					if next[i]++; s.N != next[i] {
						t.Fatalf("lane %d: sample %d came as number %d", i, s.N, next[i])
					}
					l.empty.push(s)
				}
			}
			runtime.Gosched()
		}
		wg.Wait()
	}
}

func TestRingsDoNotAllocate(t *testing.T) {
	r := NewRings(1, 16, 0)
	l := &r.lanes[0]
	if n := testing.AllocsPerRun(1000, func() {
		r.Put(0, r.Get(0))
		l.empty.push(l.full.pop())
	}); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

func BenchmarkRings(b *testing.B) {
	r := NewRings(1, 0, 0)
	l := &r.lanes[0]
	b.ReportAllocs()
	for b.Loop() {
		r.Put(0, r.Get(0))
		l.empty.push(l.full.pop())
	}
}
