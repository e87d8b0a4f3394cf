package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/verdict"
)

func (a *app) graph() *cobra.Command {
	var o overrides
	format := "text"
	formats := []string{"text", "mermaid", "dot", "json"}
	c := &cobra.Command{
		Use:               "graph PLAN",
		Short:             "Show what a plan will do: nodes, order, requests, duration, samples",
		Long:              "Show the compiled plan: nodes in running order, what each waits for, how many requests it plans, how long it\ntakes, and the samples that each assertion needs. Nothing is sent.",
		Example:           "  sluice graph plan.yaml\n  sluice graph plan.yaml --format mermaid",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completePlan,
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return fmt.Errorf("there is no format %q, only %s", format, strings.Join(formats, ", "))
			}
			program, diags := a.load(args[0], o)
			a.diagnose(diags, o)
			if program == nil {
				return exitError{verdict.CodePlan}
			}
			return a.drawGraph(program, format)
		},
	}
	o.flags(c)
	c.Flags().StringVar(&format, "format", format, "`FORMAT`: "+strings.Join(formats, ", "))
	return c
}

func (a *app) drawGraph(p *executor.Program, format string) error {
	switch format {
	case "mermaid":
		fmt.Fprint(a.out, p.Graph.Mermaid())
	case "dot":
		fmt.Fprint(a.out, p.Graph.DOT())
	case "json":
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		return e.Encode(p.Describe())
	default:
		fmt.Fprint(a.out, graphText(p.Describe()))
	}
	return nil
}

// graphText is the graph for people: what runs, in order.
func graphText(d executor.Description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  (seed %d, %d nodes, at least %s", d.Plan, d.Seed, len(d.Nodes), seconds(d.Shortest))
	if d.Longest > 0 {
		fmt.Fprintf(&b, ", at most %s", seconds(d.Longest))
	}
	b.WriteString(")\n")
	for i, n := range d.Nodes {
		fmt.Fprintf(&b, "\n%2d  %s\n    %s → %s\n", i+1, n.ID, n.Load, n.Target)
		for _, e := range n.After {
			fmt.Fprintf(&b, "    after %s (%s): %s\n", e.Node, e.When, e.Reason)
		}
		if n.Requests != nil {
			fmt.Fprintf(&b, "    %s requests", count(*n.Requests, n.RequestsSD))
		} else {
			b.WriteString("    requests depend on the server")
		}
		fmt.Fprintf(&b, ", %s", seconds(n.Shortest))
		if n.Longest != nil && *n.Longest > n.Shortest {
			fmt.Fprintf(&b, " to %s with the drain", seconds(*n.Longest))
		}
		fmt.Fprintf(&b, ", at most %d in flight\n", n.InFlight)
		for _, w := range n.While {
			fmt.Fprintf(&b, "    while   %s\n", w)
		}
		for _, c := range n.Assertions {
			fmt.Fprintf(&b, "    assert  %s  (%s, needs %d samples)\n", c.That, c.ID, max(c.Needed, 1))
		}
	}
	for _, c := range d.Assertions {
		fmt.Fprintf(&b, "\nplan assert  %s  (%s, needs %d samples)\n", c.That, c.ID, max(c.Needed, 1))
	}
	return b.String()
}

func seconds(s float64) string { return fmt.Sprintf("%.4gs", s) }

func count(n, sd float64) string {
	if sd > 0 {
		return fmt.Sprintf("%.0f ± %.0f", n, 2*sd)
	}
	return fmt.Sprintf("%.0f", n)
}
