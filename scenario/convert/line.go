package convert

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/scenario/convert/secret"

	"github.com/sluice-bench/sluice/scenario/convert/shell"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Codes of the diagnostics of this package; scenario/source explains them.
const (
	codeOption   = "unknown-option"
	codeArgument = "stray-argument"
	codeValue    = "option-value"
	codeClash    = "options-clash"
	codeNeeds    = "option-missing"
	codeNoEqual  = "no-equal"
	codeFile     = "file-missing"
	codeEffect   = "no-effect"
	codeVariable = "shell-variable"
)

// line is a command line and its mistakes. Its text is the arguments, quoted, on one line.
type line struct {
	program string
	args    []string
	text    string
	at      []int        // column of each argument in text, from 1
	wide    []int        // its width there
	from    []source.Pos // of arguments that a file of settings stands for: their place there
	options []option
	rest    []option    // of what follows --; nil: nothing does
	joined  bool        // _ in a name is -
	secrets secret.List // of which the arguments have marks
	diags   source.Diagnostics
}

func newLine(program string, args []string) *line {
	l := &line{args: slices.Clone(args), program: program, at: make([]int, len(args)), wide: make([]int,
		len(args))}
	l.write()
	return l
}

// write writes the text.
func (l *line) write() {
	l.text = l.program
	for i := range l.at {
		q := shell.Quote(strings.ReplaceAll(l.secrets.Shown(l.args[i]), "\n", " "))
		l.at[i], l.wide[i] = utf8.RuneCountInString(l.text)+2, utf8.RuneCountInString(q)
		l.text += " " + q
	}
}

// mistakes returns the diagnostics in order, as they may be shown.
func (l *line) mistakes() source.Diagnostics {
	for i := range l.diags {
		d := &l.diags[i]
		d.Summary, d.Detail = l.secrets.Shown(d.Summary), l.secrets.Shown(d.Detail)
	}
	return l.diags.Sorted()
}

// given is an option with its value.
type given struct {
	*option
	line   *line
	as     string // the name that it was given by, of several
	value  string
	at     int  // index of the argument that holds the value, or the name of a flag
	nameAt int  // index of the argument that holds the name
	after  bool // it follows --
}

// String returns the option's name in messages.
func (g given) String() string { return cmp.Or(g.as, g.option.String()) }

// position returns the place of argument i; -1: of the whole line.
func (l *line) position(i int) (pos source.Pos, width int) {
	pos = source.Pos{File: LineFile, Line: 1, Column: 1}
	switch {
	case i >= len(l.at):
		pos = l.from[i-len(l.at)]
	case i >= 0:
		pos.Column, width = l.at[i], l.wide[i]
	}
	return pos, width
}

// report adds a diagnostic about argument i; -1: of the whole line. It returns the one in the list.
func (l *line) report(i int, d *source.Diagnostic) *source.Diagnostic {
	pos, width := l.position(i)
	l.diags = append(l.diags, d.At("", pos, width))
	return &l.diags[len(l.diags)-1]
}

func (l *line) fail(i int, code, format string, args ...any) *source.Diagnostic {
	return l.report(i, source.Errorf(code, format, args...))
}

func (l *line) warn(i int, code, format string, args ...any) *source.Diagnostic {
	return l.report(i, source.Warnf(code, format, args...))
}

// parse finds the options of the arguments from one on, as getopt_long does:
//
//	line   = { "--" name [ "=" value | value ] | "-" letter { letter } [ value ] }
//	name   = an option's long name, or a prefix of exactly one
//	letter = a flag's, or the last of its argument: that of an option with a value,
//	         which follows at once or as the next argument
func (l *line) parse(from int) []given {
	var list []given
	after := false
	defer func(options, rest []option) { l.options, l.rest = options, rest }(l.options, l.rest)
	for i := from; i < len(l.args); {
		a := l.args[i]
		var found []given
		switch {
		case a == "--" && (i == len(l.args)-1 || l.rest != nil):
			if i++; l.rest != nil {
				l.options, l.rest, after = l.rest, nil, true
			}
		case strings.HasPrefix(a, "--"):
			found, i = l.long(i)
		case len(a) > 1 && a[0] == '-':
			found, i = l.short(i)
		default:
			l.stray(i)
			i++
		}
		for k := range found {
			found[k].after = after
		}
		list = append(list, found...)
	}
	return list
}

// stray reports an argument that belongs to no option. perf_analyzer ignores it; the others refuse it.
func (l *line) stray(i int) {
	if shell.IsProgram(l.args[i], perfAnalyzerNames) {
		l.fail(i, codeArgument, "a second %s begins here", l.args[i]).
			Help("convert each command by itself: " +
				"their stages run side by side under `parallel` in one plan")
		return
	}
	detail := "a value with blanks needs quotes"
	if strings.Contains(l.args[i], ":") {
		detail = "a server's address is given with -u"
	}
	if l.program != "perf_analyzer" {
		l.fail(i, codeArgument, "%q belongs to no option", l.args[i]).Help(detail)
		return
	}
	l.warn(i, codeArgument, "%q belongs to no option and is left out", l.args[i]).Help(detail)
}

func (l *line) long(i int) ([]given, int) {
	name, value, joined := strings.Cut(l.args[i][2:], "=")
	o, as := l.named(i, name)
	if o == nil {
		hides := l.hides(name)
		if joined && hides {
			l.args[i] = "--" + name + "=" + secret.Masked
		}
		if !joined && i+1 < len(l.args) && !strings.HasPrefix(l.args[i+1], "-") {
			if i++; hides { // most likely its value
				l.args[i] = secret.Masked
			}
		}
		return nil, i + 1
	}
	g := given{option: o, line: l, as: as, value: value, at: i, nameAt: i}
	switch {
	case o.value == "" && joined:
		l.fail(i, codeValue, "%s takes no value, %q is given", g, value)
		return nil, i + 1
	case o.value != "" && !joined:
		return l.next(g)
	}
	return []given{g}, i + 1
}

// next takes the value of g from the argument after its name, or its values from those up to the next
// option.
func (l *line) next(g given) (list []given, next int) {
	next = g.nameAt + 1
	if g.maybe {
		isTruth := func(a string) bool { return strings.EqualFold(a, "true") || strings.EqualFold(a, "false") }
		if next < len(l.args) && isTruth(l.args[next]) {
			g.at, g.value = next, l.args[next]
			next++
		}
		return []given{g}, next
	}
	for next < len(l.args) && (len(list) == 0 || g.many) {
		if g.many && strings.HasPrefix(l.args[next], "-") {
			break
		}
		g.at, g.value = next, l.args[next]
		list, next = append(list, g), next+1
	}
	if len(list) == 0 {
		l.fail(g.nameAt, codeValue, "a value is missing for %s", g).Help(g.synopsis)
	}
	return list, next
}

// spelled returns a name as the table has it.
func (l *line) spelled(name string) string {
	if l.joined {
		return strings.ReplaceAll(name, "_", "-")
	}
	return name
}

// hides reports whether an unknown option most likely holds a secret, by its name or by that of the option which it is
// a misspelling of.
func (l *line) hides(name string) bool {
	var all []string
	for _, o := range l.options {
		all = append(all, o.names...)
	}
	return secret.IsName(name) || secret.IsName(source.Nearest(l.spelled(name), all))
}

// named returns the option with this name, or the only one that begins with it; and the name, where the
// option has several.
func (l *line) named(i int, name string) (o *option, as string) {
	var begin []*option
	var all, allowed []string
	written := name
	name = l.spelled(name)
	for k := range l.options {
		o := &l.options[k]
		as := func(n string) string {
			if len(o.names) > 1 {
				return "--" + n
			}
			return ""
		}
		if slices.Contains(o.names, name) {
			return o, as(name)
		}
		for _, n := range o.names {
			all = append(all, "--"+n)
			if strings.HasPrefix(n, name) && (len(begin) == 0 || begin[len(begin)-1] != o) {
				begin, allowed = append(begin, o), append(allowed, "--"+n)
			}
		}
	}
	switch {
	case len(begin) == 1 && len(begin[0].names) == 1:
		return begin[0], ""
	case len(begin) == 1:
		return begin[0], allowed[0]
	case len(begin) > 1 && name != "":
		l.fail(i, codeOption, "--%s is short for several options", written).Among("", allowed)
	default:
		l.fail(i, codeOption, "there is no option --%s", written).Among(source.Nearest("--"+name, all), nil)
	}
	return nil, ""
}

func (l *line) short(i int) (list []given, next int) {
	letters := l.args[i][1:]
	word, _, _ := strings.Cut(letters, "=")
	isWord := func(o option) bool { return word != "" && slices.Contains(o.names, word) }
	if slices.ContainsFunc(l.options, isWord) { // a long option that is written with one dash: -streaming
		l.fail(i, codeOption, "there is no option -%s", letters).Among("--"+word, nil)
		return nil, i + 1
	}
	for k, c := range []byte(letters) {
		at := slices.IndexFunc(l.options, func(o option) bool { return o.short == c })
		if at < 0 {
			l.fail(i, codeOption, "there is no option -%c", c)
			return list, i + 1
		}
		g := given{option: &l.options[at], line: l, at: i, nameAt: i}
		if g.option.value == "" {
			list = append(list, g)
			continue
		}
		if g.value = letters[k+1:]; g.value != "" {
			return append(list, g), i + 1
		}
		more, n := l.next(g)
		return append(list, more...), n
	}
	return list, i + 1
}
