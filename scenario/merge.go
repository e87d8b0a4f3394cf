package scenario

import (
	"reflect"

	"github.com/sluice-bench/sluice/scenario/source"
)

// mergeDefaults gives the plan with `defaults` merged under every stage.
func mergeDefaults(root *source.Node) *source.Node {
	defaults, stages := root.Get("defaults"), root.Get("stages")
	if defaults == nil || defaults.Kind != source.Map || stages == nil || stages.Kind != source.List {
		return root
	}
	merged := *stages
	merged.Items = nil
	for _, stage := range stages.Items {
		if stage.Kind == source.Map && stage.Get("parallel") == nil {
			stage = merge(stageKeys(defaults), stage, reflect.TypeFor[rawStage]())
		}
		merged.Items = append(merged.Items, stage)
	}
	plan := *root
	plan.Entries = append([]source.Entry(nil), root.Entries...)
	plan.Entry("stages").Value = &merged
	return &plan
}

// stageKeys leaves out the keys that `defaults` cannot hold; they are reported where they stand.
func stageKeys(defaults *source.Node) *source.Node {
	c := *defaults
	c.Entries = nil
	for _, e := range defaults.Entries {
		if _, ok := fieldOfKey(reflect.TypeFor[rawDefaults](), e.Key); ok {
			c.Entries = append(c.Entries, e)
		}
	}
	return &c
}

// merge lays one value over another, both of raw type t: maps merge, anything else is replaced, and naming one member
// of a union removes the others together with the options that fit only them.
func merge(under, over *source.Node, t reflect.Type) *source.Node {
	t = inForm(t, source.Map)
	if under.Kind != source.Map || over.Kind != source.Map || t == nil {
		return over
	}
	gone := map[string]bool{}
	if t.Kind() == reflect.Struct {
		gone = displaced(t, over)
	}
	c := *over
	c.Entries = nil
	for _, e := range over.Entries {
		if u := under.Get(e.Key); u != nil {
			e.Value = merge(u, e.Value, childType(t, e.Key))
		}
		c.Entries = append(c.Entries, e)
	}
	for _, e := range under.Entries {
		if over.Entry(e.Key) == nil && !gone[e.Key] {
			c.Entries = append(c.Entries, e)
		}
	}
	return &c
}
