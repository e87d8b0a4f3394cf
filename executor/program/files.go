package program

import (
	"fmt"
	"io"
	"math"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
)

// readFiles opens every file that a dataset or a load in use names. Data that cannot be read yet is
// left alone: the plan's own list has it. It adds data and lists to the draft, and Node.recorded.
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
	if data.Source == "bodies" {
		if why := k.lacks(backends.Bodies); why != "" {
			d.fail(data.Pos, "does-not-fit", "target %q takes no whole bodies: %s", r.Target.Name, why)
		}
	}
	if why := k.lacks(backends.Counters); len(data.Counters) > 0 && why != "" {
		d.fail(data.Counters[0].Pos, "does-not-fit", "the requests of target %q take no counters: %s",
			r.Target.Name, why).
			Help("they are for messages of backend grpc, and for JSON that backends http and torchserve send as it is")
	}
	if data.Prompts != nil {
		checkPrompts(d, r, k)
	}
	whole := k != nil && k.abilities.WholeBodies()
	if whole && data.Generate != nil && len(data.Generate.Inputs) > 0 {
		d.fail(data.Pos, "does-not-fit", "target %q takes whole bodies, which cannot be generated",
			r.Target.Name).Help("give them: data: {bodies: FILES}, {file: ROWS} or {rows: [ROW, …]}")
	}
	if _, done := d.data[data]; done {
		return
	}
	rows, streams, diags := feed.Check(data, whole)
	d.data[data] = contents{rows, streams}
	d.add(diags...)
}

// checkPrompts refuses prompts for a target that takes none, and says where their lengths are not exact.
func checkPrompts(d *draft, r scenario.Request, k *boundTarget) {
	p := r.Data.Prompts
	if why := k.lacks(backends.Prompts); why != "" {
		d.fail(p.Pos, "does-not-fit", "target %q takes no prompts: %s", r.Target.Name, why)
		return
	}
	if k == nil {
		return
	}
	d.add(feed.CheckParts(p, r.Target.Name, TargetOf(k.kind, r.Target).Endpoint)...)
	if r.Target.Tokenizer == nil {
		d.warn(p.Pos, "prompt-lengths", "target %q has no `tokenizer`, so that a word of a prompt is taken for a "+
			"token: the server will count others", r.Target.Name).
			Help("name the file of the model's tokenizer: tokenizer: tokenizer.json")
	}
}

// readTimes reads the gaps or times (ns) that the load of a node plays, from a file or from the
// rows of its data.
func readTimes(d *draft, n *Node) {
	switch l := n.Stage.Load.(type) {
	case scenario.Intervals:
		readList(d, n, l.File, "gaps", int64(l.Unit),
			func(r io.Reader) ([]int64, error) { return load.ReadGaps(r, int64(l.Unit)) })
	case scenario.Schedule:
		if l.File == nil {
			rowTimes(d, n)
			return
		}
		readList(d, n, *l.File, "times", int64(l.Unit),
			func(r io.Reader) ([]int64, error) { return load.ReadTimes(r, l.File.Name, int64(l.Unit)) })
		if n.recorded != nil && load.Count(timesOf(n.recorded, l), 0, math.MaxInt64) == 0 {
			part := "after `from` " + source.Duration(l.From)
			if l.To > 0 {
				part = fmt.Sprintf("between `from` %s and `to` %s",
					source.Duration(l.From), source.Duration(l.To))
			}
			d.fail(l.File.Pos, "recorded-times", "no time of %s is %s", l.File.Name, part)
		}
	}
}

// maxList bounds the size of a file of gaps or times, bytes: rows of a trace carry prompts.
const maxList = 4 << 30

// list is a file of gaps or times as one unit reads it.
type list struct {
	name, kind string
	unit       int64
}

// readList reads a file once for all nodes that play it.
func readList(
	d *draft, n *Node, at scenario.Path, kind string, unit int64, read func(io.Reader) ([]int64, error),
) {
	key := list{at.Name, kind, unit}
	known, done := d.lists[key]
	if !done {
		f, err := regular.Open(at.Name, maxList)
		if err == nil {
			defer f.Close()
			known, err = read(f)
		}
		if err != nil {
			d.fail(at.Pos, "recorded-times", "%s", err)
		}
		d.lists[key] = known
	}
	n.recorded = known
}

// rowTimes takes the timestamps of the data's rows.
func rowTimes(d *draft, n *Node) {
	data := n.Stage.Entries()[0].Request.Data
	times, diags := feed.Times(data, data.Timing != strictTiming && d.text(n.Stage.Entries()[0]))
	d.add(diags...)
	n.recorded = times
}
