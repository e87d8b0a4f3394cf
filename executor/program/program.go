// Package program compiles a plan into a Program: the nodes, in which order they run, what each
// sends and how long it takes as far as that is known before the run, and the compiled assertions.
// It sends nothing; the same plan gives the same program, and Describe gives a program as plain
// data to print.
//
// Begin with compile.go, which lists the passes of Compile in order; each has a file of its own.
package program

import (
	"iter"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/graph"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/tokenizer"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Program is a plan that has been understood: printable, with nothing sent. Compile is deterministic.
type Program struct {
	Plan  *scenario.Plan
	Nodes []*Node // in the order in which they first run
	Units []*Unit // what runs one after the other
	Graph *graph.Graph
	// Assert are the plan's own assertions, judged when all nodes have ended.
	Assert []Check
	// Baseline is the stored result that the plan compares with; nil: it names none.
	Baseline *result.Baseline
	// Missing is what this program needs and this binary was built without. The command line refuses a plan
	// with it, at its lines; tests of the compiler read programs without running them.
	Missing source.Diagnostics

	tokenizers map[string]*tokenizer.Tokenizer // of targets, by file; nil in it: it cannot be used
}

// Tokenizer returns what counts the tokens of a target's texts; nil: its server alone.
func (p *Program) Tokenizer(t *scenario.Target) *tokenizer.Tokenizer {
	if t.Tokenizer == nil {
		return nil
	}
	return p.tokenizers[t.Tokenizer.Name]
}

// Unit runs at one time: one stage, or the members of a group side by side.
type Unit struct{ Members []*Member }

// Member is one stage of a unit with what it plays, in order: its points and levels, in as many
// repeats as it repeats.
type Member struct {
	Stage string
	Plays []Play
}

// Play is one repeat of a node, from 0. A node with several repeats has one result, in which they
// are pooled.
type Play struct {
	Node   *Node
	Repeat int
}

// Node has a result of its own: one stage at one point of its matrix and one level.
type Node struct {
	Number int             // of the node in Program.Nodes
	ID     string          // steady, sweep[concurrency=4], ab[side=canary,rate=100/s]
	Stage  *scenario.Stage // at this node's point of the matrix
	// Point is every axis that tells this node from the others of its stage, outermost first: those of
	// the matrix, then concurrency or rate where the stage has levels.
	Point []scenario.Pair
	// Level is the value of a fixed load or of one of several levels. Ramps, searches and files of
	// times have none: only its Pos is set.
	Level     scenario.Level
	Open      bool // open loop: Level is a rate
	Catalogue *metric.Catalogue
	Checks    []Check
	// of levels: all true, the next level runs; of a search: all true, the trial holds
	While     []Check
	Best      *Best           // of the stage's nodes; nil: it does not ask
	Stability []metric.Leaf   // what windows are compared by, with until: stable
	Precise   []Precision     // whose bounds end hold, with until: precise
	Goodput   []measure.Bound // what makes a request good; nil: nothing does
	Load      *Load           // how it is driven, as far as the plan says it
	Planned   Planned

	Prev   *Node   // the level before at the same point, nil for the first
	phases []phase // of a ramp
	scope  *scope
	sort   string    // see sortOf
	takes  []derived // where its load comes from
	// gaps or times, ns, that its load plays from a file or from its data
	recorded []int64
	// what the target of each entry can do; nil in it: its target is wrong
	entries []*boundTarget
	amounts map[*source.Text]*expression.Program // by Level.Expr, see Amount
	// Sequences says how its requests form sequences; nil: each is independent.
	Sequences *Sequencing
}

// Check is a compiled assertion or condition.
type Check struct {
	scenario.Assertion
	*expression.Program
	Needed int64 // samples that its percentiles need, the largest
	// Planned counts the requests that are planned for where it looks: its phase, its entry of the mix,
	// one of its windows; the smallest. -1: depends on the server.
	Planned float64
	SD      float64 // standard deviation of Planned
}

// Planned says what a node will do, as far as it is known before it runs. Times in seconds, of
// one repeat.
type Planned struct {
	Requests float64 // due in hold; -1: depends on the server
	// Sequences are those that the requests form, on average; 0: they form none, -1: not known.
	Sequences float64
	SD        float64 // standard deviation of Requests; 0: exact
	Outside   float64 // due in warm-up and on the way between holds, on average; -1: depends on the server
	Shortest  float64 // the node's duration, warm-up included
	Longest   float64 // with the drain; +Inf: no bound
	InFlight  float64 // most requests open at the same time; +Inf: depends on a result
	Repeats   int     // how often it is played
	// Trials are how many measurements a search makes, at least and at most; 0: it is none.
	Trials, MostTrials int
	// Decides names what the number of requests depends on where it is not known: "server", "result",
	// "data" or "group".
	Decides string

	climbs bool // a level that only runs while the conditions of the one before hold
}

// checks visits all checks of the program with the node that each is judged on, nil for the plan's own.
func (p *Program) checks() iter.Seq2[*Node, *Check] {
	return func(yield func(*Node, *Check) bool) {
		goOn := true
		visit := func(n *Node, checks []Check) {
			for i := range checks {
				goOn = goOn && yield(n, &checks[i])
			}
		}
		for _, n := range p.Nodes {
			visit(n, n.Checks)
			visit(n, n.While)
			if n.Best != nil {
				visit(n, n.Best.Where)
			}
		}
		visit(nil, p.Assert)
	}
}

// Kind returns the backend of the target of an entry, from 0.
func (n *Node) Kind(entry int) *backends.Kind { return n.entries[entry].kind }

// Owns reports whether a reference of an expression on n is to n itself.
func (n *Node) Owns(r expression.Ref) bool { return !r.Baseline && (r.Node == "" || r.Node == n.ID) }

// First reports whether n is the first level at its point.
func (n *Node) First() bool { return n.Prev == nil }

// Any reports whether one of the nodes that the unit plays is so.
func (u *Unit) Any(is func(*Node) bool) bool {
	return slices.ContainsFunc(u.Members, func(m *Member) bool {
		return slices.ContainsFunc(m.Plays, func(p Play) bool { return is(p.Node) })
	})
}
