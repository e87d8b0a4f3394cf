package executor

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
)

// adjust makes the settings of a server those that the plan asks for, until the end of the run.
func (su *setup) adjust(t *target) error {
	for _, g := range []struct {
		group  backends.Settings
		values []backends.Parameter
	}{
		{backends.TraceSettings, traceSettings(t.Plan.Trace)},
		{backends.LogSettings, logSettings(t.Plan.Log)},
	} {
		if g.values == nil {
			continue
		}
		a, ok := t.Conn.(backends.Adjuster)
		if !ok {
			return fmt.Errorf("backend %s has no %s settings", t.Kind.Name, g.group)
		}
		ctx, cancel := context.WithTimeout(su.stops.waiting, t.Plan.Timeout)
		before, err := a.Adjust(ctx, g.group, g.values)
		cancel()
		if err != nil {
			return err
		}
		slices.Reverse(before) // what was switched on last is switched off first
		what := fmt.Sprintf("restore the %s settings of target %s", g.group, t.Plan.Name)
		su.clean.push(what, func(ctx context.Context) error {
			_, err := a.Adjust(ctx, g.group, before)
			return err
		})
	}
	return nil
}

// traceSettings returns the settings of a trace in the words of Triton's trace extension, where
// numbers are text.
func traceSettings(t *scenario.Trace) []backends.Parameter {
	if t == nil {
		return nil
	}
	levels := t.Level
	if levels == nil {
		levels = []string{"TIMESTAMPS"}
	}
	number := func(name string, n int64) backends.Parameter {
		return backends.Parameter{Name: name, Value: strconv.FormatInt(n, 10)}
	}
	return []backends.Parameter{
		{Name: "trace_level", Value: levels},
		number("trace_rate", t.Rate), number("trace_count", t.Count), number("log_frequency", t.LogFrequency),
	}
}

// logSettings returns the settings of a log in the words of Triton's logging extension.
func logSettings(l *scenario.Log) (list []backends.Parameter) {
	if l == nil {
		return nil
	}
	flag := func(name string, v *bool) {
		if v != nil {
			list = append(list, backends.Parameter{Name: name, Value: *v})
		}
	}
	flag("log_info", l.Info)
	flag("log_warning", l.Warning)
	flag("log_error", l.Error)
	if l.Verbose != nil {
		list = append(list, backends.Parameter{Name: "log_verbose_level", Value: *l.Verbose})
	}
	if l.Format != "" {
		list = append(list, backends.Parameter{Name: "log_format", Value: l.Format})
	}
	return list
}
