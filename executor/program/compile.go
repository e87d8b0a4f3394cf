package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed"
	"github.com/sluice-bench/sluice/executor/graph"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxLevels is how many levels a ladder without an end may climb.
const maxLevels = 256

// build is what the steps of Compile work on.
type build struct {
	program    *Program
	kinds      []backends.Kind
	targets    map[*scenario.Target]*boundTarget // what each target can do
	stages     []*stagePoints                    // those that run, in the order of the plan, then in running order
	byID       map[string]*stagePoints
	byNode     map[string]*Node
	catalogues map[string]*metric.Catalogue
	compiled   map[cacheKey]compiled
	rows       map[*scenario.Dataset]int   // of those whose files were read; 0: the model decides
	lists      map[list][]int64            // files of gaps and times that were read; nil: with a mistake
	streams    map[*scenario.Dataset][]int // how many rows each of their sequences has; nil: they have none
	diags      source.Diagnostics
	unread     []string        // JSON pointers of keys that a kind does not read
	reported   map[string]bool // diagnostics by place, code and summary, and places with a code
}

// stagePoints is one stage of the plan as a whole: its points, and the nodes that they make.
type stagePoints struct {
	id     string
	points []*scenario.Stage
	nodes  []*Node
}

// first is the stage at its first point: what does not depend on the point is read from it.
func (s *stagePoints) first() *scenario.Stage { return s.points[0] }

func (b *build) fail(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	return b.say(source.Error, pos, code, format, args...)
}

func (b *build) warn(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	return b.say(source.Warning, pos, code, format, args...)
}

// say adds a diagnostic. Points and levels share the lines of the plan, so what was reported in the same words is not
// reported again; the caller's changes to it are lost then.
func (b *build) say(s source.Severity, pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	d := source.Diagnostic{Severity: s, Code: code, Pos: pos, Summary: fmt.Sprintf(format, args...)}
	if !b.isNew(d) {
		return &d
	}
	b.diags = append(b.diags, d)
	return &b.diags[len(b.diags)-1]
}

// isNew reports whether d was not reported yet, and marks it as reported.
func (b *build) isNew(d source.Diagnostic) bool {
	at := d.Pos.String() + " " + d.Code
	key := at + " " + d.Summary
	if b.reported[key] {
		return false
	}
	b.reported[key], b.reported[at] = true, true
	return true
}

// alreadyReported reports whether a place has a diagnostic of that code: the levels of a ladder share one line of the plan.
func (b *build) alreadyReported(pos source.Pos, code string) bool {
	return b.reported[pos.String()+" "+code]
}

// add takes over diagnostics of others.
func (b *build) add(ds source.Diagnostics) {
	for _, d := range ds {
		if b.isNew(d) {
			b.diags = append(b.diags, d)
		}
	}
}

// Compile makes a program of a plan for the backends there are. With any error among the diagnostics the program is not
// to be run; it is still as complete as it can be, for printing.
func Compile(p *scenario.Plan, kinds []backends.Kind) (*Program, source.Diagnostics) {
	b := newBuild(p, kinds)
	for _, pass := range b.passes() {
		pass.do()
	}
	b.program.Warnings = slices.DeleteFunc(slices.Clone(b.diags), func(d source.Diagnostic) bool { return d.Severity == source.Error })
	return b.program, b.diags.Sorted()
}

func newBuild(p *scenario.Plan, kinds []backends.Kind) *build {
	return &build{
		program: &Program{Plan: p, Graph: new(graph.Graph)}, kinds: kinds,
		targets: make(map[*scenario.Target]*boundTarget), byID: make(map[string]*stagePoints), byNode: make(map[string]*Node),
		catalogues: make(map[string]*metric.Catalogue),
		compiled:   make(map[cacheKey]compiled), reported: make(map[string]bool),
	}
}

// pass is one of the steps of Compile. The graph can be printed after each.
type pass struct {
	name string
	do   func()
}

func (b *build) passes() []pass {
	return []pass{
		{"targets", b.bindTargets},      // kinds, schemes, keys
		{"nodes", b.makeNodes},          // points and levels
		{"amounts", b.deriveAmounts},    // loads that come from results
		{"order", b.arrange},            // needs, groups and the list; cycles
		{"edges", b.edges},              // who waits for whom
		{"reach", b.reach},              // who can run at all
		{"units", b.units},              // who runs when
		{"actions", b.actions},          // calls before and after stages
		{"files", b.readFiles},          // files that the plan names
		{"baseline", b.readBaseline},    // the stored result that the plan names
		{"sequences", b.sequences},      // requests that belong together
		{"expressions", b.expressions},  // assertions, while, stability metrics
		{"comparisons", b.usesBaseline}, // whether anything is compared with the baseline
		{"goodput", b.goodput},          // what makes a request good
		{"plan", b.plan},                // requests, durations
		{"errors", b.errorsRules},       // the errors rule, where the plan leaves errors without a limit
		{"samples", b.shares},           // requests that each check looks at
		{"lints", b.lints},              // what is allowed and hardly meant
		{"later", b.later},              // what cannot be run yet
	}
}

// readFiles opens every file that a dataset or a load in use names. What stands in data that cannot be read yet is left
// alone; that it cannot is kept for later.
func (b *build) readFiles() {
	b.rows, b.streams, b.lists = make(map[*scenario.Dataset]int), make(map[*scenario.Dataset][]int), make(map[list][]int64)
	for _, s := range b.stages {
		for _, point := range s.points {
			for _, e := range point.Entries() {
				b.readRows(e.Request)
			}
		}
		for _, n := range s.nodes {
			b.readTimes(n)
		}
	}
}

// readRows reads the rows of a request's data, once.
func (b *build) readRows(r scenario.Request) {
	d, k := r.Data, b.targets[r.Target]
	if d == nil {
		return
	}
	if d.Source == "bodies" && k != nil {
		if why := k.lacks("request bodies"); why != "" {
			b.fail(d.Pos, codeDoesNotFit, "target %q takes no whole bodies: %s", r.Target.Name, why)
		}
	}
	if _, done := b.rows[d]; done || b.unreadable(d) {
		return
	}
	n, streams, diags := feed.Check(d)
	b.rows[d], b.streams[d] = n, streams
	b.add(diags)
}

// unreadable reports whether the plan's own list says that a dataset cannot be read yet.
func (b *build) unreadable(d *scenario.Dataset) bool {
	return slices.ContainsFunc(b.program.Plan.Later, func(l source.Diagnostic) bool {
		return strings.HasPrefix(l.Path+"/", "/datasets/"+d.Name+"/") || d.Name == "main" && strings.HasPrefix(l.Path, "/data/")
	})
}
