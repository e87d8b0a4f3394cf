package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/schema"
)

func schemaCommand(a *app) *cobra.Command {
	kinds := []string{"plan", "result"}
	return &cobra.Command{
		Use:   "schema [plan|result]",
		Short: "Print the JSON Schema of plans or results",
		Long:  "Print the JSON Schema (2020-12) of plans, for editors, or of result.json, for scripts.",
		Example: "  sluice schema > sluice.schema.json\n\n" +
			"and as the first line of a plan in that folder:\n\n" +
			"  # yaml-language-server: $schema=sluice.schema.json",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: kinds,
		RunE: func(_ *cobra.Command, args []string) error {
			text := schema.Plan()
			if len(args) > 0 {
				if err := checkWord("schema", args[0], kinds); err != nil {
					return err
				}
				if args[0] == "result" {
					text = schema.Result()
				}
			}
			_, err := a.out.Write(text)
			return err
		},
	}
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of this program, the commit it was built from, and the Go release.",
		Example: "  sluice version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			t := tool()
			text := "sluice " + t.Version
			if t.Commit != "" {
				text += " (" + t.Commit + ")"
			}
			_, err := fmt.Fprintf(a.out, "%s %s %s/%s\n", text, t.Go, runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// tool returns the version of this program from its build information.
func tool() result.Tool {
	t := result.Tool{Name: "sluice", Version: "devel", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		t.Version = v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			t.Commit = s.Value
		}
	}
	return t
}
