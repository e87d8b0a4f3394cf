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

// offer sets what a shell completes for the value of a flag, which the command has.
func offer(c *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := c.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err)
	}
}

// oneOf offers words.
func oneOf(words []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

// someOf offers words of a list with commas: those that it does not have yet.
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

// completePlan offers YAML files.
func completePlan(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// namesIn offers names in the plan on the command line.
func namesIn(names func(scenario.Outline) []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(scenario.OutlineOf(args[0])), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeVar offers the variables of the plan on the command line, and nothing for their values.
func completeVar(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 || strings.Contains(typed, "=") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, name := range scenario.OutlineOf(args[0]).Vars {
		names = append(names, name+"=")
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// keys lists the values of the plan on the command line, as --set takes them; none if the plan has mistakes.
func (o *overrides) keys(args []string) (keys []string) {
	if len(args) == 0 {
		return nil
	}
	plan, _ := o.read(args[0])
	if plan == nil {
		return nil
	}
	for _, origin := range plan.Origins {
		keys = append(keys, origin.Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// completeSet offers the keys of the plan, and after a = the words that the key takes.
func (o *overrides) completeSet(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	var offers []string
	if key, _, assigned := strings.Cut(typed, "="); assigned {
		if p, ok := schema.Lookup(withoutStage(key)); ok {
			for _, word := range p.Allowed {
				offers = append(offers, key+"="+word)
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	}
	o.Sets = nil // they include the one that is being typed
	for _, key := range o.keys(args) {
		offers = append(offers, key+"=")
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// withoutStage is a key without the name of its stage: the schema has the keys of all stages.
func withoutStage(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) > 2 && parts[0] == "stages" {
		parts = slices.Delete(parts, 1, 2)
	}
	return strings.Join(parts, ".")
}

// completeKey offers the keys of the plan.
func (o *overrides) completeKey(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return o.keys(args), cobra.ShellCompDirectiveNoFileComp
}

// schemesOf offers the schemes of a kind of backend.
func schemesOf(backend *string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		offers := []string{"builtin://http", "builtin://grpc"}
		if kind := backendKind(*backend); kind != nil {
			for _, scheme := range kind.Schemes {
				offers = append(offers, scheme+"://")
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// bashWords are functions of the bash-completion package that the script for bash calls, for shells without it.
//
//go:embed complete.bash
var bashWords string

// completeBash makes the script for bash complete without the bash-completion package. Where that is loaded, it is used.
func (a *app) completeBash(root *cobra.Command) {
	bash, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		panic(err)
	}
	bash.Short = "Generate the completion script for bash"
	bash.Long = "Generate the completion script for bash. It needs no other package; where\nbash-completion is loaded, words are split by it."
	bash.Example = "  source <(sluice completion bash)     # in this shell, or in ~/.bashrc\n" +
		"  sluice completion bash > /etc/bash_completion.d/sluice     # for everybody"
	bash.RunE = func(c *cobra.Command, _ []string) error {
		plain, err := c.Flags().GetBool("no-descriptions")
		if err != nil {
			return fmt.Errorf("generate the script: %w", err)
		}
		var script strings.Builder
		if err := root.GenBashCompletionV2(&script, !plain); err != nil {
			return fmt.Errorf("generate the script: %w", err)
		}
		own := strings.NewReplacer("_get_comp_words_by_ref ", "__sluice_words_by_ref ", "_filedir", "__sluice_filedir").Replace(script.String())
		_, err = io.WriteString(a.out, own+"\n"+bashWords)
		return err
	}
}
