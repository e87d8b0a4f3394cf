package convert

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// The takers below read options whose value is one word or number.

func text(to func(*settings) *string) func(*settings, given) {
	return func(s *settings, g given) { *to(s) = g.value }
}

// whole takes a whole number of at least least.
func whole(to func(*settings) *int64, least int64) func(*settings, given) {
	return func(s *settings, g given) {
		if n, ok := s.integer(g, g.value, least); ok {
			*to(s) = n
		}
	}
}

// first keeps the first of an option's values.
func first(take func(*settings, given)) func(*settings, given) {
	return func(s *settings, g given) {
		if s.has(g.String()) {
			s.warn(g.at, codeEffect, "only the first %s counts", g)
			return
		}
		take(s, g)
	}
}

func real(to func(*settings) *float64, least float64) func(*settings, given) {
	return func(s *settings, g given) {
		if v, ok := s.number(g, g.value, least); ok {
			*to(s) = v
		}
	}
}

// file takes the path of a file, and warns where there is none.
func file(to func(*settings) *string) func(*settings, given) {
	return func(s *settings, g given) {
		*to(s) = g.value
		info, err := s.o.Stat(g.value)
		switch {
		case err != nil:
			s.warn(g.at, codeFile, "%s: there is no file %q here", g,
				g.value).Detail = "the plan names it all the same; `validate` wants it"
		case info.IsDir():
			s.fail(g.at, codeFile, "%s: %q is a folder, not a file", g, g.value)
		}
	}
}

// folder takes the path of a folder, and warns where there is none.
func folder(to func(*settings) *string) func(*settings, given) {
	return func(s *settings, g given) {
		*to(s) = g.value
		if info, err := s.o.Stat(g.value); err != nil || !info.IsDir() {
			s.warn(g.at, codeFile, "%s: there is no folder %q here", g,
				g.value).Detail = "the plan names it all the same; `validate` wants it"
		}
	}
}

func exactly(v string) string { return v }

func anyCase(v string) string { return strings.ToLower(v) }

// word takes one of some words, in their case or in any.
func word(to func(*settings) *string, fold func(string) string, allowed ...string) func(*settings, given) {
	return func(s *settings, g given) {
		v := fold(g.value)
		if !slices.Contains(allowed, v) {
			s.notAllowed(g, v, allowed)
			return
		}
		*to(s) = v
	}
}

func (s *settings) notAllowed(g given, v string, allowed []string) {
	d := s.fail(g.at, codeValue, "%q is no value of %s", v, g)
	d.Allowed, d.Nearest = allowed, source.Nearest(v, allowed)
}

// integer reads a whole number, all of it.
func (s *settings) integer(g given, text string, least int64) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		d := s.fail(g.at, codeValue, "%s wants a whole number, %q is none", g, text)
		if f, bad := strconv.ParseFloat(text, 64); bad == nil && f > 0 && f < math.MaxInt32 {
			d.Detail = "perf_analyzer reads " + strconv.Itoa(int(f)) +
				" and leaves out the rest; write what is meant"
		} else if strings.Contains(text, ",") {
			d.Detail = "the parts of a range are separated by colons, as in " + strings.ReplaceAll(text,
				",", ":")
		}
		return 0, false
	}
	return n, s.atLeast(g, float64(n), float64(least))
}

func (s *settings) number(g given, text string, least float64) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		s.fail(g.at, codeValue, "%s wants a number, %q is none", g, text)
		return 0, false
	}
	return v, s.atLeast(g, v, least)
}

func (s *settings) atLeast(g given, v, least float64) bool {
	switch {
	case v >= least:
		return true
	case least == 0:
		s.fail(g.at, codeValue, "%s must not be below 0", g)
	case least == 1 && v < 1:
		s.fail(g.at, codeValue, "%s must be above 0", g)
	default:
		s.fail(g.at, codeValue, "%s must be at least %v", g, least)
	}
	return false
}

func (s *settings) takeMode(g given) {
	m := ""
	word(func(*settings) *string { return &m }, exactly, "time_windows", "count_windows")(s, g)
	s.counting = m == "count_windows"
}

func (s *settings) takePercentile(g given) {
	n, ok := s.integer(g, g.value, math.MinInt64)
	if !ok {
		return
	}
	if n != -1 && (n < 1 || n > 99) {
		s.fail(g.at, codeValue, "%s is from 1 to 99, or -1 for the mean, %d is given", g, n)
		return
	}
	s.percentile = n
}

func (s *settings) takeLength(g given) {
	n, ok := s.integer(g, g.value, math.MinInt64)
	if !ok {
		return
	}
	s.lengthSaid = true
	if n <= 0 {
		s.warn(g.at, codeEffect, "%s must be above 0: 20 is taken", g)
		n = 20
	}
	s.length = n
}

// parts cuts a value at its colons into at least least and at most most parts.
func (s *settings) parts(g given, least, most int) ([]string, bool) {
	parts := strings.Split(g.value, ":")
	switch {
	case len(parts) > most:
		s.fail(g.at, codeValue, "%s has at most %d parts, %q has %d", g, most, g.value,
			len(parts)).Detail = "write " + g.synopsis()
		return nil, false
	case len(parts) < least:
		s.fail(g.at, codeValue, "%s needs its start and its end, %q has one part", g,
			g.value).Detail = "write " + g.synopsis()
		return nil, false
	}
	return parts, true
}

func (s *settings) takeConcurrency(g given) {
	parts, ok := s.parts(g, 1, 3)
	if !ok {
		return
	}
	r := span[int64]{1, 1, 1}
	for i, to := range []*int64{&r.from, &r.to, &r.step}[:len(parts)] {
		n, ok := s.integer(g, parts[i], []int64{1, 0, 1}[i])
		if !ok {
			return
		}
		*to = n
	}
	s.concurrency = r
}

func (s *settings) takeRate(g given) {
	parts, ok := s.parts(g, 1, 3)
	if !ok {
		return
	}
	r := span[float64]{1, 1, 1}
	for i, to := range []*float64{&r.from, &r.to, &r.step}[:len(parts)] {
		v, ok := s.number(g, parts[i], 0)
		if !ok {
			return
		}
		if v == 0 && i != 1 {
			s.fail(g.at, codeValue, "%s: the %s must be above 0", g, [...]string{"start", "", "step"}[i])
			return
		}
		*to = v
	}
	if len(parts) == 1 && r.from < r.to {
		r.to = r.from // 0.5 is one level, below the end of 1 that perf_analyzer has where none is given
	}
	s.rate = r
}

func (s *settings) takePeriodic(g given) {
	parts, ok := s.parts(g, 2, 3)
	if !ok {
		return
	}
	r := span[int64]{1, 1, 1}
	for i, to := range []*int64{&r.from, &r.to, &r.step}[:len(parts)] {
		n, ok := s.integer(g, parts[i], 1)
		if !ok {
			return
		}
		*to = n
	}
	switch {
	case r.from > r.to:
		s.fail(g.at, codeValue, "%s: the start %d is above the end %d", g, r.from, r.to)
	case (r.to-r.from)%r.step != 0:
		s.fail(g.at, codeValue, "%s: steps of %d do not lead from %d to %d", g, r.step, r.from, r.to)
	}
	s.periodic = r
}

func (s *settings) takeIDs(g given) {
	parts, ok := s.parts(g, 1, 2)
	if !ok {
		return
	}
	r := ids{}
	for i, to := range []*int64{&r.from, &r.to}[:len(parts)] {
		n, ok := s.integer(g, parts[i], 0)
		if !ok {
			return
		}
		*to = n
	}
	if r.from == 0 {
		s.warn(g.at, codeEffect, "%s: 0 is no sequence id, 1 is taken", g)
		r.from = 1
	}
	if len(parts) == 2 && r.to <= r.from {
		s.fail(g.at, codeValue, "%s: there is no id from %d up to, but without, %d", g, r.from, r.to)
	}
	s.ids = r
}
