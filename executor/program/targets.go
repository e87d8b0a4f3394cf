package program

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/tokenizer"
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
	for _, t := range d.Plan.Targets {
		k := findKind(d, t)
		if k == nil {
			continue
		}
		checkKeys(d, k, t)
		checkTarget(d, k, t)
		openTokenizer(d, t)
		abilities := Abilities(k, t)
		c, err := metric.New(serverRows(k, abilities)...)
		if err != nil {
			d.fail(t.Pos, "metric-clash", "target %q: %s", t.Name, err)
			continue
		}
		d.targets[t] = &boundTarget{kind: k, abilities: abilities, streaming: t.Streaming, catalogue: c}
	}
}

// openTokenizer reads the tokenizer of a target, each file once.
func openTokenizer(d *draft, t *scenario.Target) {
	if t.Tokenizer == nil {
		return
	}
	if _, known := d.tokenizers[t.Tokenizer.Name]; known {
		return
	}
	k, err := tokenizer.Open(t.Tokenizer.Name)
	if err != nil {
		d.fail(t.Tokenizer.Pos, "bad-tokenizer", "the tokenizer cannot be used: %s", err)
	}
	d.tokenizers[t.Tokenizer.Name] = k
}

// serverRows returns the rows of the server's own numbers, as far as a target with these abilities
// has them.
func serverRows(k *backends.Kind, a backends.Ability) []metric.Row {
	if !a.Has(backends.ServerStats) {
		return nil
	}
	return observe.Rows(k.Series)
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
		d.fail(url, "scheme", "target %q: backend %s does not speak %s://", t.Name, k.Name, s).
			Among(source.Nearest(s, k.Schemes), k.Schemes)
	}
	for _, key := range t.Keys {
		if !slices.Contains(always, key.Name) && !slices.Contains(k.Keys, key.Name) {
			d.fail(key.Pos, "key-not-read", "backend %s does not read %q", k.Name, key.Name).
				Among(source.Nearest(key.Name, k.Keys), k.Keys)
		}
	}
	if t.Endpoint != "" && k.Endpoints != nil && !slices.Contains(k.Endpoints, t.Endpoint) {
		d.fail(endpoint, "not-allowed",
			"target %q: backend %s has no endpoint %q", t.Name, k.Name, t.Endpoint).
			Among(source.Nearest(t.Endpoint, k.Endpoints), k.Endpoints)
	}
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
// (nil).
func (k *boundTarget) lacks(ability backends.Ability) string {
	switch {
	case k == nil, k.abilities.Has(ability):
		return ""
	case ability == backends.ServerStats:
		return "backend " + k.kind.Name + " keeps no server statistics"
	case ability == backends.Scrape:
		return "the target names no `metrics` to read"
	case ability&(backends.Stream|backends.TokenEvents) != 0 && slices.Contains(k.kind.Keys, "streaming") &&
		!k.streaming:
		return "the target does not say `streaming: true`"
	}
	return fmt.Sprintf("backend %s has no %s here", k.kind.Name, ability.Names()[0])
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
	all := []error{err}
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		all = several.Unwrap()
	}
	for _, err := range all {
		var at *backends.KeyError
		switch {
		case err == nil:
		case errors.As(err, &at):
			d.fail(insidePos(t, at.Key), "bad-target", "target %q: %s", t.Name, err).
				Among(source.Nearest(at.Key, at.Allowed), at.Allowed)
		default:
			d.fail(keyPos(t, "tls"), "bad-target", "target %q: %s", t.Name, err)
		}
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
	d.fail(t.Pos, "unknown-backend", "target %q: there is no backend %q in this build", t.Name, t.Backend).
		Among(source.Nearest(t.Backend, names), names)
	return nil
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
		Layout:   t.Layout,
		Endpoint: t.Endpoint, Path: t.Path, Method: t.Method, Streaming: t.Streaming,
		TLS: (*backends.TLSOptions)(t.TLS),
	}
	if t.Endpoint == "" && k.Endpoints != nil {
		out.Endpoint = k.Endpoints[0]
	}
	if t.Compression != "none" {
		out.Compression = t.Compression
	}
	if m := t.Management; m != nil {
		out.Management = &backends.Management{URL: m.URL}
		for _, h := range m.Headers {
			out.Management.Headers = append(out.Management.Headers, backends.Header{Name: h.Key, Value: h.Value})
		}
	}
	if p := t.InProcess; p != nil {
		out.InProcess = &backends.InProcess{ServerDir: p.ServerDir.Name, Repository: p.Repository.Name}
		for _, o := range p.Options {
			out.InProcess.Options = append(out.InProcess.Options, backends.Parameter(o))
		}
	}
	out.Signature = t.Signature
	if p := t.Protos; p != nil {
		out.Protos = &backends.Protos{Files: names(p.Files), Include: names(p.Include)}
		if p.DescriptorSet != nil {
			out.Protos.DescriptorSet = p.DescriptorSet.Name
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
		out.Parameters = append(out.Parameters, backends.Parameter(p))
	}
	return out
}

// names returns the names of files.
func names(paths []scenario.Path) (list []string) {
	for _, p := range paths {
		list = append(list, p.Name)
	}
	return list
}
