package convert

import (
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

// Split cuts a command line into arguments as a POSIX shell does: blanks separate, '…' is literal, "…" knows \" \\ \$ \`,
// a backslash takes the next character as it is and joins lines. A prompt ($ or #) in front, a comment at the end and what
// follows a redirection are left out. Variables are not expanded: they stay as they stand.
func Split(text string) ([]string, error) {
	var args []string
	var word strings.Builder
	in := false // a word has begun, if only with a quote
	end := func() {
		if in {
			args = append(args, word.String())
		}
		word.Reset()
		in = false
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
				word.WriteByte(text[i])
				in = true
			}
		case c == '\'' || c == '"':
			n, err := quoted(&word, text[i:])
			if err != nil {
				return nil, err
			}
			i += n
			in = true
		default:
			word.WriteByte(c)
			in = true
		}
	}
	end()
	return plainCommand(args), nil
}

// quoted takes the quoted piece that b begins with into word, and says how many bytes it has without the closing quote.
func quoted(word *strings.Builder, b string) (int, error) {
	mark := b[0]
	for i := 1; i < len(b); i++ {
		switch {
		case b[i] == mark:
			return i, nil
		case mark == '"' && b[i] == '\\' && i+1 < len(b) && strings.IndexByte("\"\\$`\n", b[i+1]) >= 0:
			if i++; b[i] != '\n' {
				word.WriteByte(b[i])
			}
		default:
			word.WriteByte(b[i])
		}
	}
	return 0, errQuote
}

var redirection = regexp.MustCompile(`^(\d*|&)>>?`)

// plainCommand leaves out the prompt and what a shell would take for itself.
func plainCommand(args []string) []string {
	if len(args) > 0 && (args[0] == "$" || args[0] == "#") {
		args = args[1:]
	}
	for i, a := range args {
		if slices.Contains([]string{"|", "&&", "||", ";", "&"}, a) || redirection.MatchString(a) {
			return args[:i]
		}
	}
	return args
}

// isProgram reports whether a word is the name of the program, with any path in front.
func isProgram(word string) bool {
	return slices.Contains([]string{"perf_analyzer", "perf_client"}, path.Base(word))
}

// dropProgram leaves out the program's name and what starts it: docker run …, kubectl exec …, mpiexec …. A line that begins
// with an option begins with one of perf_analyzer's, whose value may be called like the program.
func dropProgram(args []string) []string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return args
	}
	return args[slices.IndexFunc(args, isProgram)+1:]
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./~-]+$`)

// quote writes an argument so that a shell reads it as one.
func quote(arg string) string {
	if bare.MatchString(arg) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
