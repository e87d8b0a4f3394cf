package program

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// readFiles opens every file that a dataset or a load in use names. Data that cannot be read yet is
// left alone: the plan's own list has it. It adds rows, streams and lists to the draft and
// Node.recorded.
func readFiles(d *draft) {
	for _, s := range d.stages {
		for _, point := range s.points {
			for _, e := range point.Entries() {
				readRows(d, e.Request)
			}
		}
		for _, n := range s.nodes {
			readTimes(d, n)
		}
	}
}

// readRows reads the rows of a request's data, once.
func readRows(d *draft, r scenario.Request) {
	data, k := r.Data, d.targets[r.Target]
	if data == nil {
		return
	}
	if data.Source == "bodies" && k != nil {
		if why := k.lacks("request bodies"); why != "" {
			d.fail(data.Pos, "does-not-fit", "target %q takes no whole bodies: %s", r.Target.Name, why)
		}
	}
	if _, done := d.rows[data]; done || unreadable(d.program, data) {
		return
	}
	n, streams, diags := feed.Check(data)
	d.rows[data], d.streams[data] = n, streams
	d.add(diags)
}

// unreadable reports whether the plan's own list says that a dataset cannot be read yet.
func unreadable(p *Program, data *scenario.Dataset) bool {
	return slices.ContainsFunc(p.Plan.Later, func(l source.Diagnostic) bool {
		return strings.HasPrefix(l.Path+"/", "/datasets/"+data.Name+"/") ||
			data.Name == "main" && strings.HasPrefix(l.Path, "/data/")
	})
}
