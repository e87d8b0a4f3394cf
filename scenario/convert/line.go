package convert

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
	args    []string
	text    string
	at      []int // column of each argument in text, from 1
	wide    []int // its width there
	options []option
	diags   source.Diagnostics
}

func newLine(args []string) *line {
	l := &line{args: args, text: "perf_analyzer"}
	for _, a := range args {
		q := quote(strings.ReplaceAll(a, "\n", " "))
		l.at = append(l.at, utf8.RuneCountInString(l.text)+2)
		l.wide = append(l.wide, utf8.RuneCountInString(q))
		l.text += " " + q
	}
	return l
}

// given is an option with its value.
type given struct {
	*option
	line   *line
	value  string
	at     int // index of the argument that holds the value, or the name of a flag
	nameAt int // index of the argument that holds the name
}

// say adds a diagnostic about argument i.
func (l *line) say(severity source.Severity, i int, code, format string, args ...any) *source.Diagnostic {
	d := source.Diagnostic{
		Severity: severity, Code: code, Summary: fmt.Sprintf(format, args...),
		Pos: source.Pos{File: LineFile, Line: 1, Column: 1},
	}
	if i >= 0 && i < len(l.at) {
		d.Pos.Column, d.Width = l.at[i], l.wide[i]
	}
	l.diags = append(l.diags, d)
	return &l.diags[len(l.diags)-1]
}

func (l *line) fail(i int, code, format string, args ...any) *source.Diagnostic {
	return l.say(source.Error, i, code, format, args...)
}

func (l *line) warn(i int, code, format string, args ...any) *source.Diagnostic {
	return l.say(source.Warning, i, code, format, args...)
}

// parse finds the options, as getopt_long does:
//
//	line   = { "--" name [ "=" value | value ] | "-" letter { letter } [ value ] }
//	name   = an option's long name, or a prefix of exactly one
//	letter = a flag's, or the last of its argument: that of an option with a value,
//	         which follows at once or as the next argument
func (l *line) parse() []given {
	var list []given
	for i := 0; i < len(l.args); {
		a := l.args[i]
		var found []given
		switch {
		case a == "--" && i == len(l.args)-1:
			i++
		case strings.HasPrefix(a, "--"):
			found, i = l.long(i)
		case len(a) > 1 && a[0] == '-':
			found, i = l.short(i)
		default:
			l.stray(i)
			i++
		}
		list = append(list, found...)
	}
	return list
}

// stray warns of an argument that belongs to no option, which perf_analyzer ignores.
func (l *line) stray(i int) {
	if isProgram(l.args[i]) {
		d := l.fail(i, codeArgument, "a second %s begins here", l.args[i])
		d.Detail = "convert each command by itself: " +
			"their stages run side by side under `parallel` in one plan"
		return
	}
	d := l.warn(i, codeArgument, "%q belongs to no option and is left out", l.args[i])
	if d.Detail = "a value with blanks needs quotes"; strings.Contains(l.args[i], ":") {
		d.Detail = "a server's address is given with -u"
	}
}

func (l *line) long(i int) ([]given, int) {
	name, value, joined := strings.Cut(l.args[i][2:], "=")
	o := l.named(i, name)
	if o == nil {
		if !joined && i+1 < len(l.args) && !strings.HasPrefix(l.args[i+1], "-") {
			i++ // most likely its value
		}
		return nil, i + 1
	}
	g := given{option: o, line: l, value: value, at: i, nameAt: i}
	switch {
	case o.value == "" && joined:
		l.fail(i, codeValue, "%s takes no value, %q is given", o, value)
		return nil, i + 1
	case o.value != "" && !joined:
		return l.next(g)
	}
	return []given{g}, i + 1
}

// next takes the value of g from the argument after its name.
func (l *line) next(g given) ([]given, int) {
	if g.at = g.nameAt + 1; g.at >= len(l.args) {
		l.fail(g.nameAt, codeValue, "a value is missing for %s", g).Detail = g.synopsis
		return nil, g.at
	}
	g.value = l.args[g.at]
	return []given{g}, g.at + 1
}

// named returns the option with this name, or the only one that begins with it.
func (l *line) named(i int, name string) *option {
	var begin []*option
	var all, allowed []string
	for k := range l.options {
		o := &l.options[k]
		if o.name == "" {
			continue
		}
		if o.name == name {
			return o
		}
		all = append(all, o.String())
		if strings.HasPrefix(o.name, name) {
			begin, allowed = append(begin, o), append(allowed, o.String())
		}
	}
	switch {
	case len(begin) == 1:
		return begin[0]
	case len(begin) > 1 && name != "":
		l.fail(i, codeOption, "--%s is short for several options", name).Allowed = allowed
	default:
		l.fail(i, codeOption, "there is no option --%s", name).Nearest = source.Nearest("--"+name, all)
	}
	return nil
}

func (l *line) short(i int) (list []given, next int) {
	letters := l.args[i][1:]
	word, _, _ := strings.Cut(letters, "=")
	isWord := func(o option) bool { return o.name == word && word != "" }
	if slices.ContainsFunc(l.options, isWord) { // a long option that is written with one dash: -streaming
		l.fail(i, codeOption, "there is no option -%s", letters).Nearest = "--" + word
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
