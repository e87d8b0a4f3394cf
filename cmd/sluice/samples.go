package main

import (
	"slices"

	"github.com/sluice-bench/sluice/executor"
	"github.com/sluice-bench/sluice/executor/artifact"
	"github.com/sluice-bench/sluice/scenario"
)

// samplesOf is where the requests of a run are kept; nil: the plan asks for none of them.
func samplesOf(plan *scenario.Plan, f outputs) *artifact.Samples {
	o := artifact.SamplesOptions{Table: plan.Output.Samples, Export: slices.Contains(f.formats, artifact.ProfileExport)}
	if o.Table == "none" {
		o.Table = ""
	}
	if o.Table == "" && !o.Export {
		return nil
	}
	return artifact.NewSamples(f.dir, o)
}

// recordInto hands the samples of every trial to the artifacts.
func recordInto(s *artifact.Samples) func(executor.Recording) executor.Recorder {
	return func(r executor.Recording) executor.Recorder {
		return s.Trial(artifact.Trial{
			Node: r.Node, Number: r.Number, Mix: r.Mix, Closed: r.Closed, Value: r.Value, Started: r.Started, Sent: r.Sent, Received: r.Received,
		})
	}
}
