package drive

import (
	"runtime"
	"sync"
	"testing"
)

func TestRingKeepsTheOrder(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 64} {
		slots := make([]slot, n)
		r := newRing[slot](n)
		if r.pop() != nil || r.length() != 0 {
			t.Fatalf("%d slots: something in a new ring", n)
		}
		for i := range slots {
			r.push(&slots[i])
		}
		for round := range 10 * n {
			if r.length() != n {
				t.Fatalf("%d slots: %d idle", n, r.length())
			}
			s := r.pop()
			if s != &slots[round%n] {
				t.Fatalf("%d slots: round %d gave another slot", n, round)
			}
			r.push(s)
		}
	}
}

// Slots pushed by many are each popped once a push.
func TestRingLosesNothing(t *testing.T) {
	const producers, rounds = 5, 2000
	slots := make([]slot, producers)
	r := newRing[slot](producers)
	back := make([]chan struct{}, producers)
	var group sync.WaitGroup
	for i := range slots {
		slots[i].index = i
		back[i] = make(chan struct{}, 1)
		group.Go(func() {
			for range rounds {
				r.push(&slots[i])
				<-back[i]
			}
		})
	}
	var got [producers]int
	for total := 0; total < producers*rounds; {
		s := r.pop()
		if s == nil {
			runtime.Gosched()
			continue
		}
		got[s.index]++
		total++
		back[s.index] <- struct{}{}
	}
	group.Wait()
	for i, n := range got {
		if n != rounds {
			t.Errorf("slot %d was popped %d times of %d", i, n, rounds)
		}
	}
}
