// Package modelanalyzer turns a configuration of Triton's Model Analyzer into a plan: each model becomes a
// stage, what it sweeps axes and levels, its objective `best`, its constraints `where`. Sources: config.md
// and model_config_search of Model Analyzer's documentation.
//
// It is not: a reader of command lines, or of plans (the caller validates the text).
package modelanalyzer

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
	"github.com/sluice-bench/sluice/scenario/convert/pyyaml"
	"github.com/sluice-bench/sluice/scenario/convert/secret"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Codes of the diagnostics of this package; scenario/source explains them.
const (
	codeValue   = "option-value"
	codeNoEqual = "no-equal"
)

// Plan is a converted configuration.
type Plan struct {
	Text string // "" with mistakes in the configuration
	// Secrets are the plan's variables of what the configuration has in plain text.
	Secrets []secret.Secret
}

// analyzer is a configuration while it becomes a plan.
type analyzer struct {
	root *source.Node
	plantext.Page
	varsAt  int // the line of the plan that its variables are before
	secrets secret.List
	login   string // the mark of the user of the server's URL
	diags   source.Diagnostics
}

// Convert converts a configuration of Model Analyzer, of the name file, into a plan. With an error among
// the diagnostics there is no plan. Warnings name what the plan cannot express. A line that holds a secret is
// hidden in them.
func Convert(file string, data []byte) (out Plan, diags source.Diagnostics) {
	root, diags := pyyaml.Parse(file, data)
	if root != nil && !diags.HasErrors() {
		a := &analyzer{root: root}
		a.convert()
		if diags = a.diags; !diags.HasErrors() {
			out.Secrets = a.secrets.Place(&a.Page, a.varsAt, nil)
			out.Text = a.String()
		}
	}
	lines := strings.Split(string(data), "\n")
	for i := range diags {
		d := &diags[i]
		if n := d.Pos.Line; n > 0 && n <= len(lines) && mayHoldSecret.MatchString(lines[n-1]) {
			d.Hidden = true
		}
	}
	return out, diags.Sorted()
}

// mayHoldSecret matches the lines of a file that are not shown.
var mayHoldSecret = regexp.MustCompile(`(?i)` +
	`(authorization|token|key|secret|password)["']?\s*[:=]|://[^/\s]*@|\w:[^/\s]*@`)

// Keys that have an equal, or need none: those of the whole configuration, and those of one model.
var (
	rootKeys = strings.Fields("profile_models objectives constraints batch_sizes concurrency request_rate " +
		"triton_launch_mode triton_http_endpoint triton_grpc_endpoint client_protocol perf_analyzer_flags " +
		"latency_budget min_throughput run_config_search_disable run_config_search_max_concurrency " +
		"run_config_search_min_concurrency run_config_search_max_instance_count " +
		"run_config_search_min_instance_count run_config_search_max_model_batch_size " +
		"run_config_search_min_model_batch_size model_repository")
	modelKeys = strings.Fields("objectives constraints batch_sizes concurrency request_rate parameters " +
		"model_config_parameters cpu_only perf_analyzer_flags")
	parameterKeys = strings.Fields("batch_sizes concurrency request_rate")
)

func (a *analyzer) warn(n *source.Node, format string, args ...any) {
	a.diags = append(a.diags, source.Warnf(codeNoEqual, format, args...).At("", n.Pos, 0))
}

func (a *analyzer) fail(n *source.Node, format string, args ...any) {
	a.diags = append(a.diags, source.Errorf(codeValue, format, args...).At("", n.Pos, 0))
}

// convert writes the plan.
func (a *analyzer) convert() {
	if a.root.Kind != source.Map {
		a.fail(a.root, "a configuration of Model Analyzer is a map")
		return
	}
	a.known(a.root, rootKeys, "")
	models := a.models()
	if len(models) == 0 {
		a.fail(a.root, "`profile_models` names no model")
		return
	}
	a.Add("# Made of a configuration of Model Analyzer.", "")
	if mode := a.text("triton_launch_mode", "local"); mode != "remote" {
		a.Add("# Start Triton with --model-control-mode=explicit before: triton_launch_mode is "+mode+".", "")
	}
	a.Add("version: 1", "")
	url := a.address()
	a.varsAt = len(a.Lines)
	a.Add("targets:", "")
	for _, m := range models {
		members := []string{"backend: triton", "url: " + strconv.Quote(plantext.Escaped(url)), "model: " +
			plantext.Scalar(m.name)}
		if headers := a.headers(m); len(headers) > 0 {
			members = append(members, "headers: "+plantext.Flow(headers...))
		}
		a.Add("  "+plantext.Scalar(m.id)+": "+plantext.Flow(members...), "")
	}
	a.Add("stages:", "")
	for _, m := range models {
		a.stage(m)
	}
}

// address returns the server's URL, without its user.
func (a *analyzer) address() string {
	scheme, key, usual := "grpc://", "triton_grpc_endpoint", "localhost:8001"
	switch protocol := a.text("client_protocol", "grpc"); protocol {
	case "grpc":
	case "http":
		scheme, key, usual = "http://", "triton_http_endpoint", "localhost:8000"
	default:
		a.fail(a.root.Get("client_protocol"), "%q is no protocol of Model Analyzer: write grpc or http", protocol)
	}
	address := strings.TrimPrefix(a.text(key, usual), scheme)
	address, marks := a.secrets.TakeLogin(a.secrets.Hide(address, key, secret.InURL(address, true)))
	if len(marks) > 0 {
		a.login = marks[0]
	}
	return scheme + address
}

// headers returns the headers of a model's requests: those of the flag H, and that of the URL's user.
func (a *analyzer) headers(m analyzedModel) (members []string) {
	var names []string
	add := func(name, value string) {
		names = append(names, strings.ToLower(name))
		members = append(members, plantext.Scalar(name)+": "+plantext.Scalar(value))
	}
	flags := a.of(m, "perf_analyzer_flags")
	if flags != nil {
		for _, e := range flags.Entries {
			if strings.TrimLeft(e.Key, "-") != "H" {
				continue
			}
			for _, item := range listOf(e.Value) {
				text := a.secrets.Hide(item.Text, "perf_analyzer_flags.H", secret.InHeader(item.Text))
				name, value, ok := strings.Cut(text, ":")
				if name = strings.TrimSpace(name); !ok || name == "" {
					a.warn(item, "a header is NAME:VALUE")
				} else if slices.Contains(names, strings.ToLower(name)) {
					a.warn(item, "the header %s is given twice", name)
				} else {
					add(name, strings.TrimSpace(value))
				}
			}
		}
	}
	if a.login != "" && !slices.Contains(names, "authorization") {
		add("Authorization", "Basic "+a.login)
	}
	return members
}

// listOf returns the items of a list; one for anything else.
func listOf(n *source.Node) []*source.Node {
	if n.Kind == source.List {
		return n.Items
	}
	return []*source.Node{n}
}

// text returns a key of the configuration.
func (a *analyzer) text(key, usual string) string {
	n := a.root.Get(key)
	switch {
	case n == nil || n.Kind == source.Null:
		return usual
	case n.Kind != source.Scalar:
		a.fail(n, "`%s` is one value", key)
		return usual
	}
	return n.Text
}

// isTrue returns a truth of the configuration.
func (a *analyzer) isTrue(key string) bool { return a.text(key, "false") == "true" }

// known warns of the keys of a map that are none of the list; of names the map.
func (a *analyzer) known(n *source.Node, keys []string, of string) {
	for _, e := range n.Entries {
		switch {
		case slices.Contains(keys, e.Key):
		case of == "" && slices.Contains(modelKeys, e.Key):
			a.warn(e.Value, "`%s` is for one model: write it below the name of that model", e.Key)
		case of != "" && slices.Contains(rootKeys, e.Key):
			a.warn(e.Value, "`%s` is for all models: it has no effect in %s", e.Key, of)
		default:
			a.warn(e.Value, "`%s` has no equal in a plan", e.Key)
		}
	}
}

// analyzedModel is one model of a configuration.
type analyzedModel struct {
	name, id string
	node     *source.Node // its own settings; nil: none
}

func (a *analyzer) models() (list []analyzedModel) {
	seen := map[string]bool{}
	add := func(name string, n *source.Node) {
		if n != nil && n.Kind != source.Map {
			if n.Kind != source.Null {
				a.fail(n, "the settings of the model %s are a map", name)
			}
			n = nil
		}
		id := strings.Trim(strings.ToLower(notInID.ReplaceAllString(name, "-")), "-_")
		id = cmp.Or(id, "model")
		for base, k := id, 2; seen[id]; k++ {
			id = base + "-" + strconv.Itoa(k)
		}
		seen[id] = true
		list = append(list, analyzedModel{name, id, n})
	}
	n := a.root.Get("profile_models")
	switch {
	case n == nil:
	case n.Kind == source.Map:
		for _, e := range n.Entries {
			add(e.Key, e.Value)
		}
	case n.Kind == source.Scalar:
		for name := range strings.SplitSeq(n.Text, ",") {
			add(strings.TrimSpace(name), nil)
		}
	case n.Kind == source.List:
		for _, item := range n.Items {
			switch item.Kind {
			case source.Scalar:
				add(item.Text, nil)
			case source.Map:
			default:
				a.fail(item, "a model is its name, or its name with a map of settings")
			}
			for _, e := range item.Entries {
				add(e.Key, e.Value)
			}
		}
	}
	return list
}

// of returns a setting of a model: its own, else that of all.
func (a *analyzer) of(m analyzedModel, key string) *source.Node {
	if n := m.node.Get(key); n != nil {
		return n
	}
	if n := m.node.Get("parameters").Get(key); n != nil {
		return n
	}
	return a.root.Get(key)
}

func (a *analyzer) stage(m analyzedModel) {
	if m.node != nil {
		a.known(m.node, modelKeys, "the model "+m.name)
		if p := m.node.Get("parameters"); p != nil {
			if p.Kind != source.Map {
				a.fail(p, "`parameters` is a map of `concurrency`, `request_rate` and `batch_sizes`")
			}
			a.known(p, parameterKeys, "`parameters`")
		}
	}
	s := &sweep{names: map[string]bool{}}
	a.configuration(m, s)
	batch := ""
	if sizes := a.numbers(a.of(m, "batch_sizes")); len(sizes) > 0 {
		batch = s.axis("batch", sizes)
	}
	add := func(text, comment string) { a.Add("    "+text, comment) }
	a.Add("  - id: "+plantext.Scalar(m.id), "")
	add("target: "+plantext.Scalar(m.id), "")
	if len(s.axes) > 0 {
		add("matrix: "+plantext.Flow(s.axes...), "")
	}
	if len(s.config) > 0 {
		add("before:", "restored when the stage has ended")
		add("  - load_model:", "")
		add("      name: "+plantext.Scalar(m.name), "")
		add("      config:", "")
		for _, line := range s.config {
			add("        "+line, "")
		}
	}
	if batch != "" && batch != "1" {
		add("batch: "+batch, "batch_sizes")
	}
	many := a.load(m, add) || len(s.axes) > 0
	a.flags(m, add)
	a.best(m, many, add)
}
