package scenario

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// places holds what is known of the places that metrics of an expression are measured at, in a plan
// with mistakes. What a mistake leaves open counts as there: what follows from a mistake is not
// reported.
type places struct {
	*reading
	stage *language.Stage // whose expression it is; nil: of the plan, or of an slo
	// free: it is judged where it is used, so that a metric need not say of which stage it is.
	free bool
	// idle: the stage never runs, so it may name others that never run.
	idle bool
}

// Has implements expression.Names.
func (p places) Has(at expression.Place, path string) error {
	if p.IsPartial() {
		return nil // the base may have it
	}
	if at.Baseline && p.raw.Baseline == nil && !p.idle && p.sound(nil, "/baseline") {
		return expression.NoBaseline()
	}
	s := p.stage
	if at.Node != "" {
		var wrong error
		if s, wrong = p.named(at); wrong != nil {
			return wrong
		}
	} else if s == nil && !p.free {
		return expression.NoPlace(path)
	}
	if s == nil || s.ID == nil {
		return nil
	}
	if names, known := p.phases(s); at.Phase != "" && known && !slices.Contains(names, at.Phase) {
		return expression.NoPhase(s.ID.V, at.Phase, names)
	}
	if names, known := p.entries(s); at.Mix != "" && known && !slices.Contains(names, at.Mix) {
		return expression.NoMix(s.ID.V, at.Mix, names)
	}
	return nil
}

// named returns the stage that stage("…") is about; nil: it is not known.
func (p places) named(at expression.Place) (*language.Stage, error) {
	id, _, _ := strings.Cut(at.Node, "[")
	ids, never := p.raw.StageIDs()
	switch {
	case at.Baseline: // a stored result may have other stages
	case !slices.Contains(ids, id) && p.raw.Unread():
	case !slices.Contains(ids, id):
		return nil, expression.NoStage(at.Node, ids)
	case never[id] && !p.idle:
		return nil, expression.NeverRuns(id)
	default:
		i := slices.IndexFunc(p.raw.Flat, func(s *language.Stage) bool { return s.ID != nil && s.ID.V == id })
		return p.raw.Flat[i], nil
	}
	return nil, nil
}

// phases are the names of the phases of a stage's load, and whether they are known.
func (p places) phases(s *language.Stage) (names []string, known bool) {
	l := s.Play.Load
	if l == nil || !p.sound(s, "/load/concurrency", "/load/rate", "/for", "/until") {
		return nil, false
	}
	var r Ramp
	if l.Concurrency != nil {
		r.Steps = rampSteps(l.Concurrency.Ramp)
	} else if l.Rate != nil {
		r.Steps = rampSteps(l.Rate.Ramp)
	}
	for _, ph := range r.Phases(s.Play.For != nil || s.Play.Until != nil) {
		if !slices.Contains(names, ph.Name) {
			names = append(names, ph.Name)
		}
	}
	return names, true
}

// entries are the names of the entries of a stage's mix, and whether they are known.
func (p places) entries(s *language.Stage) (names []string, known bool) {
	for _, e := range s.Mix.Items() {
		names = append(names, e.Key)
	}
	return names, p.sound(s, "/mix")
}

// sound reports whether no mistake is known at the keys of a stage, or of the plan, nor in what may
// give them: what they stand in, keys in whose place they were likely meant, the defaults, profiles.
func (p places) sound(s *language.Stage, keys ...string) bool {
	var at string
	if s != nil {
		at = s.At.Path
	}
	return !slices.ContainsFunc(p.Diags, func(d source.Diagnostic) bool {
		if d.Severity != source.Error || d.Path == "" {
			return false
		}
		path := d.Path
		if d.Code == source.CodeUnknownKey {
			path = path[:strings.LastIndexByte(path, '/')+1] + d.Nearest
		}
		// some other key
		lacks := path == at && (d.Code == source.CodeMissing || d.Code == source.CodeExactlyOne)
		return strings.HasPrefix(path, "/defaults/") || strings.HasPrefix(path, "/profiles/") ||
			slices.ContainsFunc(keys,
				func(key string) bool { return !lacks && (within(at+key, path) || within(path, at+key)) })
	})
}

// within reports whether a JSON pointer is that of a value or of a part of it.
func within(path, value string) bool { return path == value || strings.HasPrefix(path, value+"/") }
