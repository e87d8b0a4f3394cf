package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor/artifact"
	"github.com/sluice-bench/sluice/scenario/source"
)

// helpWidth is the number of columns of help, on a terminal or not.
const helpWidth = 80

// print writes a text to standard output, folded to the terminal that it is.
func (a *app) print(text string) error {
	_, err := io.WriteString(a.out, artifact.Fold(text, a.width))
	return err
}

// report writes a text to standard error, folded to the terminal that it is.
func (a *app) report(format string, args ...any) {
	_, _ = io.WriteString(a.err, artifact.Fold(fmt.Sprintf(format, args...), a.errWidth)) // a broken stderr cannot be reported
}

// diagnose writes diagnostics for people to standard error.
func (a *app) diagnose(ds source.Diagnostics, sources source.Sources) {
	if len(ds) == 0 {
		return
	}
	var b bytes.Buffer
	_ = source.Render(&b, ds, sources, source.Look{Color: a.color(a.terminal), Columns: a.errWidth}) // b takes everything
	a.report("%s\n", b.String())
}

// foldHelp folds the help of a command, and of those below it.
func foldHelp(c *cobra.Command) {
	c.Long = artifact.Fold(joinLines(c.Long), helpWidth)
	for _, sub := range c.Commands() {
		foldHelp(sub)
	}
}

// joinLines makes one line of each paragraph. Lines that begin with a space stay as they are.
func joinLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		last := len(lines) - 1
		if last >= 0 && lines[last] != "" && line != "" && lines[last][0] != ' ' && line[0] != ' ' {
			lines[last] += " " + line
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
