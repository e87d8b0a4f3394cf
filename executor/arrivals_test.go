package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestPauses: each slot pauses after its reply, and its next request is due when the pause is over.
func TestPauses(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "grpc"} {
		s := serve(t, builtin.Config{})
		url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[transport]
		var kept sent
		play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages:
  - {id: s, load: {concurrency: 3, think: {values: [4ms, 6ms]}}, for: 60 requests}
`, url, Env{Record: keep(&kept)})
		kept.dues()
		before, short := map[uint32]backends.Sample{}, 0
		for _, one := range kept.all {
			last, again := before[one.Lane]
			if before[one.Lane] = one; !again {
				continue
			}
			if pause := one.Due - last.LastByte; pause < 4_000_000 || one.SendStart < one.Due {
				t.Errorf("%s: due %d ns after the reply, sent %d ns later", transport, pause, one.SendStart-one.Due)
			} else if pause < 5_900_000 {
				short++
			}
		}
		if len(kept.all) != 60 || len(before) != 3 || short == 57 {
			t.Errorf("%s: %d requests on %d slots, %d short pauses", transport, len(kept.all), len(before), short)
		}
	}
}

// TestPhases: what was due in a named hold of a ramp is counted there, and unscoped numbers are
// those of all holds.
func TestPhases(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages:
  - id: s
    load:
      rate:
        ramp:
          - {to: 200/s, over: 100ms, hold: 200ms, name: base}
          - {to: 1000/s, hold: 100ms, name: spike}
          - {to: 200/s, over: 50ms, hold: 100ms}
    assert:
      - phase("base").requests.count == 40
      - phase("spike").requests.count == 100
      - phase("hold").requests.count == 20
      - phase("ramp").requests.count == 40
      - requests.count == 160
`, s.GRPCURL(), Env{})
	for _, a := range node(t, r, "s").Assertions {
		// The verdict is open where the client was late
		if a.Observed == nil || a.Limit == nil || *a.Observed != *a.Limit {
			t.Errorf("%s: %s: %s", a.ID, a.Verdict, a.Reason)
		}
	}
	if n := len(arrivals(t, s)); n != 200 {
		t.Errorf("the server saw %d requests", n)
	}
}

// TestRowTimes: without a file of its own a schedule plays the timestamps of the data's rows: each
// row once, at its time.
func TestRowTimes(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "rows.json")
	text := `{"data":[{"IN":[1],"timestamp":[0]},{"IN":[2],"timestamp":[20]},{"IN":[3],"timestamp":[20]},` +
		`{"IN":[4],"timestamp":[60]},{"IN":[5],"timestamp":[200]}]}`
	if err := os.WriteFile(data, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keys string
		rows []int32
		ms   []int64
	}{
		{"", []int32{1, 2, 3, 4, 5}, []int64{0, 20, 20, 60, 200}},
		{"speed: 2, from: 10ms, to: 100ms", []int32{2, 3, 4}, []int64{0, 0, 20}},
	} {
		w := watch(t, func(w *witness) { w.dim = 1 })
		var kept sent
		r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
data: {file: %s}
stages:
  - {id: s, load: {schedule: {%s}}}
`, data, c.keys), w.URL, Env{Record: keep(&kept)})
		kept.dues()
		var rows []int32
		var ms []int64
		for _, q := range w.all() {
			rows = append(rows, ints(q.data)...)
		}
		for _, one := range kept.all {
			ms = append(ms, (one.Due-kept.all[0].Due)/1_000_000)
		}
		slices.Sort(rows) // two that are due at once may arrive in either order
		if !slices.Equal(rows, c.rows) || !slices.Equal(ms, c.ms) {
			t.Errorf("schedule {%s}: rows %v at %v ms, want %v at %v: %s",
				c.keys, rows, ms, c.rows, c.ms, r.Nodes[0].Reason)
		}
	}
}

// TestNoStartBurst: at 50/s nothing is sent ahead of the plan, the first request neither: arrivals
// are not gathered before the clock starts. While client and server were on time, no window of 100
// ms has more than one above the plan's five at the server.
func TestNoStartBurst(t *testing.T) {
	const window = 100_000_000
	for _, transport := range []string{"http", "grpc"} {
		s := serve(t, builtin.Config{})
		url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[transport]
		var kept sent
		play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s}
stages:
  - {id: s, load: {rate: 50/s}, for: 1s}
`, url, Env{Record: keep(&kept)})
		dues, times := kept.dues(), arrivals(t, s)
		if len(times) != 50 || len(dues) != 50 {
			t.Fatalf("%s: the server saw %d arrivals, %d were sent, want 50", transport, len(times), len(dues))
		}
		for k, one := range kept.all {
			if early := one.Due - one.SendStart; early > 0 {
				t.Errorf("%s: arrival %d is sent %d ns early", transport, k, early)
			}
			if got := one.Due - kept.all[0].Due; got != int64(k)*20_000_000 {
				t.Errorf("%s: arrival %d is due after %d ns", transport, k, got)
			}
		}
		for k, at := range times {
			n := 0
			for _, other := range times[k:] {
				if other < at+window {
					n++
				}
			}
			if n > 6 && onTime(kept.all, kept.all[k].Due, window) {
				t.Errorf("%s: %d arrivals in 100 ms from %d ms on", transport, n, at/1_000_000)
			}
		}
	}
}

// onTime reports whether each request that was under way between a due time and the end of its
// window was answered within half a gap of its own due time: the server's stamp lies between the
// two.
func onTime(list []backends.Sample, due, window int64) bool {
	const most = 10_000_000
	return !slices.ContainsFunc(list, func(q backends.Sample) bool {
		return q.LastByte-q.Due > most && q.LastByte >= due && q.Due <= due+window+most
	})
}

// TestInFlightCap: neither a rate with a bound on what is in flight nor a number in flight is ever
// exceeded, however late replies come.
func TestInFlightCap(t *testing.T) {
	t.Parallel()
	for _, load := range []string{
		"load: {rate: {ramp: [{to: 2000/s, over: 200ms}]}, arrivals: poisson, max_in_flight: 9}",
		"load: {concurrency: 9}, for: 200 requests",
	} {
		w := watch(t, func(w *witness) { w.dim, w.takes = 4, 20_000_000 })
		p := compile(t, `
version: 1
target: {backend: kserve, url: URL, model: m, ready: 0s}
stages: [{id: s, `+load+`}]
`, w.url("http"))
		if _, diags := Run(context.Background(), p, Env{}); diags.HasErrors() {
			t.Fatal(diags)
		}
		if w.peak != 9 {
			t.Errorf("%s: %d in flight", load, w.peak)
		}
	}
}
