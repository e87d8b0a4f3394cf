package result

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// selection holds series of one endpoint, and a part of the time of its node.
type selection struct {
	*Scrape
	series []*Scraped
	window *seriesTime // nil: all that the node reports
}

// seriesTime is a window of one repeat, in s since hold start.
type seriesTime struct {
	repeat   int
	from, to float64
}

// scrapeQuantity evaluates scrape("selector").stat. Several matching series are combined: mean, min
// and max are over all their readings, increase and rate are sums. Counters missing in the first
// reading count from 0: they appear with their first event.
func (s Stored) scrapeQuantity(ref expression.Ref, sel expression.Selector) expression.Quantity {
	unknown := func(format string, args ...any) expression.Quantity {
		return expression.Quantity{Need: 1, Why: fmt.Sprintf(format, args...)}
	}
	n, where, why := s.findNode(ref.Place)
	if why != "" {
		return unknown("%s", why)
	}
	all, why := n.selectSeries(sel)
	if why != "" {
		return unknown("%s%s", where, why)
	}
	if s.window.covers(n, ref.Place) {
		for i := range all {
			all[i].window = &seriesTime{s.window.repeat, s.window.from, s.window.from + s.window.every}
		}
	}
	v, readings, why := statOf(all, sel.Stat)
	if why != "" {
		return unknown("%s%s: %s", where, sel, why)
	}
	return expression.Exactly(v, readings, 1)
}

// selectSeries returns the series that match a selector, of the endpoints of the first target that has any:
// by its name, else by the names that other versions of the server have for it.
func (n *Node) selectSeries(sel expression.Selector) (list []selection, why string) {
	if len(n.Scrapes) == 0 {
		return nil, endpoint + " was not read"
	}
	shown := map[string]bool{}
	for i := range n.Scrapes {
		x := &n.Scrapes[i]
		if x.Missing > 0 {
			return nil, fmt.Sprintf("%d readings of "+endpoint+
				" were not kept; use a longer `every`, or `match` fewer series", x.Missing)
		}
		if x.Unread > 0 {
			return nil, fmt.Sprintf("%d readings of "+endpoint+
				" failed, and there is none of the start or the end", x.Unread)
		}
		for k := range x.Series {
			shown[x.Series[k].Name] = true
		}
	}
	for _, name := range metric.SeriesNames(sel.Name) {
		named := expression.Selector{Name: name, Labels: sel.Labels}
		for i := range n.Scrapes {
			x := &n.Scrapes[i]
			if list != nil && list[0].Target != x.Target {
				break
			}
			found := x.find(func(s *Scraped) bool { return named.Matches(s.Name, s.Labels) })
			if found != nil {
				list = append(list, selection{Scrape: x, series: found})
			}
		}
		if list != nil {
			return list, ""
		}
		if shown[name] {
			return nil, fmt.Sprintf(endpoint+" shows %s, but not with these labels: %s", name, sel)
		}
	}
	return nil, fmt.Sprintf(endpoint+" shows no series %s", sel.Name)
}

// find returns the series for which of is true.
func (x *Scrape) find(of func(*Scraped) bool) (found []*Scraped) {
	for k := range x.Series {
		if of(&x.Series[k]) {
			found = append(found, &x.Series[k])
		}
	}
	return found
}

// statOf returns a statistic of the readings and their number, or why there is none.
func statOf(all []selection, word string) (v float64, n int64, why string) {
	if word == "increase" || word == "rate" {
		return growthOf(all, word == "rate")
	}
	count := 0
	sum, least, most, last := 0.0, math.Inf(1), math.Inf(-1), 0.0
	for _, s := range all {
		count += len(s.series)
		for _, x := range s.series {
			for i, value := range x.Values {
				if value == nil || !s.uses(i) {
					continue
				}
				n, sum, least, most, last = n+1, sum+*value, min(least, *value), max(most, *value), *value
			}
		}
	}
	switch {
	case word == "last" && count > 1:
		return 0, 0, fmt.Sprintf("%d series match, and `last` is of one: name more labels", count)
	case n == 0:
		return 0, 0, "it has had no number yet"
	}
	return map[string]float64{"mean": sum / float64(n), "min": least, "max": most, "last": last}[word], n, ""
}

// growthOf returns the growth of counters, or their rate.
func growthOf(all []selection, rate bool) (v float64, n int64, why string) {
	timeless := false
	for _, s := range all {
		grown, seconds, readings := s.growth()
		n += readings
		switch {
		case !rate:
			v += grown
		case seconds > 0:
			v += grown / seconds
		default:
			timeless = timeless || readings > 0
		}
	}
	switch {
	case n == 0:
		return 0, 0, "it was read fewer than two times"
	case timeless:
		return 0, 0, "no time has passed between its readings"
	}
	return v, n, ""
}

// uses reports whether reading i belongs to the time of the selection.
func (s selection) uses(i int) bool {
	if i < len(s.Outside) && s.Outside[i] {
		return false
	}
	w := s.window
	return w == nil || s.repeat(i) == w.repeat && s.At[i] >= w.from-1e-9 && s.At[i] <= w.to+1e-9
}

func (x *Scrape) repeat(i int) int {
	if len(x.Repeats) == 0 {
		return 0
	}
	return x.Repeats[i]
}

// edge returns the part of hold that a repeat reports.
func (x *Scrape) edge(repeat int) ScrapeEdge {
	for _, e := range x.Edges {
		if e.Repeat == repeat {
			return e
		}
	}
	return ScrapeEdge{From: math.Inf(-1), To: math.Inf(1)}
}

// growth returns by how much the counters grew within the time of the selection, in how many seconds, and the
// number of readings that tell it. What a counter was at an edge lies on the line between the readings before
// and after it. A counter that decreases was reset to 0.
func (s selection) growth() (v, seconds float64, n int64) {
	for first := 0; first < len(s.At); {
		repeat := s.repeat(first)
		next := first
		for next < len(s.At) && s.repeat(next) == repeat {
			next++
		}
		times := s.times(first, next)
		e := s.edge(repeat)
		if w := s.window; w != nil {
			if w.repeat != repeat {
				first = next
				continue
			}
			e.From, e.To = max(e.From, w.from), min(e.To, w.to)
		}
		from, to := max(e.From, times[0]), min(e.To, times[len(times)-1])
		if len(times) > 1 && to >= from {
			n += readingsOf(times, from, to)
			seconds += to - from
			for _, x := range s.series {
				total := counted(x.Values[first:next])
				v += valueAt(times, total, to, true) - valueAt(times, total, from, false)
			}
		}
		first = next
	}
	return v, seconds, n
}

// times returns when the readings from first to before next were taken: those that stand for the start and
// the end of what is reported, then.
func (s selection) times(first, next int) []float64 {
	e := s.edge(s.repeat(first))
	times := slices.Clone(s.At[first:next])
	for i := range times {
		if k := first + i; k >= len(s.Outside) || !s.Outside[k] {
			times[i] = min(max(times[i], e.From), e.To)
		}
	}
	return times
}

// readingsOf counts the readings within a time, and those just outside of it that tell what was at its edges.
func readingsOf(times []float64, from, to float64) (n int64) {
	for i, t := range times {
		inside := t >= from && t <= to
		before := t < from && i+1 < len(times) && times[i+1] > from
		after := t > to && i > 0 && times[i-1] < to
		if inside || before || after {
			n++
		}
	}
	return n
}

// counted returns by how much a counter has grown at each reading since the first; one that appears later
// grows from 0.
func counted(values []*float64) []float64 {
	total, last := make([]float64, len(values)), 0.0
	if values[0] != nil {
		last = *values[0]
	}
	for i := 1; i < len(values); i++ {
		total[i] = total[i-1]
		if values[i] == nil {
			continue
		}
		now := *values[i]
		if now < last {
			last = 0
		}
		total[i], last = total[i]+now-last, now
	}
	return total
}

// valueAt returns the value at time t on the line through the values at times, which ascend: where several
// are of that time the first, or the last.
func valueAt(times, values []float64, t float64, last bool) float64 {
	i := sort.Search(len(times), func(i int) bool { return times[i] > t || !last && times[i] == t })
	switch {
	case last && i > 0 && times[i-1] == t, i == len(times):
		return values[i-1]
	case i == 0, times[i] == t:
		return values[i]
	}
	a, b := times[i-1], times[i]
	return values[i-1] + (values[i]-values[i-1])*(t-a)/(b-a)
}

// Growth returns the growth of the counters of an endpoint for which of is true, in what the node reports;
// false: there is none, or it was read too seldom.
func (x *Scrape) Growth(of func(*Scraped) bool) (v float64, ok bool) {
	s := selection{Scrape: x, series: x.find(of)}
	if s.series == nil || x.Unread > 0 || x.Missing > 0 {
		return 0, false
	}
	v, _, n := s.growth()
	return v, n > 1
}

// Integral returns the integral over time of the series for which of is true, in what the node reports: of
// power, energy. Values between two readings lie on the line between them.
func (x *Scrape) Integral(of func(*Scraped) bool) (v float64, ok bool) {
	s := selection{Scrape: x, series: x.find(of)}
	if s.series == nil || x.Unread > 0 || x.Missing > 0 {
		return 0, false
	}
	sums := make([]float64, len(x.At))
	for _, one := range s.series {
		last := -1
		for i, value := range one.Values {
			if value == nil || i > 0 && x.repeat(i) != x.repeat(i-1) {
				last = -1
			}
			if value == nil {
				continue
			}
			if last >= 0 {
				sums[i] += (x.At[i] - x.At[last]) * (*value + *one.Values[last]) / 2
			}
			last = i
		}
	}
	for i := 1; i < len(sums); i++ { // a counter
		sums[i] += sums[i-1]
	}
	all := &Scraped{}
	for i := range sums {
		all.Values = append(all.Values, &sums[i])
	}
	s.series = []*Scraped{all}
	v, _, n := s.growth()
	return v, n > 1
}

// Used reports whether a reading belongs to what the node reports, and is not one outside of it.
func (x *Scrape) Used(i int) bool { return selection{Scrape: x}.uses(i) }
