package scenario

import (
	"fmt"
)

// effects warns of what a plan says and nothing can follow from. It is asked when the plan has no mistakes, which may
// hide where something is used. Targets and datasets that no stage uses are fine: a variable may choose among them.
func (c *checker) effects() {
	for _, t := range c.targets() {
		c.targetEffects(t.Value)
	}
	for _, s := range c.raw.flat {
		for _, r := range s.requests() {
			ds, _ := pick(c.datasets(), r.Data, "main")
			if ds != nil && r.Expect != nil && ds.Generate != nil {
				c.nothingExpected(r.Expect)
			}
		}
	}
	for _, s := range c.raw.SLOs.items() {
		if !c.used[s.Key] {
			c.warn(c.raw.SLOs.At, s.Key, codeIdle, fmt.Sprintf("slo %q is not used: it gates nothing", s.Key), "")
		}
	}
}

// targetEffects are keys of a target that its URL or its other keys leave without effect.
func (c *checker) targetEffects(t *rawTarget) {
	if t.URL == nil {
		return
	}
	if t.At.node.Entry("model_version") != nil && t.Model == nil {
		c.warn(t.At, "model_version", codeNoEffect, "\"model_version\" has no effect without \"model\"", "it is the version of the target's model; a stage's own model is asked for without one")
	}
}

// nothingExpected warns where outputs are to be compared and generated inputs have none to compare with.
func (c *checker) nothingExpected(x *rawExpect) {
	for _, key := range [...]string{"outputs", "relative", "absolute", "sample"} {
		e := x.At.node.Entry(key)
		if e == nil || key == "outputs" && !x.Outputs.V || key == "sample" && len(x.Fields.items()) > 0 {
			continue
		}
		c.warn(x.At, key, codeNoEffect, fmt.Sprintf("%q has no effect: generated data has no outputs to compare with", key), "give the outputs in a file, under \"validation_data\"")
	}
}
