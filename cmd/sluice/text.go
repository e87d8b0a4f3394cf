package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor/artifact"
	"github.com/sluice-bench/sluice/scenario/source"
)

// helpWidth is the width of help in columns, on a terminal or not.
const helpWidth = 80

// print writes a text to standard output, folded to the width of the terminal.
func (a *app) print(text string) error {
	_, err := io.WriteString(a.out, artifact.Fold(text, a.width))
	return err
}

// printJSON writes a value to standard output.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// report writes a text to standard error, folded to the width of the terminal.
func (a *app) report(format string, args ...any) {
	text := artifact.Fold(fmt.Sprintf(format, args...), a.errWidth)
	_, _ = io.WriteString(a.err, text) // an error of standard error cannot be reported
}

// diagnose writes diagnostics to standard error.
func (a *app) diagnose(ds source.Diagnostics, sources source.Sources) {
	if len(ds) == 0 {
		return
	}
	var b bytes.Buffer
	look := source.Look{Color: a.color(a.terminal), Columns: a.errWidth}
	_ = source.Render(&b, ds, sources, look) // writing to b cannot fail
	a.report("%s\n", b.String())
}

// foldHelp folds the help of a command and of its subcommands.
func foldHelp(c *cobra.Command) {
	c.Long = artifact.Fold(c.Long, helpWidth)
	for _, sub := range c.Commands() {
		foldHelp(sub)
	}
}
