package builtin

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

func percentile(v []int64, q float64) int64 {
	s := slices.Sorted(slices.Values(v))
	return s[int(q*float64(len(s)-1))]
}

// oneFP32 is a JSON request for identity.
const oneFP32 = `{"inputs":[{"name":"INPUT0","shape":[1,1],"datatype":"FP32","data":[1]}]}`

func TestStallWait(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		stall *Stall
		at    time.Duration
		want  time.Duration
	}{
		{nil, 0, 0},
		{&Stall{At: 10 * ms, For: 5 * ms}, 9 * ms, 0},
		{&Stall{At: 10 * ms, For: 5 * ms}, 10 * ms, 5 * ms},
		{&Stall{At: 10 * ms, For: 5 * ms}, 14 * ms, 1 * ms},
		{&Stall{At: 10 * ms, For: 5 * ms}, 15 * ms, 0},
		{&Stall{At: 10 * ms, For: 5 * ms}, 99 * ms, 0},
		{&Stall{At: 10 * ms, For: 5 * ms, Every: 20 * ms}, 29 * ms, 0},
		{&Stall{At: 10 * ms, For: 5 * ms, Every: 20 * ms}, 32 * ms, 3 * ms},
		{&Stall{For: 5 * ms, Every: 20 * ms}, 0, 5 * ms},
	} {
		if got := (&faults{stall: c.stall}).wait(c.at); got != c.want {
			t.Errorf("%+v at %v: %v, want %v", c.stall, c.at, got, c.want)
		}
	}
}

func TestStallHoldsRequestsUntilItsEnd(t *testing.T) {
	const end = 60 * time.Millisecond
	s := start(t, Config{Stall: &Stall{For: end}})
	c := dial(t, s)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := c.ModelInfer(t.Context(), fp32("identity")); err != nil {
				t.Error(err)
			}
			s.arrivals.mu.Lock()
			first := s.arrivals.first
			s.arrivals.mu.Unlock()
			if since := time.Duration(s.clock.now() - first); since < end {
				t.Errorf("answered %v after the first arrival, inside the stall", since)
			}
		})
	}
	all.Wait()
}

func TestErrorsRatio(t *testing.T) {
	s := start(t, Config{Errors: 0.3, Seed: 5})
	c, g := client(t), dial(t, s)
	run := func() string {
		var pattern strings.Builder
		for i := range 200 {
			failed := false
			if i%2 == 0 {
				a, err := request(t, c, http.MethodPost, s.HTTPURL()+"/v2/models/identity/infer", nil, []byte(oneFP32))
				if err != nil {
					t.Fatal(err)
				}
				failed = a.status == 500 &&
					strings.Contains(string(a.body),
						`{"error":"[request id: <id_unknown>] simulated failure of model 'identity'"}`)
				if !failed && a.status != 200 {
					t.Fatalf("%d %s", a.status, a.body)
				}
			} else {
				_, err := g.ModelInfer(t.Context(), fp32("identity"))
				failed = status.Code(err) == codes.Internal
				if !failed && err != nil {
					t.Fatal(err)
				}
			}
			pattern.WriteString(map[bool]string{true: "x", false: "."}[failed])
		}
		return pattern.String()
	}
	one := run()
	n := s.counts()
	failed := strings.Count(one, "x")
	if failed < 40 || failed > 80 || n.Results.Failed != uint64(failed) || n.Results.OK != uint64(200-failed) ||
		n.Arrivals != 200 {
		t.Errorf("%d of 200 failed: %+v", failed, n)
	}
	st := s.models["identity"].stats.snapshot().InferenceStats
	if st.Fail.Count != uint64(failed) || st.Success.Count != uint64(200-failed) {
		t.Errorf("%+v", st)
	}
	if a := post(t, s.URLs().Control+"/sim/reset", ""); a.status != 200 {
		t.Error(a.status)
	}
	if n := s.counts(); n != (countReply{}) {
		t.Errorf("%+v after reset", n)
	}
	if two := run(); one != two {
		t.Errorf("after reset the pattern is\n%s, it was\n%s", two, one)
	}
}

func TestResetCutsTheConnection(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := start(t, Config{Reset: 1, TLS: secure})
		g := dial(t, s)
		if _, err := g.ModelInfer(t.Context(), fp32("identity")); status.Code(err) != codes.Unavailable {
			t.Error(err)
		}
		if live, err := g.ServerLive(t.Context(), &pb.ServerLiveRequest{}); err != nil || !live.Live {
			t.Error("no new connection after the reset:", err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(s.URLs().CA))
		c := client(t)
		c.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
		_, err := request(t, c, http.MethodPost, s.HTTPURL()+"/v2/models/identity/infer", nil, []byte(oneFP32))
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
		n := s.counts()
		if want := n.Arrivals; n.Results.Reset != want || n.Connections.GRPC < 2 {
			t.Errorf("%+v", n)
		}
	}
}

func TestSlowBody(t *testing.T) {
	const pause = 30 * time.Millisecond
	s := start(t, Config{SlowBody: pause})
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.HTTPURL()+"/v2/models/identity/infer",
		strings.NewReader(oneFP32))
	r.Header.Set("Accept-Encoding", "identity")
	began := time.Now()
	resp, err := client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.ContentLength != int64(len(body)) || time.Since(began) < pause {
		t.Errorf("%v, %d of %d bytes after %v", err, len(body), resp.ContentLength, time.Since(began))
	}
	began = time.Now()
	if _, err := dial(t, s).ModelInfer(t.Context(), fp32("identity")); err != nil || time.Since(began) < pause {
		t.Error(err, time.Since(began))
	}
}

func TestOverloadIsRefused(t *testing.T) {
	s := start(t, Config{QueueSize: 1, ServiceTime: &Dist{Mean: 3600}})
	g := dial(t, s)
	ctx, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			if _, err := g.ModelInfer(ctx, fp32("slow")); status.Code(err) != codes.Canceled {
				t.Error(err)
			}
		})
		q := s.models["slow"].queue
		eventually(t, "one runs, one waits", func() bool {
			q.mu.Lock()
			defer q.mu.Unlock()
			return q.started && len(q.jobs) == i && s.counts().Arrivals == uint64(i+1)
		})
	}
	if _, err := g.ModelInfer(t.Context(), fp32("slow")); status.Code(err) != codes.Unavailable ||
		!strings.Contains(err.Error(), "exceeds maximum queue size for model 'slow'") {
		t.Error(err)
	}
	a := post(t, s.HTTPURL()+"/v2/models/slow/infer",
		`{"inputs":[{"name":"INPUT0","shape":[1],"datatype":"FP32","data":[1]}]}`)
	if a.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", a.status, a.body)
	}
	leave()
	all.Wait()
	eventually(t, "all ends are counted", func() bool {
		r := s.counts().Results
		return r.Cancelled == 2 && r.Rejected == 2
	})
}

func TestBodiesAreBounded(t *testing.T) {
	s := start(t, Config{})
	s.bodies.Store(20)
	long, err := json.Marshal(strings.Repeat("x", 100))
	if err != nil {
		t.Fatal(err)
	}
	if a := post(t, s.HTTPURL()+"/v2/models/identity/infer", string(long)); a.status != 503 {
		t.Errorf("%d %s", a.status, a.body)
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.HTTPURL()+"/v2/models/identity/infer",
		io.MultiReader(strings.NewReader("{}"), strings.NewReader(strings.Repeat(" ", 100))))
	resp, err := client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 503 {
		t.Error(resp.Status)
	}
	q := fp32("identity")
	q.RawInputContents[0] = make([]byte, 100)
	if _, err := dial(t, s).ModelInfer(t.Context(), q); status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
	if left := s.bodies.Load(); left != 20 {
		t.Errorf("%d of 20 bytes came back", left)
	}
}

func TestChunkedBody(t *testing.T) {
	s := start(t, Config{})
	data := strings.Repeat("1,", 20_000) + "1"
	body := `{"inputs":[{"name":"INPUT0","shape":[1,20001],"datatype":"FP32","data":[` + data + `]}]}`
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.HTTPURL()+"/v2/models/identity/infer",
		io.MultiReader(strings.NewReader(body)))
	resp, err := client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || !bytes.Contains(got, []byte(data)) {
		t.Errorf("%v %s %.100s", err, resp.Status, got)
	}
	eventually(t, "the bytes come back", func() bool { return s.bodies.Load() == maxBodies })
}
