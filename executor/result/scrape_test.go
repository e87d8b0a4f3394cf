package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// scrapeOf reads an endpoint from text: a line of times, in brackets those outside of what is reported, then a
// line for each series, with - for no value.
func scrapeOf(t *testing.T, target, text string, edges ...ScrapeEdge) Scrape {
	t.Helper()
	x := Scrape{Target: target, Edges: edges}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		if i > 0 {
			name, label, _ := strings.Cut(words[0], "/")
			x.Series = append(x.Series, Scraped{Name: name, Labels: map[string]string{"l": label}})
			words = words[1:]
		}
		for _, w := range words {
			bare := strings.Trim(w, "()")
			v, err := strconv.ParseFloat(bare, 64)
			if err != nil && w != "-" {
				t.Fatal(err)
			}
			switch {
			case i == 0:
				x.At, x.Outside = append(x.At, v), append(x.Outside, bare != w)
			case w == "-":
				x.Series[i-1].Values = append(x.Series[i-1].Values, nil)
			default:
				x.Series[i-1].Values = append(x.Series[i-1].Values, &v)
			}
		}
	}
	return x
}

// TestScrapeStatistics: what counters were at the edges lies on the line between two readings, gauges have
// the readings within alone, resets and series that appear later are counted, old names are known, and all
// endpoints of a target count together.
func TestScrapeStatistics(t *testing.T) {
	whole := scrapeOf(t, "a", `
-1  1  2  3   5.5
c/x  10 12 14 16  20
c/y  -  1  1  0   4
g/x  9  1  2  3   4
vllm:gpu_cache_usage_perc/x  0.1 0.2 0.3 0.4 0.5
vllm:num_preemptions/x 1 1 2 2 3
`, ScrapeEdge{From: 0, To: 5})
	cut := scrapeOf(t, "a", `
(1)  2  4  (8)
c/x  10 20 40  80
g/x  9  1  2   70
`, ScrapeEdge{From: 1.5, To: 6})
	other := scrapeOf(t, "a", `
0 5
c/x 100 105
`, ScrapeEdge{From: 0, To: 5})
	beside := scrapeOf(t, "b", `
0 5
c/x 1000 9000
`, ScrapeEdge{From: 0, To: 5})
	for _, c := range []struct {
		of      []Scrape
		what    string
		window  *seriesTime
		want    float64
		because string
	}{
		// the reading before hold is that of its start, the last one that of its end
		{of: []Scrape{whole}, what: "c{l='x'} increase", want: 10},
		{of: []Scrape{whole}, what: "c{l='x'} rate", want: 2},
		{of: []Scrape{whole}, what: "c{l='y'} increase", want: 5}, // 0, 1, reset, 4
		{of: []Scrape{whole}, what: "c increase", want: 15},
		{of: []Scrape{whole}, what: "g max", want: 9},
		{of: []Scrape{whole}, what: "g last", want: 4},
		{of: []Scrape{whole}, what: "c last", because: "2 series match"},
		{of: []Scrape{whole}, what: "h last", because: "shows no series h"},
		{of: []Scrape{whole}, what: "g{l='z'} last", because: "not with these labels"},
		// by the names of other versions of the server
		{of: []Scrape{whole}, what: "vllm:kv_cache_usage_perc max", want: 0.5},
		{of: []Scrape{whole}, what: "vllm:num_preemptions_total increase", want: 2},
		// windows
		{of: []Scrape{whole}, what: "c{l='x'} increase", window: &seriesTime{0, 1, 2}, want: 2},
		{of: []Scrape{whole}, what: "c{l='x'} increase", window: &seriesTime{0, 1.5, 2.5}, want: 2},
		{of: []Scrape{whole}, what: "c{l='x'} increase", window: &seriesTime{0, 1.25, 1.75}, want: 1},
		{of: []Scrape{whole}, what: "c{l='x'} rate", window: &seriesTime{0, 4, 5}, want: 2},
		{of: []Scrape{whole}, what: "g max", window: &seriesTime{0, 1.5, 2.5}, want: 2},
		{of: []Scrape{whole}, what: "g max", window: &seriesTime{0, 1.25, 1.75}, because: "no number"},
		{of: []Scrape{whole}, what: "c increase", window: &seriesTime{1, 0, 2}, because: "fewer than two"},
		// a part of hold
		{of: []Scrape{cut}, what: "c increase", want: 45},
		{of: []Scrape{cut}, what: "c rate", want: 10},
		{of: []Scrape{cut}, what: "g max", want: 2},
		{of: []Scrape{cut}, what: "g mean", want: 1.5},
		// several endpoints of one target, and another target that has the series too
		{of: []Scrape{whole, other, beside}, what: "c{l='x'} increase", want: 15},
		{of: []Scrape{whole, other, beside}, what: "c{l='x'} rate", want: 3},
	} {
		selector, stat, _ := strings.Cut(c.what, " ")
		name, labels, _ := strings.Cut(selector, "{")
		sel := expression.Selector{Name: name, Stat: stat}
		if l, ok := strings.CutPrefix(labels, "l='"); ok {
			sel.Labels = map[string]string{"l": strings.TrimSuffix(l, "'}")}
		}
		n := &Node{Scrapes: c.of}
		list, why := n.selectSeries(sel)
		for i := range list {
			list[i].window = c.window
		}
		got, samples := 0.0, int64(0)
		if why == "" {
			got, samples, why = statOf(list, stat)
		}
		if math.Abs(got-c.want) > 1e-9 || (c.because == "") != (why == "") || !strings.Contains(why, c.because) {
			t.Errorf("%s of %d in %+v: %v of %d readings, %q; want %v, %q", c.what, len(c.of), c.window, got, samples,
				why, c.want, c.because)
		}
	}
}

// TestScrapeIntegral: energy is the integral of power within what is reported.
func TestScrapeIntegral(t *testing.T) {
	x := scrapeOf(t, "a", `
(0) 2 4 (6)
power/x 100 100 300 300
power/y - 10 10 10
`, ScrapeEdge{From: 1, To: 5})
	// 100 + 400 + 300, and 20 + 10
	v, ok := x.Integral(func(s *Scraped) bool { return s.Name == "power" })
	if !ok || math.Abs(v-830) > 1e-9 {
		t.Errorf("%v, %t", v, ok)
	}
	if _, ok = x.Integral(func(s *Scraped) bool { return s.Name == "no" }); ok {
		t.Error("a series that is not shown has an integral")
	}
}

// TestSeriesNames: the given name comes first, then those of other versions of the server.
func TestSeriesNames(t *testing.T) {
	for name, want := range map[string]string{
		"x": "[x x_total]", "x_total": "[x_total x]", "x_sum": "[x_sum]",
		"vllm:gpu_cache_usage_perc": "[vllm:gpu_cache_usage_perc vllm:gpu_cache_usage_perc_total " +
			"vllm:kv_cache_usage_perc vllm:kv_cache_usage_perc_total]",
		"vllm:time_per_output_token_seconds_sum": "[vllm:time_per_output_token_seconds_sum " +
			"vllm:inter_token_latency_seconds_sum]",
		"vllm:prefix_cache_hits_total": "[vllm:prefix_cache_hits_total vllm:prefix_cache_hits " +
			"vllm:gpu_prefix_cache_hits_total vllm:gpu_prefix_cache_hits]",
	} {
		if got := fmt.Sprint(metric.SeriesNames(name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
