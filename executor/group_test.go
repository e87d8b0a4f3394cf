package executor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// TestGroup: members start at one moment (and their own delay), `until: others` lasts as long as
// the rest, each has its own numbers, and results stand in the order of the document.
func TestGroup(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"http", "grpc"} {
		s := serve(t, builtin.Config{})
		url := map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}[transport]
		r := play(t, `
version: 1
target: {backend: triton, url: URL, model: simple}
stages:
  - parallel:
      - {id: noise, load: {concurrency: 2}, until: others}
      - {id: a, load: {rate: 100/s}, for: 600ms}
      - {id: b, load: {rate: 50/s}, delay: 200ms, for: 20 requests}
  - {id: then, load: {concurrency: 1}, for: 5 requests}
`, url, Env{})
		var ids []string
		for _, n := range r.Nodes {
			ids = append(ids, n.ID)
			if n.Outcome != result.Done && n.Outcome != result.Invalid {
				t.Errorf("%s: %s: %s", n.ID, n.Outcome, n.Reason)
			}
		}
		if !slices.Equal(ids, []string{"noise", "a", "b", "then"}) {
			t.Errorf("order %v", ids)
		}
		noise, a, b, then := r.Nodes[0], r.Nodes[1], r.Nodes[2], r.Nodes[3]
		// The delay counts from the group's start, so b begins while a lasts; how soon after it is due
		// the machine decides.
		if after := b.Started - a.Started; noise.Started != a.Started || after < 0.2-1e-6 || after >= a.Duration {
			t.Errorf("starts %v, %v, %v", noise.Started, a.Started, b.Started)
		}
		if count(a, "requests.count") != 60 || count(b, "requests.count") != 20 {
			t.Errorf("%d and %d requests, want 60 and 20", count(a, "requests.count"), count(b, "requests.count"))
		}
		if noise.Duration < 0.6 || noise.Started+noise.Duration < b.Started+0.38 ||
			then.Started < noise.Started+noise.Duration {
			t.Errorf("noise lasted %v s from %v, b began at %v, then at %v",
				noise.Duration, noise.Started, b.Started, then.Started)
		}
		all := 0
		for _, n := range r.Nodes {
			all += int(count(n, "requests.count"))
		}
		// One asked whether the model is ready; each of noise's two slots may have sent once more before
		// it was told.
		if got := len(arrivals(t, s)); got < all+1 || got > all+3 {
			t.Errorf("%s: the server saw %d requests, the nodes have %d", transport, got, all)
		}
	}
}

// TestGroupStable: members that say `until: stable` end together, when all are.
func TestGroupStable(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - parallel:
      - {id: quick, load: {concurrency: 1}, until: {stable: {windows: 2, window: 50ms, within: 100000%, max_windows: 50, metrics: [requests.rate]}}}
      - {id: slow, load: {concurrency: 1}, until: {stable: {windows: 2, window: 300ms, within: 100000%, max_windows: 50, metrics: [requests.rate]}}}
`, s.HTTPURL(), Env{})
	quick, slow := node(t, r, "quick"), node(t, r, "slow")
	for _, n := range r.Nodes { // on a busy machine a short window may be empty, which is not stable
		if n.Outcome != result.Done && n.Outcome != result.Unstable && n.Outcome != result.Invalid {
			t.Errorf("%s: %s (%s)", n.ID, n.Outcome, n.Reason)
		}
	}
	if len(quick.Windows) < 10 || len(slow.Windows) < 2 {
		t.Errorf("%d and %d windows", len(quick.Windows), len(slow.Windows))
	}
	used := 0
	for _, w := range quick.Windows {
		if w.Used {
			used++
		}
	}
	if quick.Outcome == result.Done && (used != 2 || math.Abs(quick.Duration-0.1) > 1e-6) {
		t.Errorf("%d windows of the quick one are used, %v s", used, quick.Duration)
	}
}

// TestAgreeAtALaterPlay: a matrix can make a member's later play the first that says `until: stable`.
func TestAgreeAtALaterPlay(t *testing.T) {
	m, other := &member{number: 1}, &member{}
	g := &group{stable: map[*member]*stable{other: {}}}
	if g.agree(m, true) {
		t.Error("agreed before the other's first play was settled")
	}
	if g.agree(m, true) || !g.agree(other, true) || g.stable[m].play != 1 {
		t.Errorf("%+v", g.stable[m])
	}
}

// TestAgree is the rule of `until: stable` in a group as a table: what each member says in turn,
// and who may end.
func TestAgree(t *testing.T) {
	for _, c := range []struct{ name, steps, want string }{
		{"alone", "a+", "a"},
		{"all must", "a+ b- b+ a+", "b a"},
		{"one that was stable is no more", "a+ a- b+ a+", "a"},
		{"who has left is not waited for", "a+ b! a+", "a"},
		{"agreed once is agreed", "a+ b+ a- b-", "b a b"},
		{"the next play is another", "a+ b+ a> a+ b> b+ a+", "b b a"},
		{"who has not yet begun the play is waited for", "a+ b+ a> a+", "b"},
	} {
		g := &group{stable: map[*member]*stable{}}
		members := map[byte]*member{}
		for _, name := range []byte("ab") {
			if strings.Contains(c.steps, string(name)) {
				members[name] = &member{
					group: g,
					Member: &program.Member{Plays: []program.Play{{
						Node: &program.Node{Stage: &scenario.Stage{Extent: scenario.UntilStable{}}},
					}}},
					arrived: true,
				}
				g.stable[members[name]] = &stable{}
			}
		}
		var got []string
		for step := range strings.FieldsSeq(c.steps) {
			m := members[step[0]]
			switch step[1] {
			case '!':
				g.depart(m)
			case '>':
				m.number++
			default:
				if g.agree(m, step[1] == '+') {
					got = append(got, step[:1])
				}
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s may end, want %s", c.name, text, c.want)
		}
	}
}

// TestGroupInterrupt: the signal reaches every member; what comes after the group is skipped.
func TestGroupInterrupt(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	interrupt := make(chan int, 1)
	holding := map[string]bool{}
	r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages:
  - parallel:
      - {id: a, load: {concurrency: 1}, for: 60s}
      - {id: b, load: {rate: 50/s}, for: 60s}
      - {id: late, load: {rate: 50/s}, delay: 50s, for: 60s}
  - {id: c, load: {concurrency: 1}, for: 60s}
`, s.HTTPURL(), Env{Interrupt: interrupt, Events: func(e Event) {
		if e.Phase == PhaseHold {
			if holding[e.Node] = true; len(holding) == 2 && cap(interrupt)-len(interrupt) > 0 {
				select {
				case interrupt <- 15:
				default:
				}
			}
		}
	}})
	if r.ExitCode != 143 || r.State != result.StatePartial {
		t.Errorf("exit %d, state %s", r.ExitCode, r.State)
	}
	var got []string
	for _, n := range r.Nodes {
		got = append(got, fmt.Sprint(n.ID, " ", n.Outcome))
	}
	if want := []string{
		"a interrupted", "b interrupted", "late interrupted", "c skipped",
	}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestGroupFails: a member that fails blocks no other member, and fails the stages that need it.
func TestGroupFails(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	r := play(t, `
version: 1
targets:
  good: {backend: kserve, url: URL, model: simple}
  gone: {backend: kserve, url: "http://127.0.0.1:1", model: simple, ready: 0s, connect_timeout: 200ms}
stages:
  - parallel:
      - {id: a, target: good, load: {concurrency: 1}, for: 20 requests}
      - {id: b, target: gone, load: {concurrency: 1}, for: 20 requests}
  - {id: c, target: good, load: {concurrency: 1}, for: 5 requests}
  - {id: d, target: good, needs: [a], load: {concurrency: 1}, for: 5 requests}
`, s.HTTPURL(), Env{})
	var got []string
	for _, n := range r.Nodes {
		got = append(got, fmt.Sprint(n.ID, " ", n.Outcome))
	}
	if want := []string{"a done", "b failed", "c skipped", "d done"}; !slices.Equal(got, want) ||
		r.ExitCode != 4 {
		t.Errorf("%v, want %v; exit %d", got, want, r.ExitCode)
	}
}
