package program

import (
	"cmp"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
)

// checkActions refuses calls before and after a stage that its target cannot take, and configurations
// of one model that members of a group would give it at the same time. It reads the plan's stages.
func checkActions(d *draft) {
	type place struct {
		group  *scenario.Group
		server string
		model  string
	}
	loads := make(map[place]string)
	for _, s := range d.Plan.Stages {
		for _, a := range s.Before {
			if a.Config == "" || s.Group == nil || s.Request.Target == nil {
				continue
			}
			at := place{s.Group, serverOf(s.Request.Target), a.LoadModel}
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

// serverOf returns a name of a target's server, the same for spellings of one address. Each target with the
// embedded server has one of its own.
func serverOf(t *scenario.Target) string {
	u, err := url.Parse(t.URL)
	switch {
	case err != nil || t.Embedded() || t.URL == "":
		return t.Name
	case strings.HasSuffix(u.Scheme, "+unix"):
		return path.Clean(u.Path)
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip := net.ParseIP(host); ip.IsLoopback() {
		host = "localhost"
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return net.JoinHostPort(host, cmp.Or(u.Port(), port)) + strings.TrimSuffix(u.Path, "/")
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
