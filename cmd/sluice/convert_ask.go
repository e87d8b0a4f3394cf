package main

import (
	"context"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/scenario/convert"
)

// askModel asks the server of a command line what perf_analyzer asks it first: whether the model keeps sequences, and which of
// its inputs hold texts. Nil without an error: the command line has mistakes, or its kind of server is not asked.
func (a *app) askModel(ctx context.Context, o convert.Options) (*convert.Model, error) {
	o.Dir = "" // read here, wherever the plan goes
	first, _ := convert.PerfAnalyzer(o)
	if first.Plan == "" {
		return nil, nil
	}
	program, _ := a.load(convertedPlan, overrides{text: []byte(first.Plan)})
	if program == nil {
		return nil, nil
	}
	t := program.Plan.Targets[0]
	kinds := all.Kinds()
	at := slices.IndexFunc(kinds, func(k backends.Kind) bool { return k.Name == t.Backend })
	if at < 0 || kinds[at].Open == nil || t.Model == "" || strings.HasPrefix(t.URL, "builtin://") {
		return nil, nil
	}
	sig, err := ask(ctx, &kinds[at], executor.TargetOf(&kinds[at], t))
	if err != nil {
		return nil, err
	}
	m := &convert.Model{Sequences: sig.Sequence > backends.NoSequences}
	for _, in := range sig.Inputs {
		m.Inputs = append(m.Inputs, convert.Input{Name: in.Name, Text: in.Type == backends.Bytes})
	}
	return m, nil
}
