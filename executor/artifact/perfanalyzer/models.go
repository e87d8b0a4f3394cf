package perfanalyzer

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// ensembled returns n with the queue time of an ensemble's models added to its own: the server counts
// what they compute as the ensemble's, but not their queues. This also distinguishes an ensemble from a
// model that calls others from its own code, whose computing includes their time; such a node is
// returned unchanged.
func ensembled(n *result.Node) *result.Node {
	var queue float64
	sums := map[string]float64{}
	for i := range n.Models {
		m := &n.Models[i]
		calls := func(o result.Model) bool { return o.CalledBy == m.Name }
		if m.Calls == nil || slices.ContainsFunc(n.Models, calls) {
			continue // what it calls is counted
		}
		one := called(n, m)
		queue += *m.Calls * means(one, metricQueue)
		for _, part := range []string{metricInput, metricInfer, metricOutput} {
			sums[part] += *m.Calls * means(one, part)
		}
	}
	const near, least = 0.1, 3e-6 // of the two sums; s, where both are small
	for part, sum := range sums {
		if math.Abs(means(n, part)-sum) > max(near*sum, least) {
			return n
		}
	}
	if queue == 0 {
		return n
	}
	return with(n, metricQueue, result.Number(metric.Duration, means(n, metricQueue)+queue))
}

// with returns a copy of n with one metric replaced.
func with(n *result.Node, name string, m *result.Metric) *result.Node {
	one := *n
	one.Metrics = map[string]*result.Metric{}
	maps.Copy(one.Metrics, n.Metrics)
	one.Metrics[name] = m
	return &one
}

// called returns a model that n's own calls as a node of its own, with the server's numbers.
func called(n *result.Node, m *result.Model) *result.Node {
	return &result.Node{
		ID: m.Name, Load: n.Load, Outcome: n.Outcome, Metrics: m.Metrics, Duration: n.Duration,
	}
}

// modelName names the table of a model as perf_analyzer does: NAME_vVERSION.
func modelName(m *result.Model) string {
	if m.Version == "" {
		return m.Name
	}
	return m.Name + "_v" + m.Version
}

// modelTables returns a table for each model that the nodes' own call, in the order of their first calls.
// suffix is the name of the nodes' own table.
func modelTables(mode, suffix string, nodes []*result.Node) (files []Table, err error) {
	var models groups
	for _, n := range nodes {
		for i := range n.Models {
			m := &n.Models[i]
			models.add(modelName(m), modelRow(n, m))
		}
	}
	for _, g := range models {
		data, err := write(modelColumns(mode, g.nodes), g.nodes)
		if err != nil {
			return files, err
		}
		files = append(files, Table{fileName(g.name) + "." + suffix + ".csv", data})
	}
	return files, nil
}

// fileName returns a model's name without characters that a file's name cannot hold.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == 0 {
			return '_'
		}
		return r
	}, strings.TrimLeft(clean.Line(name), "."))
}

// modelRow returns a model as a node, with the rate of its calls as throughput.
func modelRow(n *result.Node, m *result.Model) *result.Node {
	rate := 0.0
	if m.Calls != nil {
		rate = *m.Calls * value(n, metric.Throughput)
	}
	return with(called(n, m), metric.Throughput, result.Number(metric.Rate, rate))
}

// modelColumns returns the columns of a model that others call: the client has no part in it, and its
// network time is the server's besides queue and computing.
func modelColumns(mode string, nodes []*result.Node) []column {
	var columns []column
	for _, c := range nodeColumns(mode, nodes, nil) {
		switch c.name {
		case "Client Send", "Client Recv":
			c.of = func(*result.Node) string { return "0" }
		case "Network+Server Send/Recv":
			c.of = func(n *result.Node) string { return micros(beside(n)) }
		case "Response Throughput":
			continue
		}
		if !strings.HasSuffix(c.name, " latency") {
			columns = append(columns, c)
		}
	}
	return columns
}

// beside returns the server's time for a request in s that is neither queue nor computing, at least 0.
func beside(n *result.Node) float64 {
	return max(0, means(n, metricServer)-means(n, metricQueue)-computing(n))
}

// models writes the block of the models that n's own calls, each below the one that calls it.
func (p *page) models(n *result.Node) {
	if len(n.Models) == 0 {
		return
	}
	p.line(0, "")
	p.line(2, "Composing models: ")
	for i := range n.Models {
		m := &n.Models[i]
		in := 2 * n.CallDepth(*m)
		version := ""
		if m.Version != "" {
			version = ", version: " + clean.Line(m.Version)
		}
		p.line(in, "%s%s", clean.Line(m.Name), version)
		p.server(in+4, called(n, m))
	}
}
