package convert

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
)

// sheet is the text of a plan as it grows, with the options that are no line of it.
type sheet struct {
	plantext.Page
	r         *reader
	reasons   map[string]string // of options that are no line, by their first names
	noEqual   []note            // what the plan cannot express
	notNeeded []note            // what needs no key in a plan
	vars      []plantext.Line   // variables of the plan's own
	varsAt    int               // the line that they are before
}

// no names an option that the plan has no equal for.
func (s *sheet) no(option, text string) { s.noEqual = append(s.noEqual, note{option, text}) }

// idle names those of the options that were given: they need no key in a plan.
func (s *sheet) idle(text string, options ...string) {
	for _, o := range options {
		if s.r.has(o) {
			s.notNeeded = append(s.notNeeded, note{s.r.spoken(o), text})
		}
	}
}

// variables marks the place of the plan's variables, which are those and the ones of secrets.
func (s *sheet) variables(own ...plantext.Line) { s.vars, s.varsAt = own, len(s.Lines) }

// text returns the plan's text with its head. An option without an equal is a comment there and a
// warning.
func (s *sheet) text(model, usual string) string {
	var head plantext.Page
	remark := func(what string, n note) {
		head.Add("# "+what+": "+plantext.OneLine(n.option)+": "+plantext.OneLine(s.r.secrets.Shown(n.text)), "")
	}
	s.noEqual = append(s.noEqual, s.r.left...)
	s.r.used = s.r.secrets.Place(&s.Page, s.varsAt, s.vars)
	head.Add("# From: "+plantext.OneLine(s.r.text), "")
	for _, n := range s.noEqual {
		remark("No equal", n)
		s.r.warn(s.r.spokenArg(n.option), codeNoEqual, "%s: %s", n.option, n.text)
	}
	for _, n := range s.notNeeded {
		remark("Not needed", n)
	}
	for _, n := range s.r.literal {
		remark("As it stands", n)
	}
	head.Add("version: 1", "")
	head.Add("name: "+planName(model, usual), "")
	return head.String() + s.String()
}

// spokenArg returns the argument of the option that was given by this name; -1: there is none.
func (r *reader) spokenArg(name string) int {
	for _, g := range r.seen {
		if g.String() == name {
			return g.at
		}
	}
	return -1
}

// noteRest names the options that neither a line of the plan nor a note mentions.
func (s *sheet) noteRest() {
	mentioned := map[string]bool{}
	mention := func(text string) {
		separates := func(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
		for word := range strings.FieldsFuncSeq(text, separates) {
			mentioned[word] = true
		}
	}
	for _, l := range s.Lines {
		mention(l.Comment)
	}
	for _, n := range slices.Concat(s.noEqual, s.notNeeded) {
		mention(n.option)
	}
	inOrder := func(a, b string) int { return s.r.seen[a].nameAt - s.r.seen[b].nameAt }
	for _, name := range slices.SortedFunc(maps.Keys(s.r.seen), inOrder) {
		g := s.r.seen[name]
		if !slices.ContainsFunc(strings.Split(g.String(), ", "), func(n string) bool { return !mentioned[n] }) {
			continue
		}
		if why, found := strings.CutPrefix(g.plan, "no equal: "); found {
			s.no(g.String(), why)
		} else if why, found := strings.CutPrefix(g.plan, "nothing: "); found {
			s.idle(why, name)
		} else if why := s.reasons[name]; why != "" {
			s.idle(why, name)
		} else {
			s.no(g.String(), "it is no line of this plan; its equal is "+g.plan)
		}
	}
}

var notOfNames = regexp.MustCompile(`[^a-z0-9._-]+`)

// planName returns the plan's name: the model's, in the letters that a plan's name may have.
func planName(model, usual string) string {
	name := strings.Trim(notOfNames.ReplaceAllString(strings.ToLower(model), "-"), "._-")
	return plantext.Scalar(cmp.Or(name, usual))
}
