package scenario

import (
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/expression"
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Has implements expression.Names.
func (c *conditions) Has(at expression.Place, path string) error {
	if c.IsPartial() {
		return nil // the base may have it
	}
	if at.Baseline && c.raw.Baseline == nil && !c.idle && c.sound(nil, "/baseline") {
		return expression.NoBaseline()
	}
	s := c.stage
	if at.Node != "" {
		var wrong error
		if s, wrong = c.named(at); wrong != nil {
			return wrong
		}
	} else if s == nil && !c.free {
		return expression.NoPlace(path)
	}
	if s == nil || s.ID == nil {
		return nil
	}
	if names, known := c.phases(s); at.Phase != "" && known && !slices.Contains(names, at.Phase) {
		return expression.NoPhase(s.ID.V, at.Phase, names)
	}
	if names, known := c.entries(s); at.Mix != "" && known && !slices.Contains(names, at.Mix) {
		return expression.NoMix(s.ID.V, at.Mix, names)
	}
	return nil
}

// named returns the stage that stage("…") is about; nil: it is not known.
func (c *conditions) named(at expression.Place) (*language.Stage, error) {
	id, _, _ := strings.Cut(at.Node, "[")
	ids, never := c.raw.StageIDs()
	switch {
	case at.Baseline: // a stored result may have other stages
	case !slices.Contains(ids, id) && c.raw.Unread():
	case !slices.Contains(ids, id):
		return nil, expression.NoStage(at.Node, ids)
	case never[id] && !c.idle:
		return nil, expression.NeverRuns(id)
	default:
		i := slices.IndexFunc(c.raw.Flat, func(s *language.Stage) bool { return s.ID != nil && s.ID.V == id })
		return c.raw.Flat[i], nil
	}
	return nil, nil
}

// phases are the names of the phases of a stage's load, and whether they are known.
func (c *conditions) phases(s *language.Stage) (names []string, known bool) {
	l := s.Play.Load
	if l == nil || !c.sound(s, "/load/concurrency", "/load/rate", "/for", "/until") {
		return nil, false
	}
	var load struct{ Ramp []RampStep }
	b := newBuilder(c.reading)
	if l.Concurrency != nil {
		b.copy(&load, l.Concurrency)
	} else if l.Rate != nil {
		b.copy(&load, l.Rate)
	}
	for _, ph := range (Ramp{load.Ramp}).Phases(s.Play.For != nil || s.Play.Until != nil) {
		if !slices.Contains(names, ph.Name) {
			names = append(names, ph.Name)
		}
	}
	return names, true
}

// entries are the names of the entries of a stage's mix, and whether they are known.
func (c *conditions) entries(s *language.Stage) (names []string, known bool) {
	for _, e := range s.Mix.Items() {
		names = append(names, e.Key)
	}
	return names, c.sound(s, "/mix")
}

// sound reports whether no mistake is known at the keys of a stage, or of the plan, nor in what may
// give them: the maps around them, keys in whose place they were likely meant, the defaults, profiles.
func (c *conditions) sound(s *language.Stage, keys ...string) bool {
	var at string
	if s != nil {
		at = s.At.Path
	}
	return !slices.ContainsFunc(c.Diags, func(d source.Diagnostic) bool {
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
