package llm

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Describe returns the run of a node of a result, without its requests.
func Describe(stored *result.Result, n *result.Node) *Run {
	r := &Run{
		Name: n.ID, node: n.ID, Tool: "sluice", Version: stored.Tool.Version, Model: n.Load.Model,
		Closed: n.Load.Kind == "concurrency", Level: n.Load.Total(), Seed: stored.Plan.Seed,
		Arrivals: n.Load.Arrivals,
	}
	target := inPlan(inPlan(stored.Plan.Resolved, "targets"), n.Target)
	r.Endpoint, _ = inPlan(target, "endpoint").(string)
	if backend, _ := inPlan(target, "backend").(string); r.Endpoint == "" && backend != "openai" {
		r.Endpoint = backend
	}
	r.Endpoint = cmp.Or(r.Endpoint, "chat")
	r.URL, _ = inPlan(target, "url").(string)
	if r.Model == "" {
		r.Model, _ = inPlan(target, "model").(string)
	}
	r.Streaming, _ = inPlan(target, "streaming").(bool)
	if v, ok := n.Metrics[metric.Goodput].Stat(metric.Stat{}); ok {
		r.set(GoodputRate, "requests/sec", v)
	}
	if ratio, ok := n.Metrics[metric.GoodputRatio].Stat(metric.Stat{}); ok {
		judged := total(n, metric.RequestsCount) + total(n, metric.DroppedCount) - total(n, metric.CancelledByUs)
		r.good, r.judgesGood = whole(ratio*judged), true
	}
	if n.Outcome == result.InterruptedNode || n.Aborted != nil {
		r.Cut = cmp.Or(n.Reason, "it was aborted")
	}
	return r
}

// total returns a count of a node, 0 if it has none.
func total(n *result.Node, name string) float64 {
	v, _ := n.Metrics[name].Stat(metric.Stat{})
	return v
}

// inPlan returns a member of a map of the resolved plan, nil if there is none.
func inPlan(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

// MeasuredNodes returns the nodes of a result that have requests of their own in files.
func MeasuredNodes(stored *result.Result) []*result.Node {
	return slices.DeleteFunc(slices.Clone(stored.Nodes), func(n *result.Node) bool {
		return n.Outcome == result.SkippedNode || n.Outcome == result.Failed
	})
}

// Window is a span of time on the run's clock, ns.
type Window struct{ From, To int64 }

// Windows returns when requests of a node had to be due to be in its numbers: its hold, or those of its repeats, and of
// a search those of the trial that it reports. Of a ramp these are the holds of its steps, where it has any.
func Windows(n *result.Node) []Window {
	if len(n.Repeats) == 0 {
		return rampHolds(n.Load.Ramp, n.Started, n.Duration)
	}
	var list []Window
	for _, r := range n.Repeats {
		list = append(list, rampHolds(n.Load.Ramp, r.Started, r.Duration)...)
	}
	return list
}

// rampHolds returns the holds of the steps of a ramp that begins at a time and lasts for a length, s; all of
// it if no step has one. The last step's value is kept until the end.
func rampHolds(steps []result.RampStep, from, length float64) (list []Window) {
	ns := func(s float64) int64 { return int64(math.Round(s * 1e9)) }
	start, end := ns(from), ns(from+length)
	at := start
	for i, s := range steps {
		hold := Window{at + ns(s.Over), at + ns(s.Over) + ns(s.Hold)}
		at = hold.To
		hold.To-- // what is due then belongs to the next step
		if i == len(steps)-1 || hold.To > end {
			hold.To = end
		}
		if hold.From < hold.To {
			list = append(list, hold)
		}
	}
	if list == nil {
		return []Window{{start, end}}
	}
	return list
}

// OnWall returns windows of the run's clock in ns since 1970.
func OnWall(stored *result.Result, list []Window) []Window {
	origin := stored.Started.UnixNano()
	list = slices.Clone(list)
	for i := range list {
		list[i].From, list[i].To = origin+list[i].From, origin+list[i].To
	}
	return list
}

// Within reports whether a time is in one of the windows.
func Within(list []Window, at int64) bool {
	return slices.ContainsFunc(list, func(w Window) bool { return w.From <= at && at <= w.To })
}

// Prefixes returns what precedes the names of the files of each node with requests: nothing for the first, then NODE and
// a dot, with letters, digits and -._ of the node's name, and a number if two are equal.
func Prefixes(nodes []*result.Node) []string {
	list := make([]string, len(nodes))
	taken := make(map[string]int)
	for i, n := range nodes {
		if i == 0 {
			continue
		}
		list[i] = fileWord(n.ID)
		if taken[list[i]]++; taken[list[i]] > 1 {
			list[i] += fmt.Sprintf("_%d", i+1)
		}
		list[i] += "."
	}
	return list
}

func fileWord(node string) string {
	plain := strings.NewReplacer("[", "-", "]", "", "=", "", ",", "-").Replace(node)
	return strings.Map(func(c rune) rune {
		if c < 0x80 && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.') {
			return c
		}
		return '_'
	}, plain)
}

// resultRuns returns a run for each node that was measured.
func resultRuns(stored *result.Result, dir string) ([]*Run, error) {
	samples, err := readSamples(filepath.Join(dir, samplesName), stored)
	if err != nil {
		return nil, err
	}
	var runs []*Run
	nodes := MeasuredNodes(stored)
	experiments := experimentsOf(filepath.Join(dir, ProfileName), nodes)
	prefixes := Prefixes(nodes)
	for i, n := range nodes {
		r := Describe(stored, n)
		records := filepath.Join(dir, prefixes[i]+RecordsName)
		windows := OnWall(stored, Windows(n))
		if read, err := readRecordsOf(records, windows); err == nil && read != nil {
			r.Stats = read.Stats
			r.setGoodput()
			r.take(read)
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(records), err)
		} else if t := samples[n.ID]; t != nil {
			r.Requests = t.requests
			t.Sum(r)
		} else if x := experiments[n.ID]; x != nil {
			r.Stats = x.Stats
			r.setGoodput()
			r.take(x)
			r.Failed = whole(total(n, metric.ErrorsCount))
			if _, ok := r.Stats[ISL]; !ok { // of tensors the lengths are in the result alone
				r.statsOf(n, ISL, metric.TokensInput, "tokens", 1)
				r.equalInputs()
			}
		} else {
			r.fromMetrics(n)
		}
		if len(stored.Nodes) == 1 {
			r.Name = stored.Plan.Name
		}
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("no node of the result was measured")
	}
	return runs, nil
}

// readRecordsOf reads AIPerf's records of some windows; nil if the file does not exist.
func readRecordsOf(path string, windows []Window) (*Run, error) {
	f, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the numbers of the result remain
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAIPerfRecords(f, windows)
}

// fromMetrics takes the statistics from the node: its times run from when requests were due, its percentiles are
// nearest-rank, and single requests are unknown.
func (r *Run) fromMetrics(n *result.Node) {
	for _, x := range []struct {
		tag, name, unit string
		scale           float64
	}{
		{TTFT, metric.TTFT, "ms", 1e3},
		{Latency, metric.Latency, "ms", 1e3},
		{ITL, metric.ITL, "ms", 1e3},
		{OSL, metric.TokensOutput, "tokens", 1},
		{ISL, metric.TokensInput, "tokens", 1},
	} {
		r.statsOf(n, x.tag, x.name, x.unit, x.scale)
	}
	for _, x := range []struct{ tag, name, unit string }{
		{RequestRate, metric.RequestsRate, "requests/sec"},
		{OutputRate, metric.TokensOutputRate, "tokens/sec"},
		{RequestCount, metric.RequestsCount, "count"},
	} {
		if v, ok := n.Metrics[x.name].Stat(metric.Stat{}); ok {
			r.set(x.tag, x.unit, v)
		}
	}
	r.Notes = append(r.Notes, "its times run from when requests were due; single requests need `output.samples: jsonl`, or "+
		"`aiperf` or, of nodes of different load, `profile_export` in `output.formats`")
}

// statsOf enters the statistics of a metric of the node.
func (r *Run) statsOf(n *result.Node, tag, name, unit string, scale float64) {
	m := n.Metrics[name]
	s := Stats{unit, make(map[string]float64)}
	for name, stat := range map[string]metric.Stat{
		"avg": {Kind: metric.Mean}, "min": {Kind: metric.Min}, "max": {Kind: metric.Max},
		"std": {Kind: metric.Std},
	} {
		if v, ok := m.Stat(stat); ok {
			s.Values[name] = v * scale
		}
	}
	for name, p := range percents() {
		if v, ok := m.Stat(metric.Stat{Kind: metric.Percentile, P: p}); ok {
			s.Values[name] = v * scale
		}
	}
	if len(s.Values) > 0 {
		r.setStats(tag, s)
	}
}

func (r *Run) setStats(tag string, s Stats) {
	if r.Stats == nil {
		r.Stats = make(map[string]Stats)
	}
	r.Stats[tag] = s
}

// sampled sums up the lines of one node.
type sampled struct {
	Tally
	requests []Request
	windows  []Window
}

// sampleLine is a line of samples.jsonl, times in s on the run's clock.
type sampleLine struct {
	Node      string
	Class     string
	Due       float64
	Sent      float64   `json:"send_start"`
	Last      float64   `json:"last_byte"`
	Times     []float64 `json:"response_times"`
	Responses int64
	Input     *int64 `json:"input_tokens"`
	Output    *int64 `json:"output_tokens"`
	Flags     []string
}

// readSamples reads the requests of samples.jsonl by node; nil if there is no such file.
func readSamples(path string, stored *result.Result) (map[string]*sampled, error) {
	f, err := open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the numbers of the result remain
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := make(map[string]*sampled)
	for _, n := range stored.Nodes {
		all[n.ID] = &sampled{windows: Windows(n)}
		all[n.ID].Windows = OnWall(stored, Windows(n))
	}
	origin := stored.Started.UnixNano()
	err = eachLine(f, func(n int, line []byte) error {
		var x sampleLine
		if err := json.Unmarshal(line, &x); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		of := all[x.Node]
		if of == nil || slices.Contains(x.Flags, "closing") {
			return nil
		}
		q := x.request(origin)
		if due := whole(x.Due * 1e9); !Within(of.windows, due) && !q.Warmup {
			return nil // of an attempt or a trial that is in no number
		}
		if of.Add(&q); !q.Warmup && !q.Canceled && q.Class == "" {
			if len(of.requests) >= maxRequests {
				return fmt.Errorf("more than %d requests", maxRequests)
			}
			of.requests = append(of.requests, q)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", samplesName, err)
	}
	return all, nil
}

func (x *sampleLine) request(origin int64) Request {
	q := NewRequest()
	ns := func(s float64) int64 { return whole(s * 1e9) }
	q.Sent, q.Due = origin+ns(x.Sent), origin+ns(x.Due)
	q.Warmup = slices.Contains(x.Flags, "warmup")
	q.Canceled = x.Class == "stopped" || x.Class == "closed"
	if x.Class != "ok" && !q.Canceled {
		q.Class = x.Class
	}
	q.End = max(ns(x.Last)-ns(x.Sent), Unknown)
	if q.Latency = q.End; len(x.Times) > 0 {
		q.First = ns(x.Times[0]) - ns(x.Sent)
		q.Latency = ns(x.Times[len(x.Times)-1]) - ns(x.Sent)
		for i := 1; i < len(x.Times); i++ {
			q.Gaps = append(q.Gaps, ns(x.Times[i])-ns(x.Times[i-1]))
		}
	}
	if x.Input != nil {
		q.Input = max(*x.Input, Unknown)
	}
	if x.Output != nil {
		q.Output = max(*x.Output, Unknown)
	} else if len(x.Times) > 1 {
		q.Output = int64(len(x.Times))
	}
	return q
}
