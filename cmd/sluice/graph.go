package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/verdict"
	"github.com/sluice-bench/sluice/scenario/source"
)

func (a *app) graph() *cobra.Command {
	var o overrides
	format := "text"
	formats := []string{"text", "mermaid", "dot", "json"}
	c := &cobra.Command{
		Use:               "graph PLAN",
		Short:             "Show what a plan will do: nodes, order, requests, samples",
		Long:              "Show the compiled plan: nodes in running order, what each waits for, how many requests it plans, how long it\ntakes, and the samples that each assertion needs. Nothing is sent.",
		Example:           "  sluice graph plan.yaml\n  sluice graph plan.yaml --format mermaid",
		Args:              onePlan,
		ValidArgsFunction: completePlan,
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(formats, format) {
				return fmt.Errorf("there is no format %q, only %s", format, strings.Join(formats, ", "))
			}
			args, err := a.takeInput(args, &o)
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
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		return e.Encode(p.Describe())
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

// seconds is a time for people.
func seconds(s float64) string { return source.About(time.Duration(s * float64(time.Second))) }
