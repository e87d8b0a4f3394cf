package modelanalyzer

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"

	"github.com/sluice-bench/sluice/scenario/source"
)

var (
	notInID   = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
	notInAxis = regexp.MustCompile(`[^A-Za-z0-9_]+`)
	shapeText = regexp.MustCompile(`^[0-9]+(,[0-9]+)*$`)
)

// analyzerMetric returns the metric of Model Analyzer's name for one, and whether large values are better.
func analyzerMetric(name string) (metric string, large, ok bool) {
	switch name {
	case "perf_throughput":
		return "throughput", true, true
	case "perf_latency_avg":
		return "latency.mean", false, true
	case "perf_latency", "perf_latency_p99":
		return "latency.p99", false, true
	case "perf_latency_p90", "perf_latency_p95":
		return "latency." + strings.TrimPrefix(name, "perf_latency_"), false, true
	}
	return "", false, false
}

// best writes the objective and the constraints of a model. A node is no best one of a stage that has no
// other: its constraints are assertions.
func (a *analyzer) best(m analyzedModel, many bool, add func(text, comment string)) {
	where := a.constraints(m)
	if !many {
		if n := a.of(m, "objectives"); n != nil {
			a.warn(n, "`objectives`: the stage of %s has one node, so there is none to rank", m.name)
		}
		if len(where) > 0 {
			add("assert: ["+strings.Join(where, ", ")+"]", "constraints")
		}
		return
	}
	text := "max: throughput"
	if n := a.of(m, "objectives"); n != nil {
		text = a.objective(n)
	}
	switch len(where) {
	case 0:
	case 1:
		text += ", where: " + where[0]
	default:
		text += ", where: [" + strings.Join(where, ", ") + "]"
	}
	add("best: {"+text+"}", "")
}

// objective returns the one with the largest weight; the first of those that are alike.
func (a *analyzer) objective(n *source.Node) string {
	type one struct {
		name   string
		node   *source.Node
		weight float64
	}
	var list []one
	for _, item := range listOf(n) {
		if item.Kind != source.Map {
			list = append(list, one{item.Text, item, 1})
		}
		for _, e := range item.Entries {
			w, err := strconv.ParseFloat(e.Value.Text, 64)
			if err != nil || w <= 0 {
				a.fail(e.Value, "the weight of %s is a number above 0", e.Key)
				continue
			}
			list = append(list, one{e.Key, e.Value, w})
		}
	}
	text, weight, chosen := "max: throughput", 0.0, ""
	for _, o := range list {
		metric, large, ok := analyzerMetric(o.name)
		if !ok {
			a.warn(o.node, "the objective %s has no equal: a plan ranks by throughput or latency", o.name)
			continue
		}
		if o.weight <= weight {
			a.warn(o.node, "a plan ranks by one objective: %s is, and %s is not", chosen, o.name)
			continue
		}
		if chosen != "" {
			a.warn(o.node, "a plan ranks by one objective: %s is, and %s is not", o.name, chosen)
		}
		word := "min: "
		if large {
			word = "max: "
		}
		text, weight, chosen = word+metric, o.weight, o.name
	}
	return text
}

// constraints returns the conditions of a model.
func (a *analyzer) constraints(m analyzedModel) (list []string) {
	if n := a.root.Get("latency_budget"); n != nil {
		list = append(list, a.condition(n, "latency.p99 <= ", n, "ms")...)
	}
	if n := a.root.Get("min_throughput"); n != nil {
		list = append(list, a.condition(n, "throughput >= ", n, "/s")...)
	}
	n := a.of(m, "constraints")
	if n == nil {
		return list
	}
	for _, one := range listOf(n) {
		if one.Kind != source.Map {
			a.fail(one, "a constraint is a metric with its max or min, as perf_latency_p99: {max: 100}")
		}
		for _, e := range one.Entries {
			list = append(list, a.constraint(e)...)
		}
	}
	return list
}

// constraint returns the conditions of one metric.
func (a *analyzer) constraint(e source.Entry) (list []string) {
	metric, large, ok := analyzerMetric(e.Key)
	if !ok {
		a.warn(e.Value, "the constraint %s has no equal in a plan", e.Key)
		return nil
	}
	unit := "ms"
	if large {
		unit = "/s"
	}
	if e.Value.Kind != source.Map || len(e.Value.Entries) == 0 {
		a.fail(e.Value, "the constraint %s has a max or a min", e.Key)
		return nil
	}
	for _, bound := range e.Value.Entries {
		sign := map[string]string{"max": " <= ", "min": " >= "}[bound.Key]
		if sign == "" {
			a.fail(bound.Value, "a constraint has max and min, not %q", bound.Key)
			continue
		}
		list = append(list, a.condition(bound.Value, metric+sign, bound.Value, unit)...)
	}
	return list
}

// condition writes a condition with a number and its unit; none without the number.
func (a *analyzer) condition(at *source.Node, text string, n *source.Node, unit string) []string {
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || v < 0 || v > 1e12 {
		a.fail(at, "%q is no limit", n.Text)
		return nil
	}
	return []string{text + plantext.Decimal(v) + unit}
}
