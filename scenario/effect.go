package scenario

import (
	"fmt"
	"strings"
)

// effects warns of what a plan says and nothing can follow from. It is asked when the plan has no mistakes, which may
// hide where something is used.
func (c *checker) effects() {
	for _, t := range c.targets() {
		c.targetEffects(t.Value)
	}
	targets, datasets := map[*rawTarget]bool{}, map[*rawDataset]bool{}
	for _, s := range c.raw.Stages {
		r := s.Play.Request
		t, _ := pick(c.targets(), r.Target, "")
		ds, _ := pick(c.datasets(), r.Data, "main")
		targets[t], datasets[ds] = true, true
		if ds != nil && r.Expect != nil && ds.Generate != nil {
			c.nothingExpected(r.Expect)
		}
	}
	for _, t := range c.raw.Targets.items() {
		if !targets[t.Value] {
			c.idle(c.raw.Targets.At, "target", t.Key)
		}
	}
	for _, ds := range c.raw.Datasets.items() {
		if !datasets[ds.Value] {
			c.idle(c.raw.Datasets.At, "dataset", ds.Key)
		}
	}
	for _, s := range c.raw.SLOs.items() {
		if !c.used[s.Key] {
			c.idle(c.raw.SLOs.At, "slo", s.Key)
		}
	}
}

func (c *checker) idle(at place, what, name string) {
	c.warn(at, name, codeIdle, fmt.Sprintf("%s %q is not used", what, name), "")
}

// targetEffects are keys of a target that its URL or its other keys leave without effect.
func (c *checker) targetEffects(t *rawTarget) {
	overHTTP := !strings.HasPrefix(t.URL.V, "grpc") && t.URL.V != "builtin://grpc"
	if overHTTP && t.At.node.Entry("max_message") != nil {
		c.warn(t.At, "max_message", codeNoEffect, "\"max_message\" has no effect over HTTP", "it limits gRPC messages")
	}
	if t.At.node.Entry("model_version") != nil && t.Model == nil {
		c.warn(t.At, "model_version", codeNoEffect, "\"model_version\" has no effect without \"model\"", "it is the version of the target's model; a stage's own model is asked for without one")
	}
}

// nothingExpected warns where outputs are to be compared and generated inputs have none to compare with.
func (c *checker) nothingExpected(x *rawExpect) {
	for _, key := range [...]string{"outputs", "relative", "absolute"} {
		e := x.At.node.Entry(key)
		if e == nil || key == "outputs" && !x.Outputs.V {
			continue
		}
		c.warn(x.At, key, codeNoEffect, fmt.Sprintf("%q has no effect: generated data has no outputs to compare with", key), "give the outputs in a file, under \"validation_data\"")
	}
}
