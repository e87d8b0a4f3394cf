package executor

import (
	"os"

	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// recording is the gaps or times, ns, that a load takes from a file or from its data.
type recording struct{ gaps, times []int64 }

// readTimes reads what the load of a node takes from files. Nodes of one file read it again: it is small beside what they
// send.
func (b *build) readTimes(n *Node) {
	var err error
	var at scenario.Path
	switch l := n.Stage.Load.(type) {
	case scenario.Intervals:
		at = l.File
		err = open(at.Name, func(f *os.File) error {
			n.record.gaps, err = load.ReadGaps(f, int64(l.Unit))
			return err
		})
	case scenario.Schedule:
		if l.File == nil {
			b.rowTimes(n)
			return
		}
		at = *l.File
		err = open(at.Name, func(f *os.File) error {
			n.record.times, err = load.ReadTimes(f, at.Name, int64(l.Unit))
			return err
		})
	}
	if err != nil {
		b.fail(at.Pos, codeTimes, "%s", err)
		return
	}
	if s, ok := n.Stage.Load.(scenario.Schedule); ok && n.dues().count(0, -1) == 0 {
		b.fail(at.Pos, codeTimes, "no time of %s is from %v to %v", at.Name, s.From, s.To)
	}
}

// rowTimes takes the timestamps of the data's rows.
func (b *build) rowTimes(n *Node) {
	var ds source.Diagnostics
	data := n.Stage.Entries()[0].Request.Data
	if b.unreadable(data) {
		return
	}
	n.record.times, ds = feed.Times(data)
	b.add(ds)
}

func open(name string, read func(*os.File) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}
