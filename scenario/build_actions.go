package scenario

import (
	"encoding/json"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// loads enters the models that actions load.
func loads(to []Action, from []*language.Action) {
	for i, a := range from {
		if a.LoadModel != nil {
			to[i].LoadModel = a.LoadModel.Name.V
			to[i].Config = configPatch(a.LoadModel.Config)
		}
	}
}

// configPatch returns a model configuration as a JSON merge patch (RFC 7396) of the model's own.
func configPatch(c *language.ModelConfig) string {
	if c == nil {
		return ""
	}
	patch, _ := c.At.Node.JSON().(map[string]any)
	if c.Parameters != nil {
		values := map[string]any{}
		for _, e := range c.Parameters.Items() {
			values[e.Key] = map[string]any{"string_value": e.Value.V}
		}
		patch["parameters"] = values
	}
	if b := c.DynamicBatching; b != nil && b.On != nil {
		if patch["dynamic_batching"] = nil; b.On.V {
			patch["dynamic_batching"] = map[string]any{}
		}
	}
	text, _ := json.Marshal(patch) // numbers, texts, bools, lists and maps: it cannot fail
	return string(text)
}

// newBest returns which node of a stage is the best.
func newBest(b *language.Best) *Best {
	if b == nil {
		return nil
	}
	out := &Best{Pos: b.At.Pos(), Where: newConditions(b.Where)}
	if b.Max != nil {
		out.Of = b.Max.V
	} else {
		out.Of, out.Min = b.Min.V, true
	}
	return out
}

// checkActions refuses configurations that would not be restored, and those that say two things.
func checkActions(c *checker, p language.Play) {
	for _, a := range p.After {
		if a.LoadModel != nil && a.LoadModel.Config != nil {
			c.under(a.LoadModel.At, "config", doesNotFit("`after` loads a model as the server has it").
				Help("write `config` in `before`: what the model had is restored when the stage has ended"))
		}
	}
	seen := map[string]source.Pos{}
	for _, a := range p.Before {
		if a.LoadModel == nil || a.LoadModel.Name == nil {
			continue
		}
		name := a.LoadModel.Name
		if at, twice := seen[name.V]; twice && a.LoadModel.Config != nil {
			c.at(name.At, source.Errorf(source.CodeDuplicate,
				"model %q is loaded twice; the first time is at %d:%d", name.V, at.Line, at.Column))
		}
		seen[name.V] = name.At.Pos()
		checkModelConfig(c, a.LoadModel.Config)
	}
}

// checkModelConfig refuses what Triton would refuse with words that do not help.
func checkModelConfig(c *checker, m *language.ModelConfig) {
	if m == nil {
		return
	}
	if len(m.At.Node.Entries) == 0 {
		c.at(m.At, missing("`config` changes nothing").Help("such as {instance_group: [{count: 2}]}"))
	}
	for _, g := range m.InstanceGroup {
		if g.Kind.Or("") == "KIND_CPU" && len(g.GPUs) > 0 {
			c.under(g.At, "gpus", doesNotFit("\"gpus\" does not fit `kind: KIND_CPU`"))
		}
	}
	b := m.DynamicBatching
	if b != nil && m.SequenceBatching != nil && (b.On == nil || b.On.V) {
		c.under(m.At, "sequence_batching",
			doesNotFit("a model has either `dynamic_batching` or `sequence_batching`").Help("remove one of them"))
	}
	if b != nil && b.DefaultPriorityLevel != nil &&
		(b.PriorityLevels == nil || b.DefaultPriorityLevel.V > b.PriorityLevels.V || b.DefaultPriorityLevel.V == 0) {
		c.under(b.At, "default_priority_level",
			outOfRange("\"default_priority_level\" is one of 1 to `priority_levels`"))
	}
}
