// Package shell cuts command lines into arguments, and writes arguments for a shell.
//
// It is not: a shell. Nothing is expanded or run.
package shell

import (
	"cmp"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	errQuote     = errors.New("a quote is not closed")
	errBackslash = errors.New("it ends with a backslash")
)

// word is a word of a command line. One with a quote or a backslash is no operator of the shell.
type word struct {
	text   string
	quoted bool
}

// Split cuts a command line into arguments as a POSIX shell does: blanks separate, '…' is literal,
// "…" knows \" \\ \$ \`, a backslash takes the next character as it is and joins lines. A prompt ($
// or #) in front, comments, redirections and further commands are left out. Variables are not
// expanded.
func Split(text string) ([]string, error) {
	var args []word
	var now strings.Builder
	in, escaped := false, false // a word has begun; it has a quote or a backslash
	end := func() {
		if in {
			args = append(args, word{now.String(), escaped})
		}
		now.Reset()
		in, escaped = false, false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			end()
		case c == '#' && !in && len(args) > 0:
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '\\' && i+1 == len(text):
			return nil, errBackslash
		case c == '\\':
			if i++; text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
				i++
			}
			if text[i] != '\n' {
				now.WriteByte(text[i])
				in, escaped = true, true
			}
		case c == '\'' || c == '"':
			n, err := quoted(&now, text[i:])
			if err != nil {
				return nil, err
			}
			i += n
			in, escaped = true, true
		default:
			now.WriteByte(c)
			in = true
		}
	}
	end()
	return plainCommand(args), nil
}

// quoted appends the quoted piece that b begins with, and returns its length in bytes
// without the closing quote.
func quoted(to *strings.Builder, b string) (int, error) {
	mark := b[0]
	for i := 1; i < len(b); i++ {
		switch {
		case b[i] == mark:
			return i, nil
		case mark == '"' && b[i] == '\\' && i+1 < len(b) && strings.IndexByte("\"\\$`\n", b[i+1]) >= 0:
			if i++; b[i] != '\n' {
				to.WriteByte(b[i])
			}
		default:
			to.WriteByte(b[i])
		}
	}
	return 0, errQuote
}

var redirection = regexp.MustCompile(`^(\d*|&)>(>|\||&)?`)

// plainCommand leaves out the prompt, redirections, and everything after the command. "<" is no
// redirection here: documents write -m <model>.
func plainCommand(words []word) (args []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		text, last := strings.CutSuffix(w.text, ";")
		switch sign := redirection.FindString(w.text); {
		case w.quoted:
			args = append(args, w.text)
			continue
		case i == 0 && (w.text == "$" || w.text == "#"):
		case slices.Contains([]string{"|", "&&", "||", "&", "|&"}, w.text):
			return args
		case sign == w.text && sign != "":
			i++ // the file is a word of its own
		case sign == "" && text != "":
			args = append(args, text)
		}
		if last {
			return args
		}
	}
	return args
}

// IsProgram reports whether a word is one of the names of a program, with any path in front.
func IsProgram(word string, names []string) bool { return slices.Contains(names, path.Base(word)) }

// DropProgram leaves out the program's name and its launcher: docker run …, kubectl exec …, mpiexec
// …. A line that begins with an option has neither; the value of an option may have the name of the
// program.
func DropProgram(args, names []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return args
	}
	at := slices.IndexFunc(args, func(a string) bool { return IsProgram(a, names) })
	return args[at+1:]
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./~-]+$`)

// Quote writes an argument so that a shell reads it as one.
func Quote(arg string) string {
	if bare.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

var variable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)[^}]*\}|([A-Za-z_][A-Za-z0-9_]*))`)

// Variable returns the first variable in a text that no shell has expanded, as it is written, and its name;
// "": there is none.
func Variable(text string) (written, name string) {
	found := variable.FindStringSubmatch(text)
	if found == nil {
		return "", ""
	}
	return found[0], cmp.Or(found[1], found[2])
}
