package program

import (
	"cmp"
	"slices"

	"github.com/sluice-bench/sluice/scenario"
)

// checkActions refuses calls before and after a stage that its target cannot take, and configurations
// of one model that members of a group would give it at the same time. It reads the plan's stages.
func checkActions(d *draft) {
	type place struct {
		group *scenario.Group
		url   string
		model string
	}
	loads := make(map[place]string)
	for _, s := range d.Plan.Stages {
		for _, a := range s.Before {
			if a.Config == "" || s.Group == nil || s.Request.Target == nil {
				continue
			}
			at := place{s.Group, s.Request.Target.URL, a.LoadModel}
			if other := loads[at]; other != "" && other != s.ID {
				d.fail(a.Pos, "load-clash",
					"stages %q and %q run at the same time, and both give model %q a configuration",
					other, s.ID, a.LoadModel)
			}
			loads[at] = s.ID
		}
		t := s.Request.Target
		for _, a := range slices.Concat(s.Before, s.After) {
			if a.Call != "" && t != nil && (t.GRPC() || t.URL == "") {
				d.fail(a.Pos, "scheme",
					"a call goes over HTTP, and the URL of target %q is %s", t.Name,
					cmp.Or(t.URL, "missing")).
					Detail = "give the stage a target with an http URL, or make the call outside of the plan"
			}
		}
	}
}

// Postponed reports whether a stage's requests can only be made when its turn comes, as it or a
// stage before it loads the model.
func (p *Program) Postponed(s *scenario.Stage) bool {
	return slices.ContainsFunc(s.Entries(), func(e scenario.Entry) bool {
		t := e.Request.Target
		return p.Loads(t, cmp.Or(e.Request.Model, t.Model))
	})
}

// Loads reports whether some stage loads a model on a target before it starts: until then its
// inputs are unknown.
func (p *Program) Loads(t *scenario.Target, model string) bool {
	return model != "" && slices.ContainsFunc(p.Plan.Stages, func(s *scenario.Stage) bool {
		return s.Request.Target == t &&
			slices.ContainsFunc(s.Before, func(a scenario.Action) bool { return a.LoadModel == model })
	})
}
