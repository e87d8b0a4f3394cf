package result

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/sluice-bench/sluice/scenario/expression"
)

// Scrape holds the readings of a target's Prometheus endpoint during a node: at its start, every
// `every`, and at its end.
type Scrape struct {
	Target  string    `json:"target"`
	At      []float64 `json:"at"`                // s since hold start
	Repeats []int     `json:"repeats,omitempty"` // by reading: index of the repeat, if the node repeats
	Series  []Scraped `json:"series"`
	// Missing counts the readings beyond the number kept: a part of them is no evidence.
	Missing int `json:"missing,omitempty"`
	// Unread counts failed readings if those of the start or the end are among them, so that the
	// values at that time are unknown.
	Unread int `json:"unread,omitempty"`
}

// endpoint names the endpoint in reasons.
const endpoint = "the metrics endpoint"

// LacksScrape reports whether an assertion has no data because a metrics endpoint does not show it,
// which more time would not change.
func (a Assertion) LacksScrape() bool { return strings.Contains(a.Reason, endpoint) }

// Scraped is one series of an endpoint.
type Scraped struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	Type   string            `json:"type"`   // counter gauge summary histogram untyped
	Values []*float64        `json:"values"` // one for each reading; null: missing, or not a number
}

// String formats a series as Prometheus does.
func (s *Scraped) String() string {
	var labels []string
	for name, value := range s.Labels {
		labels = append(labels, fmt.Sprintf("%s=%q", name, value))
	}
	sort.Strings(labels)
	if labels == nil {
		return s.Name
	}
	return s.Name + "{" + strings.Join(labels, ",") + "}"
}

func (s Scrape) normalized() Scrape {
	s.At = nonNil(s.At)
	s.Series = slices.Clone(nonNil(s.Series))
	for i := range s.Series {
		s.Series[i].Values = nonNil(s.Series[i].Values)
	}
	return s
}

// selection holds the series of a selector and some readings of a node.
type selection struct {
	series  []*Scraped
	at      []float64
	use     []bool // by reading: whether it is used
	repeats []int
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
		w := s.window
		for i := range all.at {
			all.use[i] = all.use[i] && all.at[i] >= w.from-1e-9 && all.at[i] <= w.from+w.every+1e-9 &&
				all.repeat(i) == w.repeat
		}
	}
	v, readings, why := all.stat(sel.Stat)
	if why != "" {
		return unknown("%s%s: %s", where, sel, why)
	}
	return expression.Quantity{Known: true, V: v, Lo: v, Hi: v, N: readings, Need: 1}
}

// selectSeries returns the series that match a selector, of the first endpoint that has any.
func (n *Node) selectSeries(sel expression.Selector) (*selection, string) {
	if len(n.Scrapes) == 0 {
		return nil, endpoint + " was not read"
	}
	names := map[string]bool{}
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
		out := &selection{at: x.At, repeats: x.Repeats, use: make([]bool, len(x.At))}
		for k := range out.use {
			out.use[k] = true
		}
		for k := range x.Series {
			names[x.Series[k].Name] = true
			if sel.Matches(x.Series[k].Name, x.Series[k].Labels) {
				out.series = append(out.series, &x.Series[k])
			}
		}
		if out.series != nil {
			return out, ""
		}
	}
	if names[sel.Name] {
		return nil, fmt.Sprintf(endpoint+" shows %s, but not with these labels: %s", sel.Name, sel)
	}
	return nil, fmt.Sprintf(endpoint+" shows no series %s", sel.Name)
}

func (s *selection) repeat(i int) int {
	if len(s.repeats) == 0 {
		return 0
	}
	return s.repeats[i]
}

// stat returns a statistic of the readings and their number, or why there is none.
func (s *selection) stat(word string) (v float64, n int64, why string) {
	switch word {
	case "increase", "rate":
		return s.increase(word == "rate")
	case "last":
		if len(s.series) > 1 {
			return 0, 0, fmt.Sprintf("%d series match, and `last` is of one: name more labels",
				len(s.series))
		}
	}
	sum, least, most, last := 0.0, math.Inf(1), math.Inf(-1), 0.0
	for _, x := range s.series {
		for i, value := range x.Values {
			if value == nil || !s.use[i] {
				continue
			}
			n, sum, least, most, last = n+1, sum+*value, min(least, *value), max(most, *value), *value
		}
	}
	if n == 0 {
		return 0, 0, "it has had no number yet"
	}
	return map[string]float64{"mean": sum / float64(n), "min": least, "max": most, "last": last}[word], n, ""
}

// increase returns the growth of counters over the readings of each repeat; a counter that
// decreases was reset to 0.
func (s *selection) increase(rate bool) (v float64, n int64, why string) {
	time := 0.0
	for from := 0; from < len(s.at); {
		to := from
		for to < len(s.at) && s.repeat(to) == s.repeat(from) {
			to++
		}
		var used []int
		for i := from; i < to; i++ {
			if s.use[i] {
				used = append(used, i)
			}
		}
		from = to
		if len(used) < 2 {
			continue
		}
		n += int64(len(used))
		time += s.at[used[len(used)-1]] - s.at[used[0]]
		for _, x := range s.series {
			v += counterIncrease(x.Values, used)
		}
	}
	switch {
	case n == 0:
		return 0, 0, "it was read fewer than two times"
	case rate && time <= 0:
		return 0, 0, "no time has passed between its readings"
	case rate:
		return v / time, n, ""
	}
	return v, n, ""
}

func counterIncrease(values []*float64, used []int) (v float64) {
	last := 0.0
	if first := values[used[0]]; first != nil {
		last = *first
	}
	for _, i := range used[1:] {
		if values[i] == nil {
			continue
		}
		now := *values[i]
		if now < last {
			last = 0
		}
		v, last = v+now-last, now
	}
	return v
}
