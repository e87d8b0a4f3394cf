package trial

import (
	"cmp"
	"math"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// measured holds the folded samples of a trial, and how they were played.
type measured struct {
	total    measure.Total
	reported measure.Span // the part of hold that is reported, ns since it began
	start    int64        // of the load, on the run's clock
	played   drive.Played
	end      holdEnd
	history  []result.Window // of `until: stable`
}

// cutToWindows drops the windows that are not reported, and enters the time of the rest and all
// windows into the result.
func (m *measured) cutToWindows(out *result.Node) {
	total := &m.total
	out.Started, out.Duration = seconds(total.From), seconds(total.To-total.From)
	m.reported = measure.Span{To: total.To - total.From}
	if accepted := m.end.accepted; accepted != nil {
		first, last := accepted[0], accepted[len(accepted)-1]
		total.Aggregate, total.Scopes = measure.MergeWindows(accepted)
		m.reported = measure.Span{From: first.From - total.From, To: last.To - total.From}
		total.KeepWithin(m.reported.From, m.reported.To)
		out.Duration = seconds(last.To - first.From)
	}
	out.Windows = m.history
	for i := range out.Windows {
		out.Windows[i].From -= seconds(total.From)
		out.Windows[i].To -= seconds(total.From)
	}
}

// Readings holds the sums from which the metrics of a node are read, of one trial or of several
// repeats.
type Readings struct {
	in      *Input        // of the first trial
	total   measure.Total // metrics without a scope, the parts, the windows
	stopped int64         // requests of hold that this client cancelled itself
	sent    int64         // including those due between the levels of a ramp
	use     observe.Use
	began   tally // counters of the server at the start; nil: none, or unknown
	ended   tally
	server  map[sliceKey]map[string]float64 // what the server did, by slice and row
	scrapes []result.Scrape
}

// newReadings gathers the readings of a trial. cpus counts the CPUs that the client may use; 0: unknown.
func newReadings(m *measured, o *observer, cpus float64) (r *Readings, notes findings) {
	r = &Readings{
		in: o.in, total: m.total, stopped: m.total.Aggregate.Stopped(), sent: m.played.Sent,
		use: o.use(cpus), server: o.serverSlices(m.total.Slices, m.total.From),
	}
	var more findings
	r.scrapes, notes = o.scraped(m.total.From, m.reported, m.reported.To == m.total.To-m.total.From)
	r.began, r.ended, more = o.counters(m.total.From, m.reported, m.end.accepted != nil)
	return r, append(notes, more...)
}

// Before returns empty readings, to which m and other repeats of its node can be joined.
func (m *Readings) Before() *Readings {
	return &Readings{in: m.in, began: m.began, ended: m.began, server: map[sliceKey]map[string]float64{}}
}

// Join adds the readings of a repeat, counted from 0.
func (m *Readings) Join(o *Readings, repeat int) {
	m.total.AddRepeat(&o.total, repeat)
	m.stopped += o.stopped
	m.sent += o.sent
	m.use = bothUses(m.use, o.use)
	m.ended = bothCounts(m.ended, o.began, o.ended)
	for at, values := range o.server {
		m.server[sliceKey{repeat, at.from}] = values
	}
	m.scrapes = joinScrapes(m.scrapes, o.scrapes, repeat)
}

// bothUses adds the consumption of two repeats. What is unknown of one is unknown of both.
func bothUses(a, b observe.Use) observe.Use {
	add := func(x, y int64) int64 {
		if x < 0 || y < 0 {
			return -1
		}
		return x + y
	}
	u := observe.Use{
		Wall: a.Wall + b.Wall, CPU: add(a.CPU, b.CPU),
		Starved: add(a.Starved, b.Starved), Memory: max(a.Memory, b.Memory), Share: -1,
	}
	if a.Share >= 0 && b.Share >= 0 && u.Wall > 0 {
		u.Share = (a.Share*float64(a.Wall) + b.Share*float64(b.Wall)) / float64(u.Wall)
	}
	return u
}

// bothCounts adds the growth of another repeat to the counters of each model. A counter that went
// back invalidates the sum.
func bothCounts(end, from, to tally) (all tally) {
	if len(end) != len(from) || len(end) != len(to) {
		return nil
	}
	for i := range end {
		sum := observe.Snapshot{At: to[i].At, Values: slices.Clone(end[i].Values)}
		for k, v := range to[i].Values {
			if v < from[i].Values[k] {
				clear(sum.Values) // before every start
				break
			}
			sum.Values[k] += v - from[i].Values[k]
		}
		all = append(all, sum)
	}
	return all
}

// Fill writes every row that the node can produce into its result, with its parts, windows, slices
// and failures.
func (m *Readings) Fill(out *result.Node) {
	n, parts, growth := m.in.Node, &m.in.Parts, m.growth()
	for _, row := range n.Catalogue.Rows() {
		late := row.Loads == metric.DueTimes && m.total.Aggregate.SendDelays().N() > 0 // as rows have delays
		if late || n.Lacks(row) == "" {
			m.read(row, growth, out.Metrics)
		}
	}
	out.Scopes, out.Series = nil, nil
	for i, at := range parts.Places {
		scope := scopeOf(n, at, m.total.Scopes[i], m.in.Percentiles)
		if at.Phase == expression.Steady {
			scope.From, scope.Reason = seconds(m.total.Steady.From), m.total.NotSteady
		}
		out.Scopes = append(out.Scopes, scope)
	}
	for i, timed := range parts.Timed {
		if i < len(m.total.Timelines) { // of a single trial
			storeParts(out, timed, &m.total.Timelines[i])
		}
	}
	boundParts(out)
	for i, w := range parts.Series {
		out.Series = append(out.Series, storedSeries(w, m.total.Series[i]))
	}
	out.Slices = resultSlices(m.total.Slices, m.server)
	out.Models, out.Scrapes = m.models(), m.scrapes
	out.Errors, out.TokenCounts = failures(m.total.Aggregate), tokenCounts(&m.total.Aggregate.Tokenized)
	out.Redact(m.in.Mask) // an example is cut, and what is made of it later hides where
}

// growth returns the growth of the server's counters, nil if it is unknown.
func (m *Readings) growth() []observe.Reading {
	if m.began == nil || m.ended == nil {
		return nil
	}
	return observe.Growth(m.in.Requests.Series, m.began[0], m.ended[0])
}

// read writes one row into the result. A row without data is stored without a value.
func (m *Readings) read(row *metric.Row, growth []observe.Reading, out map[string]*result.Metric) {
	if row.Summed() {
		out[row.Name] = reading(row, m.total.Aggregate, m.in.Percentiles)
		return
	}
	var v float64
	var ok bool
	switch row.From {
	case metric.Client:
		v, ok = m.client(row.Name)
	case metric.Series:
		i := slices.IndexFunc(growth, func(r observe.Reading) bool { return r.Row.Name == row.Name })
		if i < 0 {
			return // the server has no such counter: absent, not empty
		}
		v, ok = growth[i].V, growth[i].OK
	case metric.Scrape:
		if g := scrapedDist(row, m.scrapes, m.in.Percentiles); g != nil {
			out[row.Name] = g
		}
		return // a server without GPUs: absent, not empty
	case metric.ScrapeSum:
		if v, ok = scrapedSum(row.Name, m.scrapes, m.total.Aggregate); !ok {
			return
		}
	default: // capacity: a result of the search
	}
	out[row.Name] = result.Scalar(row, v, ok && !math.IsNaN(v) && !math.IsInf(v, 0))
}

// scopeOf returns the stored form of a part of a node, without the rows that only the whole node has.
func scopeOf(n *program.Node, at expression.Place, a *measure.Aggregate, percentiles []float64) result.Scope {
	out := result.Scope{
		Phase: at.Phase, Mix: at.Mix, Duration: seconds(a.Window), Metrics: make(map[string]*result.Metric),
		Errors: failures(a),
	}
	for _, e := range n.Stage.Mix {
		if e.Name == at.Mix {
			to := e.Request.Target
			out.Target, out.Model, out.Batch = to.Name, cmp.Or(e.Request.Model, to.Model), e.Request.Batch
		}
	}
	for _, row := range n.Catalogue.Rows() {
		if row.OfPart() && n.Lacks(row) == "" {
			out.Metrics[row.Name] = reading(row, a, percentiles)
		}
	}
	return out
}

// reading returns a row of a with the given percentiles, and its bounds where this client was late.
func reading(row *metric.Row, a *measure.Aggregate, percentiles []float64) *result.Metric {
	m := readingOfSet(row, a, percentiles)
	m.Source = a.TokenSource(row)
	bounded := row.Bound != metric.Exact && row.Bound != metric.Blurred &&
		(a.DroppedMore == 0 || row.OutlivesDrops())
	if low, high, ok := a.Sets(); ok && bounded {
		if row.Dim == metric.Rate && row.Bound == metric.Gap { // the shorter the gaps, the higher the rate
			low, high = high, low
		}
		m.SetBounds(readingOfSet(row, low, percentiles), readingOfSet(row, high, percentiles))
	}
	return m
}

func readingOfSet(row *metric.Row, a *measure.Aggregate, percentiles []float64) *result.Metric {
	if row.IsDistribution() {
		return result.Distribution(row, cmp.Or(a.Dist(row), new(stats.Dist)), percentiles)
	}
	v, ok := a.Value(row)
	return result.Scalar(row, v, ok)
}

// client returns the consumption of this process during hold.
func (m *Readings) client(name string) (float64, bool) {
	switch name {
	case metric.ClientCPU:
		return m.use.Share, m.use.Share >= 0
	case metric.ClientPerSent:
		return seconds(m.use.CPU) / float64(m.sent), m.use.CPU >= 0 && m.sent > 0
	case metric.ClientMemory:
		return float64(m.use.Memory), m.use.Memory >= 0
	}
	return 0, false
}

func resultSlices(list []measure.Slice, server map[sliceKey]map[string]float64) []result.Slice {
	out := []result.Slice{}
	for _, s := range list {
		out = append(out, result.Slice{
			Repeat: s.Repeat, From: seconds(s.From), To: seconds(s.To), Sent: s.Sent, OK: s.OK,
			Failed: s.Failed, Items: s.Items, InFlight: s.InFlight,
			LatencyP50: optional(s.N, s.P50), LatencyP99: optional(s.N, s.P99),
			LatencyMax: optional(s.N, s.Max), Tokens: s.Tokens, TTFTP50: optional(s.Texts, s.TTFT50),
			TTFTP99: optional(s.Texts, s.TTFT99), Server: server[sliceKey{s.Repeat, s.From}],
		})
	}
	return out
}

// tokenCounts returns how the tokens of answers were counted; nil: no tokenizer counted any.
func tokenCounts(t *measure.Tokenized) *result.TokenCounts {
	if t.Requests == 0 {
		return nil
	}
	out := &result.TokenCounts{Answers: t.Requests, Tokenizer: t.Tokens}
	if t.Used == t.Requests {
		out.Usage = &t.Usage
	}
	if t.Streamed == t.Requests {
		out.Events = &t.Events
	}
	return out
}

// optional returns ns as seconds; nil if n values are none.
func optional(n, ns int64) *float64 {
	if n == 0 {
		return nil
	}
	v := seconds(ns)
	return &v
}

// failures lists the classes of failed requests, most first.
func failures(a *measure.Aggregate) []result.ErrorClass {
	list := []result.ErrorClass{}
	for i, name := range backends.ClassNames {
		if n := a.Class[i]; n > 0 && backends.ErrorClass(i).Failed() {
			e := result.ErrorClass{Class: name, Count: n, Example: a.Examples[i], More: a.Causes[i]}
			if backends.ErrorClass(i) == backends.Mismatch {
				e.More = a.Mismatches
			}
			list = append(list, e)
		}
	}
	slices.SortStableFunc(list, func(a, b result.ErrorClass) int { return cmp.Compare(b.Count, a.Count) })
	return list
}
