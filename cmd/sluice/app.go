package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/source"
)

// app is one invocation: everything that it takes from outside.
type app struct {
	in            io.Reader
	out           *errorWriter // results
	err           io.Writer    // progress and diagnostics
	env           func(string) (string, bool)
	terminal      bool           // err is a terminal
	width         int            // of the terminal that out is, 0 when it is none
	errWidth      int            // of the terminal that err is, 0 when it is none
	delay         func(n uint64) // test hook: holds up the pacer
	sharesProcess bool           // test hook: other things go on in this process
	exe           func() (string, error)
	code          int // what Main returns unless a verb fails
}

// system is the app of a process. A fatal error of the runtime aborts the process (exit code 134): the runtime's own exit
// code, 2, would say that the plan is wrong and that nothing was sent. It stays that code where the process cannot even start
// for want of memory, threads or descriptors: nothing was sent then. The core file of an abort is only written for users
// who ask for it by GOTRACEBACK=crash.
func system() *app {
	debug.SetTraceback("crash")
	if os.Getenv("GOTRACEBACK") != "crash" {
		disableCoreFile()
	}
	a := &app{
		in: os.Stdin, out: &errorWriter{w: os.Stdout}, err: os.Stderr, env: os.LookupEnv, exe: os.Executable,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		a.width = w
	}
	if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
		a.errWidth = w
	}
	return a
}

// notifySignals hears the signals that end a run or a server in order. A reader that has gone must not end them: what is left to
// write is in files. Other verbs keep the system's ways.
func notifySignals() (signals <-chan os.Signal, deaf func()) {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE)
	return c, func() { signal.Stop(c) }
}

// errorWriter is standard output with a memory: a verb whose result could not be written has not done its work.
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

// exitError ends a verb with an exit code after it has said all there is to say.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Main runs one command line and gives the exit code.
func Main(args []string, a *app) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(a.err, "internal error: %v\n%s\nThis is a mistake in sluice, not in the plan.\n", p, debug.Stack())
			code = verdict.CodeInternal
		}
	}()
	root := a.root()
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

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "Run benchmark plans and decide whether the numbers are good enough",
		Long: "Sluice runs benchmark plans (YAML) against inference servers and decides whether the numbers are good\n" +
			"enough to ship. The exit code is the verdict.",
		Example: "  sluice run plans/quickstart.yaml      # needs no server\n" +
			"  sluice init --url grpc://localhost:8001 --model resnet50 > plan.yaml",
		Version:       tool().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			return refuseEmpty(c)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return c.Help()
		},
	}
	root.AddCommand(a.run(), a.convert(), a.validate(), a.graph(), a.init(), a.explain(), a.calibrate(), a.schema(), a.serve(), a.version())
	root.InitDefaultCompletionCmd()
	a.completeBash(root)
	foldHelp(root)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", helpWidth)))
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w\nsee `%s --help`", err, c.CommandPath())
	})
	return root
}

// unknownCommand refuses a command that does not exist, and offers the one that was likely meant.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var verbs []string
	for _, verb := range c.Commands() {
		verbs = append(verbs, verb.Name())
	}
	text := fmt.Sprintf("there is no command %q", args[0])
	if near := source.Nearest(args[0], verbs); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(text + "\nsee `sluice --help`")
}

// unknownWord refuses a word that is none of those that a flag takes.
func unknownWord(what, word string, allowed []string) error {
	text := fmt.Sprintf("there is no %s %q, only %s", what, word, strings.Join(allowed, ", "))
	if near := source.Nearest(word, allowed); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(text)
}

// onePlan wants exactly one argument, the plan.
func onePlan(c *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return fmt.Errorf("%s wants one PLAN, %d were given\nsee `%s --help`", c.CommandPath(), len(args), c.CommandPath())
}

// color reports whether w may be coloured: it is a terminal and nobody asked for plain text.
func (a *app) color(terminal bool) bool {
	if v, ok := a.env("NO_COLOR"); ok && v != "" {
		return false
	}
	if v, ok := a.env("TERM"); ok && v == "dumb" {
		return false
	}
	return terminal
}

// refuseEmpty refuses flags without a value, as a shell makes them of a variable that is not set: --baseline "$MAIN" would
// be a run that compares with nothing.
func refuseEmpty(c *cobra.Command) error {
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
