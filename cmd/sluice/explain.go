package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/schema"
)

func explainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [NAME...]",
		Short: "Explain a plan key, a metric, a code or a word",
		Long: "Explain a plan key (`max_in_flight`, `stages.load.rate`), a metric (`latency`, " +
			"`errors.ratio`, also by the names of other tools), a diagnostic (`unknown-key`), a " +
			"finding (`client-late`), a backend (`triton`), a verdict, an exit code (`3`), a unit " +
			"or a word (`open loop`). `metrics`, `exit codes`, `findings` and the like list all of " +
			"a kind. Without a name: list all names.",
		Example: "  sluice explain max_in_flight\n  sluice explain latency.p99\n" +
			"  sluice explain metrics",
		ValidArgsFunction: completer(func([]string, string) []string { return explainable() }),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.print(contents())
			}
			name := strings.Join(args, " ") // some words are two
			text := answerFor(name)
			if text == "" {
				return unknownName(name)
			}
			return a.print(text)
		},
	}
}

func unknownName(name string) error {
	near := didYouMean(name, explainable())
	return fmt.Errorf("unknown name %q%s", name, cmp.Or(near, "; `sluice explain` lists all names"))
}

// explainable lists all names that explain knows.
func explainable() []string {
	names := schema.Keys()
	for _, r := range metrics() {
		names = append(names, r.Name)
	}
	for _, g := range groups() {
		for _, t := range g.topics {
			names = append(names, t.name)
		}
	}
	return names
}

// metrics returns the metrics that this version can measure with some backend, each once, and those
// of stages with goodput or a search.
func metrics() []*metric.Row {
	var rows []*metric.Row
	seen := make(map[string]bool)
	for _, k := range all.Kinds() {
		c, err := program.Catalogue(k)
		if err != nil {
			continue // a test compiles every kind's catalogue
		}
		for _, r := range c.Rows() {
			if !seen[r.Name] {
				seen[r.Name] = true
				rows = append(rows, r)
			}
		}
	}
	for _, r := range append(metric.GoodputRows(), metric.CapacityRow(metric.Rate),
		metric.BestRow(metric.Rate)) {
		rows = append(rows, &r)
	}
	return rows
}

// explainName joins all explanations of a name; "" if there is none. A word of expressions may be
// written as there, such as stage("x").
func explainName(name string) string {
	var b strings.Builder
	word, _, called := strings.Cut(name, "(")
	if !called {
		explainKey(&b, name)
		explainMetric(&b, name)
		explainValue(&b, name)
	}
	for _, g := range groups() {
		for _, t := range g.topics {
			older := g.title == "Findings" && strings.EqualFold(result.OlderCode(t.name), name)
			if strings.EqualFold(t.name, name) || older || called && t.name == word {
				fmt.Fprintf(&b, "%s\n", t.heading)
				facts(&b, t.facts...)
			}
		}
	}
	if _, ok := schema.Lookup(name + "s"); ok && b.Len() == 0 { // one of several: an output, a label, a shape
		return explainName(name + "s")
	}
	return b.String()
}
