package feed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxTurns limits the turns of all sessions of a dataset of prompts.
const maxTurns = 10_000_000

// turnsOf draws the number of turns of each session of a dataset of prompts, the same in all stages; nil: each
// prompt is a request of its own.
func turnsOf(d *scenario.Dataset) []int {
	p := d.Prompts
	if isConstant(p.Turns) && p.Turns.Mean <= 1 {
		return nil
	}
	rng := rand.New(rand.NewPCG(mix(d.Seed^Hash(d.Name)), 0x7475726e73))
	turns := make([]int, p.Count)
	for i := range turns {
		turns[i] = int(max(math.Round(drawFrom(p.Turns, rng)), 1))
	}
	return turns
}

// checkTurns counts the rows of a dataset of prompts and those of each session; nil: there are none.
func checkTurns(d *scenario.Dataset) (rows int, streams []int, diags source.Diagnostics) {
	turns := turnsOf(d)
	diags = checkSessionKeys(d, turns != nil)
	if turns == nil {
		return d.Prompts.Count, nil, diags
	}
	sessions, all := make([][]int, len(turns)), 0
	for i, n := range turns {
		sessions[i], all = []int{n}, all+n
	}
	if all > maxTurns {
		diags = append(diags, source.Errorf("data-size", "the %d sessions have %d turns together; %d are allowed",
			len(turns), all, maxTurns).Help("lower `count` or `turns`").At("", d.Prompts.Pos, 0))
	}
	for _, n := range drawSessions(d, sessions) {
		rows, streams = rows+n[0], append(streams, n[0])
	}
	return rows, streams, diags
}

// isConstant reports whether all draws are one value.
func isConstant(d scenario.Dist) bool { return d.Shape == "" || d.Shape == "constant" }

// session writes the rows of session i: a prompt, if there are no turns.
func (w *promptWriter) session(i int, turns []int) (rows []row) {
	rng := rand.New(rand.NewPCG(w.seed, uint64(i)))
	if turns == nil {
		return []row{w.row(rng, uint64(i), fmt.Sprintf("prompt %d", i), true)}
	}
	for k := range turns[i] {
		number := uint64(i) | uint64(k)<<40
		r := w.row(rng, number, fmt.Sprintf("turn %d of session %d", k+1, i+1), k == 0 || w.alone)
		r.rec.Session = strconv.Itoa(i + 1)
		if k > 0 && !(isConstant(w.plan.Delay) && w.plan.Delay.Mean == 0) {
			delay := math.Round(max(drawFrom(w.plan.Delay, rng), 0) * 1e9)
			r.rec.Delay = fmt.Append(nil, int64(min(delay, longest)))
		}
		rows = append(rows, r)
	}
	return rows
}
