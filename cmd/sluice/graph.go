package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

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
		Args:              onePlan,
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

// graphText is the graph for people: what runs, in order, and whether it can prove what is asserted.
func graphText(d executor.Description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, at least %s", d.Plan, plural(len(d.Nodes), "node"), seconds(d.Shortest))
	if d.Longest > d.Shortest {
		fmt.Fprintf(&b, " (at most %s, if every drain takes its time)", seconds(d.Longest))
	}
	fmt.Fprintf(&b, ", seed %d\n", d.Seed)
	for i, n := range d.Nodes {
		fmt.Fprintf(&b, "\n%2d  %s\n", i+1, n.ID)
		var rows [][2]string
		add := func(name, text string) { rows = append(rows, [2]string{name, text}) }
		add("load", n.Load+" → "+n.Target)
		for _, e := range n.After {
			add("after", fmt.Sprintf("%s (%s): %s", e.Node, e.When, e.Reason))
		}
		add("plans", plans(n))
		for _, w := range n.While {
			add("while", w)
		}
		for _, r := range rows {
			fmt.Fprintf(&b, "    %-7s %s\n", r[0], r[1])
		}
		checks(&b, "    ", n.Assertions, n.Requests)
	}
	if len(d.Assertions) > 0 {
		b.WriteString("\nplan\n")
		checks(&b, "    ", d.Assertions, nil)
	}
	return b.String()
}

// plans is how many requests a node sends, and how long it takes.
func plans(n executor.NodeDescription) string {
	text := "as many requests as the server answers"
	if n.Requests != nil {
		text = count(*n.Requests, n.RequestsSD) + " requests"
	}
	if n.Shortest > 0 {
		text += " in " + seconds(n.Shortest)
	}
	if n.Longest != nil && *n.Longest > n.Shortest {
		text += fmt.Sprintf(" (at most %s with the drain)", seconds(*n.Longest))
	}
	return text + fmt.Sprintf(", %d in flight at most", n.InFlight)
}

// checks lists assertions, with the samples that they need beside them. Long expressions do not push the others out.
func checks(b *strings.Builder, indent string, list []executor.CheckText, planned *float64) {
	const widest = 60
	width := 0
	for _, c := range list {
		if n := len([]rune(c.That)); n <= widest {
			width = max(width, n)
		}
	}
	for _, c := range list {
		needs := "needs " + plural(int(max(c.Needed, 1)), "sample")
		if planned != nil && float64(c.Needed) > *planned {
			needs += fmt.Sprintf(", more than the %.0f requests planned", *planned)
		}
		fmt.Fprintf(b, "%s%-7s %-*s  %s, %s\n", indent, "assert", width, c.That, c.ID, needs)
	}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// seconds is a time for people.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Millisecond).String()
}

func count(n, sd float64) string {
	if sd > 0 {
		return fmt.Sprintf("%.0f ± %.0f", n, 2*sd)
	}
	return fmt.Sprintf("%.0f", n)
}
