package executor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
)

// spans keeps when each request was on its way.
type spans struct {
	mu  sync.Mutex
	all []span
}

type span struct {
	sequence uint64
	from, to int64
}

func (k *spans) Write(s *backends.Sample) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, span{s.Sequence, s.SendStart, s.LastByte})
	return nil
}

// deepest is how many requests of one group were on their way at the same time.
func (k *spans) deepest(group func(span) uint64) (most int) {
	type edge struct {
		at   int64
		step int
	}
	edges := map[uint64][]edge{}
	for _, s := range k.all {
		g := group(s)
		edges[g] = append(edges[g], edge{s.from, 1}, edge{s.to, -1})
	}
	for _, list := range edges {
		slices.SortFunc(list, func(a, b edge) int {
			if a.at != b.at {
				return int(a.at - b.at)
			}
			return a.step - b.step
		})
		open := 0
		for _, e := range list {
			open += e.step
			most = max(most, open)
		}
	}
	return most
}

// anyRequest puts all into one group.
func anyRequest(span) uint64 { return 0 }

// TestSharedStreams: a number of connections is a number of streams, which all slots share.
func TestSharedStreams(t *testing.T) {
	for _, c := range []struct {
		load               string
		connections, depth int
	}{
		{"concurrency: 8", 1, 8},
		{"concurrency: 8", 3, 8},
		{"concurrency: 2", 5, 2},
		{"rate: 1000/s, max_in_flight: 6", 1, 6},
		{"rate: 1000/s, max_in_flight: 7", 2, 7},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 0.02}, Instances: 16})
			sink := &spans{}
			r := play(t, fmt.Sprintf(`
version: 1
target: {backend: triton, url: URL, model: simple, streaming: true, connections: %d, statistics: none, ready: 0s}
stages: [{id: s, load: {%s}, for: 60 requests}]
`, c.connections, c.load), s.GRPCURL(), Env{Record: keep(sink)})
			n := node(t, r, "s")
			if count(n, "requests.count") != 60 || count(n, "errors.count") != 0 {
				t.Errorf("%d requests, %d errors: %v", count(n, "requests.count"), count(n, "errors.count"), n.Errors)
			}
			if got := sink.deepest(anyRequest); got > c.depth || got < 2 {
				t.Errorf("%d requests were on their way at the same time, want up to %d", got, c.depth)
			}
			// And one to ask about the model
			if got, want := connections(t, s), min(c.connections, c.depth)+1; got != want {
				t.Errorf("%d connections, want %d", got, want)
			}
		})
	}
}

// connections is how many gRPC connections a server has accepted.
func connections(t *testing.T, s *builtin.Server) int {
	t.Helper()
	reply, err := http.Get(s.URLs().Control + "/sim/count")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reply.Body.Close() }()
	var page struct{ Connections struct{ GRPC int } }
	if err := json.NewDecoder(reply.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	return page.Connections.GRPC
}

// TestSharedStreamResponses: the responses of requests on one stream come between each other, and
// each belongs to its own.
func TestSharedStreamResponses(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{Instances: 8})
	r := play(t, `
version: 1
target: {backend: triton, url: URL, model: repeat_decoupled, streaming: true, connections: 1, statistics: none}
datasets:
  slow: {generate: {IN: 7, DELAY: 2, WAIT: 0}}
  fast: {generate: {IN: 7, DELAY: 0, WAIT: 0}}
stages:
  - id: s
    load: {concurrency: 6}
    mix:
      none: {data: fast, shapes: {IN: [0], DELAY: [0]}}
      four: {data: slow, shapes: {IN: [4], DELAY: [4]}}
      many: {data: fast, shapes: {IN: [300], DELAY: [300]}}
    for: 60 requests
`, s.GRPCURL(), Env{})
	n := node(t, r, "s")
	if count(n, "errors.count") != 0 ||
		len(n.Validity.Findings) > 0 && strings.Contains(fmt.Sprint(n.Validity.Findings), "stray") {
		t.Errorf("%d errors %v, findings %+v", count(n, "errors.count"), n.Errors, n.Validity.Findings)
	}
	for _, scope := range n.Scopes {
		want := map[string]float64{"none": 0, "four": 4, "many": 300}[scope.Mix]
		if m := scope.Metrics["responses"]; m == nil || *m.Min != want || *m.Max != want || *m.Count != 20 {
			t.Errorf("%s: responses %+v, want %v of each of 20", scope.Mix, m, want)
		}
	}
}

// TestSharedStreamBreaks: a stream that breaks fails what was in flight on it, each once, and no
// other; the next have another.
func TestSharedStreamBreaks(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{Instances: 8})
	sink := &spans{}
	r := play(t, `
version: 1
targets:
  good: {backend: triton, url: URL, model: repeat_decoupled, streaming: true, connections: 1, statistics: none}
  bad: {backend: triton, url: URL, model: repeat_break, streaming: true, connections: 1, statistics: none, ready: 0s}
data: {generate: {IN: 7, DELAY: 30, WAIT: 0}}
defaults: {shapes: {IN: [2], DELAY: [2]}, load: {concurrency: 5}}
stages:
  - parallel:
      - {id: broken, target: bad, for: 10 requests, assert: [errors.count == 10, errors.reset.count == 10]}
      - {id: beside, target: good, for: 10 requests}
`, s.GRPCURL(), Env{Record: keep(sink)})
	broken, beside := node(t, r, "broken"), node(t, r, "beside")
	if len(broken.Errors) != 1 || broken.Errors[0].Class != "reset" || broken.Errors[0].Count != 10 ||
		count(broken, "requests.count") != 10 {
		t.Errorf("%d requests, errors %+v", count(broken, "requests.count"), broken.Errors)
	}
	if count(beside, "errors.count") != 0 || count(beside, "requests.count") != 10 {
		t.Errorf("beside it: %d requests, errors %+v", count(beside, "requests.count"), beside.Errors)
	}
	if len(sink.all) != 20 {
		t.Errorf("%d samples of 20 requests", len(sink.all))
	}
}

// TestSharedStreamOfLargeMessages: requests over what grpc-go takes for a stream at once (64 KiB),
// with replies as large, do not wait for each other.
func TestSharedStreamOfLargeMessages(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{Instances: 8})
	for _, load := range []string{"concurrency: 8", "rate: 400/s, max_in_flight: 8"} {
		r := play(t, `
version: 1
target: {backend: triton, url: URL, model: identity_fp32, streaming: true, connections: 1, statistics: none, timeout: 20s}
stages: [{id: s, shapes: {INPUT0: [100000]}, load: {`+load+`}, for: 60 requests}]
`, s.GRPCURL(), Env{})
		if n := node(t, r, "s"); count(n, "errors.count") != 0 || count(n, "requests.count") != 60 {
			t.Errorf("%s: %d requests, errors %v", load, count(n, "requests.count"), n.Errors)
		}
	}
}

// TestSequencesAbreast: without `serial` a sequence has several requests in flight on its stream,
// and the server's sums say that it had them in order; with it, over other transports and in a
// closed loop, one.
func TestSequencesAbreast(t *testing.T) {
	for name, c := range map[string]struct {
		target, load, sequences string
		least, most             int
	}{
		"a stream each": {"streaming: true", "rate: 600/s, max_in_flight: 12", "live: 3", 2, 4},
		"one stream":    {"streaming: true, connections: 1", "rate: 600/s, max_in_flight: 12", "live: 3", 2, 4},
		"serial": {
			"streaming: true, connections: 2", "rate: 600/s, max_in_flight: 12", "live: 3, serial: true", 1, 1,
		},
		"no room": {"streaming: true", "rate: 600/s, max_in_flight: 3", "live: 3", 1, 1},
		"unary":   {"streaming: false", "rate: 600/s, max_in_flight: 12", "live: 3", 1, 1},
		"closed":  {"streaming: true, connections: 1", "concurrency: 5", "", 1, 1},
		"per request": {
			"streaming: true, connections: per_request", "rate: 600/s, max_in_flight: 12", "live: 3", 1, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 0.01}, Instances: 8})
			sink := &spans{}
			r := play(t, `
version: 1
target: {backend: triton, url: URL, model: sequence_acc, statistics: none, `+c.target+`}
data: {file: `+sequenceFile(t)+`}
stages: [{id: s, load: {`+c.load+`}, sequences: {`+c.sequences+`}, warmup: 3 sequences, for: 40 sequences}]
`, s.GRPCURL(), Env{Record: keep(sink)})
			wellKept(t, s)
			n := node(t, r, "s")
			if count(n, "errors.count") != 0 || count(n, "sequences.count") != 40 ||
				count(n, "dropped.sequence.count") != 0 {
				t.Errorf("%d sequences, %d errors %v", count(n, "sequences.count"), count(n, "errors.count"), n.Errors)
			}
			if got := sink.deepest(func(s span) uint64 { return s.sequence }); got < c.least || got > c.most {
				t.Errorf("%d requests of a sequence in flight, want %d to %d", got, c.least, c.most)
			}
		})
	}
}

// TestSequencesAbreastBreak: failures, lost connections and slow replies leave nothing open where a
// sequence has several requests in flight, or several sequences one stream.
func TestSequencesAbreastBreak(t *testing.T) {
	for name, c := range map[string]struct {
		config builtin.Config
		keys   string
	}{
		"failures": {builtin.Config{Errors: 0.1, Seed: 3}, ""},
		"resets":   {builtin.Config{Reset: 0.02, Seed: 3}, ""},
		"timeouts": {
			builtin.Config{Stall: &builtin.Stall{
				At: 150 * time.Millisecond, For: 400 * time.Millisecond, Every: 700 * time.Millisecond,
			}},
			", timeout: 250ms",
		},
	} {
		for _, keys := range []string{"", ", connections: 2"} {
			t.Run(name+keys, func(t *testing.T) {
				t.Parallel()
				s := serve(t, c.config)
				r := play(t, `
version: 1
target: {backend: triton, url: URL, model: sequence_acc, streaming: true, statistics: none, ready: 0s`+c.keys+keys+`}
data: {generate: {INPUT: 1}}
stages:
  - {id: closed, load: {concurrency: 4}, sequences: {length: 100}, for: 700ms, assert: [errors.ratio < 100%]}
  - {id: open, load: {rate: 400/s, max_in_flight: 24}, sequences: {live: 8, length: 100}, for: 700ms, assert: [errors.ratio < 100%]}
  - {id: begun, load: {rate: 40/s, of: sequences}, sequences: {length: 100}, for: 700ms, assert: [errors.ratio < 100%]}
`, s.GRPCURL(), Env{})
				if k := sequencesOf(t, s); name == "failures" && (k.Open != 0 || k.Wrong != 0) {
					t.Errorf("%+v", k)
				}
				for _, n := range r.Nodes {
					if count(n, "errors.count") == 0 || count(n, "dropped.sequence.count") == 0 {
						t.Errorf("%s: %s %s %d errors, %d dropped: %+v",
							n.ID, n.Outcome, n.Reason, count(n, "errors.count"), count(n, "dropped.sequence.count"), n.Errors)
					}
				}
			})
		}
	}
}

// TestSequencesAbreastInterrupted: a signal, max_duration and an assertion that aborts leave
// nothing open.
func TestSequencesAbreastInterrupted(t *testing.T) {
	for name, stage := range map[string]string{
		"signal":       "for: 60s",
		"drain over":   "for: 300ms, drain: 0s",
		"max_duration": "for: 60s, max_duration: 300ms",
		"abort":        "for: 60s, assert: [{that: requests.count < 50, abort: true}]",
	} {
		for _, load := range []string{"concurrency: 5", "rate: 500/s", "rate: 100/s, of: sequences"} {
			for _, keys := range []string{"", ", connections: 2"} {
				if name == "drain over" && keys == "" && load != "rate: 500/s" {
					continue // on a stream of its own what is cut off may come after what ends its sequence
				}
				t.Run(name+" "+load+keys, func(t *testing.T) {
					t.Parallel()
					s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 0.005}, Instances: 8})
					interrupt := make(chan int, 1)
					play(t, `
version: 1
target: {backend: triton, url: URL, model: sequence_acc, streaming: true, statistics: none`+keys+`}
data: {generate: {INPUT: 1}}
stages:
  - {id: s, load: {`+load+`}, sequences: {length: 1000}, `+stage+`}
`, s.GRPCURL(), Env{Interrupt: interrupt, Events: func(e Event) {
						if name == "signal" {
							inHold(e, interrupt)
						}
					}})
					if k := wellKept(t, s); k.Begun < 2 {
						t.Errorf("%+v: nothing was begun", k)
					}
				})
			}
		}
	}
}

// TestPlannedAbreast: how many requests can be open is known before anything is sent.
func TestPlannedAbreast(t *testing.T) {
	for _, c := range []struct {
		target, load, sequences string
		want                    int
	}{
		{"streaming: true", "rate: 10/s", "live: 6", 1020}, // 170 of each: never more than max_in_flight
		{"streaming: true, connections: 2", "rate: 10/s, max_in_flight: 12", "live: 6", 12},
		{"streaming: true", "rate: 10/s, max_in_flight: 12", "live: 6, serial: true", 6},
		{"streaming: true, connections: per_request", "rate: 10/s", "live: 6", 6},
		{"streaming: false", "rate: 10/s", "live: 6", 6},
		{"streaming: true", "rate: 10/s, max_in_flight: 4", "live: 6", 6},
		{"streaming: true, connections: 1", "concurrency: 5", "", 5},
	} {
		p := compile(t, `
version: 1
target: {backend: triton, url: URL, model: sequence_acc, `+c.target+`}
stages: [{id: s, load: {`+c.load+`}, sequences: {`+c.sequences+`}, for: 10s}]
`, "grpc://127.0.0.1:1")
		if got := int(p.Nodes[0].Planned.InFlight); got != c.want {
			t.Errorf("%+v: %d requests open, want %d", c, got, c.want)
		}
	}
}
