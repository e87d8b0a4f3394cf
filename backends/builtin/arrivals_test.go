package builtin

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

func TestArrivals(t *testing.T) {
	s := start(t, Config{})
	url := s.URLs().Control
	empty := decode[arrivalsPage](t, get(t, url+"/sim/arrivals").body)
	if diff := cmp.Diff(arrivalsPage{Arrivals: []int64{}}, empty); diff != "" {
		t.Error(diff)
	}
	before := time.Now()
	for range 5 {
		post(t, s.HTTPURL()+"/v2/models/identity/infer", oneFP32)
		if _, err := dial(t, s).ModelInfer(t.Context(), fp32("identity")); err != nil {
			t.Error(err)
		}
	}
	took := time.Since(before)
	all := decode[arrivalsPage](t, get(t, url+"/sim/arrivals").body)
	if len(all.Arrivals) != 10 || all.Next != 10 || all.Arrivals[0] != 0 || !slices.IsSorted(all.Arrivals) ||
		time.Duration(all.Arrivals[9]) > took {
		t.Errorf("%+v within %v", all, took)
	}
	if d := time.Unix(0, all.OriginNS).Sub(before); d < -time.Second || d > took+time.Second {
		t.Errorf("the first arrival is dated %v after the start", d)
	}
	part := decode[arrivalsPage](t, get(t, s.HTTPURL()+"/sim/arrivals?from=7").body)
	if part.From != 7 || part.Next != 10 || !slices.Equal(part.Arrivals, all.Arrivals[7:]) {
		t.Errorf("%+v", part)
	}
	if a := get(t, url+"/sim/arrivals?from=-1"); a.status != 400 {
		t.Error(a.status)
	}
}

func TestArrivalsForgetTheOldest(t *testing.T) {
	a := newArrivals(clock{time.Now()}, 4)
	for range 6 {
		a.stamp()
	}
	p := a.page(1)
	if p.From != 2 || p.Lost != 1 || p.Next != 6 || len(p.Arrivals) != 4 || !slices.IsSorted(p.Arrivals) {
		t.Errorf("%+v", p)
	}
	if p := a.page(99); p.From != 6 || p.Lost != 0 || len(p.Arrivals) != 0 {
		t.Errorf("%+v", p)
	}
}

func TestStatistics(t *testing.T) {
	s := start(t, Config{ServiceTime: &Dist{Mean: 0.002}})
	g := dial(t, s)
	const n = 20
	q := fp32("identity")
	q.Inputs[0].Shape, q.RawInputContents[0] = []int64{3, 1}, make([]byte, 12)
	for range n {
		if _, err := g.ModelInfer(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	m, err := g.ModelStatistics(t.Context(), &pb.ModelStatisticsRequest{Name: "identity"})
	if err != nil {
		t.Fatal(err)
	}
	got := m.ModelStats[0]
	i := got.InferenceStats
	if got.InferenceCount != 3*n || got.ExecutionCount != n || i.Success.Count != n || i.Fail.Count != 0 ||
		i.Queue.Count != n {
		t.Errorf("%v", got)
	}
	parts := i.Queue.Ns + i.ComputeInput.Ns + i.ComputeInfer.Ns + i.ComputeOutput.Ns
	if i.ComputeInfer.Ns < n*2e6 || i.Success.Ns < parts {
		t.Errorf("%d ns of service in %d of requests, parts %d", i.ComputeInfer.Ns, i.Success.Ns, parts)
	}
	if len(got.BatchStats) != 1 || got.BatchStats[0].BatchSize != 3 ||
		got.BatchStats[0].ComputeInfer.Count != n || got.LastInference == 0 {
		t.Errorf("%v", got)
	}
	// HTTP shows the same numbers.
	web := decode[statsReply](t, get(t, s.HTTPURL()+"/v2/models/identity/versions/1/stats").body)
	var shown pb.ModelStatisticsResponse
	_, err = toMessage(web, &shown)
	same(t, err, shown.ModelStats[0], got)
	all := decode[statsReply](t, get(t, s.HTTPURL()+"/v2/models/stats").body)
	if len(all.ModelStats) != len(s.order) {
		t.Error(len(all.ModelStats))
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	s := start(t, Config{Stall: &Stall{At: time.Millisecond, For: time.Hour}, ServiceTime: &Dist{Mean: 3600}})
	g := dial(t, s)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			if i%2 == 0 {
				if _, err := g.ModelInfer(t.Context(), fp32("identity")); err == nil {
					t.Error("answered")
				}
				return
			}
			a, err := request(t, client(t), http.MethodPost, s.HTTPURL()+"/v2/models/identity/infer", nil,
				[]byte(oneFP32))
			if err == nil && a.status == 200 {
				t.Error("answered")
			}
		})
	}
	eventually(t, "all arrived", func() bool { return s.counts().Arrivals >= 6 })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestContextEndsTheServer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, Config{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	eventually(t, "nothing listens", func() bool { return !answers(s.HTTPURL()) })
	s.Close()
}
