package main

import (
	"context"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario/convert"
)

// askModel asks the server of a command line what perf_analyzer asks first: whether the model keeps
// sequences, and which inputs are texts. It returns nil without an error if the command line has
// mistakes or its kind of server is not asked.
func (a *app) askModel(ctx context.Context, o convert.Options) (*convert.Model, error) {
	o.Dir = "" // paths are read in this folder
	first, _ := convert.PerfAnalyzer(o)
	if first.Plan == "" {
		return nil, nil
	}
	a.env = withSecrets(a.env, first.Secrets)
	compiled, _ := a.load(convertedPlan, overrides{name: convertedPlan, text: []byte(first.Plan)})
	if compiled == nil {
		return nil, nil
	}
	t := compiled.Plan.Targets[0]
	kind := backendKind(t.Backend)
	if kind == nil || kind.Open == nil || t.Model == "" || strings.HasPrefix(t.URL, "builtin://") {
		return nil, nil
	}
	target := program.TargetOf(kind, t)
	sig, err := describeModel(ctx, kind, target)
	if err != nil {
		return nil, err
	}
	m := &convert.Model{Alone: sig.Sequence == backends.NoSequences}
	for _, in := range sig.Inputs {
		m.Inputs = append(m.Inputs, convert.Input{Name: in.Name, Text: in.Type == tensor.Bytes})
	}
	m.Sequences, err = keepsSequences(ctx, kind, target, sig, map[string]bool{})
	return m, err
}

// keepsSequences reports whether a model keeps sequences, or a model that it calls by its configuration.
func keepsSequences(
	ctx context.Context, kind *backends.Kind, t backends.Target, sig backends.Signature, seen map[string]bool,
) (bool, error) {
	if sig.Sequence > backends.NoSequences {
		return true, nil
	}
	for _, c := range sig.Calls {
		if seen[c.Model] {
			continue
		}
		seen[c.Model] = true
		t.Model, t.ModelVersion = c.Model, c.Version
		child, err := describeModel(ctx, kind, t)
		if err != nil {
			return false, err
		}
		if keeps, err := keepsSequences(ctx, kind, t, child, seen); keeps || err != nil {
			return keeps, err
		}
	}
	return false, nil
}
