package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/source"
)

// app holds the inputs and outputs of one invocation.
type app struct {
	in            io.Reader
	out           *errorWriter // the result
	err           io.Writer    // progress and diagnostics
	env           func(string) (string, bool)
	terminal      bool           // err is a terminal
	width         int            // columns of out, 0 if it is no terminal
	errWidth      int            // columns of err, 0 if it is no terminal
	delay         func(n uint64) // test hook: delays the pacer
	sharesProcess bool           // test hook: this process does other work too
	exe           func() (string, error)
	code          int // exit code unless a command fails
}

// system returns the app of this process. A fatal error of the runtime aborts the process with exit
// code 134: the runtime's own exit code, 2, would mean that the plan is wrong and nothing was sent.
// It remains 2 if the process cannot start for lack of memory, threads or descriptors: then nothing
// was sent. An abort writes a core file only with GOTRACEBACK=crash.
func system() *app {
	debug.SetTraceback("crash")
	if os.Getenv("GOTRACEBACK") != "crash" {
		disableCoreFile()
	}
	a := &app{
		in: os.Stdin, out: &errorWriter{w: os.Stdout}, err: os.Stderr, env: os.LookupEnv, exe: os.Executable,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	a.width, a.errWidth = terminalWidth(os.Stdout), terminalWidth(os.Stderr)
	return a
}

// terminalWidth returns the columns of a terminal, 0 for anything else.
func terminalWidth(w io.Writer) int {
	if file, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(file.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// notifySignals returns a channel for the signals that end a run or a server in order, until stop
// is called. It ignores SIGPIPE: a closed reader of standard output must not prevent files from
// being written. Other commands keep the defaults.
func notifySignals() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE)
	return c, func() { signal.Stop(c) }
}

// errorWriter remembers the first error of writing: a command whose result could not be written has
// failed. A closed pipe is no error.
type errorWriter struct {
	w   io.Writer
	err error
}

func (c *errorWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err != nil && !errors.Is(err, syscall.EPIPE) && c.err == nil {
		c.err = err
	}
	return n, err
}

// exitError ends a command with an exit code. It prints nothing: the command has printed its reason.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Main runs one command line and returns the exit code.
func Main(args []string, a *app) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.err,
				"internal error: %v\n%s\nThis is a bug in sluice, not a mistake in the plan.\n",
				p, debug.Stack())
			code = verdict.CodeInternal
		}
	}()
	root := rootCommand(a)
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(context.Background())
	var exit exitError
	switch {
	case a.out.err != nil:
		fmt.Fprintf(a.err, "error: write to standard output: %s\n", a.out.err)
		if errors.As(err, &exit) {
			code = exit.code
		}
		return verdict.WithInternal(code)
	case err == nil:
		return a.code
	case errors.As(err, &exit):
		return exit.code
	}
	a.report("error: %s\n", err)
	return verdict.CodePlan // usage
}

func rootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Run benchmark plans and decide whether the numbers are good enough",
		Long: "Sluice runs benchmark plans (YAML) against inference servers and decides whether the " +
			"numbers are good enough to ship. The exit code is the verdict.",
		Example: "  sluice run plans/quickstart.yaml      # needs no server\n" +
			"  sluice init --url grpc://localhost:8001 --model resnet50 > plan.yaml",
		Version:           tool().Version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              unknownCommand,
		PersistentPreRunE: refuseEmpty,
		RunE:              showHelp,
	}
	root.AddCommand(runCommand(a), convertCommand(a), validateCommand(a), graphCommand(a), initCommand(a),
		explainCommand(a), compareCommand(a), calibrateCommand(a), schemaCommand(a), serveCommand(a), versionCommand(a))
	root.InitDefaultCompletionCmd()
	completeBash(root, a.out)
	foldHelp(root)
	wrapped := fmt.Sprintf(".FlagUsagesWrapped %d ", helpWidth)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", wrapped))
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w\nsee `%s --help`", err, c.CommandPath())
	})
	return root
}

func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

// unknownCommand returns an error for a command that does not exist, with the nearest one.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var verbs []string
	for _, verb := range c.Commands() {
		verbs = append(verbs, verb.Name())
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	return errors.New(text + didYouMean(args[0], verbs) + "\nsee `sluice --help`")
}

// checkWord returns an error for a word that a flag does not allow, with the allowed words and the
// nearest one.
func checkWord(what, word string, allowed []string) error {
	if slices.Contains(allowed, word) {
		return nil
	}
	return fmt.Errorf("unknown %s %q: allowed: %s%s", what, word, strings.Join(allowed, ", "),
		didYouMean(word, allowed))
}

// didYouMean offers the nearest of some words; "" if none is near.
func didYouMean(word string, words []string) string {
	if near := source.Nearest(word, words); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// onePlan returns an error unless there is one argument, the plan.
func onePlan(c *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("%s takes one PLAN, got %d\nsee `%s --help`", c.CommandPath(), len(args),
		c.CommandPath())
}

// color reports whether output may be coloured: on a terminal, unless NO_COLOR or TERM=dumb is set.
func (a *app) color(terminal bool) bool {
	noColor, _ := a.env("NO_COLOR")
	kind, _ := a.env("TERM")
	return terminal && noColor == "" && kind != "dumb"
}

// refuseEmpty returns an error for a flag with an empty value, as a shell passes it for a variable
// that is not set:
// --baseline "$MAIN" would compare with nothing.
func refuseEmpty(c *cobra.Command, _ []string) error {
	var err error
	c.Flags().Visit(func(f *pflag.Flag) {
		empty := f.Value.String() == ""
		if list, ok := f.Value.(pflag.SliceValue); ok {
			empty = len(list.GetSlice()) == 0
		}
		if empty && err == nil {
			err = fmt.Errorf("--%s is empty: give it a value, or leave the flag out", f.Name)
		}
	})
	return err
}
