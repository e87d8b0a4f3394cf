package scenario

import (
	"fmt"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// checkEffects warns of what a plan says and nothing can follow from. It is asked when the plan has no
// mistakes, which may hide where something is used. Targets and datasets that no stage uses are fine:
// a variable may choose among them.
func checkEffects(c *checker) {
	targets, datasets := targetsOf(c.raw), datasetsOf(c.raw)
	for _, t := range targets {
		if t := t.Value; t.URL != nil && t.At.Node.Entry("model_version") != nil && t.Model == nil {
			c.warn(t.At, "model_version", source.CodeNoEffect,
				"\"model_version\" has no effect without \"model\"",
				"it is the version of the target's model; a stage's own model is asked for without one")
		}
	}
	bodies := bodyUses{}
	for _, s := range c.raw.Flat {
		places := []language.Place{s.At}
		if s.Mix != nil {
			places = nil
		}
		for _, e := range s.Mix.Items() {
			places = append(places, e.Value.At)
		}
		for i, r := range s.Requests() {
			ds, _ := pick(datasets, r.Data, "main")
			whole := ds != nil && ds.Bodies != nil
			bodies.note(places[i], "shapes", whole)
			if t, _ := pick(targets, r.Target, ""); t != nil {
				bodies.note(t.At, "tensors", whole)
			}
			if ds != nil && r.Expect != nil && ds.Generate != nil {
				checkExpected(c, r.Expect)
			}
		}
	}
	for _, u := range bodies {
		if u.whole {
			c.under(u.at, u.key,
				source.Errorf(source.CodeNoEffect, "%q has no effect beside `bodies`", u.key).
					Help("a body is sent as it is in its file: leave the key out, or read the file with "+
						"`file` and `format: v2`"))
		}
	}
	for _, s := range c.raw.SLOs.Items() {
		if !c.used[s.Key] {
			c.warn(c.raw.SLOs.At, s.Key, source.CodeIdle,
				fmt.Sprintf("slo %q is not used: it gates nothing", s.Key), "")
		}
	}
}

// bodyUses has the keys that say how tensors are sent, each once. A key of which all uses send whole
// bodies, as they are in their files, is refused; one of `defaults` may be for other stages.
type bodyUses map[source.Pos]*bodyUse

type bodyUse struct {
	at    language.Place
	key   string
	whole bool // in all its uses
}

func (all bodyUses) note(at language.Place, key string, whole bool) {
	e := at.Node.Entry(key)
	if e == nil {
		return
	}
	if all[e.KeyPos] == nil {
		all[e.KeyPos] = &bodyUse{at, key, true}
	}
	all[e.KeyPos].whole = all[e.KeyPos].whole && whole
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
