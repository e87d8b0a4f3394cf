package artifact

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// paReport is what was measured as perf_analyzer says it on its terminal: the settings, a block of each level, a line of each
// level that came out well. The labels, their order and indentation are perf_analyzer's.
func paReport(r *result.Result) []byte {
	p := &paPage{}
	levels := paLevels(r)
	if len(levels) > 0 {
		p.settings(r, levels)
	}
	for _, n := range levels {
		p.level(n)
	}
	p.ladder(levels)
	return p.Bytes()
}

type paPage struct{ bytes.Buffer }

func (p *paPage) line(indent int, format string, args ...any) {
	fmt.Fprintf(&p.Buffer, strings.Repeat(" ", indent)+format+"\n", args...)
}

// paKinds are perf_analyzer's words for the backends that it knows.
var paKinds = map[string]string{
	"triton": "TRITON", "triton_inprocess": "TRITON_C_API", "tfserving": "TENSORFLOW_SERVING", "torchserve": "TORCHSERVE",
	"openai": "OPENAI", "grpc": "DYNAMIC_GRPC",
}

// lookup follows keys and, in lists, the ids of stages into a resolved plan; nil: there is nothing.
func lookup(v any, keys ...string) any {
	for _, k := range keys {
		switch in := v.(type) {
		case map[string]any:
			v = in[k]
		case []any:
			at := slices.IndexFunc(in, func(s any) bool { return lookup(s, "id") == k })
			if at < 0 {
				return nil
			}
			v = in[at]
		default:
			return nil
		}
	}
	return v
}

// stageOf is a stage of a resolved plan, in a group or not.
func stageOf(r *result.Result, id string) any {
	if s := lookup(r.Plan.Resolved, "stages", id); s != nil {
		return s
	}
	list, _ := lookup(r.Plan.Resolved, "stages").([]any)
	for _, group := range list {
		if s := lookup(group, "parallel", id); s != nil {
			return s
		}
	}
	return nil
}

// settings are those of the first level's stage; a plan may have others.
func (p *paPage) settings(r *result.Result, levels []*result.Node) {
	n := levels[0]
	stage := stageOf(r, n.Stage)
	backend, _ := lookup(r.Plan.Resolved, "targets", n.Target, "backend").(string)
	p.line(0, "*** Measurement Settings ***")
	p.line(2, "Batch size: %d", n.Load.Batch)
	p.line(2, "Service Kind: %s", cmp.Or(paKinds[backend], strings.ToUpper(clean(backend))))
	if warm, ok := lookup(stage, "warmup").(string); ok && strings.HasSuffix(warm, "requests") {
		p.line(2, "Sending %s warmup request(s)", strings.Fields(warm)[0])
	}
	if whole, ok := lookup(stage, "for").(string); ok && strings.HasSuffix(whole, "requests") {
		p.line(2, "Sending %s benchmark requests", strings.Fields(whole)[0])
	} else {
		p.windows(stage, n)
	}
	if n.Load.Kind == "rate" {
		p.line(2, "Using %s distribution on request generation", map[bool]string{true: "poisson", false: "uniform"}[n.Load.Arrivals == "poisson"])
	}
	if lookup(stage, "load", n.Load.Kind, "search") != nil {
		p.line(2, "Using Binary Search algorithm")
	}
	p.line(2, "Using asynchronous calls for inference")
	if slices.ContainsFunc(levels, decoupled) {
		p.line(2, "Detected decoupled model, latency is that of the last response")
	}
	p.line(0, "")
}

func (p *paPage) windows(stage any, n *result.Node) {
	window, ok := lookup(stage, "until", "stable", "window").(string)
	if !ok {
		return
	}
	what := "average latency and throughput"
	if at := byPercentile(n); at > 0 {
		what = fmt.Sprintf("p%v latency and throughput", at)
	}
	length, err := time.ParseDuration(strings.NewReplacer(" ", "", "min", "m").Replace(window)) // as plans write it
	if words := strings.Fields(window); len(words) == 2 && err != nil {
		p.line(2, `Using "count_windows" mode for stabilization`)
		p.line(2, "Stabilizing using %s", what)
		p.line(2, "Minimum number of samples in each window: %s", words[0])
		return
	}
	p.line(2, `Using "time_windows" mode for stabilization`)
	p.line(2, "Stabilizing using %s", what)
	if err == nil {
		p.line(2, "Measurement window: %d msec", length.Milliseconds())
	}
}

// title is the first line of a level's block.
func (p *paPage) title(n *result.Node) {
	if paMode(n) == paConcurrency {
		p.line(0, "Request concurrency: %s", paLevel(n))
		return
	}
	p.line(0, "Request Rate: %s inference requests per second", paLevel(n))
}

func (p *paPage) level(n *result.Node) {
	p.title(n)
	why := clean(n.Reason)
	if n.Outcome == result.Unstable {
		why = "Failed to obtain stable measurement within " + strconv.Itoa(len(n.Windows)) + " measurement windows. " + why
	}
	if !measured(n) {
		p.line(2, "%s", cmp.Or(why, "nothing was measured"))
		return
	}
	if text := cmp.Or(clean(over(n)), why); text != "" {
		p.line(2, "%s", text)
	}
	p.client(n)
	if _, ok := stat(n, paSuccesses, metric.Stat{}); ok {
		p.line(2, "Server: ")
		p.server(4, n)
		p.models(n)
	}
	p.gpus(n)
}

func (p *paPage) client(n *result.Node) {
	p.line(2, "Client: ")
	p.line(4, "Request count: %.0f", value(n, paCount))
	if late, ok := stat(n, paLate, metric.Stat{}); ok && late > 0.01 && n.Duration > 0 {
		p.line(4, "Avg send request rate: %.2f infer/sec", value(n, paCount)/n.Duration)
		p.line(4, "[WARNING] The client was not able to keep up with the desired request rate. %.2f%% of the requests were delayed. ", late*100)
	}
	if rate, ok := stat(n, paSequences, metric.Stat{}); ok && rate > 0 {
		p.line(4, "Sequence count: %.0f (%s seq/sec)", rate*n.Duration, sixDigits(rate))
	}
	p.line(4, "Throughput: %s infer/sec", sixDigits(value(n, paThroughput)))
	if decoupled(n) {
		p.line(4, "Response Throughput: %s infer/sec", sixDigits(value(n, paResponses)))
	}
	deciding := byPercentile(n)
	if deciding == 0 {
		std, _ := stat(n, paLatency, metric.Stat{Kind: metric.Std})
		p.line(4, "Avg latency: %s usec (standard deviation %s usec)", micros(means(n, paLatency)), micros(std))
	}
	for _, at := range paPercentiles([]float64{deciding}) {
		s := metric.Stat{Kind: metric.Percentile, P: at}
		if v, ok := stat(n, paLatency, s); ok && at > 0 {
			p.line(4, "%s latency: %s usec", s, micros(v))
		}
	}
	p.spent(n)
}

// spent is where the time of a request goes. Between the responses of a decoupled model it is the model's, not the network's:
// perf_analyzer leaves the line empty there.
func (p *paPage) spent(n *result.Node) {
	protocol, parts := "HTTP", "send/recv"
	if n.Load.Transport == "grpc" {
		protocol, parts = "gRPC", "(un)marshal request/response"
	}
	all, send, recv := means(n, paService), means(n, paSend), receive(n)
	many := decoupled(n)
	if many {
		p.line(4, "Avg first response: %s usec", micros(means(n, paFirst)))
		p.line(4, "Avg response gap: %s usec", micros(means(n, paGap)))
	}
	switch {
	case n.Load.Transport == "": // nothing is in between, and perf_analyzer leaves the line empty
		p.line(4, "")
	case many:
		p.line(4, "Avg %s time: %s usec (send %s usec + response wait %s usec + first to last response %s usec)", protocol, micros(all), micros(send), micros(wait(n)), micros(recv))
	default:
		p.line(4, "Avg %s time: %s usec (%s %s usec + response wait %s usec)", protocol, micros(all), parts, micros(send+recv), micros(wait(n)))
	}
}

func (p *paPage) server(in int, n *result.Node) {
	cached := value(n, paHits)+value(n, paMisses) > 0
	p.line(in, "Inference count: %.0f", value(n, paInferences))
	p.line(in, "Execution count: %.0f", value(n, paExecutions))
	if cached {
		p.line(in, "Cache hit count: %.0f", value(n, paHits))
		p.line(in, "Cache miss count: %.0f", value(n, paMisses))
	}
	p.line(in, "Successful request count: %.0f", value(n, paSuccesses))
	queue, input, infer, output := means(n, paQueue), means(n, paInput), means(n, paInfer), means(n, paOutput)
	all := means(n, paServer)
	if !cached {
		p.line(in, "Avg request latency: %s usec (overhead %s usec + queue %s usec + compute input %s usec + compute infer %s usec + compute output %s usec)",
			micros(all), micros(max(0, all-queue-input-infer-output)), micros(queue), micros(input), micros(infer), micros(output))
		return
	}
	hits, misses, computed := value(n, paHits), value(n, paMisses), value(n, paSuccesses)-value(n, paHits)
	looked := hits*means(n, paHit) + misses*means(n, paMiss) + max(0, computed)*(input+infer+output)
	combined := looked / math.Max(1, hits+max(0, computed))
	p.line(in, "Avg request latency: %s usec (overhead %s usec + queue %s usec + cache hit/miss %s usec)",
		micros(all), micros(max(0, all-queue-combined)), micros(queue), micros(combined))
	p.line(in+2, "Average Cache Hit Latency: %s usec", micros(means(n, paHit)))
	p.line(in+2, "Average Cache Miss Latency: %s usec (cache lookup/insertion %s usec + compute input %s usec + compute infer %s usec + compute output %s usec)",
		micros(means(n, paMiss)+input+infer+output), micros(means(n, paMiss)), micros(input), micros(infer), micros(output))
}

// ladder is the line of each level that was reached, in the order in which they were visited.
func (p *paPage) ladder(levels []*result.Node) {
	levels = slices.DeleteFunc(slices.Clone(levels), func(n *result.Node) bool { return !measured(n) || over(n) != "" })
	if len(levels) == 0 {
		return
	}
	what := "Average"
	if at := byPercentile(levels[0]); at > 0 {
		what = fmt.Sprintf("p%v", at)
	}
	p.line(0, "Inferences/Second vs. Client %s Batch Latency", what)
	for _, n := range levels {
		name, latency := "Concurrency", means(n, paLatency)
		if paMode(n) == paRate {
			name = "Request Rate"
		}
		if at := byPercentile(n); at > 0 {
			latency, _ = stat(n, paLatency, metric.Stat{Kind: metric.Percentile, P: at})
		}
		note := ""
		if n.Outcome == result.Unstable {
			note = " (not stable)"
		}
		p.line(0, "%s: %s, throughput: %s infer/sec, latency %s usec"+note, name, paLevel(n), sixDigits(value(n, paThroughput)), micros(latency))
	}
}
