package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/result"
)

// called is a model that a stage's own model calls: as its configuration says, or as the plan does of what it calls from
// its own code.
type called struct {
	name    string
	version string // "": all together
	only    string // the version that is served where all are read together, if it is one
	by      string // the model that calls it
	read    counters
}

// callTree finds the models that an entry's model calls, and those that they call, each once under its first caller, as far
// as their counters can be read; then those that the plan names. What the plan names must be there.
func (r *runner) callTree(ctx context.Context, e *entry, t *target) (list []called, note string, err error) {
	o, ok := t.conn.(backends.Observer)
	if !ok || t.plan.Statistics == "none" {
		return nil, "", nil
	}
	known := func(model, version string) bool {
		return slices.ContainsFunc(list, func(c called) bool { return c.name == model && (c.version == version || version == "") })
	}
	add := func(model, version, by string) error {
		c := called{name: model, version: version, by: by, read: func(ctx context.Context, into []int64) (int64, error) {
			return o.Stats(ctx, model, version, into)
		}}
		ctx, cancel := context.WithTimeout(ctx, t.plan.Timeout)
		defer cancel()
		if _, err := c.read(ctx, make([]int64, len(t.kind.Series))); err != nil {
			return err
		}
		if sig, err := r.describe(ctx, t, model); err == nil { // else its numbers are known all the same
			c.only = sig.Version
		}
		list = append(list, c)
		return nil
	}
	var walk func(sig *backends.Signature) error
	walk = func(sig *backends.Signature) error {
		var errs []error
		for _, c := range sig.Calls {
			if known(c.Model, c.Version) {
				continue
			}
			if err := add(c.Model, c.Version, sig.Model); err != nil {
				errs = append(errs, err)
				continue
			}
			child, err := r.describe(ctx, t, c.Model)
			errs = append(errs, err, walk(&child))
		}
		return errors.Join(errs...)
	}
	if err := walk(&e.sig); err != nil {
		note = err.Error()
	}
	for _, text := range t.plan.Composing {
		model, version, _ := strings.Cut(text, ":")
		if known(model, version) {
			continue
		}
		if err := add(model, version, e.sig.Model); err != nil {
			return list, note, fmt.Errorf("composing model %s: %w", text, err)
		}
	}
	return list, note, nil
}

// tally is what a server counted at one moment: of a stage's own models together, then of each that they call.
type tally []observe.Snapshot

// count takes a snapshot of everything.
func (in *inputs) count(ctx context.Context) (tally, error) {
	own, err := observe.Take(ctx, len(in.series), in.stats)
	if err != nil {
		return nil, err
	}
	all := tally{own}
	for _, c := range in.called {
		s, err := observe.Take(ctx, len(in.series), c.read)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// same reports whether nothing was counted between two moments.
func (c tally) same(o tally) bool {
	return slices.EqualFunc(c, o, func(a, b observe.Snapshot) bool { return slices.Equal(a.Values, b.Values) })
}

// models are the numbers of the models that are called, in the order of the calls.
func (m *readings) models() (list []result.Model) {
	for i, c := range m.called {
		if len(m.began) <= i+1 || len(m.ended) <= i+1 {
			return nil
		}
		out := result.Model{Name: c.name, Version: cmp.Or(c.version, c.only), CalledBy: c.by, Metrics: map[string]*result.Metric{}}
		for _, g := range observe.Growth(m.counted, m.began[i+1], m.ended[i+1]) {
			out.Metrics[g.Row.Name] = result.Scalar(&g.Row, g.V, g.OK)
		}
		own, of := m.grown(0, seriesRequests), m.grown(i+1, seriesRequests)
		if own > 0 && of >= 0 {
			calls := float64(of) / float64(own)
			out.Calls = &calls
		}
		list = append(list, out)
	}
	return list
}

// seriesRequests is the series that tally the requests of a model.
const seriesRequests = "requests"

// grown is by how much a series of the i-th model grew; -1: that is not known.
func (m *readings) grown(i int, series string) int64 {
	at := slices.IndexFunc(m.counted, func(s backends.Series) bool { return s.Name == series })
	if at < 0 || len(m.began[i].Values) <= at || len(m.ended[i].Values) <= at {
		return -1
	}
	return m.ended[i].Values[at] - m.began[i].Values[at]
}
