package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Metric is the measurement of one catalogue row: a distribution if Count is set, else a value. Nil
// pointers mean no data.
//
// In JSON it is flat:
// {"unit":"s","count":3,"min":…,"mean":…,"std":…,"p50":…,"p99.9":…,"max":…,"distribution":{…}} or
// {"unit":"1/s","value":199.6}. The members are in this order, percentiles ascending; null means no
// data.
type Metric struct {
	Unit string `json:"unit"`
	// Source says what counted the tokens that the metric is made of; "" for other metrics.
	Source string   `json:"source,omitempty"`
	Value  *float64 `json:"value"`

	Count       *int64              `json:"count"`
	Min         *float64            `json:"min"`
	Mean        *float64            `json:"mean"`
	Std         *float64            `json:"std"`
	Max         *float64            `json:"max"`
	Percentiles map[string]*float64 `json:"-"`            // "p50", "p99.9"
	Dist        *stats.Dist         `json:"distribution"` // integers: ns where Unit is s, else Unit itself

	Parts *Parts `json:"parts,omitempty"` // nil: no assertion with a confidence reads the metric

	// Low and High hold what the metric is at least and at most, where this client was late or stood
	// still: a client on time would have measured something between them. Nil: it is exact.
	Low  *Metric `json:"low,omitempty"`
	High *Metric `json:"high,omitempty"`
}

// SetBounds sets Low and High unless both are like m.
func (m *Metric) SetBounds(low, high *Metric) {
	if !m.like(low) || !m.like(high) {
		m.Low, m.High = low, high
	}
}

// like reports whether two metrics have the same numbers.
func (m *Metric) like(o *Metric) bool {
	for s := metric.TheValue; s <= metric.N; s++ {
		if s == metric.Percentile {
			continue // equal where the others are
		}
		a, known := m.Stat(metric.Stat{Kind: s})
		b, too := o.Stat(metric.Stat{Kind: s})
		if known != too || a != b {
			return false
		}
	}
	return true
}

// Scalar returns a measured value of row; with ok false it has no data.
func Scalar(row *metric.Row, v float64, ok bool) *Metric {
	m := &Metric{Unit: row.Dim.Unit()}
	if ok {
		m.Value = finite(v)
	}
	return m
}

// Number returns a known value of a dimension.
func Number(d metric.Dim, v float64) *Metric { return &Metric{Unit: d.Unit(), Value: finite(v)} }

// Distribution returns a measured distribution of row with the given percentiles. It keeps d, which
// must not change afterwards.
func Distribution(row *metric.Row, d *stats.Dist, percentiles []float64) *Metric {
	n := d.N()
	m := &Metric{Unit: row.Dim.Unit(), Count: &n, Percentiles: map[string]*float64{}, Dist: d}
	if n > 0 {
		unit := m.perUnit()
		m.Min, m.Max = finite(float64(d.Min())/unit), finite(float64(d.Max())/unit)
		m.Mean, m.Std = finite(d.Mean()/unit), finite(d.Std()/unit)
	}
	for _, p := range percentiles {
		s := metric.Stat{Kind: metric.Percentile, P: p}
		m.Percentiles[s.String()] = nil
		if v, ok := m.Stat(s); ok {
			m.Percentiles[s.String()] = &v
		}
	}
	return m
}

// finite returns v, or nil if JSON has no number for it.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Stat returns one statistic of m in its base unit, false without data. With Dist a distribution
// has any percentile, else only those of its members.
func (m *Metric) Stat(s metric.Stat) (float64, bool) {
	if m == nil {
		return 0, false
	}
	var v *float64
	switch s.Kind {
	case metric.TheValue:
		v = m.Value
	case metric.Percentile:
		if m.Dist != nil {
			rank, ok := m.Dist.Rank(s.P)
			return float64(rank) / m.perUnit(), ok
		}
		v = m.Percentiles[s.String()]
	case metric.Mean:
		v = m.Mean
	case metric.Min:
		v = m.Min
	case metric.Max:
		v = m.Max
	case metric.Std:
		v = m.Std
	case metric.N:
		if m.Count != nil {
			v = finite(float64(*m.Count))
		}
	}
	if v == nil {
		return 0, false
	}
	return *v, true
}

// perUnit returns the number of Dist's integers in one Unit.
func (m *Metric) perUnit() float64 {
	if m.Unit == metric.Duration.Unit() {
		return 1e9
	}
	return 1
}

// MarshalJSON encodes the flat form.
func (m *Metric) MarshalJSON() ([]byte, error) {
	w := members{}
	w.add("unit", m.Unit)
	if m.Source != "" {
		w.add("source", m.Source)
	}
	if m.Count == nil {
		w.add("value", m.Value)
		return w.closeBounded(m)
	}
	w.add("count", m.Count)
	w.add("min", m.Min)
	w.add("mean", m.Mean)
	w.add("std", m.Std)
	for _, name := range m.percentileNames() {
		w.add(name, m.Percentiles[name])
	}
	w.add("max", m.Max)
	if m.Dist != nil {
		w.add("distribution", m.Dist)
	}
	return w.closeBounded(m)
}

// closeBounded ends a metric with its parts and its bounds.
func (w *members) closeBounded(m *Metric) ([]byte, error) {
	if m.Parts != nil {
		w.add("parts", m.Parts)
	}
	if m.Low != nil && m.High != nil {
		w.add("low", m.Low)
		w.add("high", m.High)
	}
	return w.close()
}

// percentileNames returns the names of the percentiles in ascending order.
func (m *Metric) percentileNames() []string {
	return slices.SortedFunc(maps.Keys(m.Percentiles), func(x, y string) int {
		a, _ := percentile(x)
		b, _ := percentile(y)
		return cmp.Or(cmp.Compare(a, b), strings.Compare(x, y))
	})
}

// percentile parses a member's name as a percentile: "p99.9".
func percentile(name string) (float64, bool) {
	s, _, ok := metric.ParseStat(name)
	return s.P, ok && s.Kind == metric.Percentile && !s.Adjusted
}

// members writes an object member by member.
type members struct {
	buf bytes.Buffer
	err error
}

func (w *members) add(name string, v any) {
	text, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("write %s: %w", name, err)
	}
	before := ","
	if w.buf.Len() == 0 {
		before = "{"
	}
	fmt.Fprintf(&w.buf, "%s%q:%s", before, name, text)
}

func (w *members) close() ([]byte, error) {
	w.buf.WriteByte('}')
	return w.buf.Bytes(), w.err
}

// UnmarshalJSON decodes the flat form. It ignores unknown members.
func (m *Metric) UnmarshalJSON(text []byte) error {
	type plain Metric
	*m = Metric{}
	if err := json.Unmarshal(text, (*plain)(m)); err != nil {
		return err
	}
	if m.Count == nil {
		return nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	m.Percentiles = map[string]*float64{}
	for name, raw := range all {
		if _, ok := percentile(name); !ok {
			continue
		}
		var v *float64
		if err := json.Unmarshal(raw, &v); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		m.Percentiles[name] = v
	}
	return nil
}
