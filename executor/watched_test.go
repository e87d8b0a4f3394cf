package executor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// watchedKinds are stages that together have every metric. Their levels end by themselves when an
// assertion with `abort` is certainly false, so one run tries many.
var watchedKinds = map[string]string{
	"open": `target: plain, load: {rate: {levels: {from: 50/s, to: 50/s, while: errors.ratio <= ` +
		`100%}}, max_in_flight: 4, overflow: drop}, goodput: {latency: 10s}`,
	"waiting": `target: plain, load: {rate: {levels: {from: 100/s, to: 100/s, while: errors.ratio <= ` +
		`100%}}, max_in_flight: 1}`,
	"closed": `target: plain, load: {concurrency: {levels: {from: 2, to: 2, while: errors.ratio <= ` +
		`100%}}}, goodput: {latency: 10s}`,
	"streaming": `target: streams, data: repeats, load: {concurrency: {levels: {from: 2, to: 2, while: ` +
		`errors.ratio <= 100%}}}`,
	"sequences": `target: sums, sequences: {length: 5}, load: {concurrency: {levels: {from: 2, to: 2, ` +
		`while: errors.ratio <= 100%}}}`,
	"texts": `target: texts, data: prompts, load: {concurrency: {levels: {from: 2, to: 2, while: ` +
		`errors.ratio <= 100%}}}`,
	"searching": `target: plain, load: {concurrency: {search: {from: 1, to: 2, while: errors.ratio <= 100%}}}`,
}

// watchedLine is the line of the first stage of watchedPlan.
const watchedLine = 12

func watchedPlan(stages []string) string {
	return `version: 1
targets:
  plain: {backend: triton, url: "URL", model: slow, connections: per_request, metrics: {url: "METRICS"}}
  streams: {backend: triton, url: "GRPC", model: repeat_decoupled, streaming: true}
  sums: {backend: triton, url: "URL", model: sequence_acc}
  texts: {backend: openai, url: "URL", model: chat, streaming: true}
datasets:
  main: {generate: random}
  repeats: {rows: [{IN: [1, 2, 3], DELAY: [0, 0, 0], WAIT: [0]}]}
  prompts: {rows: [{prompt: short}, {prompt: "` + strings.Repeat("long ", 40) + `"}]}
stages:
` + strings.Join(stages, "")
}

// certainlyFalse is a condition on a leaf that is false whatever is measured, on the side on which
// it can be certain.
func certainlyFalse(l metric.Leaf) string {
	limits := map[metric.Dim][2]string{
		metric.Duration: {"0s", "100h"}, metric.Rate: {"0/s", "1000000000000/s"},
		metric.Count: {"0", "1000000000000"}, metric.Number: {"0", "1000000000000"},
		metric.Ratio: {"0%", "1000%"}, metric.Bytes: {"0B", "1000000GB"}, metric.Power: {"0W", "1000000kW"},
		metric.Energy: {"0J", "1000000kJ"},
	}[l.Dim()]
	if l.Stat.Kind == metric.Min {
		return l.String() + " > " + limits[1]
	}
	return l.String() + " < " + limits[0]
}

// stageFor is the kind of stage that has a row.
func stageFor(row *metric.Row) string {
	switch {
	case row.Needs == "streaming":
		return "streaming"
	case row.Needs == "token events" || row.Needs == "token counts":
		return "texts"
	case row.Needs == "sequences":
		return "sequences"
	case row.Name == metric.Capacity:
		return "searching"
	case row.Name == "send_delay.pool":
		return "waiting"
	case row.Loads == metric.OpenLoop || row.Loads == metric.DueTimes:
		return "open"
	}
	return "closed"
}

// TestAbortOfEveryMetric: `abort` on any metric of the catalogue either ends what is measured or is
// refused at its line.
func TestAbortOfEveryMetric(t *testing.T) {
	t.Parallel()
	c, err := metric.New(append(metric.GoodputRows(), metric.CapacityRow(metric.Count),
		metric.SeriesRow("queue", "", "ns", true), metric.SeriesRow("requests", "", "1", false))...)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, builtin.Config{ // on a busy machine tokens that are closer may all come in one read
		TTFT: &builtin.Dist{Mean: 0.001}, ITL: &builtin.Dist{Mean: 0.03},
		// held-back tokens, so that no row is 0 throughout: what equals its limit is not over it
		Generation: &builtin.Generation{
			OutputTokens: 6, ReasoningTokens: 3, HeldTokens: 2, Usage: "every", PrefixCache: true,
		},
	})
	place := func(text string) string {
		return strings.NewReplacer("URL",
			s.HTTPURL(), "GRPC", s.GRPCURL(), "METRICS", s.HTTPURL()+"/metrics").Replace(text)
	}
	var plays []string
	var watched, refused []string
	for _, row := range c.Rows() {
		for _, name := range row.Leaves() {
			leaf, _ := c.Leaf(name)
			stage := fmt.Sprintf("  - {id: s%d, %s, for: 60s, assert: [{that: '%s', abort: true}]}\n",
				len(watched), watchedKinds[stageFor(row)], certainlyFalse(leaf))
			plan, diags := scenario.Parse("plan.yaml",
				[]byte(place(watchedPlan([]string{stage}))), scenario.Overrides{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			_, diags = program.Compile(plan, all.Kinds())
			i := slices.IndexFunc(diags, func(d source.Diagnostic) bool { return d.Severity == source.Error })
			switch {
			case i < 0:
				if watched = append(watched, name); leaf.Stat.Kind != metric.Percentile || leaf.Stat.P == 99 {
					plays = append(plays, stage)
				}
			case i >= 0 && diags[i].Code == "not-watchable" && diags[i].Pos.Line == watchedLine &&
				strings.Contains(diags[i].Summary, name):
				refused = append(refused, name)
			// As its kind of server is not here
			case i >= 0 && strings.Contains(diags[i].Summary, "has no server in this process"):
			default:
				t.Errorf("%s: %v", name, diags)
			}
		}
	}
	for _, name := range []string{
		"dropped.ratio", "dropped.count", "in_flight.max", "requests.count", "errors.count", "errors.ratio",
		"errors.timeout.count", "errors.dial.ratio",
		"late.count", "late.ratio", "goodput.ratio", "reconnects.count", "coalesced.ratio", "sequences.count",
		"dropped.sequence.count", "latency.p99",
		"latency.max", "latency.min", "latency.count", "connect.p50", "responses.max", "sequences.latency.p50",
		"send_delay.pool.p90", "ttft.p99", "itl.max", "tokens.output.count",
	} {
		if !slices.Contains(watched, name) {
			t.Errorf("%s is not watched", name)
		}
	}
	for _, name := range []string{
		"latency.mean", "latency.std", "throughput", "goodput", "offered.rate", "incomplete.count", "client.cpu",
		"client.memory", "client.cpu_per_request",
		"gpu.power.max", "gpu.utilization.p50", "server.queue.mean", "server.requests.count", "capacity",
		"tokens.per_user", "tokens.output.rate", "tokens.cached.share", "itl.mean",
	} {
		if !slices.Contains(refused, name) {
			t.Errorf("%s is not refused", name)
		}
	}
	const atOnce = 16
	plays = cases.Some(plays, 6)
	if testing.Short() {
		plays = plays[:min(atOnce, len(plays))]
	}
	for chunk := range slices.Chunk(plays, atOnce) {
		begun := time.Now()
		r := play(t, place(watchedPlan([]string{"  - parallel:\n", "    " + strings.Join(chunk, "    ")})), "",
			Env{})
		if time.Since(begun) > 45*time.Second {
			t.Errorf("nothing ended one of %s", strings.Join(chunk, ""))
		}
		for _, n := range r.Nodes {
			aborted := slices.ContainsFunc(n.Validity.Findings, func(f result.Finding) bool {
				return f.Code == "aborted" && strings.Contains(f.Text, "certainly false")
			})
			if !aborted {
				t.Errorf("%s: %s: %s %s: not ended by its assertion", n.ID, n.Assertions[0].That, n.Outcome, n.Reason)
			}
		}
	}
}

// TestAbortOfDrops: an overload is over as soon as it shows, by what is dropped and by what is in
// flight.
func TestAbortOfDrops(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{})
	for _, c := range []struct{ load, that string }{
		{"{rate: 100/s, max_in_flight: 4, overflow: drop}", "dropped.ratio < 5%"},
		{"{rate: 100/s, max_in_flight: 4, overflow: drop}", "dropped.count < 20"},
		{"{rate: 100/s, max_in_flight: 4}", "in_flight.max < 4"},
		{"{concurrency: 4}", "in_flight.max < 3"},
		{"{concurrency: {ramp: [{to: 4, hold: 60s}]}}", "in_flight.max < 3"},
		{
			"{rate: {ramp: [{to: 100/s, over: 100ms, hold: 60s}]}, max_in_flight: 4}",
			"errors.count < 1 and in_flight.max <= 1",
		},
	} {
		t.Run(c.load+" "+c.that, func(t *testing.T) {
			t.Parallel()
			r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: slow}
stages:
  - {id: s, load: %s, for: 30s, assert: [errors.ratio <= 100%%, {that: %s, abort: true}]}
`, c.load, c.that), s.HTTPURL(), Env{})
			n := node(t, r, "s")
			late := n.Finding(result.ClientLate) != nil
			if n.Aborted == nil && strings.HasPrefix(c.that, "dropped.") && late {
				t.Log("this machine sends late, and the pool may have been full for that: nothing is certain")
				return
			}
			if n.Aborted == nil || n.Aborted.At > 30 || n.Outcome != result.InterruptedNode || r.ExitCode != 1 {
				t.Errorf("%s %s, aborted %+v, exit %d", n.Outcome, n.Reason, n.Aborted, r.ExitCode)
			}
		})
	}
}
