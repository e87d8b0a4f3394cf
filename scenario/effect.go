package scenario

import (
	"fmt"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// checkEffects warns of what a plan says and nothing can follow from. It is asked when the plan has no
// mistakes, which may hide where something is used. Targets and datasets that no stage uses are fine:
// a variable may choose among them.
func checkEffects(c *checker, used map[string]bool) {
	for _, t := range targetsOf(c.raw) {
		checkTargetEffects(c, t.Value)
	}
	checkBesideBodies(c)
	for _, s := range c.raw.Flat {
		for _, r := range s.Requests() {
			ds, _ := pick(datasetsOf(c.raw), r.Data, "main")
			if ds != nil && r.Expect != nil && ds.Generate != nil {
				checkExpected(c, r.Expect)
			}
		}
	}
	for _, s := range c.raw.SLOs.Items() {
		if !used[s.Key] {
			c.warn(
				c.raw.SLOs.At, s.Key, source.CodeIdle,
				fmt.Sprintf("slo %q is not used: it gates nothing", s.Key), "",
			)
		}
	}
}

// checkBesideBodies refuses keys that say how tensors are sent where all that they are for sends whole
// bodies, as they stand in their files. Keys of `defaults` may be for other stages.
func checkBesideBodies(c *checker) {
	type use struct {
		at     language.Place
		key    string
		bodies bool // in all its uses
	}
	var order []source.Pos
	uses := map[source.Pos]*use{}
	note := func(at language.Place, key string, bodies bool) {
		e := at.Node.Entry(key)
		if e == nil {
			return
		}
		if uses[e.KeyPos] == nil {
			uses[e.KeyPos], order = &use{at, key, true}, append(order, e.KeyPos)
		}
		uses[e.KeyPos].bodies = uses[e.KeyPos].bodies && bodies
	}
	for _, s := range c.raw.Flat {
		list := []language.Place{s.At}
		if s.Mix != nil {
			list = nil
			for _, e := range s.Mix.Items() {
				list = append(list, e.Value.At)
			}
		}
		for i, r := range s.Requests() {
			ds, _ := pick(datasetsOf(c.raw), r.Data, "main")
			bodies := ds != nil && ds.Bodies != nil
			note(list[i], "shapes", bodies)
			if t, _ := pick(targetsOf(c.raw), r.Target, ""); t != nil {
				note(t.At, "tensors", bodies)
			}
		}
	}
	for _, pos := range order {
		if u := uses[pos]; u.bodies {
			c.under(u.at, u.key,
				source.Errorf(source.CodeNoEffect, "%q has no effect beside `bodies`",
					u.key).Help("a body is sent as it is in its file: leave the key out, or read the file with `file` "+
					"and `format: v2`"))
		}
	}
}

// checkTargetEffects are keys of a target that its URL or its other keys leave without effect.
func checkTargetEffects(c *checker, t *language.Target) {
	if t.URL == nil {
		return
	}
	if t.At.Node.Entry("model_version") != nil && t.Model == nil {
		c.warn(t.At, "model_version", source.CodeNoEffect, "\"model_version\" has no effect without \"model\"",
			"it is the version of the target's model; a stage's own model is asked for without one")
	}
}

// checkExpected warns where outputs are to be compared and generated inputs have none to compare with.
func checkExpected(c *checker, x *language.Expect) {
	for _, key := range [...]string{"outputs", "relative", "absolute", "sample"} {
		e := x.At.Node.Entry(key)
		if e == nil || key == "outputs" && !x.Outputs.V || key == "sample" && len(x.Fields.Items()) > 0 {
			continue
		}
		c.warn(
			x.At, key, source.CodeNoEffect,
			fmt.Sprintf("%q has no effect: generated data has no outputs to compare with", key),
			"give the outputs in a file, under \"validation_data\"",
		)
	}
}
