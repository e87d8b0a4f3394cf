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

// ensembled is n with the time that requests wait for the models of an ensemble in its own: the
// server counts what they compute as the ensemble's, but not their queues. That is how an ensemble
// is told from a model that calls others from its own code, to which nothing is added: their time
// is in its computing.
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
	one := *n
	one.Metrics = maps.Clone(n.Metrics)
	one.Metrics[metricQueue] = result.Number(metric.Duration, means(n, metricQueue)+queue)
	return &one
}

// called is a model that n's own calls, as a node of its own: its numbers are the server's.
func called(n *result.Node, m *result.Model) *result.Node {
	return &result.Node{ID: m.Name, Load: n.Load, Outcome: n.Outcome, Metrics: m.Metrics, Duration: n.Duration}
}

// modelName names the table of a model as perf_analyzer does: NAME_vVERSION.
func modelName(m *result.Model) string {
	if m.Version == "" {
		return m.Name
	}
	return m.Name + "_v" + m.Version
}

// modelTables are a table for each model that the nodes' own call, in the order in which they come
// up. suffix is the name of the nodes' own table.
func modelTables(mode, suffix string, nodes []*result.Node) (files []Table, err error) {
	var names []string
	rows := map[string][]*result.Node{}
	for _, n := range nodes {
		for i := range n.Models {
			m := &n.Models[i]
			name := modelName(m)
			if rows[name] == nil {
				names = append(names, name)
			}
			rows[name] = append(rows[name], modelRow(n, m))
		}
	}
	for _, name := range names {
		data, err := write(modelColumns(mode, rows[name]), rows[name])
		if err != nil {
			return files, err
		}
		files = append(files, Table{fileName(name) + "." + suffix + ".csv", data})
	}
	return files, nil
}

// fileName is a model's name without what no file's name can hold.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == 0 {
			return '_'
		}
		return r
	}, strings.TrimLeft(clean.Line(name), "."))
}

// modelRow is a model as a node: it is called so often for each request of n's own.
func modelRow(n *result.Node, m *result.Model) *result.Node {
	one := called(n, m)
	one.Metrics = map[string]*result.Metric{}
	maps.Copy(one.Metrics, m.Metrics)
	rate := 0.0
	if m.Calls != nil {
		rate = *m.Calls * value(n, metric.Throughput)
	}
	one.Metrics[metric.Throughput] = result.Number(metric.Rate, rate)
	return one
}

// modelColumns are those of a model that others call: the client has no part in it, and between it
// and the others is what the server needs beside queue and computing.
func modelColumns(mode string, nodes []*result.Node) []column {
	var columns []column
	for _, c := range nodeColumns(mode, nodes, nil) {
		switch c.name {
		case "Client Send", "Client Recv":
			c.of = func(*result.Node) string { return "0" }
		case "Network+Server Send/Recv":
			c.of = func(n *result.Node) string { return micros(max(0, beside(n))) }
		case "Response Throughput":
			continue
		}
		if !strings.HasSuffix(c.name, " latency") {
			columns = append(columns, c)
		}
	}
	return columns
}

// beside is the server's time for a request that is neither queue nor computing.
func beside(n *result.Node) float64 {
	rest := means(n, metricServer)
	for _, part := range []string{metricQueue, metricInput, metricInfer, metricOutput} {
		rest -= means(n, part)
	}
	return rest
}

// models is the block of the models that n's own calls, each below the one that calls it.
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
