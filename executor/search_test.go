package executor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// TestSearch: the search finds the largest number of requests in flight for which its condition
// holds, its node has the numbers of the trial that was confirmed, and a later stage runs at a
// share of what was found. The condition is one that a busy machine does not change.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 5e-3}, Instances: 64})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - id: find
    load: {concurrency: {search: {from: 1, to: 64, precision: 1, confirm: 2, while: in_flight.max <= 6}}}
    for: 60 requests
    assert: [capacity == 6, errors.count == 0]
  - id: hold
    load: {concurrency: '${0.5 * stage("find").capacity}'}
    for: 20 requests
`, s.HTTPURL(), Env{})
	find, hold := node(t, r, "find"), node(t, r, "hold")
	found, ok := find.Metrics[metric.Capacity].Stat(metric.Stat{})
	if !ok || found != 6 {
		t.Fatalf("capacity %v, %v: %s %s", found, ok, find.Outcome, find.Reason)
	}
	used, confirmed := 0, 0
	for _, p := range find.Trials {
		if p.Used {
			used++
			if p.Level != found || p.Verdict != result.Pass {
				t.Errorf("the trial at %v is used (%s), %v was found", p.Level, p.Verdict, found)
			}
			if n, _ := p.Metrics["requests.count"].Stat(metric.Stat{}); int64(n) != count(find, "requests.count") {
				t.Errorf("the node's numbers are not those of the trial")
			}
		}
		if p.Level == found && p.Verdict == result.Pass {
			confirmed++
		}
	}
	if used != 1 || confirmed < 2 || len(find.Trials) < 4 {
		t.Errorf("%d trials, %d used, %d confirmed it", len(find.Trials), used, confirmed)
	}
	if got := hold.Load; got.Value != found/2 || got.Formula != `${0.5 * stage("find").capacity}` {
		t.Errorf("hold ran at %v (%s), half of %v was wanted", got.Value, got.Formula, found)
	}
}

// TestSearchUntilStable: each trial of a search is measured until its own windows agree.
func TestSearchUntilStable(t *testing.T) {
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 2e-3}, Instances: 64})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - id: find
    load: {concurrency: {search: {from: 1, to: 4, precision: 1, while: in_flight.max <= 2}}}
    until: {stable: {window: 10 requests, within: 900%}}
`, s.HTTPURL(), Env{})
	find := node(t, r, "find")
	if found, ok := find.Metrics[metric.Capacity].Stat(metric.Stat{}); !ok || found != 2 {
		t.Fatalf("capacity %v, %v: %s %s", found, ok, find.Outcome, find.Reason)
	}
	for _, p := range find.Trials {
		if n, _ := p.Metrics["requests.count"].Stat(metric.Stat{}); n < 30 {
			t.Errorf("the trial at %v measured %v requests, three windows have 30", p.Level, n)
		}
	}
}

// TestSearchFindsNothing: what does not hold where the search begins has no capacity; nothing is
// proven, and who needs the number is skipped with that cause.
func TestSearchFindsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config builtin.Config
		search string
		why    string
	}{
		"it never holds": {
			builtin.Config{},
			"while: latency.p50 < 1ns",
			"does not hold at 50/s, where the search begins: latency.p50 is",
		},
		"nothing is answered": {
			builtin.Config{Errors: 1}, "while: [latency.p50 < 10s, errors.ratio <= 100%]", "there nothing is proven",
		},
		"too few samples": {builtin.Config{}, "while: latency.p99.9 < 10s", "use a longer `for`, of "},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.config)
			r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - id: find
    load: {rate: {search: {from: 50/s, to: 100/s, `+c.search+`}}}
    for: 200ms
    assert: [capacity >= 1/s, {that: latency.p50 < 1s, within: 100ms, every: 50ms}, latency.p50 < 1s]
  - {id: hold, load: {rate: '${0.8 * stage("find").capacity}'}, for: 1s}
`, s.HTTPURL(), Env{})
			find, hold := node(t, r, "find"), node(t, r, "hold")
			if _, ok := find.Metrics[metric.Capacity].Stat(metric.Stat{}); ok ||
				find.Assertions[0].Verdict != result.Inconclusive || len(find.Trials) == 0 {
				t.Errorf("%s %s: %+v", find.Outcome, find.Reason, find.Assertions)
			}
			for _, a := range find.Assertions {
				if find.Outcome == result.Done &&
					(a.Verdict != result.Inconclusive || !strings.HasPrefix(a.Reason,
						"no data: no level was confirmed") || !strings.Contains(a.Reason, c.why)) {
					t.Errorf("%s: %s %s, want it to say %q", a.That, a.Verdict, a.Reason, c.why)
				}
			}
			if hold.Outcome != result.SkippedNode || !strings.Contains(hold.Reason, "capacity") {
				t.Errorf("hold: %s %s", hold.Outcome, hold.Reason)
			}
			if r.ExitCode != 3 && find.Outcome != result.Invalid { // a busy machine
				t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
			}
		})
	}
}

// TestSearchInterrupt: what was tried before the signal is kept.
func TestSearchInterrupt(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	interrupt := make(chan int, 1)
	trials := 0
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - {id: find, load: {concurrency: {search: {from: 1, to: 64, while: errors.count == 0}}}, for: 100 requests}
`, s.HTTPURL(), Env{Interrupt: interrupt, Events: func(e Event) {
		if e.Phase == PhaseOpen && e.Node == "find" {
			if trials++; trials == 2 {
				interrupt <- 2
			}
		}
	}})
	find := node(t, r, "find")
	if r.ExitCode != 130 || find.Outcome != result.InterruptedNode || len(find.Trials) == 0 {
		t.Errorf("exit %d, %s %s, %d trials", r.ExitCode, find.Outcome, find.Reason, len(find.Trials))
	}
}

// TestSearchSlots: a server of four instances serves four requests at a time; the search over
// requests in flight tries whole numbers only, and stops where it was told to when all holds.
func TestSearchSlots(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 60e-3}, Instances: 4})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - {id: find, load: {concurrency: {search: {from: 1, to: 32, precision: 1, confirm: 1, while: latency.p50 < 105ms}}}, for: 24 requests}
  - {id: all, load: {concurrency: {search: {from: 1, to: 3, while: latency.p50 < 10s}}}, for: 10 requests}
`, s.HTTPURL(), Env{})
	for _, p := range node(t, r, "find").Trials {
		if p.Level != float64(int(p.Level)) {
			t.Errorf("%v requests in flight were tried", p.Level)
		}
	}
	// On a machine that is busy the limit seems lower, never higher: a fifth of six requests in flight
	// has to wait 60 ms.
	capacity := func(id string) float64 {
		v, _ := node(t, r, id).Metrics[metric.Capacity].Stat(metric.Stat{})
		return v
	}
	if found := capacity("find"); found < 1 || found > 7 {
		t.Errorf("found %v", found)
	}
	if found := capacity("all"); found != 3 {
		t.Errorf("where all holds, %v", found)
	}
}

// TestSearchMeasuresAgain: a trial that a late client leaves open says nothing of the server. It is
// measured again; when it stays open, the search ends without a capacity, and the run says that
// the client was the limit.
func TestSearchMeasuresAgain(t *testing.T) {
	t.Parallel()
	busy := func(most int) Env {
		trials := 0
		return Env{
			Events: func(e Event) {
				if e.Phase == PhaseOpen && e.Node != "" {
					trials++
				}
			},
			Delay: func(uint64) {
				for end := time.Now().Add(20 * time.Millisecond); trials <= most && time.Now().Before(end); {
				}
			},
		}
	}
	search := func(t *testing.T, env Env) (*result.Result, *result.Node) {
		s := serve(t, builtin.Config{})
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - id: find
    load: {rate: {search: {from: 100/s, to: 200/s, precision: 100/s, confirm: 1, while: latency.p50 < 21ms}}}
    for: 300ms
    assert: [capacity >= 1/s]
`, s.HTTPURL(), env)
		return r, node(t, r, "find")
	}
	t.Run("always", func(t *testing.T) {
		r, find := search(t, busy(1000))
		if _, ok := find.Metrics[metric.Capacity].Stat(metric.Stat{}); ok ||
			len(find.Trials) != program.MaxAttempts || find.Outcome != result.Invalid {
			t.Errorf("%s after %d trials", find.Outcome, len(find.Trials))
		}
		if r.ExitCode != 5 || !strings.Contains(r.Reason, "trial 3, at 100/s") ||
			!strings.Contains(r.Reason, "the client, not the server") {
			t.Errorf("exit %d: %s", r.ExitCode, r.Reason)
		}
		if v := find.Assertions[0].Verdict; v != result.Inconclusive {
			t.Errorf("capacity is %s", v)
		}
	})
	t.Run("once", func(t *testing.T) {
		_, find := search(t, busy(1))
		if len(find.Trials) < 2 || find.Trials[0].Verdict != result.Inconclusive ||
			find.Trials[1].Level != find.Trials[0].Level {
			t.Errorf("%+v", find.Trials)
		}
	})
}

// TestSearchSaysWhatItLacks: an inconclusive trial counts as false, and the end of the search says
// that nothing is proven there, why, and what to do.
// alone: a trial that a busy machine spoils lacks something else
func TestSearchSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 5e-3}})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - id: find
    load: {concurrency: {search: {from: 1, to: 4, while: latency.p95 < 10s}}}
    for: 40 requests
`, s.HTTPURL(), Env{})
	find := node(t, r, "find")
	if len(find.Trials) != 1 || find.Trials[0].Verdict != result.Inconclusive || r.ExitCode != 3 {
		t.Errorf("exit %d, %+v", r.ExitCode, find.Trials)
	}
	for _, want := range []string{
		"does not hold at 1,", "nothing is proven", "have 40 of 59", "use a longer `for`",
	} {
		if !strings.Contains(find.Reason, want) {
			t.Errorf("%q lacks %q", find.Reason, want)
		}
	}
}

// TestAbortEndsOneTrial: an assertion with `abort` that is certainly false ends the level or the
// trial that is measured, which then does not hold, and not the run: no level follows, the search
// goes lower. So does one of an slo, and one of the plan.
func TestAbortEndsOneTrial(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ load, slos, assert, plan string }{
		"levels": {
			load:   "{concurrency: {levels: {from: 8, to: 16, step: 8, while: latency.p50 < 10s}}}",
			assert: "{that: latency.p90 < 1ms, abort: true}",
		},
		"levels, slo": {
			load: "{concurrency: {levels: {from: 8, to: 16, step: 8, while: latency.p50 < 10s}}}",
			slos: "slos: {fast: [{that: latency.p90 < 1ms, abort: true}]}\n", assert: "{slo: fast}",
		},
		"search": {
			load:   "{concurrency: {search: {from: 8, to: 16, while: latency.p50 < 10s}}}",
			assert: "{that: latency.p90 < 1ms, abort: true}",
		},
		"search, the plan": {
			load:   "{concurrency: {search: {from: 8, to: 16, while: latency.p50 < 10s}}}",
			assert: "errors.ratio <= 100%", plan: "assert: [{that: 'stage(\"s\").latency.p90 < 1ms', abort: true}]\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 20e-3}, Instances: 16})
			began := time.Now()
			r := play(t, `
version: 1
`+c.slos+`target: {backend: kserve, url: URL, model: slow, ready: 0s}
stages:
  - {id: s, load: `+c.load+`, for: 120s, drain: 1s, assert: [`+c.assert+`, errors.ratio <= 100%]}
  - {id: next, when: always, load: {concurrency: 1}, for: 3 requests}
`+c.plan, s.HTTPURL(), Env{})
			if took := time.Since(began); took > time.Minute {
				t.Errorf("the run took %v", took)
			}
			if next := node(t, r, "next"); next.Outcome != result.Done || r.State != result.StateDone {
				t.Errorf("next: %s %s, state %s", next.Outcome, next.Reason, r.State)
			}
			first := r.Nodes[0]
			aborted := slices.ContainsFunc(first.Validity.Findings, func(f result.Finding) bool {
				return f.Code == "aborted" && strings.Contains(f.Text, "certainly false")
			})
			switch {
			case strings.HasPrefix(name, "levels") && (len(r.Nodes) != 2 || !aborted || first.Aborted != nil):
				t.Errorf("%d nodes, %+v, %+v", len(r.Nodes), first.Aborted, first.Validity.Findings)
			case strings.HasPrefix(name, "search"):
				// One that a busy machine spoils is measured again; none is at another level.
				for _, trial := range first.Trials {
					spoiled := trial.Outcome == result.Invalid
					if trial.Level != 8 ||
						!spoiled && (trial.Verdict != result.Fail || !strings.Contains(trial.Reason, "certainly false")) {
						t.Errorf("%+v", trial)
					}
				}
				if len(first.Trials) == 0 || !strings.Contains(first.Reason, "no level was confirmed") {
					t.Errorf("%s: %+v", first.Reason, first.Trials)
				}
			}
			for _, a := range slices.Concat(first.Assertions, r.Assertions) {
				if a.Verdict == result.Fail {
					t.Errorf("%s fails: %s", a.ID, a.Reason)
				}
			}
		})
	}
}

// TestTrialsShareNothing: no two trials of a node have one seed or one range of request ids,
// however many trials a repeat has.
func TestTrialsShareNothing(t *testing.T) {
	p := compile(t,
		"\nversion: 1\ntarget: {backend: kserve, url: URL, model: m}\nstages: [{id: s, repeat: 3, load: "+
			"{concurrency: {search: {from: 1, to: 9, while: errors.count == 0}}}, for: 9 requests}]\n",
		"http://localhost:1")
	seeds, ids := map[[2]uint64]bool{}, map[uint64]bool{}
	serial := 0
	for repeat := range 3 {
		for tried := range 100 {
			a := attempt{node: p.Nodes[0], repeat: repeat, tried: tried, serial: serial}
			seeds[a.seed(p.Plan.Seed)], ids[a.idBase()] = true, true
			serial++
		}
	}
	if len(seeds) != serial || len(ids) != serial {
		t.Errorf("%d trials have %d seeds and %d ranges of ids", serial, len(seeds), len(ids))
	}
}
