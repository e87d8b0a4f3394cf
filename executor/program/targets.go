package program

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// boundTarget holds a target's backend and what can be measured there.
type boundTarget struct {
	kind      *backends.Kind
	abilities backends.Ability
	streaming bool // as the target says
	catalogue *metric.Catalogue
}

// bindTargets finds the backend of every target and refuses what it does not read. It reads the
// plan's targets and adds draft.targets; a target with a mistake is not there.
func bindTargets(d *draft) {
	for _, t := range d.program.Plan.Targets {
		k := findKind(d, t)
		if k == nil {
			continue
		}
		checkKeys(d, k, t)
		checkTarget(d, k, t)
		bound := &boundTarget{kind: k, abilities: Abilities(k, t), streaming: t.Streaming}
		var err error
		if bound.catalogue, err = catalogue(k, bound.abilities); err != nil {
			d.fail(t.Pos, "metric-clash", "target %q: %s", t.Name, err)
			continue
		}
		d.targets[t] = bound
	}
}

// checkKeys refuses what the backend does not read: keys, the scheme of the URL, the word of `endpoint`.
func checkKeys(d *draft, k *backends.Kind, t *scenario.Target) {
	url, endpoint := keyPos(t, "url"), keyPos(t, "endpoint")
	switch s := t.Scheme(); {
	case k.Schemes == nil && t.URL == "" || t.URL != "" && slices.Contains(k.Schemes, s):
	case k.Schemes == nil:
		d.fail(url, "scheme", "target %q: backend %s has no URL", t.Name, k.Name)
	case t.URL == "":
		d.fail(t.Pos, "missing-key", "target %q has no `url`", t.Name)
	default:
		diag := d.fail(url, "scheme", "target %q: backend %s does not speak %s://", t.Name, k.Name, s)
		diag.Allowed, diag.Nearest = k.Schemes, source.Nearest(s, k.Schemes)
	}
	for _, key := range t.Keys {
		if !slices.Contains(always, key.Name) && !slices.Contains(k.Keys, key.Name) {
			diag := d.fail(key.Pos, "key-not-read", "backend %s does not read %q", k.Name, key.Name)
			diag.Allowed = scenario.Built("target", k.Keys)
			diag.Nearest = source.Nearest(key.Name, diag.Allowed)
			d.unread = append(d.unread, targetPaths(t, key.Name)...)
		}
	}
	if t.Endpoint != "" && k.Endpoints != nil && !slices.Contains(k.Endpoints, t.Endpoint) {
		diag := d.fail(endpoint, "not-allowed", "target %q: backend %s has no endpoint %q", t.Name, k.Name,
			t.Endpoint)
		diag.Allowed = scenario.Built("target.endpoint", k.Endpoints)
		diag.Nearest = source.Nearest(t.Endpoint, diag.Allowed)
	}
}

// keyPos returns the place of a key of a target, or of the target where the plan does not write the key.
func keyPos(t *scenario.Target, name string) source.Pos { return posOf(t.Keys, name, t.Pos) }

// posOf returns the place of a key, or otherwise where keys lack it.
func posOf(keys []scenario.Key, name string, otherwise source.Pos) source.Pos {
	for _, key := range keys {
		if key.Name == name {
			return key.Pos
		}
	}
	return otherwise
}

// Abilities returns what can be done for a target: the abilities of its kind, and those of the
// executor itself.
func Abilities(k *backends.Kind, t *scenario.Target) backends.Ability {
	a := k.Abilities(TargetOf(k, t))
	if t.Metrics != nil {
		a |= backends.Scrape
	}
	return a
}

// lacks says why a target does not have an ability, "" where it has it, or where the target is wrong
// (nil). need is one of backends.AbilityNames, or "".
func (k *boundTarget) lacks(need string) string {
	ability := backends.AbilityOf(need)
	switch {
	case k == nil || k.abilities.Has(ability):
		return ""
	case ability == backends.ServerStats:
		return "backend " + k.kind.Name + " keeps no server statistics"
	case ability == backends.Scrape:
		return "the target names no `metrics` to read"
	case ability&(backends.Stream|backends.TokenEvents) != 0 && slices.Contains(k.kind.Keys, "streaming") &&
		!k.streaming:
		return "the target does not say `streaming: true`"
	}
	return fmt.Sprintf("backend %s has no %s here", k.kind.Name, need)
}

// checkTarget refuses what opening the target would refuse without asking anybody. What is wrong
// with its files is reported at its `tls`, or at the key that the error names.
func checkTarget(d *draft, k *backends.Kind, t *scenario.Target) {
	if k.Check == nil || d.diags.HasErrors() {
		return // a scheme that the kind does not speak has been reported
	}
	values := TargetOf(k, t)
	if t.Embedded() { // where it will be shows when it runs
		values.URL = t.Scheme() + "://localhost:1"
	}
	err := k.Check(values)
	if err == nil {
		return
	}
	all := []error{err}
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		all = several.Unwrap()
	}
	for _, err := range all {
		pos := t.Pos
		if t.TLS != nil {
			pos = keyPos(t, "tls")
		}
		var at *backends.KeyError
		if !errors.As(err, &at) {
			d.fail(pos, "bad-target", "target %q: %s", t.Name, err)
			continue
		}
		diag := d.fail(insidePos(t, at.Key), "bad-target", "target %q: %s", t.Name, err)
		diag.Allowed, diag.Nearest = at.Allowed, source.Nearest(at.Key, at.Allowed)
	}
}

// insidePos returns the place of a key that a target reports: of the server that is loaded into this
// process, if any is.
func insidePos(t *scenario.Target, name string) source.Pos {
	in := t.InProcess
	if in == nil {
		return keyPos(t, name)
	}
	if name == "server_dir" && in.ServerDir.Pos != (source.Pos{}) {
		return in.ServerDir.Pos
	}
	return posOf(in.Keys, name, keyPos(t, "inprocess"))
}

// always are the target keys that the executor itself reads, whatever the backend.
var always = []string{"backend", "url", "builtin", "ready", "probe", "metrics"}

func findKind(d *draft, t *scenario.Target) *backends.Kind {
	var names []string
	for i := range d.kinds {
		if d.kinds[i].Name == t.Backend {
			return &d.kinds[i]
		}
		names = append(names, d.kinds[i].Name)
	}
	names = scenario.Built("target.backend", names)
	diag := d.fail(t.Pos, "unknown-backend", "target %q: there is no backend %q in this build", t.Name,
		t.Backend)
	diag.Allowed, diag.Nearest = names, source.Nearest(t.Backend, names)
	return nil
}

// catalogue has the static rows and those of the server's own numbers, less what the target cannot
// produce.
func catalogue(k *backends.Kind, a backends.Ability) (*metric.Catalogue, error) {
	if !a.Has(backends.ServerStats) {
		return metric.New()
	}
	return Catalogue(*k)
}

// Catalogue returns every metric that a kind can produce for some target: for explain and docs.
func Catalogue(k backends.Kind) (*metric.Catalogue, error) {
	return metric.New(observe.Rows(k.Series)...)
}

// TargetOf returns a plan's target in the backends' plain values.
func TargetOf(k *backends.Kind, t *scenario.Target) backends.Target {
	out := backends.Target{
		URL: t.URL, Model: t.Model, ModelVersion: t.ModelVersion,
		ConnectTimeout: t.ConnectTimeout, MaxMessage: t.MaxMessage,
		Connections: t.Connections.Shared, InputJSON: t.Input == "json", OutputJSON: t.Output == "json",
		Endpoint: t.Endpoint, Method: t.Method, Streaming: t.Streaming,
	}
	if t.Endpoint == "" && k.Endpoints != nil {
		out.Endpoint = k.Endpoints[0]
	}
	if t.Compression != "none" {
		out.Compression = t.Compression
	}
	if p := t.InProcess; p != nil {
		out.InProcess = &backends.InProcess{ServerDir: p.ServerDir.Name, Repository: p.Repository.Name}
		for _, o := range p.Options {
			out.InProcess.Options = append(out.InProcess.Options,
				backends.Parameter{Name: o.Name, Value: o.Value})
		}
	}
	if t.Tokenizer != nil {
		out.Tokenizer = t.Tokenizer.Name
	}
	if t.Connections.PerRequest {
		out.Connections = backends.PerRequest
	}
	for _, h := range t.Headers {
		out.Headers = append(out.Headers, backends.Header{Name: h.Key, Value: h.Value})
	}
	for _, p := range t.Parameters {
		out.Parameters = append(out.Parameters, backends.Parameter{Name: p.Name, Value: p.Value})
	}
	if t.TLS != nil {
		out.TLS = &backends.TLSOptions{
			CA: t.TLS.CA, Cert: t.TLS.Cert, Key: t.TLS.Key,
			ServerName: t.TLS.ServerName, Verify: t.TLS.Verify, MinVersion: t.TLS.MinVersion,
		}
	}
	return out
}
