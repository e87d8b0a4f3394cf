package executor

import (
	"github.com/sluice-bench/sluice/executor/load"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// aims are the values of a node's load: as written, or as earlier results gave them when the stage started.
type aims struct {
	level  float64
	steps  []load.Step  // of a ramp
	search *load.Search // nil: none
}

// aim finds out what a node aims at. why says why it cannot be known; then the node is not to run.
func (m *member) aim(n *program.Node) (a aims, why string) {
	view := result.Values(m.view(), nil)
	amount := func(l scenario.Level) float64 {
		v, because := n.Amount(l, view)
		if why == "" {
			why = because
		}
		return v
	}
	switch q := scenario.QuantityOf(n.Stage.Load).(type) {
	case scenario.Ramp:
		for _, s := range q.Steps {
			a.steps = append(a.steps, load.Step{To: amount(s.To), Over: int64(s.Over), Hold: int64(s.Hold)})
		}
	case scenario.Search:
		a.search = &load.Search{
			From: amount(q.From), To: amount(q.To), Precision: q.Precision, Amount: q.Amount, Confirm: q.Confirm, Whole: !n.Open,
		}
		if n.Open {
			a.search.Unit = "/s"
		}
	case nil: // times of a file
	default:
		a.level = amount(n.Level)
	}
	return a, why
}
