package program

import (
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
)

// Words of a dataset of sessions.
const (
	strictTiming = "strict"
	openTiming   = "open"
)

// text reports whether requests of an entry are made of text, so that its sequences are conversations.
func (d *draft) text(e scenario.Entry) bool {
	k := d.targets[e.Request.Target]
	return k != nil && k.abilities.Has(backends.Prompts)
}

// sendsText reports whether all requests of a node are made of text.
func sendsText(d *draft, n *Node) bool {
	return !slices.ContainsFunc(n.Stage.Entries(), func(e scenario.Entry) bool { return !d.text(e) })
}

// formsSessions reports whether the requests of a node are the turns of sessions.
func formsSessions(d *draft, n *Node) bool {
	entries := n.Stage.Entries()
	return sendsText(d, n) && slices.ContainsFunc(entries, func(e scenario.Entry) bool {
		data := e.Request.Data
		return d.data[data].streams != nil && data.Timing != strictTiming
	})
}

// checkStrict refuses what rows that are sent at their recorded times, each for itself, cannot have.
func checkStrict(d *draft, n *Node) {
	l, timed := n.Stage.Load.(scenario.Schedule)
	for _, e := range n.Stage.Entries() {
		switch data := e.Request.Data; {
		case data.Timing != strictTiming:
		case !timed || l.File != nil:
			d.fail(data.TimingPos, "sequences", "rows are due at their recorded times only where a schedule plays these").
				Detail = "write `load: {schedule: {}}`, or remove `timing`"
		case data.History == "append":
			d.fail(data.HistoryPos, "sequences", "with `timing: strict` a turn does not wait for the answers before it").
				Detail = "write `history: verbatim`, or `timing: open`"
		}
	}
}

// checkSessions refuses what sessions cannot have.
func checkSessions(d *draft, n *Node, q *Sequencing) {
	s := n.Stage
	if q.Length != nil {
		d.fail(q.Pos, "sequences", "the sessions of stage %q are as long as their rows", s.ID).
			Detail = "remove `length` of `sequences`"
	}
	l, timed := s.Load.(scenario.Schedule)
	timed = timed && l.File == nil
	for i, e := range s.Entries() {
		data, k := e.Request.Data, n.entries[i]
		if d.data[data].streams == nil {
			continue
		}
		if data.Timing == openTiming && !timed {
			d.fail(data.TimingPos, "sequences", "turns are due at their recorded times only where a schedule plays these").
				Detail = "write `load: {schedule: {}}`, or remove `timing`"
		}
		if data.History == format.Verbatim {
			continue
		}
		if k != nil && !k.abilities.Has(backends.Chat) {
			pos := data.HistoryPos
			if pos.Line == 0 {
				pos = data.Pos
			}
			d.fail(pos, "sequences", "the turns of a session hold the answers before them, and requests of target %q "+
				"hold no messages", e.Request.Target.Name).
				Detail = "write `history: verbatim` to send the rows as they are"
		}
	}
}
