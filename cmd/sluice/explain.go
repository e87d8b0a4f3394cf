package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
	"github.com/sluice-bench/sluice/schema"
)

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [NAME]",
		Short: "Explain a plan key, a metric, a diagnostic code or an exit code",
		Long: "Explain a plan key (`max_in_flight`, `stages.load.rate`), a metric (`latency`, `errors.ratio`), a diagnostic\n" +
			"code (`unknown-key`), a backend (`triton`) or an exit code (`3`). Without a name: list what can be asked.",
		Example: "  sluice explain max_in_flight\n  sluice explain latency.p99\n  sluice explain 5",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return explainable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				_, err := fmt.Fprint(a.out, contents())
				return err
			}
			text := explanation(args[0])
			if text == "" {
				return unknownName(args[0])
			}
			_, err := fmt.Fprint(a.out, text)
			return err
		},
	}
}

func unknownName(name string) error {
	if near := source.Nearest(name, explainable()); near != "" {
		return fmt.Errorf("there is nothing called %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("there is nothing called %q; `sluice explain` lists what can be asked", name)
}

// explainable are all names that explain knows.
func explainable() []string {
	names := schema.Keys()
	for _, r := range metrics() {
		names = append(names, r.Name)
	}
	for _, k := range all.Kinds() {
		names = append(names, k.Name)
	}
	for _, c := range source.Codes() {
		names = append(names, c.Name)
	}
	for _, c := range verdict.Codes() {
		names = append(names, strconv.Itoa(c.Code))
	}
	return names
}

// metrics is every row that some backend can produce, once, and those that stages bring with them.
func metrics() []*metric.Row {
	var rows []*metric.Row
	seen := make(map[string]bool)
	for _, k := range all.Kinds() {
		c, err := executor.Catalogue(k)
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
	for _, r := range append(metric.GoodputRows(), metric.CapacityRow(metric.Rate)) {
		rows = append(rows, &r)
	}
	return rows
}

// explanation gathers what every source says about a name; "" when none knows it.
func explanation(name string) string {
	var b strings.Builder
	for _, c := range verdict.Codes() {
		if strconv.Itoa(c.Code) == name {
			fmt.Fprintf(&b, "exit code %d (verdict %s)\n", c.Code, c.Verdict)
			facts(&b, "", c.Meaning)
		}
	}
	for _, c := range source.Codes() {
		if c.Name == name {
			fmt.Fprintf(&b, "diagnostic %s\n", c.Name)
			facts(&b, "", c.Help)
		}
	}
	for _, k := range all.Kinds() {
		if k.Name == name {
			fmt.Fprintf(&b, "backend %s\n", k.Name)
			facts(&b, "", k.Help, "URL schemes", strings.Join(k.Schemes, ", "), "target keys", strings.Join(k.Keys, ", "))
		}
	}
	explainMetric(&b, name)
	explainKey(&b, name)
	return b.String()
}
