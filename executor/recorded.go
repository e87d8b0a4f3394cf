package executor

import (
	"fmt"
	"os"

	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// readTimes reads the gaps or times (ns) that the load of a node plays, from a file or from the rows of its data.
func (b *build) readTimes(n *Node) {
	switch l := n.Stage.Load.(type) {
	case scenario.Intervals:
		b.readList(n, l.File, func(f *os.File) ([]int64, error) { return load.ReadGaps(f, int64(l.Unit)) })
	case scenario.Schedule:
		if l.File == nil {
			b.rowTimes(n)
			return
		}
		b.readList(n, *l.File, func(f *os.File) ([]int64, error) { return load.ReadTimes(f, l.File.Name, int64(l.Unit)) })
		if n.recorded != nil && n.dues().count(0, -1) == 0 {
			part := fmt.Sprintf("after `from` %s", source.Duration(l.From))
			if l.To > 0 {
				part = fmt.Sprintf("between `from` %s and `to` %s", source.Duration(l.From), source.Duration(l.To))
			}
			b.fail(l.File.Pos, codeTimes, "no time of %s is %s", l.File.Name, part)
		}
	}
}

func (b *build) readList(n *Node, at scenario.Path, read func(*os.File) ([]int64, error)) {
	f, err := os.Open(at.Name)
	if err == nil {
		defer f.Close()
		n.recorded, err = read(f)
	}
	if err != nil {
		b.fail(at.Pos, codeTimes, "%s", err)
	}
}

// rowTimes takes the timestamps of the data's rows.
func (b *build) rowTimes(n *Node) {
	data := n.Stage.Entries()[0].Request.Data
	if b.unreadable(data) && data.Format != feed.Mooncake {
		return
	}
	var ds source.Diagnostics
	n.recorded, ds = feed.Times(data)
	b.add(ds)
}
