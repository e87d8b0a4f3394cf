package program

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/graph"
	"github.com/sluice-bench/sluice/executor/tokenizer"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// draft holds what the passes of Compile share. Its methods add diagnostics, nothing else.
type draft struct {
	*Program
	kinds []backends.Kind
	// those that run, in the order of the plan, from the pass order on in running order
	stages  []*stagePoints
	byID    map[string]*stagePoints
	byNode  map[string]*Node
	targets map[*scenario.Target]*boundTarget // what each target can do; nil: the target is wrong

	// Compiled once for all nodes that are alike.
	catalogues map[string]*metric.Catalogue
	compiled   map[cacheKey]*expression.Program // that read no other node, without diagnostics

	// What files have, each read once.
	data  map[*scenario.Dataset]contents
	lists map[list][]int64 // gaps and times; nil: with a mistake

	diags    source.Diagnostics
	reported map[string]bool // diagnostics by place, code and summary, and places with a code
}

// contents says what the files of a dataset have.
type contents struct {
	rows    int   // 0: the model decides
	streams []int // the number of rows of each sequence; nil: the rows form none
}

// stagePoints is one stage of the plan as a whole: its points, and the nodes that they make.
type stagePoints struct {
	*scenario.Stage     // at its first point, for what does not depend on the point
	at              int // in running order, from the pass order on
	points          []*scenario.Stage
	nodes           []*Node
}

func newDraft(p *scenario.Plan, kinds []backends.Kind) *draft {
	return &draft{
		Program: &Program{
			Plan: p, Graph: new(graph.Graph), tokenizers: make(map[string]*tokenizer.Tokenizer),
		},
		kinds: kinds,
		byID:  make(map[string]*stagePoints), byNode: make(map[string]*Node),
		targets:    make(map[*scenario.Target]*boundTarget),
		catalogues: make(map[string]*metric.Catalogue), compiled: make(map[cacheKey]*expression.Program),
		data: make(map[*scenario.Dataset]contents), lists: make(map[list][]int64),
		reported: make(map[string]bool),
	}
}

// warnOnce warns unless the place has a diagnostic of that code; the caller's changes to it are lost then.
func (d *draft) warnOnce(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	if d.reported[place(pos, code)] { // the levels of a ladder share one line of the plan
		return new(source.Diagnostic)
	}
	return d.warn(pos, code, format, args...)
}

func (d *draft) fail(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	return d.add(source.Errorf(code, format, args...).At("", pos, 0))
}

func (d *draft) warn(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	return d.add(source.Warnf(code, format, args...).At("", pos, 0))
}

// add adds diagnostics and returns the last one. Points and levels share the lines of the plan, so
// what was reported in the same words is not reported again; the caller's changes to it are lost then.
func (d *draft) add(diags ...source.Diagnostic) (last *source.Diagnostic) {
	for _, diag := range diags {
		at := place(diag.Pos, diag.Code)
		key := at + " " + diag.Summary
		if last = &diag; !d.reported[key] {
			d.reported[key], d.reported[at] = true, true
			d.diags = append(d.diags, diag)
			last = &d.diags[len(d.diags)-1]
		}
	}
	return last
}

// place returns the key of draft.reported for any diagnostic of a code at a place.
func place(pos source.Pos, code string) string { return pos.String() + " " + code }
