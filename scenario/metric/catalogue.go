package metric

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Catalogue holds the rows of one program: the table and the series of its targets' servers.
type Catalogue struct {
	rows  []*Row
	index map[string]*Row
}

// New makes a catalogue of the table and extra rows (see SeriesRow). It refuses a row without a
// name, two rows of one name, and a name that is also a statistic of another row: every path must
// have one meaning.
func New(extra ...Row) (*Catalogue, error) {
	c := &Catalogue{index: map[string]*Row{}}
	for _, r := range append(table(), extra...) {
		if err := c.add(r); err != nil {
			return nil, fmt.Errorf("building the metric catalogue: %w", err)
		}
	}
	for _, r := range c.rows {
		if l, ok := c.statistic(r.Name); ok {
			const format = "building the metric catalogue: %q is also a statistic of %q"
			return nil, fmt.Errorf(format, r.Name, l.Row.Name)
		}
	}
	return c, nil
}

func (c *Catalogue) add(r Row) error {
	switch {
	case r.Name == "":
		return fmt.Errorf("a metric has no name")
	case r.Dim == 0 || r.From == 0:
		return fmt.Errorf("metric %q has no dimension or origin", r.Name)
	case c.index[r.Name] != nil:
		return fmt.Errorf("two metrics are named %q", r.Name)
	}
	c.index[r.Name] = &r
	c.rows = append(c.rows, &r)
	return nil
}

// statistic returns the distribution and its statistic that path spells.
func (c *Catalogue) statistic(path string) (Leaf, bool) {
	for i := range path {
		if path[i] != '.' {
			continue
		}
		if r := c.index[path[:i]]; r != nil && r.IsDistribution() {
			if s, _, ok := ParseStat(path[i+1:]); ok && (!s.Adjusted || r.Adjustable()) {
				return Leaf{Row: r, Stat: s}, true
			}
		}
	}
	return Leaf{}, false
}

// Leaf finds the leaf that path names: "errors.ratio", "latency.p99", "latency.p(99.9)",
// "latency.mean". A distribution without a statistic and a value with one are no leaves.
func (c *Catalogue) Leaf(path string) (Leaf, bool) {
	if r := c.index[path]; r != nil {
		return Leaf{Row: r}, !r.IsDistribution()
	}
	return c.statistic(path)
}

// Row finds a row by its name: "latency", "errors.ratio".
func (c *Catalogue) Row(name string) (*Row, bool) {
	r, ok := c.index[name]
	return r, ok
}

// Longest returns the row with the longest name that path is or begins with, up to a dot, and the
// rest of the path: what a mistaken path probably meant. Nil: path begins with no row.
func (c *Catalogue) Longest(path string) (r *Row, rest string) {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if r := c.index[path[:end]]; r != nil {
			return r, strings.TrimPrefix(path[end:], ".")
		}
	}
	return nil, ""
}

// Rows returns all rows in the order of the table, extra ones last. They must not be changed.
func (c *Catalogue) Rows() []*Row { return c.rows }

// Leaves spells the leaves of one row: its name, or its name with each of the usual statistics.
func (r *Row) Leaves() []string {
	if !r.IsDistribution() {
		return []string{r.Name}
	}
	var names []string
	for _, s := range StatNames() {
		names = append(names, r.Name+"."+s)
	}
	return names
}

// IsCalled reports whether another tool calls r so, in any case. A name of vLLM's bench may have any statistic in
// front: median_ttft_ms, p99_tpot_ms.
func (r *Row) IsCalled(name string) bool {
	is := func(name string) bool {
		return slices.ContainsFunc(r.Aliases, func(a string) bool { return strings.EqualFold(a, name) })
	}
	if is(name) {
		return true
	}
	stat, rest, cut := strings.Cut(strings.ToLower(name), "_")
	_, _, known := ParseStat(stat)
	return cut && (known || stat == "median" || stat == "avg") && strings.HasSuffix(rest, "_ms") && is("mean_"+rest)
}

// OfErrors reports whether r counts failed requests, of all classes or of one.
func (r *Row) OfErrors() bool { return strings.HasPrefix(r.Name, "errors.") }

// Summed reports whether a row is read from sums over requests: it is known for a part of a stage
// as for the whole.
func (r *Row) Summed() bool { return r.From == Sample || r.From.Counted() }

// OfPart reports whether a part of a stage, a phase or an entry of its mix, has a row of its own.
func (r *Row) OfPart() bool { return r.Summed() && r.Name != InFlightMax }

// Adjustable reports whether failed requests can be taken for slower than all others: r is a time of whole
// requests, from when they were due or sent.
func (r *Row) Adjustable() bool {
	return r.OutlastedBy() != NoRequest && !r.Some && r.Name != Interactivity
}

// Outlasting says which requests without an outcome a row must count, as they took longer than all others.
type Outlasting uint8

// The requests.
const (
	NoRequest    Outlasting = iota
	SentRequests            // r counts from when they were sent
	DueRequests             // from when they were due, and so those that were never sent too
)

// OutlastedBy returns the requests without an outcome that r must count: of the times of whole requests and
// of what is made of them.
func (r *Row) OutlastedBy() Outlasting {
	switch {
	case r.Name == Interactivity:
		return DueRequests
	case r.From != Sample || r.Dim != Duration:
		return NoRequest
	case r.Bound == Due:
		return DueRequests
	case r.Bound == Sent:
		return SentRequests
	}
	return NoRequest
}

// column returns the unit of the row's column in stages.csv and its size in base units; false where
// the file has none. The unit is part of the column's name, so a number needs no legend.
func (r *Row) column() (unit string, scale float64, ok bool) {
	_, _, usual := r.Dim.words()
	unit, scale = cmp.Or(r.Unit, usual), 1
	switch unit {
	case "ms":
		scale = 1e3
	case "us":
		scale = 1e6
	}
	return unit, scale, !r.NoColumn
}

// Scale returns the factor from the base unit to that of the row's column in stages.csv.
func (r *Row) Scale() float64 {
	_, scale, _ := r.column()
	return scale
}

// Header returns the column of one statistic in stages.csv, with its unit: "latency_p99_ms",
// "throughput_per_s", "errors_count". "" where the row is not in the file.
func (r *Row) Header(s Stat) string {
	unit, _, ok := r.column()
	if !ok {
		return ""
	}
	name := strings.ReplaceAll(r.Name, ".", "_")
	if s.Kind != TheValue {
		name += "_" + s.String()
	}
	if s.Kind == N || unit == "" {
		return name
	}
	return name + "_" + unit
}
