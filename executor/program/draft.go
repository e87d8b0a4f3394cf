package program

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/graph"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// draft holds what the passes of Compile share. Its methods add diagnostics, nothing else.
type draft struct {
	program *Program
	kinds   []backends.Kind
	// those that run, in the order of the plan, from the pass order on in running order
	stages  []*stagePoints
	byID    map[string]*stagePoints
	byNode  map[string]*Node
	targets map[*scenario.Target]*boundTarget // what each target can do; none: the target is wrong

	// Compiled once for all nodes that are alike.
	catalogues map[string]*metric.Catalogue
	compiled   map[cacheKey]*expression.Program // that read no other node, without diagnostics

	// What files have, each read once.
	rows    map[*scenario.Dataset]int   // of those whose files were read; 0: the model decides
	lists   map[list][]int64            // gaps and times; nil: with a mistake
	streams map[*scenario.Dataset][]int // how many rows each of their sequences has; nil: they have none

	diags    source.Diagnostics
	reported map[string]bool // diagnostics by place, code and summary, and places with a code
	unread   []string        // JSON pointers of keys that a kind does not read
}

// stagePoints is one stage of the plan as a whole: its points, and the nodes that they make.
type stagePoints struct {
	id     string
	points []*scenario.Stage
	nodes  []*Node
}

// first returns the stage at its first point: what does not depend on the point is read from it.
func (s *stagePoints) first() *scenario.Stage { return s.points[0] }

func newDraft(p *scenario.Plan, kinds []backends.Kind) *draft {
	return &draft{
		program: &Program{Plan: p, Graph: new(graph.Graph)}, kinds: kinds,
		byID: make(map[string]*stagePoints), byNode: make(map[string]*Node),
		targets:    make(map[*scenario.Target]*boundTarget),
		catalogues: make(map[string]*metric.Catalogue), compiled: make(map[cacheKey]*expression.Program),
		rows: make(map[*scenario.Dataset]int), lists: make(map[list][]int64),
		streams:  make(map[*scenario.Dataset][]int),
		reported: make(map[string]bool),
	}
}

func (d *draft) fail(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	return d.report(source.Error, pos, code, format, args...)
}

func (d *draft) warn(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	return d.report(source.Warning, pos, code, format, args...)
}

// report adds a diagnostic. Points and levels share the lines of the plan, so what was reported in
// the same words is not reported again; the caller's changes to it are lost then.
func (d *draft) report(
	s source.Severity, pos source.Pos, code, format string, args ...any,
) *source.Diagnostic {
	diag := source.Diagnostic{Severity: s, Code: code, Pos: pos, Summary: fmt.Sprintf(format, args...)}
	if !d.isNew(diag) {
		return &diag
	}
	d.diags = append(d.diags, diag)
	return &d.diags[len(d.diags)-1]
}

// isNew reports whether a diagnostic was not reported yet, and marks it as reported.
func (d *draft) isNew(diag source.Diagnostic) bool {
	at := diag.Pos.String() + " " + diag.Code
	key := at + " " + diag.Summary
	if d.reported[key] {
		return false
	}
	d.reported[key], d.reported[at] = true, true
	return true
}

// warnOnce warns unless the place has a diagnostic of that code; the caller's changes to it are lost then.
func (d *draft) warnOnce(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	if d.alreadyReported(pos, code) {
		return new(source.Diagnostic)
	}
	return d.warn(pos, code, format, args...)
}

// alreadyReported reports whether a place has a diagnostic of that code: the levels of a ladder
// share one line of the plan.
func (d *draft) alreadyReported(pos source.Pos, code string) bool {
	return d.reported[pos.String()+" "+code]
}

// add takes over diagnostics of others.
func (d *draft) add(diags source.Diagnostics) {
	for _, diag := range diags {
		if d.isNew(diag) {
			d.diags = append(d.diags, diag)
		}
	}
}
