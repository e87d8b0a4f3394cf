package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/source"
)

func graphCommand(a *app) *cobra.Command {
	var o overrides
	format := "text"
	formats := []string{"text", "mermaid", "dot", "json"}
	c := &cobra.Command{
		Use:   "graph PLAN",
		Short: "Show what a plan will do: nodes, order, requests, samples",
		Long: "Show the compiled plan: nodes in running order, what each waits for, how many requests it " +
			"plans, how long it takes, and the samples that each assertion needs. Nothing is sent.",
		Example:           "  sluice graph plan.yaml\n  sluice graph plan.yaml --format mermaid",
		Args:              onePlan,
		ValidArgsFunction: completePlan,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkWord("format", format, formats); err != nil {
				return err
			}
			args, err := a.readStdin(args, &o)
			if err != nil {
				return err
			}
			compiled, diags := a.load(args[0], o)
			a.diagnose(diags, o.Source)
			if compiled == nil {
				return exitError{verdict.CodePlan}
			}
			return a.drawGraph(compiled, format)
		},
	}
	o.flags(c, a.env)
	o.onlyFlag(c)
	c.Flags().StringVar(&format, "format", format, "`FORMAT`: "+strings.Join(formats, ", "))
	offer(c, "format", oneOf(formats))
	return c
}

func (a *app) drawGraph(p *program.Program, format string) error {
	switch format {
	case "mermaid":
		fmt.Fprint(a.out, p.Graph.Mermaid())
	case "dot":
		fmt.Fprint(a.out, p.Graph.DOT())
	case "json":
		return a.printJSON(p.Describe())
	default:
		return a.print(graphText(p.Describe()))
	}
	return nil
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// seconds formats a time in seconds with a fitting unit.
func seconds(s float64) string { return source.About(time.Duration(s * float64(time.Second))) }

// graphText returns the graph as text: the nodes in order, and whether they can prove their assertions.
func graphText(d program.Description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s", d.Plan, plural(len(d.Nodes), "node"), durationText(d.Shortest, d.Longest))
	if d.InFlight != nil {
		fmt.Fprintf(&b, ", %d in flight at most", *d.InFlight)
	}
	fmt.Fprintf(&b, ", seed %d\n", d.Seed)
	seen := map[string]bool{}
	for i, n := range d.Nodes {
		for k := range d.Units {
			if u := &d.Units[k]; u.Stages[0] == n.Stage && !seen[n.Stage] {
				unitText(&b, u)
			}
		}
		seen[n.Stage] = true
		fmt.Fprintf(&b, "\n%2d  %s\n", i+1, n.ID)
		nodeText(&b, n)
	}
	if len(d.Assertions) > 0 {
		b.WriteString("\nplan\n")
		checkTable(&b, d.Assertions)
	}
	return b.String()
}

// unitText writes the line of a group, and the order of repeats.
func unitText(b *strings.Builder, u *program.UnitDescription) {
	if len(u.Stages) > 1 {
		fmt.Fprintf(b, "\n    together: %s, %s\n", strings.Join(u.Stages, ", "),
			durationText(u.Shortest, u.Longest))
	}
	if len(u.Repeats) > 0 {
		fmt.Fprintf(b, "\n    repeats: %s, %s\n", repeats(u), durationText(u.Shortest, u.Longest))
	}
}

// repeats returns the order of the first two repeats, which the others follow.
func repeats(u *program.UnitDescription) string {
	const most = 8 // nodes on a line
	if len(u.Repeats[0]) == 1 {
		return fmt.Sprintf("%d of %s", len(u.Repeats), u.Repeats[0][0])
	}
	var parts []string
	for i, nodes := range u.Repeats[:2] {
		var names []string
		for _, id := range nodes {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(id, u.Stages[0]+"["), "]"))
		}
		if more := len(names) - most; more > 0 {
			names = append(names[:most], fmt.Sprintf("%d more", more))
		}
		parts = append(parts, fmt.Sprintf("%d: %s", i+1, strings.Join(names, ", ")))
	}
	if more := len(u.Repeats) - 2; more > 0 {
		parts = append(parts, fmt.Sprintf("… %d in all", len(u.Repeats)))
	}
	return strings.Join(parts, "; ")
}

func nodeText(b *strings.Builder, n program.NodeDescription) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(b, "    %-7s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("load", "%s → %s", n.Load, strings.Join(n.Targets, ", "))
	for _, e := range n.After {
		if e.When == "" {
			row("reads", "%s: %s", e.Node, e.Reason)
			continue
		}
		row("after", "%s (%s): %s", e.Node, e.When, e.Reason)
	}
	if n.Delay > 0 {
		row("delay", "%s", seconds(n.Delay))
	}
	row("plans", "%s", planText(n))
	for _, w := range n.While {
		row("while", "%s", w)
	}
	if n.Best != "" {
		row("best", "%s", n.Best)
	}
	if n.Goodput != nil {
		row("good", "%s", strings.Join(n.Goodput, ", "))
	}
	checkTable(b, n.Assertions)
}

// planText returns the number of requests of a node and its duration.
func planText(n program.NodeDescription) string {
	text, again := "as many requests as the server answers", ""
	switch n.Decides {
	case "result":
		text = "as many requests as " + n.From + " makes"
	case "data":
		text = "as many requests as the data has"
	case "group":
		text = "requests until the others are done"
	}
	if n.Requests != nil {
		text = countText(*n.Requests, n.RequestsSD) + " requests"
	}
	if n.Sequences != nil {
		what := "sequences"
		if n.Sessions {
			what = "sessions"
		}
		text += fmt.Sprintf(" of %.0f %s", *n.Sequences, what)
	}
	if n.Trials != nil {
		text = fmt.Sprintf("%d to %d trials", n.Trials[0], n.Trials[1])
		if n.Longest != nil {
			again = ", each up to three times while it is not valid"
		}
		if n.Requests != nil {
			text += fmt.Sprintf(" of %s requests", countText(*n.Requests, n.RequestsSD))
		}
	}
	if n.Trials == nil && len(n.While) > 0 {
		again = ", up to three times while it is left open"
	}
	if n.Shortest > 0 {
		text += " in " + seconds(n.Shortest)
	}
	if n.Longest != nil && *n.Longest > n.Shortest {
		text += fmt.Sprintf(" (at most %s with the drain%s)", seconds(*n.Longest), again)
	}
	if n.Warmup != "" {
		text += ", after a warm-up of " + n.Warmup
	}
	if n.Outside != nil && *n.Outside > 0 {
		text += fmt.Sprintf(", %.0f more outside of the measurement", *n.Outside)
	}
	if n.Repeats > 1 {
		text += fmt.Sprintf(", %d times", n.Repeats)
	}
	if n.InFlight == nil {
		return text + ", in flight what the result allows"
	}
	return text + fmt.Sprintf(", %d in flight at most", *n.InFlight)
}

// checkTable lists assertions with the samples that they need and that are planned. Long
// expressions do not widen the column.
func checkTable(b *strings.Builder, list []program.CheckText) {
	const widest = 60
	width := 0
	for _, c := range list {
		if n := len([]rune(assertionText(c))); n <= widest {
			width = max(width, n)
		}
	}
	for _, c := range list {
		fmt.Fprintf(b, "    %-7s %-*s  %s, %s\n", "assert", width, assertionText(c), c.ID, neededText(c))
	}
}

// assertionText returns an assertion as results show it.
func assertionText(c program.CheckText) string {
	a := result.Assertion{
		That: c.That, Confidence: c.Confidence, Every: c.Every, Allow: c.Allow,
		Within: c.Within,
	}
	return a.Statement()
}

// neededText returns the number of samples that an assertion needs, and the planned number.
func neededText(c program.CheckText) string {
	text := "needs " + plural(int(max(c.Needed, 1)), "sample")
	switch {
	case c.Planned == nil:
	case float64(c.Needed) > *c.Planned:
		text += fmt.Sprintf(", more than the %s planned", countText(math.Floor(*c.Planned), c.PlannedSD))
	case c.Needed > 1:
		text += fmt.Sprintf(" of %s", countText(math.Floor(*c.Planned), c.PlannedSD))
	}
	if c.Independent && c.Needed > 1 {
		text += " if requests are independent; at a load near capacity several times as many"
	}
	return text
}

// durationText returns a range of durations; longest is nil if it is unknown.
func durationText(shortest float64, longest *float64) string {
	switch {
	case longest == nil && shortest == 0:
		return "as long as the server takes"
	case longest == nil:
		return "at least " + seconds(shortest)
	case *longest <= shortest:
		return seconds(shortest)
	}
	return fmt.Sprintf("%s to %s", seconds(shortest), seconds(*longest))
}

func countText(n, sd float64) string {
	if sd > 0 {
		return fmt.Sprintf("%.0f ± %.0f", n, 2*sd)
	}
	return fmt.Sprintf("%.0f", n)
}
