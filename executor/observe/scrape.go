package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	neturl "net/url"
	"path"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Sample is one line of a Prometheus endpoint: a series and its value, which may be NaN or
// infinite.
type Sample struct {
	Series Series
	V      float64
}

// Series identifies a line of a Prometheus endpoint.
type Series struct {
	Name   string // also NAME_bucket, NAME_sum and NAME_count of histograms and summaries
	Type   string // counter gauge summary histogram untyped
	Labels []Label
}

// Label is one label of a series, whose labels are in the order of their names.
type Label struct{ Name, Value string }

// String formats a series as Prometheus does: name{label="value"}.
func (s Series) String() string {
	if len(s.Labels) == 0 {
		return s.Name
	}
	var b strings.Builder
	b.WriteString(s.Name + "{")
	for i, l := range s.Labels {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "%s=%q", l.Name, l.Value)
	}
	return b.String() + "}"
}

// maxScrape limits the bytes of one answer.
const maxScrape = 16 << 20

// Kept says which series of an endpoint are kept: those with a name, of any version of the server, that one
// of the patterns of Match is for (* matches any text), and of Labels each value or no such label.
type Kept struct {
	Match  []string
	Labels []Label
}

// Scrape reads a Prometheus endpoint once, in the text format, and returns the series to be kept. An answer
// with a syntax error is an error as a whole. Headers go to the URL alone, not to where it redirects.
func Scrape(
	ctx context.Context, client *http.Client, url string, headers []backends.Header, kept Kept,
) ([]Sample, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, errors.New("the URL of the metrics endpoint cannot be read")
	}
	for _, h := range headers {
		req.Header.Add(h.Name, h.Value)
	}
	req.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	if len(headers) > 0 {
		once := *client
		once.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		client = &once
	}
	resp, err := client.Do(req)
	if err != nil {
		if wrapped := (*neturl.Error)(nil); errors.As(err, &wrapped) { // which holds the whole URL
			err = wrapped.Err
		}
		return nil, fmt.Errorf("GET %s: %w", ShownURL(url), err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: status %d", ShownURL(url), resp.StatusCode)
	}
	body := &io.LimitedReader{R: resp.Body, N: maxScrape}
	samples, err := parse(body, kept)
	if body.N == 0 {
		err = fmt.Errorf("the answer is over %d MiB", maxScrape>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", ShownURL(url), err)
	}
	return samples, nil
}

// ShownURL returns an endpoint as it is shown: without a user, a query and a fragment, which may hold keys.
func ShownURL(text string) string {
	u, err := neturl.Parse(text)
	if err != nil {
		return ""
	}
	return (&neturl.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// parse reads the text format.
func parse(r io.Reader, kept Kept) (list []Sample, err error) {
	defer func() {
		if p := recover(); p != nil { // third-party parser, input of a server
			list, err = nil, fmt.Errorf("it is not in Prometheus' text format: %v", p)
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil {
		return nil, fmt.Errorf("it is not in Prometheus' text format: %w", err)
	}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			for _, s := range expand(name, f.GetType(), m) {
				if kept.keeps(s.Series) {
					list = append(list, s)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b Sample) int {
		return strings.Compare(a.Series.String(), b.Series.String())
	})
	return list, nil
}

// expand returns the lines of one metric of a family.
func expand(name string, t dto.MetricType, m *dto.Metric) []Sample {
	var labels []Label
	for _, l := range m.GetLabel() {
		labels = append(labels, Label{l.GetName(), l.GetValue()})
	}
	word := strings.ToLower(t.String())
	line := func(suffix string, v float64, more ...Label) Sample {
		all := slices.Concat(labels, more)
		slices.SortFunc(all, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
		return Sample{Series{Name: name + suffix, Type: word, Labels: all}, v}
	}
	totals := func(sum float64, count uint64) []Sample {
		return []Sample{line("_sum", sum), line("_count", float64(count))}
	}
	switch {
	case m.Counter != nil:
		return []Sample{line("", m.Counter.GetValue())}
	case m.Gauge != nil:
		return []Sample{line("", m.Gauge.GetValue())}
	case m.Untyped != nil:
		return []Sample{line("", m.Untyped.GetValue())}
	case m.Summary != nil:
		list := totals(m.Summary.GetSampleSum(), m.Summary.GetSampleCount())
		for _, q := range m.Summary.GetQuantile() {
			list = append(list, line("", q.GetValue(), Label{"quantile", fmt.Sprint(q.GetQuantile())}))
		}
		return list
	case m.Histogram != nil:
		list := totals(m.Histogram.GetSampleSum(), m.Histogram.GetSampleCount())
		for _, b := range m.Histogram.GetBucket() {
			list = append(list, line("_bucket", float64(b.GetCumulativeCount()),
				Label{"le", fmt.Sprint(b.GetUpperBound())}))
		}
		return list
	}
	return nil
}

// keeps reports whether a series is kept.
func (k Kept) keeps(s Series) bool {
	for _, want := range k.Labels {
		for _, l := range s.Labels {
			if l.Name == want.Name && l.Value != want.Value {
				return false
			}
		}
	}
	return matches(s.Name, k.Match) || slices.ContainsFunc(metric.SeriesNames(s.Name), func(name string) bool { return matches(name, k.Match) })
}

// matches reports whether a name matches one of the patterns, in which only * is special.
func matches(name string, match []string) bool {
	return slices.ContainsFunc(match, func(pattern string) bool {
		ok, err := path.Match(strings.NewReplacer(`\`, `\\`, `?`, `\?`, `[`, `\[`).Replace(pattern), name)
		return err == nil && ok
	})
}
