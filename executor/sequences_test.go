package executor

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// kept is what the embedded server says of the sequences that it was sent.
type kept struct {
	Begun, Ended uint64
	Open, Most   int
	Wrong        uint64
	Last         string `json:"last_wrong"`
}

func sequencesOf(t *testing.T, s *builtin.Server) kept {
	t.Helper()
	reply, err := http.Get(s.URLs().Control + "/sim/count")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer reply.Body.Close()
	data, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	var page struct{ Sequences kept }
	if err := json.Unmarshal(data, &page); err != nil {
		t.Fatal(err)
	}
	return page.Sequences
}

// wellKept checks that no rule was broken and nothing is open.
func wellKept(t *testing.T, s *builtin.Server) kept {
	t.Helper()
	k := sequencesOf(t, s)
	if k.Wrong != 0 || k.Open != 0 || k.Begun != k.Ended {
		t.Errorf("%+v", k)
	}
	return k
}

// both runs a test over HTTP and gRPC, each with a server of its own.
func both(t *testing.T, c builtin.Config, test func(t *testing.T, s *builtin.Server, url string)) {
	t.Parallel()
	for _, transport := range []string{"http", "grpc"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c)
			url := s.HTTPURL()
			if transport == "grpc" {
				url = s.GRPCURL()
			}
			test(t, s, url)
		})
	}
}

// sequenceFile is perf_analyzer's JSON of four sequences and the sums that are to come of them.
func sequenceFile(t *testing.T) string {
	var data, sums []string
	for i, n := range []int{4, 3, 2, 1} {
		var steps, outputs []string
		sum := 0
		for k := range n {
			v := 100*i - 7*k
			sum += v
			steps, outputs = append(steps, fmt.Sprintf(`{"INPUT":[%d]}`, v)), append(outputs,
				fmt.Sprintf(`{"OUTPUT":[%d]}`, sum))
		}
		data, sums = append(data, "["+strings.Join(steps, ",")+"]"), append(sums,
			"["+strings.Join(outputs, ",")+"]")
	}
	return file(t, "streams.json",
		`{"data":[`+strings.Join(data, ",")+`],"validation_data":[`+strings.Join(sums, ",")+`]}`)
}

// TestSequences: the server's sums are those of the data, in every kind of load, and what is
// counted is what it saw.
func TestSequences(t *testing.T) {
	both(t, builtin.Config{}, func(t *testing.T, s *builtin.Server, url string) {
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: sequence_acc}
data: {file: `+sequenceFile(t)+`}
stages:
  - {id: closed, load: {concurrency: 3}, for: 8 sequences}
  - {id: passes, load: {concurrency: 2}, for: 2 passes}
  - {id: requests, load: {concurrency: 5}, warmup: 3 requests, for: 23 requests}
  - {id: open, load: {rate: 400/s}, sequences: {live: 6}, for: 12 sequences}
  - {id: begun, load: {rate: 100/s, of: sequences}, warmup: 2 sequences, for: 9 sequences}
  - {id: timed, load: {rate: 300/s, of: sequences}, for: 200ms}
  - {id: long, load: {concurrency: 2}, sequences: {length: 6}, for: 4 sequences, expect: {outputs: false}}
`, url, Env{})
		wellKept(t, s)
		for id, want := range map[string][2]int64{
			"closed": {8, 20}, "passes": {8, 20}, "open": {12, 30}, "begun": {9, -1}, "long": {4, 24},
		} {
			n := node(t, r, id)
			if got := [2]int64{count(n, "sequences.count"), count(n, "requests.count")}; got[0] != want[0] ||
				want[1] >= 0 && got[1] != want[1] {
				t.Errorf("%s: %d sequences, %d requests, want %v", id, got[0], got[1], want)
			}
		}
		if n := count(node(t, r, "requests"), "requests.count"); n != 23 {
			t.Errorf("requests: %d, want 23", n)
		}
		timed := node(t, r, "timed")
		if rate := value(t, timed, "offered.rate"); rate < 299 || rate > 301 {
			t.Errorf("timed: %v sequences were offered a second, want 300", rate)
		}
		for _, n := range r.Nodes {
			if count(n, "errors.count") != 0 || count(n, "dropped.sequence.count") != 0 {
				t.Errorf("%s: %d errors, %d dropped: %v",
					n.ID, count(n, "errors.count"), count(n, "dropped.sequence.count"), n.Errors)
			}
			if m := n.Metrics["sequences.latency"]; m == nil || m.Dist.N() == 0 ||
				m.Dist.Min() < n.Metrics["latency"].Dist.Min() {
				t.Errorf("%s: no time of sequences, or one below that of a request", n.ID)
			}
		}
	})
}

// TestSequenceKeys: each key of `sequences` changes what the server sees.
func TestSequenceKeys(t *testing.T) {
	both(t, builtin.Config{}, func(t *testing.T, s *builtin.Server, url string) {
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: sequence_acc}
data: {generate: {INPUT: 1}}
stages:
  - {id: live, load: {rate: 2000/s}, sequences: {live: 7, length: 1000000, serial: true}, for: 200ms}
`, url, Env{})
		if k := wellKept(t, s); k.Most != 7 || k.Begun != 8 { // and one that asked whether the server answers
			t.Errorf("%+v, want 7 sequences at a time, and no more", k)
		}
		if n := node(t, r, "live"); count(n, "sequences.count") != 0 || count(n, "requests.count") != 400 {
			t.Errorf("%d sequences, %d requests, want none and 400",
				count(n, "sequences.count"), count(n, "requests.count"))
		}
	})
	for name, c := range map[string]struct {
		keys string
		ids  []any
	}{
		"as numbers": {"", []any{int64(90), int64(91), int64(92)}},
		"as texts": {
			", text: true", []any{"00000000000000000090", "00000000000000000091", "00000000000000000092"},
		},
	} {
		for _, transport := range []string{"http", "grpc"} {
			t.Run(name+" "+transport, func(t *testing.T) {
				t.Parallel()
				w := watch(t, func(w *witness) { w.dim = 4 })
				play(t, `
version: 1
target: {backend: kserve, url: URL, model: m}
stages:
  - {id: s, load: {concurrency: 3}, for: 30 sequences, sequences: {length: {values: {2: 1, 5: 1}}, ids: {from: 90, to: 92`+c.keys+`}}}
`, w.url(transport), Env{})
				sent, lengths := map[any]int{}, map[int]bool{}
				for _, q := range w.all() {
					id := q.params["sequence_id"]
					sent[id]++
					if q.params["sequence_end"] == true {
						lengths[sent[id]] = true
						sent[id] = 0
					}
				}
				for _, id := range c.ids {
					if n, known := sent[id]; !known || n != 0 {
						t.Errorf("%v: %d requests without an end, known %t", id, n, known)
					}
				}
				if len(sent) != 3 || !lengths[2] || !lengths[5] {
					t.Errorf("ids %v, lengths %v", sent, lengths)
				}
			})
		}
	}
}

// TestSequencesBreak: failures, lost connections and slow replies leave nothing open, and what they
// cost is counted.
func TestSequencesBreak(t *testing.T) {
	for name, c := range map[string]struct {
		config builtin.Config
		keys   string
	}{
		"failures": {builtin.Config{Errors: 0.1, Seed: 3}, ""},
		"resets":   {builtin.Config{Reset: 0.05, Seed: 3}, ""},
		"timeouts": {
			builtin.Config{Stall: &builtin.Stall{
				At: 100 * time.Millisecond, For: 400 * time.Millisecond, Every: 600 * time.Millisecond,
			}},
			", timeout: 300ms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, c.config, func(t *testing.T, s *builtin.Server, url string) {
				r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: sequence_acc`+c.keys+`}
data: {generate: {INPUT: 1}}
stages:
  - {id: closed, load: {concurrency: 4}, sequences: {length: 100}, for: 700ms, assert: [errors.ratio < 100%]}
  - {id: open, load: {rate: 400/s}, sequences: {live: 8, length: 100}, for: 700ms, assert: [errors.ratio < 100%]}
  - {id: begun, load: {rate: 40/s, of: sequences}, sequences: {length: 100}, for: 700ms, assert: [errors.ratio < 100%]}
`, url, Env{})
				// A request that was cut off may come after what ended its sequence.
				if k := sequencesOf(t, s); k.Open != 0 && name == "failures" || name == "failures" && k.Wrong != 0 {
					t.Errorf("%+v", k)
				}
				for _, n := range r.Nodes {
					if count(n, "errors.count") == 0 || count(n, "dropped.sequence.count") == 0 {
						t.Errorf("%s: %s %s %d errors, %d dropped",
							n.ID, n.Outcome, n.Reason, count(n, "errors.count"), count(n, "dropped.sequence.count"))
					}
					if !hasFinding(n, result.StepsDropped) {
						t.Errorf("%s: no finding says that steps were dropped", n.ID)
					}
				}
			})
		})
	}
}

// TestSequencesInterrupted: a signal, max_duration and an assertion that aborts leave nothing open.
func TestSequencesInterrupted(t *testing.T) {
	for name, stage := range map[string]string{
		"signal":       "for: 60s",
		"max_duration": "for: 60s, max_duration: 300ms",
		"abort":        "for: 60s, assert: [{that: requests.count < 50, abort: true}]",
	} {
		for _, load := range []string{
			"{load: {concurrency: 5}", "{load: {rate: 500/s}", "{load: {rate: 100/s, of: sequences}",
		} {
			t.Run(name+" "+load, func(t *testing.T) {
				both(t, builtin.Config{
					ServiceTime: &builtin.Dist{Mean: 0.005}, Instances: 8,
				}, func(t *testing.T, s *builtin.Server, url string) {
					interrupt := make(chan int, 1)
					play(t, `
version: 1
target: {backend: kserve, url: URL, model: sequence_acc}
data: {generate: {INPUT: 1}}
stages:
  - `+load+`, id: s, sequences: {length: 1000}, `+stage+`}
`, url, Env{Interrupt: interrupt, Events: func(e Event) {
						if name == "signal" {
							inHold(e, interrupt)
						}
					}})
					if k := wellKept(t, s); k.Begun < 2 {
						t.Errorf("%+v: nothing was begun", k)
					}
				})
			})
		}
	}
}

// TestSequencesSideBySide: stages that run at the same time share a range of ids without having one
// in common.
func TestSequencesSideBySide(t *testing.T) {
	both(t, builtin.Config{}, func(t *testing.T, s *builtin.Server, url string) {
		play(t, `
version: 1
target: {backend: kserve, url: URL, model: sequence_acc}
data: {generate: {INPUT: 1}}
defaults: {sequences: {length: {min: 1, max: 4}, ids: {from: 1, to: 12}}}
stages:
  - parallel:
      - {id: a, load: {concurrency: 4}, for: 300 sequences}
      - {id: b, load: {concurrency: 4}, for: 300 sequences}
      - {id: c, load: {concurrency: 4}, for: 300 sequences}
`, url, Env{})
		if k := wellKept(t, s); k.Begun != 901 {
			t.Errorf("%+v, want 900 sequences and one that asked whether the server answers", k)
		}
	})
}

// TestSequencesOnADeadServer: what cannot be ended is said, and the result is whole.
func TestSequencesOnADeadServer(t *testing.T) {
	both(t, builtin.Config{}, func(t *testing.T, s *builtin.Server, url string) {
		var once sync.Once
		r := play(t, `
version: 1
target: {backend: kserve, url: URL, model: sequence_acc}
data: {generate: {INPUT: 1}}
stages: [{id: s, load: {concurrency: 3}, sequences: {length: 1000000}, for: 600ms, assert: [errors.ratio < 100%]}]
`, url, Env{Events: func(e Event) {
			if e.Phase == PhaseHold {
				once.Do(func() { _ = s.Close() })
			}
		}})
		n := node(t, r, "s")
		if n.Outcome != result.Done && n.Outcome != result.Invalid || count(n, "errors.count") == 0 ||
			!hasFinding(n, result.LeftOpen) {
			t.Errorf("%s, %d errors, %+v", n.Outcome, count(n, "errors.count"), n.Validity.Findings)
		}
	})
}

// TestSequencesRepeat: ids are given back, so a range as small as the sequences that are open lasts
// for ever.
func TestSequencesRepeat(t *testing.T) {
	both(t, builtin.Config{}, func(t *testing.T, s *builtin.Server, url string) {
		play(t, `
version: 1
target: {backend: kserve, url: URL, model: sequence_acc}
data: {generate: {INPUT: 1}}
stages: [{id: s, load: {concurrency: [3, 4]}, repeat: 5, sequences: {length: 3, ids: {from: 7, to: 10}}, for: 13 requests}]
`, url, Env{})
		wellKept(t, s)
	})
}

// TestMixedSequences: kinds of sequences, to two targets, each with its own data and steps.
func TestMixedSequences(t *testing.T) {
	t.Parallel()
	a, b := serve(t, builtin.Config{}), serve(t, builtin.Config{})
	for _, load := range []string{"concurrency: 3", "rate: 500/s", "{rate: 200/s, of: sequences}"} {
		load = strings.Trim(load, "{}")
		r := play(t, `
version: 1
targets:
  one: {backend: kserve, url: `+a.HTTPURL()+`, model: sequence_acc}
  two: {backend: kserve, url: `+b.GRPCURL()+`, model: sequence_acc}
data: {file: `+sequenceFile(t)+`}
stages:
  - {id: s, load: {`+load+`}, mix: {x: {target: one}, y: {target: two}}, for: 40 sequences}
`, "", Env{})
		n := node(t, r, "s")
		if count(n, "sequences.count") != 40 || count(n, "errors.count") != 0 {
			t.Errorf("%s: %d sequences, %d errors %v",
				load, count(n, "sequences.count"), count(n, "errors.count"), n.Errors)
		}
		for _, scope := range n.Scopes {
			if k := int64(*scope.Metrics["sequences.count"].Value); k != 20 {
				t.Errorf("%s: %d sequences of %q, want 20", load, k, scope.Mix)
			}
		}
	}
	wellKept(t, a)
	wellKept(t, b)
}

// TestStatefulModels: what a model says of itself is compared with what is sent.
func TestStatefulModels(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for model, want := range map[string]string{
		"sequence_acc": `model "sequence_acc" keeps state between those of a ` +
			`sequence`,
		"slow}, defaults: {sequences: {}":                `model "slow" says that it keeps no state`,
		"sequence_acc_string}, defaults: {sequences: {}": "",
	} {
		p := compile(t,
			`{version: 1, target: {backend: kserve, url: "URL", model: `+model+`}, stages: [{id: s, load: `+
				`{concurrency: 1}, for: 2 requests}]}`,
			s.HTTPURL())
		r, diags := Run(t.Context(), p, Env{})
		if text := fmt.Sprint(diags); want == "" && (len(diags) > 0 || r.Verdict != "pass") ||
			!strings.Contains(text, want) {
			t.Errorf("%s: %s, %v", model, r.Verdict, diags)
		}
	}
}
