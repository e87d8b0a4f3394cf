package llm

import (
	"math"
	"slices"
	"sort"

	"github.com/sluice-bench/sluice/executor/stats"
)

// Tally sums up requests one by one.
type Tally struct {
	// Windows are those of several repeats, or of the holds of a ramp, in ns since 1970: what lies between
	// them is in no duration. nil: one window.
	Windows        []Window
	spans          []Window           // by window: from the first sending to the last content
	values         map[string]*series // by tag
	gaps           stats.Dist         // ns
	start, end     int64
	input, output  int64
	noInput        bool
	count, failed  int64
	warmup, thrown int64
	failures       []Failure
	edges          []edge
	coalesced      int64
}

// edge is the start or the end of a request.
type edge struct {
	at    int64
	delta int8
}

// Add counts a request. One of a warm-up, or canceled by the client, is in no statistic.
func (t *Tally) Add(r *Request) {
	switch {
	case r.Warmup:
		t.warmup++
		return
	case r.Canceled:
		t.thrown++
		return
	case r.Class != "":
		t.fail(r)
		return
	}
	if t.values == nil {
		t.values = make(map[string]*series)
	}
	for _, m := range append(Metrics(), tokenMetrics()...) {
		if v, ok := m.Of(r); ok {
			if t.values[m.Tag] == nil {
				t.values[m.Tag] = &series{}
			}
			t.values[m.Tag].add(v)
		}
	}
	for _, g := range r.Gaps {
		t.gaps.Add(g)
	}
	t.count++
	t.input, t.output = t.input+max(r.Input, 0), t.output+max(r.Output, 0)
	t.noInput = t.noInput || r.Input < 0
	if r.First >= 0 && r.Output > 1 && r.Latency == r.First {
		t.coalesced++
	}
	if r.Sent > 0 && r.Latency >= 0 {
		if t.start == 0 || r.Sent < t.start {
			t.start = r.Sent
		}
		t.end = max(t.end, r.Sent+r.Latency)
		t.extend(r)
		if len(t.edges) < maxValues {
			t.edges = append(t.edges, edge{r.Sent, 1}, edge{r.Sent + r.Latency, -1})
		}
	}
}

// extend enters a request into the span of its window.
func (t *Tally) extend(r *Request) {
	if t.spans == nil {
		t.spans = make([]Window, len(t.Windows)+1) // the last is that of requests outside
	}
	due := r.Due
	if due == 0 {
		due = r.Sent
	}
	at := slices.IndexFunc(t.Windows, func(w Window) bool { return w.From <= due && due <= w.To })
	if at < 0 {
		at = len(t.Windows)
	}
	s := &t.spans[at]
	if s.From == 0 || r.Sent < s.From {
		s.From = r.Sent
	}
	s.To = max(s.To, r.Sent+r.Latency)
}

// length returns the time of the requests, ns: from the first sending to the last content of each window.
func (t *Tally) length() (ns int64) {
	for _, s := range t.spans {
		ns += s.To - s.From
	}
	return ns
}

func (t *Tally) fail(r *Request) {
	t.failed++
	at := slices.IndexFunc(t.failures, func(f Failure) bool { return f.Class == r.Class && f.Code == r.Code })
	if at >= 0 {
		t.failures[at].Count++
	} else {
		t.failures = append(t.failures, Failure{r.Class, r.Code, r.Text, 1})
	}
}

// Sum enters the statistics into a run.
func (t *Tally) Sum(r *Run) {
	if r.Stats == nil {
		r.Stats = make(map[string]Stats)
	}
	for _, m := range append(Metrics(), tokenMetrics()...) {
		if of := t.values[m.Tag]; of != nil {
			r.Stats[m.Tag] = of.stats(m.Unit)
		}
	}
	if s, ok := t.gapStats(); ok {
		r.Stats[Gap] = s
	}
	r.Failed, r.Warmup, r.Failures, r.Start, r.End = t.failed, t.warmup, t.failures, t.start, t.end
	r.set(RequestCount, "count", float64(t.count))
	if length := t.length(); length > 0 {
		s := float64(length) / 1e9
		r.set(duration, "sec", s)
		r.set(RequestRate, "requests/sec", float64(t.count)/s)
		if t.values[OSL] != nil {
			r.set(OutputRate, "tokens/sec", float64(t.output)/s)
		}
		r.setGoodput()
	}
	if t.coalesced > 0 {
		r.Notes = append(r.Notes, plural(t.coalesced, "answer")+
			" came in one read: the times between their tokens are not the server's")
	}
}

// setGoodput divides the good requests by the time that all rates of the file are divided by.
func (r *Run) setGoodput() {
	if s, ok := r.Stat(duration, "avg"); ok && r.judgesGood {
		r.set(GoodputRate, "requests/sec", float64(r.good)/s)
		r.set(goodCount, "requests", float64(r.good))
	}
}

// gapStats returns the statistics of all gaps, in ms.
func (t *Tally) gapStats() (Stats, bool) {
	if t.gaps.N() == 0 {
		return Stats{}, false
	}
	n := float64(t.gaps.N())
	s := Stats{"ms", map[string]float64{
		"avg": t.gaps.Mean() / 1e6, "min": float64(t.gaps.Min()) / 1e6, "max": float64(t.gaps.Max()) / 1e6,
		"std":   t.gaps.Std() / 1e6 * math.Sqrt((n-1)/n), // of the population, as in the tools
		"count": n, "sum": t.gaps.Mean() * n / 1e6,
	}}
	for name, p := range percents() {
		v, _ := t.gaps.Rank(p)
		s.Values[name] = float64(v) / 1e6
	}
	return s, true
}

// peak returns the most requests that were open at one time, of more than half a million among the first of them. An end comes before a start at the same time.
func (t *Tally) peak() (most int) {
	sort.Slice(t.edges, func(i, j int) bool {
		a, b := t.edges[i], t.edges[j]
		return a.at < b.at || a.at == b.at && a.delta < b.delta
	})
	open := 0
	for _, e := range t.edges {
		open += int(e.delta)
		most = max(most, open)
	}
	return most
}
