package convert

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Takers set what an option's value says. Those that are made with a default set it at once.

func ignore(given) {}

func flag(to *bool) func(given) { return func(given) { *to = true } }

func text(to *string) func(given) { return func(g given) { *to = g.value } }

// whole takes a whole number of at least least.
func whole(to *int64, usual, least int64) func(given) {
	*to = usual
	return func(g given) {
		if n, ok := g.integer(g.value, least); ok {
			*to = n
		}
	}
}

func real(to *float64, usual, least float64) func(given) {
	*to = usual
	return func(g given) {
		if v, ok := g.number(g.value, least); ok {
			*to = v
		}
	}
}

// word takes one of the words in the option's synopsis.
func word(to *string, usual string) func(given) {
	*to = usual
	return func(g given) {
		if allowed := strings.Split(g.option.value, "|"); slices.Contains(allowed, g.value) {
			*to = g.value
		} else {
			g.notAllowed(g.value, allowed)
		}
	}
}

// fold makes a taker read its value in any case.
func fold(take func(given)) func(given) {
	return func(g given) {
		g.value = strings.ToLower(g.value)
		take(g)
	}
}

// as makes a taker read value in place of the option's own.
func as(value string, take func(given)) func(given) {
	return func(g given) {
		g.value = value
		take(g)
	}
}

// first keeps the first of an option's values.
func (c *reader) first(take func(given)) func(given) {
	return func(g given) {
		if c.has(g.String()) {
			c.warn(g.at, codeEffect, "only the first %s counts", g)
			return
		}
		take(g)
	}
}

// origin makes a taker record the origin of the load.
func (l *loading) origin(take func(given)) func(given) {
	return func(g given) {
		take(g)
		if !slices.ContainsFunc(l.modes, func(o given) bool { return modeOf(o) == modeOf(g) }) {
			l.modes = append(l.modes, g)
		}
	}
}

const validateWants = "the plan names it all the same; `validate` wants it"

// file takes the path of a file, and warns where there is none.
func (c *reader) file(to *string) func(given) {
	return func(g given) {
		*to = g.value
		if info, err := os.Stat(g.value); err != nil {
			c.warn(g.at, codeFile, "%s: there is no file %q here", g, g.value).Help(validateWants)
		} else if info.IsDir() {
			c.fail(g.at, codeFile, "%s: %q is a folder, not a file", g, g.value)
		}
	}
}

// folder takes the path of a folder, and warns where there is none.
func (c *reader) folder(to *string, usual string) func(given) {
	*to = usual
	return func(g given) {
		*to = g.value
		if info, err := os.Stat(g.value); err != nil || !info.IsDir() {
			c.warn(g.at, codeFile, "%s: there is no folder %q here", g, g.value).Help(validateWants)
		}
	}
}

// wrong reports a mistake in the value.
func (g given) wrong(format string, args ...any) *source.Diagnostic {
	return g.line.fail(g.at, codeValue, format, args...)
}

// malformed reports a value that does not have the form in the option's synopsis.
func (g given) malformed(format string, args ...any) *source.Diagnostic {
	return g.wrong(format, args...).Help("write " + g.synopsis)
}

func (g given) notAllowed(v string, allowed []string) {
	g.wrong("%q is no value of %s", v, g).Among(source.Nearest(v, allowed), allowed)
}

// integer reads a whole number, all of it.
func (g given) integer(text string, least int64) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		d := g.wrong("%s wants a whole number, %q is none", g, text)
		f, bad := strconv.ParseFloat(text, 64)
		if g.line.program == "perf_analyzer" && bad == nil && f > 0 && f < math.MaxInt32 {
			d.Detail = "perf_analyzer reads " + strconv.Itoa(int(f)) +
				" and leaves out the rest; write what is meant"
		} else if strings.Contains(text, ",") {
			d.Detail = "the parts of a range are separated by colons, as in " +
				strings.ReplaceAll(text, ",", ":")
		}
		return 0, false
	}
	return n, g.atLeast(float64(n), float64(least))
}

func (g given) number(text string, least float64) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		g.wrong("%s wants a number, %q is none", g, text)
		return 0, false
	}
	return v, g.atLeast(v, least)
}

func (g given) atLeast(v, least float64) bool {
	switch {
	case v >= least:
		return true
	case least == 0:
		g.wrong("%s must not be below 0", g)
	case least == 1:
		g.wrong("%s must be above 0", g)
	default:
		g.wrong("%s must be at least %v", g, least)
	}
	return false
}

func (m *measuring) takePercentile(g given) {
	n, ok := g.integer(g.value, math.MinInt64)
	if ok && n != -1 && (n < 1 || n > 99) {
		g.wrong("%s is from 1 to 99, or -1 for the mean, %d is given", g, n)
		return
	}
	m.percentile = n
}

func (s *sequencing) takeLength(g given) {
	n, ok := g.integer(g.value, math.MinInt64)
	if ok && n <= 0 {
		g.line.warn(g.at, codeEffect, "%s must be above 0: 20 is taken", g)
		n = 20
	}
	s.length = n
}

// takeRange reads a range of at least least and at most most parts; read reads one of them. False: a
// mistake was reported.
func takeRange[T int64 | float64](
	g given, to *span[T], least, most int, read func(text string, part int) (T, bool),
) bool {
	parts := strings.Split(g.value, ":")
	switch {
	case len(parts) > most:
		g.malformed("%s has at most %d parts, %q has %d", g, most, g.value, len(parts))
		return false
	case len(parts) < least:
		g.malformed("%s needs its start and its end, %q has one part", g, g.value)
		return false
	}
	for i, part := range []*T{&to.from, &to.to, &to.step}[:len(parts)] {
		v, ok := read(parts[i], i)
		if !ok {
			return false
		}
		*part = v
	}
	return true
}

func (l *loading) takeConcurrency(g given) {
	l.concurrency = span[int64]{1, 1, 1}
	takeRange(g, &l.concurrency, 1, 3, func(text string, part int) (int64, bool) {
		return g.integer(text, []int64{1, 0, 1}[part])
	})
}

func (l *loading) takeRate(g given) {
	l.rate = span[float64]{1, 1, 1}
	ok := takeRange(g, &l.rate, 1, 3, func(text string, part int) (float64, bool) {
		v, ok := g.number(text, 0)
		if ok && v == 0 && part != 1 {
			g.wrong("%s: the %s must be above 0", g, []string{"start", "", "step"}[part])
			return 0, false
		}
		return v, ok
	})
	if ok && !strings.Contains(g.value, ":") && l.rate.from < l.rate.to {
		// 0.5 is one level, below the end of 1 that perf_analyzer has where none is given
		l.rate.to = l.rate.from
	}
}

func (l *loading) takePeriodic(g given) {
	r := span[int64]{1, 1, 1}
	ok := takeRange(g, &r, 2, 3, func(text string, _ int) (int64, bool) { return g.integer(text, 1) })
	switch {
	case !ok:
	case r.from > r.to:
		g.wrong("%s: the start %d is above the end %d", g, r.from, r.to)
	case (r.to-r.from)%r.step != 0:
		g.wrong("%s: steps of %d do not lead from %d to %d", g, r.step, r.from, r.to)
	}
	l.periodic = r
}

func (s *sequencing) takeIDs(g given) {
	r := span[int64]{}
	ok := takeRange(g, &r, 1, 2, func(text string, _ int) (int64, bool) { return g.integer(text, 0) })
	if ok && r.from == 0 {
		g.line.warn(g.at, codeEffect, "%s: 0 is no sequence id, 1 is taken", g)
		r.from = 1
	}
	if ok && strings.Contains(g.value, ":") && r.to <= r.from {
		g.wrong("%s: there is no id from %d up to, but without, %d", g, r.from, r.to)
	}
	s.ids = r
}

// takeData reads zero, random or a path. The first path that is a folder decides for folders;
// others are then left out.
func (c *command) takeData(g given) {
	d := &c.data
	if g.value == "zero" || g.value == "random" {
		d.generated = g
		return
	}
	info, err := os.Stat(g.value)
	if err != nil {
		if words := []string{"zero", "random"}; source.Nearest(g.value, words) != "" {
			g.notAllowed(g.value, append(words, "the path of a file or a folder"))
			return
		}
		c.warn(g.at, codeFile, "%s: there is no file or folder %q here, so it is taken as a file", g,
			g.value).Help(validateWants)
	} else if info.IsDir() && d.dir == "" {
		d.dir = g.value
	}
	d.paths = append(d.paths, g.value)
}

// takeShape reads NAME:1,2,3; the last colon separates.
func (d *feeding) takeShape(g given) {
	at := strings.LastIndexByte(g.value, ':')
	if at <= 0 {
		g.malformed("%s wants a colon between the input and its dimensions, %q has none", g, g.value)
		return
	}
	var dims []string
	for _, text := range strings.Split(g.value[at+1:], ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			g.malformed("%s: the dimension %q is no whole number", g, text)
			return
		}
		if n <= 0 {
			g.wrong("%s: a dimension must be above 0, %d is given", g, n)
			return
		}
		dims = append(dims, plantext.Count(n))
	}
	set(&d.shapes, pair{g.value[:at], strings.Join(dims, ", ")}, func(a, b string) bool { return a == b })
}

// set puts p in the place of the pair of the same name, at the end of the list.
func set(list *[]pair, p pair, same func(a, b string) bool) {
	*list = slices.DeleteFunc(*list, func(o pair) bool { return same(o.name, p.name) })
	*list = append(*list, p)
}

// takeComposing reads a list of name[:version]; blanks are ignored.
func (r *requesting) takeComposing(g given) {
	r.composing = strings.Split(strings.Join(strings.Fields(g.value), ""), ",")
	for _, one := range r.composing {
		name, version, found := strings.Cut(one, ":")
		if name == "" || found && version == "" {
			g.malformed("%s: %q is no name of a model, nor a name and a version", g, one)
			return
		}
		if found {
			if _, ok := g.integer(version, 1); !ok {
				return
			}
		}
	}
}

// takeParameter reads name:value:type. perf_analyzer drops an unknown type silently.
func (r *requesting) takeParameter(g given) {
	parts := strings.Split(g.value, ":")
	if len(parts) != 3 {
		d := g.malformed("%s has three parts, %q has %d", g, g.value, len(parts))
		d.Detail += ", such as max_tokens:256:int"
		return
	}
	name, value := parts[0], parts[1]
	switch kind := strings.ToLower(parts[2]); kind {
	case "int":
		n, ok := g.integer(value, math.MinInt64)
		if !ok {
			return
		}
		value = plantext.Count(n) // 010 is eight in a plan
	case "bool":
		if value = strings.ToLower(value); value != "true" && value != "false" {
			g.wrong("%s: %q is neither true nor false", g, parts[1])
			return
		}
	case "string":
		value = strconv.Quote(plantext.Escaped(value))
	default:
		g.notAllowed(kind, []string{"string", "int", "bool"})
		return
	}
	set(&r.parameters, pair{name, value}, func(a, b string) bool { return a == b })
}

func (r *requesting) takeHeader(g given) {
	name, value, ok := strings.Cut(g.value, ":")
	if name = strings.TrimSpace(name); !ok || name == "" {
		g.malformed("%s wants a colon between a header's name and its value, %q has none", g, g.value)
		return
	}
	set(&r.headers, pair{name, strings.TrimSpace(value)}, strings.EqualFold)
}

func (r *requesting) takeMethod(g given) {
	service, method, ok := strings.Cut(g.value, "/")
	if !ok || service == "" || method == "" || strings.Contains(method, "/") {
		g.wrong("%s: %q is not package.Service/Method", g, g.value).
			Help("one slash separates the service from its method")
		return
	}
	r.method = g.value
}

// takeTrace adds up levels; OFF takes back those before it.
func (w *watching) takeTrace(g given) {
	level := ""
	word(&level, "")(g)
	switch {
	case level == "OFF":
		w.traceLevels, w.traceOff = nil, true
	case level != "" && !slices.Contains(w.traceLevels, level):
		w.traceLevels, w.traceOff = append(w.traceLevels, level), false
	}
}
