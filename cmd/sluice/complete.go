package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/schema"
)

// offer sets the completions of a flag, which must exist.
func offer(c *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err)
	}
}

// oneOf completes one of some words.
func oneOf(words []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// fileTypes completes files with some extensions.
func fileTypes(extensions ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// someOf completes a list with commas by words that it lacks.
func someOf(words cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		all, directive := words(c, args, typed)
		list := typed[:strings.LastIndex(typed, ",")+1]
		var offers []string
		for _, word := range all {
			if !slices.Contains(strings.Split(list, ","), word) {
				offers = append(offers, list+word)
			}
		}
		return offers, directive
	}
}

// completePlan completes YAML files.
var completePlan = fileTypes("yaml", "yml")

// completer makes a completion of the words that f offers for the arguments and the word that is
// typed. No space follows a word that goes on: one that ends with = or /.
func completer(f func(args []string, typed string) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		words, directive := f(args, typed), cobra.ShellCompDirectiveNoFileComp
		goesOn := func(w string) bool { return strings.HasSuffix(w, "=") || strings.HasSuffix(w, "/") }
		if slices.ContainsFunc(words, goesOn) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return words, directive
	}
}

// namesIn completes names of the plan on the command line.
func namesIn(names func(scenario.Outline) []string) cobra.CompletionFunc {
	return completer(func(args []string, _ string) []string {
		if len(args) == 0 {
			return nil
		}
		return names(scenario.OutlineOf(args[0]))
	})
}

// completeVar completes variables of the plan on the command line, and no values.
func completeVar(args []string, typed string) (offers []string) {
	if len(args) == 0 || strings.Contains(typed, "=") {
		return nil
	}
	for _, name := range scenario.OutlineOf(args[0]).Vars {
		offers = append(offers, name+"=")
	}
	return offers
}

// keys lists the keys of the plan on the command line, as --set takes them; none if the plan has
// mistakes.
func (o *overrides) keys(args []string, _ string) (keys []string) {
	if len(args) == 0 {
		return nil
	}
	plan, _ := o.read(args[0])
	if plan == nil {
		return nil
	}
	for _, origin := range plan.Origins() {
		keys = append(keys, origin.Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// completeSet completes keys of the plan, and after a = the words that the key takes.
func (o *overrides) completeSet(args []string, typed string) (offers []string) {
	if key, _, assigned := strings.Cut(typed, "="); assigned {
		if p, ok := schema.Lookup(withoutStage(key)); ok {
			for _, word := range p.Allowed {
				offers = append(offers, key+"="+word)
			}
		}
		return offers
	}
	o.Sets = nil // they include the word at the cursor
	for _, key := range o.keys(args, "") {
		offers = append(offers, key+"=")
	}
	return offers
}

// withoutStage removes the name of the stage from a key, as the schema has it.
func withoutStage(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) > 2 && parts[0] == "stages" {
		parts = slices.Delete(parts, 1, 2)
	}
	return strings.Join(parts, ".")
}

// schemesOf completes the URL schemes of a kind of backend.
func schemesOf(backend *string) cobra.CompletionFunc {
	return completer(func([]string, string) []string {
		offers := []string{"builtin://http", "builtin://grpc"}
		if kind := backendKind(*backend); kind != nil {
			for _, scheme := range kind.Schemes {
				offers = append(offers, scheme+"://")
			}
		}
		return offers
	})
}

// bashWords holds functions of the bash-completion package that the script for bash calls, for
// shells without it.
//
//go:embed complete.bash
var bashWords string

// completeBash makes the script for bash work without the bash-completion package, which it uses if
// it is loaded.
func completeBash(root *cobra.Command, out io.Writer) {
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		panic(err)
	}
	bash.Short = "Generate the completion script for bash"
	bash.Long = "Generate the completion script for bash. It needs no other package, and uses " +
		"bash-completion if that is loaded."
	bash.Example = "  source <(sluice completion bash)     # in this shell, or in ~/.bashrc\n" +
		"  sluice completion bash > /etc/bash_completion.d/sluice     # for all users"
	bash.RunE = func(c *cobra.Command, _ []string) error {
		plain, err := c.Flags().GetBool("no-descriptions")
		if err != nil {
			return fmt.Errorf("generate the script: %w", err)
		}
		var script strings.Builder
		if err := root.GenBashCompletionV2(&script, !plain); err != nil {
			return fmt.Errorf("generate the script: %w", err)
		}
		own := strings.NewReplacer(
			"_get_comp_words_by_ref ", "__sluice_words_by_ref ", "_filedir", "__sluice_filedir",
		).Replace(script.String())
		_, err = io.WriteString(out, own+"\n"+bashWords)
		return err
	}
}
