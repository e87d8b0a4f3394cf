package observe

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
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

// Scrape reads a Prometheus endpoint once, in the text format, and returns the series whose names
// match one of the patterns (* matches any text). An answer with a syntax error is an error as a
// whole.
func Scrape(ctx context.Context, client *http.Client, url string, match []string) ([]Sample, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: status %d", url, resp.StatusCode)
	}
	body := &io.LimitedReader{R: resp.Body, N: maxScrape}
	samples, err := parse(body, match)
	if body.N == 0 {
		err = fmt.Errorf("the answer is over %d MiB", maxScrape>>20)
	}
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", url, err)
	}
	return samples, nil
}

// parse reads the text format.
func parse(r io.Reader, match []string) (list []Sample, err error) {
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
				if matches(s.Series.Name, match) {
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
	switch {
	case m.Counter != nil:
		return []Sample{line("", m.Counter.GetValue())}
	case m.Gauge != nil:
		return []Sample{line("", m.Gauge.GetValue())}
	case m.Untyped != nil:
		return []Sample{line("", m.Untyped.GetValue())}
	case m.Summary != nil:
		list := []Sample{
			line("_sum", m.Summary.GetSampleSum()),
			line("_count", float64(m.Summary.GetSampleCount())),
		}
		for _, q := range m.Summary.GetQuantile() {
			list = append(list, line("", q.GetValue(), Label{"quantile", fmt.Sprint(q.GetQuantile())}))
		}
		return list
	case m.Histogram != nil:
		list := []Sample{
			line("_sum", m.Histogram.GetSampleSum()),
			line("_count", float64(m.Histogram.GetSampleCount())),
		}
		for _, b := range m.Histogram.GetBucket() {
			list = append(list, line("_bucket", float64(b.GetCumulativeCount()),
				Label{"le", fmt.Sprint(b.GetUpperBound())}))
		}
		return list
	}
	return nil
}

// matches reports whether a name matches one of the patterns, in which only * is special.
func matches(name string, match []string) bool {
	return slices.ContainsFunc(match, func(pattern string) bool {
		ok, err := path.Match(strings.NewReplacer(`\`, `\\`, `?`, `\?`, `[`, `\[`).Replace(pattern), name)
		return err == nil && ok
	})
}
