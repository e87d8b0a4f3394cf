package executor

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
)

// verdictKinds are the ways in which a plan can ask for something, each true of a server that
// answers and of a client that is on time. A stage of its own has each, so that its verdict is its
// own.
func verdictKinds() map[string]string {
	return map[string]string{
		"default":    "",
		"compare":    "assert: [latency.mean < 10s]",
		"largest":    "assert: [latency.max < 10s]",
		"count":      "assert: [errors.count == 0]",
		"rate":       "assert: [requests.rate > 0.1/s]",
		"percentile": "assert: [latency.p50 < 10s]",
		"ratio":      "assert: [errors.ratio < 5%]",
		"no-data":    "assert: [{that: latency.p50 < 10s, on_no_data: pass}]",
		// on a busy machine requests depend on each other: as a whole such a short stage proves nothing
		"confidence": "assert: [{that: errors.ratio < 60%, confidence: 95%, every: 100ms}, " +
			"{that: latency.p50 < 10s, confidence: 95%, every: 100ms}]",
		"every":     "assert: [{that: latency.p50 < 10s, every: 100ms, min_samples: 1}]",
		"within":    "assert: [{that: latency.p50 < 10s, within: 200ms, every: 100ms, min_samples: 1}]",
		"abort":     "assert: [{that: errors.ratio < 5%, abort: true}]",
		"goodput":   "goodput: {latency: 10s}, assert: [goodput.ratio > 95%]",
		"baseline":  "assert: [latency.p50 < 1000 * baseline.latency.p50 + 10s]",
		"mismatch":  "assert: [errors.mismatch.count == 0]",
		"capacity":  "assert: [capacity >= 0.000001CAPACITY]",
		"stability": "assert: [latency.p50 < 10s]",
	}
}

// breakage is one way in which a measurement goes wrong.
type breakage struct {
	config   builtin.Config
	target   string  // keys of the target
	data     string  // keys of the data besides its file
	rows     string  // right.json
	stage    string  // keys of each stage
	extent   string  // for: 300ms
	rate     float64 // loads are open with so many a second; 0: closed
	env      func(s *builtin.Server) Env
	harmless bool // nothing is broken: everything passes
}

func breakages() map[string]breakage {
	return map[string]breakage{
		"nothing is broken": {harmless: true, extent: "for: 1500ms"}, // so long that a busy machine sends enough
		"nothing is answered": {
			config: builtin.Config{Stall: &builtin.Stall{At: 0, For: 60e9}}, stage: ", drain: 0s",
		},
		"it stands still": {
			config: builtin.Config{Stall: &builtin.Stall{At: 150e6, For: 60e9}}, target: ", timeout: 100ms",
			extent: "for: 600ms",
		},
		"it stands still, and nobody waits": {
			config: builtin.Config{Stall: &builtin.Stall{At: 30e6, For: 60e9}}, stage: ", drain: 20ms",
			extent: "for: 600ms",
		},
		"every request fails": {config: builtin.Config{Errors: 1}},
		"most requests fail":  {config: builtin.Config{Errors: 0.9, Seed: 5}, extent: "for: 30 requests"},
		"answers are wrong":   {rows: "wrong.json"},
		"the server stops": {extent: "for: 1200ms", env: func(s *builtin.Server) Env {
			return Env{Events: once(func() { _ = s.Close() })}
		}},
		"samples are lost": {env: func(*builtin.Server) Env { return Env{lost: func(int) int64 { return 3 }} }},
		// its numbers have bounds, and all that lies between is within such wide limits
		"the client is late": {harmless: true, extent: "for: 1500ms", rate: 20, env: func(*builtin.Server) Env {
			return Env{Delay: func(uint64) { time.Sleep(20 * time.Millisecond) }} //nolint:forbidigo // the delay is the fault
		}},
		"it was cut short": {extent: "for: 60s", stage: ", max_duration: 200ms"},
		"it was interrupted": {extent: "for: 60s", env: func(*builtin.Server) Env {
			interrupt := make(chan int, 1)
			return Env{Interrupt: interrupt, Events: once(func() { interrupt <- 2 })}
		}},
		"it is never stable":          {extent: "until: {stable: {window: 60ms, windows: 3, within: 0.000001%, max_windows: 3, metrics: [latency.mean]}}"},
		"nothing is due":              {rate: 0.001},
		"all was sent in the warm-up": {data: ", at_end: stop", stage: ", warmup: 1 request"},
	}
}

// stages are those of all kinds, side by side.
func (b breakage) stages() string {
	var text strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(verdictKinds())) {
		keys, extent := verdictKinds()[kind], cmp.Or(b.extent, "for: 300ms")
		quantity, number, twice, per := "concurrency", "2", "4", ""
		if b.rate > 0 {
			quantity, number, twice, per = "rate", fmt.Sprint(b.rate, "/s"), fmt.Sprint(2*b.rate, "/s"), "/s"
		}
		switch {
		case kind == "capacity":
			number = "{search: {from: " + number + ", to: " + twice + ", confirm: 1, while: latency.p50 < 10s}}"
		case kind == "stability" && strings.HasPrefix(extent, "for: "):
			extent = "until: {stable: {window: 100ms, windows: 3, within: 100000%, max_windows: 4, metrics: " +
				"[latency.mean]}}"
			switch {
			case b.extent == "for: 60s":
				extent = strings.Replace(extent, "100ms", "20s", 1)
			case b.harmless: // no window may be empty
				extent = strings.Replace(extent, "100ms", "500ms", 1)
			}
		}
		load := fmt.Sprintf("{%s: %s, arrivals: poisson}", quantity, number)
		if b.rate == 0 {
			load = fmt.Sprintf("{%s: %s, think: 5ms}", quantity, number)
		}
		if keys = strings.ReplaceAll(keys, "CAPACITY", per); keys != "" {
			keys = ", " + keys
		}
		fmt.Fprintf(&text, "      - {id: %s, load: %s, %s%s%s}\n", kind, load, extent, b.stage, keys)
	}
	return text.String()
}

// TestGate breaks the measurement in each way under every kind of verdict. None may end as a pass:
// what was not measured, or not for long enough, or not by a client that was on time, is not
// proven.
func TestGate(t *testing.T) {
	dir := gateFiles(t)
	for what, b := range breakages() {
		t.Run(what, func(t *testing.T) {
			if !b.harmless { // what must pass runs alone
				t.Parallel()
			}
			b.config.HTTP = backendtest.Loopback()
			s, err := builtin.Start(t.Context(), b.config)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var e Env
			if b.env != nil {
				e = b.env(s)
			}
			r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: simple, ready: 0s%[5]s}
baseline: {file: %[1]s/baseline.json}
data: {file: %[1]s/%[2]s%[3]s}
stages:
  - parallel:
%[4]s`, dir, cmp.Or(b.rows, "right.json"), b.data, b.stages(), b.target), s.HTTPURL(), e)
			if len(r.Nodes) != len(verdictKinds()) || r.ExitCode == 0 && !b.harmless {
				t.Errorf("exit %d with %d stages: %s", r.ExitCode, len(r.Nodes), r.Reason)
			}
			for _, n := range r.Nodes { // each as if it were alone, whatever ended the run
				code, v, why := verdict.Exit(&result.Result{Nodes: []*result.Node{n}}, verdict.RunOutcome{})
				// No request in 100 ms: the machine had no time
				starved := b.harmless && (code == 5 || code == 3 && n.Series != nil)
				if passes := code == 0 || v == result.Pass; passes != b.harmless && !starved {
					t.Errorf("%s: exit %d, %s: %s; %s %q, %+v", n.ID, code, v, why, n.Outcome, n.Reason, n.Assertions)
				}
			}
		})
	}
}

// gateFiles are rows with right and with wrong answers, and a result to compare with.
func gateFiles(t *testing.T) (dir string) {
	dir = t.TempDir()
	row := func(v int) string { return strings.TrimSuffix(strings.Repeat(strconv.Itoa(v)+",", 16), ",") }
	for name, sum := range map[string]int{"right.json": 3, "wrong.json": 4} {
		text := fmt.Sprintf(`{"data":[{"INPUT0":[%s],"INPUT1":[%s]}],"validation_data":[{"OUTPUT0":[%s]}]}`, row(1),
			row(2), row(sum))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages: [{id: baseline, load: {concurrency: 1}, for: 50 requests}]
`, s.HTTPURL(), Env{})
	var b bytes.Buffer
	if err := result.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "baseline.json"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// once calls f with the first event of the hold phase.
func once(f func()) func(Event) {
	done := false
	return func(e Event) {
		if e.Phase == PhaseHold && !done {
			done = true
			f()
		}
	}
}
