package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/artifact"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// samplesOf is where the requests of a run are kept; nil: the plan asks for none of them.
func samplesOf(plan *scenario.Plan, f outputs) *artifact.Samples {
	o := artifact.SamplesOptions{Table: plan.Output.Samples, Export: slices.Contains(f.formats, artifact.ProfileExport)}
	if len(plan.Secrets) > 0 {
		o.Mask = plan.Mask
	}
	if o.Table == "none" {
		o.Table = ""
	}
	if o.Table == "" && !o.Export {
		return nil
	}
	return artifact.NewSamples(f.dir, o)
}

// mixed reports whether the plan has closed and open loops.
func mixed(p *program.Program) bool {
	return slices.ContainsFunc(p.Nodes, func(n *program.Node) bool { return n.Open != p.Nodes[0].Open })
}

// kept says that dir still has the result of an earlier run, if it does: a script that reads it must not take it for this
// run's.
func (a *app) kept(dir string) {
	h := artifact.Earlier(dir)
	if dir == "" || h == nil || h.State == result.StateRunning {
		return
	}
	fmt.Fprintf(a.err, "note: %s still holds the result of an earlier run\n  (%s, %s UTC)\n", dir, h.Verdict, h.Started.UTC().Format(time.DateTime))
}

// recordInto hands the samples of every trial to the artifacts.
func recordInto(s *artifact.Samples) func(executor.Recording) executor.Recorder {
	return func(r executor.Recording) executor.Recorder {
		return s.Trial(artifact.Trial{
			Node: r.Node, Number: r.Number, Mix: r.Mix, Closed: r.Closed, Value: r.Value, Started: r.Started, Sent: r.Sent, Received: r.Received,
		})
	}
}
