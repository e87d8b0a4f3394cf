package perfanalyzer

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
	"github.com/sluice-bench/sluice/executor/result"
)

// gpuNumber is one of the four numbers that perf_analyzer shows of each GPU.
type gpuNumber struct {
	column string
	family string
	of     func(values []float64) float64
	unit   string  // on the terminal
	scale  float64 // there
	text   func(float64) string
}

func gpuNumbers() []gpuNumber {
	first := func(v []float64) float64 { return v[0] }
	mean := func(v []float64) (sum float64) {
		for _, x := range v {
			sum += x / float64(len(v))
		}
		return sum
	}
	return []gpuNumber{
		{"Avg GPU Utilization", "nv_gpu_utilization", mean, "%", 100, sixDigits},
		{"Avg GPU Power Usage", "nv_gpu_power_usage", mean, " watts", 1, sixDigits},
		{"Max GPU Memory Usage", "nv_gpu_memory_used_bytes", slices.Max[[]float64], " bytes", 1, bytesOf},
		{"Total GPU Memory", "nv_gpu_memory_total_bytes", first, " bytes", 1, bytesOf},
	}
}

// bytesOf formats a size as perf_analyzer does, with all digits.
func bytesOf(v float64) string { return strconv.FormatFloat(math.Trunc(v), 'f', -1, 64) }

// gpuValue is a number of one GPU.
type gpuValue struct {
	uuid  string
	value float64
}

// values returns the numbers of the GPUs that n's endpoint showed, sorted by their ids. Readings without
// a number do not count.
func (g gpuNumber) values(n *result.Node) (list []gpuValue) {
	for i := range n.Scrapes {
		for _, s := range n.Scrapes[i].Series {
			var known []float64
			for k, v := range s.Values {
				if v != nil && n.Scrapes[i].Used(k) && !math.IsNaN(*v) {
					known = append(known, *v)
				}
			}
			if s.Name == g.family && len(known) > 0 {
				list = append(list, gpuValue{s.Labels["gpu_uuid"], g.of(known)})
			}
		}
	}
	slices.SortFunc(list, func(a, b gpuValue) int { return strings.Compare(a.uuid, b.uuid) })
	return list
}

// gpuColumns returns the columns of --collect-metrics if some node's metrics endpoint was read.
func gpuColumns(nodes []*result.Node) (columns []column) {
	if !slices.ContainsFunc(nodes, func(n *result.Node) bool { return len(n.Scrapes) > 0 }) {
		return nil
	}
	for _, g := range gpuNumbers() {
		columns = append(columns, column{g.column, func(n *result.Node) string {
			var cell strings.Builder
			for _, v := range g.values(n) {
				cell.WriteString(clean.Line(v.uuid) + ":" + g.text(v.value) + ";")
			}
			return cell.String()
		}})
	}
	return columns
}

// gpus writes the block of a level's GPUs, if there are any.
func (p *page) gpus(n *result.Node) {
	if !slices.ContainsFunc(gpuNumbers(), func(g gpuNumber) bool { return len(g.values(n)) > 0 }) {
		return
	}
	const most = 16
	p.line(2, "Server Prometheus Metrics: ")
	if len(gpuNumbers()[0].values(n)) > most {
		p.line(4, "Too many GPUs on system to print out individual Prometheus metrics, "+
			"use the CSV output feature to see metrics.")
		return
	}
	for _, g := range gpuNumbers() {
		p.line(4, "%s:", g.column)
		for _, v := range g.values(n) {
			p.line(6, "%s : %s%s", clean.Line(v.uuid), g.text(v.value*g.scale), g.unit)
		}
	}
}
