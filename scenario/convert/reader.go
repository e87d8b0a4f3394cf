package convert

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/secret"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/convert/shell"

	"github.com/sluice-bench/sluice/scenario/source"
)

// reader takes the options of a command line. What they mean is kept by the takers of its table.
type reader struct {
	*line
	o        Options
	seen     map[string]given // by the option's first name, the last time
	asked    []string         // options that rules ask for
	doubtful bool             // an option that rules ask for has a mistake: it may have been meant well
	literal  []note           // variables of a shell, kept as they are written
	skip     int              // arguments before the options
	login    string           // the mark of the user of the server's URL
	left     []note           // parts of values that have no equal
	used     []secret.Secret  // by the plan
	tail     *reader          // of the options after --
	// config adds the options of a file of settings; nil: the tool has none.
	config func([]given) []given
}

// note is an option without a key of the plan, and the reason.
type note struct{ option, text string }

// newReader returns a reader of the arguments of a program.
func newReader(o Options, program string, args []string) *reader {
	return &reader{line: newLine(program, args), o: o, seen: make(map[string]given)}
}

// read takes all options.
func (r *reader) read() {
	list := r.parse(r.skip)
	if r.config != nil {
		list = r.config(list)
	}
	// -i without a value, --input-dta
	r.doubtful = slices.ContainsFunc(r.diags, func(d source.Diagnostic) bool {
		return d.Severity == source.Error && (d.Code == codeValue || slices.Contains(r.asked, d.Nearest))
	})
	for _, g := range list {
		if g.after && r.tail != nil {
			r.tail.take(g)
		} else {
			r.take(g)
		}
	}
}

// parse finds the options, after their secrets were hidden.
func (r *reader) parse(from int) []given {
	before := len(r.diags)
	for _, g := range r.line.parse(from) {
		r.hide(g)
	}
	r.diags = r.diags[:before]
	r.write()
	return r.line.parse(from)
}

// take applies an option.
func (r *reader) take(g given) {
	g = r.takeLogin(g)
	before, name := len(r.diags), g.option.String()
	g.take(g)
	r.seen[name] = g
	r.doubtful = r.doubtful || r.diags[before:].HasErrors() && slices.Contains(r.asked, name)
	r.variable(g)
}

// has reports whether an option was given, by its first name with dashes.
func (r *reader) has(name string) bool {
	_, ok := r.seen[name]
	return ok
}

// spoken returns the name of an option as it was given.
func (r *reader) spoken(name string) string {
	if g, ok := r.seen[name]; ok {
		return g.String()
	}
	return name
}

// arg returns the argument that a message about an option points to; -1 where it was not given.
func (r *reader) arg(name string) int {
	if g, ok := r.seen[name]; ok {
		return g.at
	}
	return -1
}

// alsoGiven returns the names of an option and of those beside it that were given.
func (r *reader) alsoGiven(option string, beside ...string) string {
	names := []string{r.spoken(option)}
	for _, o := range beside {
		if r.has(o) {
			names = append(names, r.spoken(o))
		}
	}
	return strings.Join(names, ", ")
}

// because returns those of the options that were given, as a comment.
func (r *reader) because(options ...string) string {
	var all []string
	for _, o := range options {
		if r.has(o) && !slices.Contains(all, r.spoken(o)) {
			all = append(all, r.spoken(o))
		}
	}
	return strings.Join(all, ", ")
}

// variable warns of a variable that no shell has expanded.
func (r *reader) variable(g given) {
	written, name := shell.Variable(g.value)
	if written == "" {
		return
	}
	const outside = "%s; for a value from outside: vars: {%s: {env: %s}}, and ${%[2]s} in its place"
	text := fmt.Sprintf(outside, written, strings.ToLower(name), name)
	r.literal = append(r.literal, note{g.String(), text})
	r.warn(g.at, codeVariable, "%s: no shell has expanded %s", g, written).
		Help("a command line in single quotes keeps its variables as they are; " +
			"--var and `env` of the plan's `vars` set their values")
}

// clash reports an option that another one rules out, where broken.
func (r *reader) clash(broken bool, option, with, why string) {
	if broken {
		r.fail(r.arg(option), codeClash, "%s does not go with %s", r.spoken(option), r.spoken(with)).Help(why)
	}
}

// needs reports an option that is missing for another one, where broken.
func (r *reader) needs(broken bool, option, what, why string) {
	if broken {
		r.fail(r.arg(option), codeNeeds, "%s needs %s", r.spoken(option), what).Help(why)
	}
}

// path returns a file of the command line as the plan names it: relative to the plan's folder, or
// absolute where the command line has it so.
func (r *reader) path(p string) string {
	if r.o.Dir == "" || filepath.IsAbs(p) {
		return plantext.Scalar(p)
	}
	dir, err := filepath.Abs(r.o.Dir)
	file, err2 := filepath.Abs(p)
	if err != nil || err2 != nil { // the working folder is gone
		return plantext.Scalar(p)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // its .. is where the system goes from there
	}
	if rel, err := filepath.Rel(dir, file); err == nil {
		file = rel
	}
	return plantext.Scalar(file)
}
