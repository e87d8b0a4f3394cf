package perfanalyzer

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Report returns the numbers as perf_analyzer shows them on its terminal: the settings, a block of
// each level, a line of each level that was reached. The labels, their order and indentation are
// perf_analyzer's.
func Report(r *result.Result) []byte {
	p := &page{}
	levels := levelsOf(r)
	if len(levels) > 0 {
		p.settings(r, levels)
	}
	for _, n := range levels {
		p.level(n)
	}
	p.ladder(levels)
	return p.Bytes()
}

type page struct{ bytes.Buffer }

func (p *page) line(indent int, format string, args ...any) {
	fmt.Fprintf(&p.Buffer, strings.Repeat(" ", indent)+format+"\n", args...)
}

// settings writes the settings of the first level's stage; a plan may have others.
func (p *page) settings(r *result.Result, levels []*result.Node) {
	n := levels[0]
	stage := stageOf(r, n.Stage)
	backend, _ := lookup(r.Plan.Resolved, "targets", n.Target, "backend").(string)
	p.line(0, "*** Measurement Settings ***")
	p.line(2, "Batch size: %d", n.Load.Batch)
	p.line(2, "Service Kind: %s", cmp.Or(serviceKinds[backend], strings.ToUpper(clean.Line(backend))))
	if warm, ok := lookup(stage, "warmup").(string); ok && strings.HasSuffix(warm, "requests") {
		p.line(2, "Sending %s warmup request(s)", strings.Fields(warm)[0])
	}
	if whole, ok := lookup(stage, "for").(string); ok && strings.HasSuffix(whole, "requests") {
		p.line(2, "Sending %s benchmark requests", strings.Fields(whole)[0])
	} else {
		p.windows(stage, n)
	}
	if n.Load.Kind == "rate" {
		distribution := "uniform"
		if n.Load.Arrivals == "poisson" {
			distribution = "poisson"
		}
		p.line(2, "Using %s distribution on request generation", distribution)
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

func (p *page) windows(stage any, n *result.Node) {
	window, ok := lookup(stage, "until", "stable", "window").(string)
	if !ok {
		return
	}
	what := "average latency and throughput"
	if at := byPercentile(n); at > 0 {
		what = fmt.Sprintf("p%v latency and throughput", at)
	}
	asGo := strings.NewReplacer(" ", "", "min", "m") // of durations as plans write them
	length, err := time.ParseDuration(asGo.Replace(window))
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

func (p *page) level(n *result.Node) {
	title := "Request Rate: %s inference requests per second"
	if modeOf(n) == Concurrency {
		title = "Request concurrency: %s"
	}
	p.line(0, title, levelOf(n))
	why := clean.Line(n.Reason)
	if n.Outcome == result.Unstable {
		why = fmt.Sprintf("Failed to obtain stable measurement within %d measurement windows. %s",
			len(n.Windows), why)
	}
	if !measured(n) {
		p.line(2, "%s", cmp.Or(why, "nothing was measured"))
		return
	}
	if text := cmp.Or(clean.Line(over(n)), why); text != "" {
		p.line(2, "%s", text)
	}
	p.client(n)
	if has(n, metric.ServerRequests) {
		p.line(2, "Server: ")
		p.server(4, n)
		p.models(n)
	}
	p.gpus(n)
}

func (p *page) client(n *result.Node) {
	p.line(2, "Client: ")
	p.line(4, "Request count: %.0f", value(n, metric.RequestsCount))
	if late, ok := stat(n, metricLate, metric.Stat{}); ok && late > 0.01 && n.Duration > 0 {
		p.line(4, "Avg send request rate: %.2f infer/sec", value(n, metric.RequestsCount)/n.Duration)
		p.line(4, "[WARNING] The client was not able to keep up with the desired request rate. "+
			"%.2f%% of the requests were delayed. ", late*100)
	}
	if rate, ok := stat(n, metricSequences, metric.Stat{}); ok && rate > 0 {
		p.line(4, "Sequence count: %.0f (%s seq/sec)", rate*n.Duration, sixDigits(rate))
	}
	p.line(4, "Throughput: %s infer/sec", sixDigits(value(n, metric.Throughput)))
	if decoupled(n) {
		p.line(4, "Response Throughput: %s infer/sec", sixDigits(value(n, metricResponses)))
	}
	deciding := byPercentile(n)
	if deciding == 0 {
		std, _ := stat(n, metric.Latency, metric.Stat{Kind: metric.Std})
		p.line(4, "Avg latency: %s usec (standard deviation %s usec)",
			usec(n, metric.Latency), micros(std))
	}
	for _, at := range percentileColumns([]float64{deciding}) {
		s := metric.Stat{Kind: metric.Percentile, P: at}
		if v, ok := stat(n, metric.Latency, s); ok && at > 0 {
			p.line(4, "%s latency: %s usec", s, micros(v))
		}
	}
	p.spent(n)
}

// spent writes the parts of a request's time. Between the responses of a decoupled model it is the
// model's, not the network's: perf_analyzer leaves the line empty there.
func (p *page) spent(n *result.Node) {
	protocol, parts := "HTTP", "send/recv"
	if n.Load.Transport == "grpc" {
		protocol, parts = "gRPC", "(un)marshal request/response"
	}
	all, recv := usec(n, metric.ServiceTime), receive(n)
	many := decoupled(n)
	if many {
		p.line(4, "Avg first response: %s usec", usec(n, metric.FirstResponse))
		p.line(4, "Avg response gap: %s usec", usec(n, metricGap))
	}
	switch {
	case n.Load.Transport == "": // nothing is in between, and perf_analyzer leaves the line empty
		p.line(4, "")
	case many:
		p.line(4, "Avg %s time: %s usec (send %s usec + response wait %s usec + "+
			"first to last response %s usec)", protocol, all, usec(n, metricSend), micros(wait(n)),
			micros(recv))
	default:
		p.line(4, "Avg %s time: %s usec (%s %s usec + response wait %s usec)",
			protocol, all, parts, micros(means(n, metricSend)+recv), micros(wait(n)))
	}
}

func (p *page) server(in int, n *result.Node) {
	cached := value(n, metricHits)+value(n, metricMisses) > 0
	p.line(in, "Inference count: %.0f", value(n, metricInferences))
	p.line(in, "Execution count: %.0f", value(n, metricExecutions))
	if cached {
		p.line(in, "Cache hit count: %.0f", value(n, metricHits))
		p.line(in, "Cache miss count: %.0f", value(n, metricMisses))
	}
	p.line(in, "Successful request count: %.0f", value(n, metric.ServerRequests))
	const parts = "compute input %s usec + compute infer %s usec + compute output %s usec)"
	input, infer, output := usec(n, metricInput), usec(n, metricInfer), usec(n, metricOutput)
	if !cached {
		p.line(in, "Avg request latency: %s usec (overhead %s usec + queue %s usec + "+parts,
			usec(n, metricServer), micros(beside(n)), usec(n, metricQueue), input, infer, output)
		return
	}
	hits, misses := value(n, metricHits), value(n, metricMisses)
	computed := value(n, metric.ServerRequests) - hits
	looked := hits*means(n, metricHit) + misses*means(n, metricMiss) + max(0, computed)*computing(n)
	combined := looked / math.Max(1, hits+max(0, computed))
	p.line(in, "Avg request latency: %s usec (overhead %s usec + queue %s usec + cache hit/miss %s usec)",
		usec(n, metricServer), micros(max(0, means(n, metricServer)-means(n, metricQueue)-combined)),
		usec(n, metricQueue), micros(combined))
	p.line(in+2, "Average Cache Hit Latency: %s usec", usec(n, metricHit))
	p.line(in+2, "Average Cache Miss Latency: %s usec (cache lookup/insertion %s usec + "+parts,
		micros(means(n, metricMiss)+computing(n)), usec(n, metricMiss), input, infer, output)
}

// ladder writes the line of each level that was reached, in the order in which they were visited.
func (p *page) ladder(levels []*result.Node) {
	levels = slices.DeleteFunc(slices.Clone(levels), func(n *result.Node) bool { return !reached(n) })
	if len(levels) == 0 {
		return
	}
	what := "Average"
	if at := byPercentile(levels[0]); at > 0 {
		what = fmt.Sprintf("p%v", at)
	}
	p.line(0, "Inferences/Second vs. Client %s Batch Latency", what)
	for _, n := range levels {
		latency := means(n, metric.Latency)
		if at := byPercentile(n); at > 0 {
			latency, _ = stat(n, metric.Latency, metric.Stat{Kind: metric.Percentile, P: at})
		}
		note := ""
		if n.Outcome == result.Unstable {
			note = " (not stable)"
		}
		p.line(0, "%s: %s, throughput: %s infer/sec, latency %s usec"+note,
			modeNames[modeOf(n)], levelOf(n), sixDigits(value(n, metric.Throughput)), micros(latency))
	}
}
