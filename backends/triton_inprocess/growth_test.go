//go:build inprocess

package inprocess

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// resident is how much memory this process has, C's part included.
func resident(t *testing.T) int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var all, here int64
	if _, err := fmt.Fscan(bytes.NewReader(text), &all, &here); err != nil {
		t.Fatal(err)
	}
	return here * int64(os.Getpagesize())
}

// heap is what Go's heap holds after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestGrowth: 100,000 requests of all kinds leave nothing behind, in C or in Go, nor do they need
// more memory than the first ones. The library counts what lives in it.
func TestGrowth(t *testing.T) {
	const lanes, each, rounds = 2, 5_000, 10
	s := ready(t)
	target := s.target(t, "last")
	models := map[string]string{
		"m": "last", "many": "respond 3; final", "none": "release; final", "bad": "respond 1; error no",
		"full": "refuse full", "slow": "cancelled", "now": "now; last",
	}
	target.InProcess.Repository = repository(t, models)
	l := connect(t, target)
	calls := map[string]*backends.Call{}
	for model := range models {
		r := ask()
		r.Model = model
		r.Inputs[0] = backends.Tensor{
			Name: "INPUT0", Type: tensor.Int32, Shape: []int64{256, 1}, Data: make([]byte, 1024),
		}
		r.Expect = nil
		calls[model] = l.prepare(r)
	}
	// Most are answered by the thread that sends, which takes a tenth of the time.
	order := strings.Fields("now now now m now now now many now now now none now now now bad now now now " +
		"full now now now now slow")
	links := []*link{}
	for range lanes {
		links = append(links, &link{t: t, conn: l.conn, clock: l.clock, lane: l.another()})
	}
	round := func() {
		var wg sync.WaitGroup
		for _, own := range links {
			wg.Go(func() { play(own, order, calls, each) })
		}
		wg.Wait()
	}
	round()
	// What came as its request ended may lie in the lane until that is used again.
	atRest := func() bool { return s.count(liveRequests) <= lanes }
	await(t, "end of what was cancelled", atRest)
	inGo, inAll := heap(), resident(t)
	for range rounds - 1 {
		round()
	}
	await(t, "end of what was cancelled", atRest)
	for _, kind := range []int{liveResponses, liveBuffers, 6} {
		if n := s.count(kind); n > lanes {
			t.Errorf("%d %s live after %d requests", n, kinds[kind], lanes*each*rounds)
		}
	}
	if grown := heap() - inGo; grown > 1<<20 {
		t.Errorf("Go's heap grew by %d bytes", grown)
	}
	if grown := resident(t) - inAll; grown > 16<<20 {
		t.Errorf("the process grew by %d bytes", grown)
	}
	if n := l.conn.flights.made; n != flightChunk {
		t.Errorf("%d flights were made for %d lanes", n, lanes)
	}
	for _, own := range links {
		_ = own.lane.Close()
	}
	l.close()
}

// play sends requests one after the other, and cancels those that would never end.
func play(l *link, order []string, calls map[string]*backends.Call, n int) {
	sample := &backends.Sample{}
	for i := range n {
		model := order[i%len(order)]
		l.gen++
		sample.Reset()
		sample.Gen = l.gen
		l.lane.Send(0, calls[model], backends.Fields{ID: uint64(i)}, sample)
		if model == "slow" {
			l.lane.Cancel(0, l.gen, backends.CauseTimeout)
		}
		l.finish(func() {})
	}
}
