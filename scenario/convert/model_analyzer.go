package convert

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// analyzer is a configuration of Triton's Model Analyzer while it becomes a plan. Each model becomes a stage:
// what it sweeps becomes axes and levels, its objective `best`, its constraints `where`. Sources: config.md and
// model_config_search of Model Analyzer's documentation.
type analyzer struct {
	root  *source.Node
	page  page
	diags source.Diagnostics
}

// ModelAnalyzer converts a configuration of Model Analyzer, of the name file, into a plan. With an error among
// the diagnostics there is no plan. Warnings name what the plan cannot express.
func ModelAnalyzer(file string, data []byte) (plan string, diags source.Diagnostics) {
	root, diags := source.Parse(file, data)
	if root == nil || diags.HasErrors() {
		return "", diags
	}
	a := &analyzer{root: root}
	a.convert()
	if a.diags.HasErrors() {
		return "", a.diags.Sorted()
	}
	return a.page.String(), a.diags.Sorted()
}

// known are the keys that have an equal, or need none.
var known = strings.Fields("profile_models objectives constraints batch_sizes concurrency request_rate " +
	"triton_launch_mode triton_http_endpoint triton_grpc_endpoint client_protocol perf_analyzer_flags latency_budget " +
	"run_config_search_disable run_config_search_max_concurrency run_config_search_min_concurrency " +
	"run_config_search_max_instance_count run_config_search_min_instance_count " +
	"run_config_search_max_model_batch_size run_config_search_min_model_batch_size model_repository " +
	"parameters model_config_parameters cpu_only")

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
	a.unknown(a.root)
	models := a.models()
	if len(models) == 0 {
		a.fail(a.root, "`profile_models` names no model")
		return
	}
	a.page.add("# Made of a configuration of Model Analyzer.", "")
	if mode := a.text("triton_launch_mode", "local"); mode != "remote" {
		a.page.add("# Start Triton with --model-control-mode=explicit before: triton_launch_mode is "+mode+".", "")
	}
	a.page.add("version: 1", "")
	url := "grpc://" + a.text("triton_grpc_endpoint", "localhost:8001")
	if a.text("client_protocol", "grpc") == "http" {
		url = "http://" + strings.TrimPrefix(a.text("triton_http_endpoint", "localhost:8000"), "http://")
	}
	a.page.add("targets:", "")
	for _, m := range models {
		a.page.add("  "+scalar(m.id)+": "+flow("backend: triton", "url: "+strconv.Quote(escaped(url)),
			"model: "+scalar(m.name)), "")
	}
	a.page.add("stages:", "")
	for _, m := range models {
		a.stage(m)
	}
}

// text returns a key of the configuration.
func (a *analyzer) text(key, usual string) string {
	if n := a.root.Get(key); n != nil && n.Kind == source.Scalar {
		return n.Text
	}
	return usual
}

// unknown warns of the keys of a map that are not converted.
func (a *analyzer) unknown(n *source.Node) {
	for _, e := range n.Entries {
		if !slices.Contains(known, e.Key) {
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
			if item.Kind == source.Scalar {
				add(item.Text, nil)
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

// sweep is what a model is measured with.
type sweep struct {
	axes   []string // "instances: [1, 2]"
	config []string // lines of the configuration
	names  map[string]bool
}

// axis adds an axis and returns its reference; a single value needs none.
func (s *sweep) axis(name string, values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	base := name
	for k := 2; s.names[name]; k++ {
		name = base + strconv.Itoa(k)
	}
	s.names[name] = true
	s.axes = append(s.axes, name+": ["+strings.Join(values, ", ")+"]")
	return "\"${matrix." + name + "}\""
}

func (a *analyzer) stage(m analyzedModel) {
	if m.node != nil {
		a.unknown(m.node)
	}
	s := &sweep{names: map[string]bool{}}
	a.configuration(m, s)
	batch := ""
	if sizes := a.numbers(a.of(m, "batch_sizes")); len(sizes) > 0 {
		batch = s.axis("batch", sizes)
	}
	add := func(text, comment string) { a.page.add("    "+text, comment) }
	a.page.add("  - id: "+scalar(m.id), "")
	add("target: "+scalar(m.id), "")
	if len(s.axes) > 0 {
		add("matrix: "+flow(s.axes...), "")
	}
	if len(s.config) > 0 {
		add("before:", "restored when the stage has ended")
		add("  - load_model:", "")
		add("      name: "+scalar(m.name), "")
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

// configuration writes the configurations of a model: those that it names, else those that Model Analyzer
// searches by itself.
func (a *analyzer) configuration(m analyzedModel, s *sweep) {
	given := m.node.Get("model_config_parameters")
	switch {
	case given != nil && given.Kind == source.Map:
		s.config = a.fields(given, s, "")
		return
	case a.text("run_config_search_disable", "false") == "true":
		return
	}
	var sizes, counts []string
	least, most := a.limit("run_config_search_min_model_batch_size", 1), a.limit("run_config_search_max_model_batch_size", 128)
	for n := least; n <= most; n *= 2 {
		sizes = append(sizes, count(n))
	}
	least, most = a.limit("run_config_search_min_instance_count", 1), a.limit("run_config_search_max_instance_count", 5)
	for n := least; n <= most; n++ {
		counts = append(counts, count(n))
	}
	if len(sizes) == 0 || len(counts) == 0 || len(sizes)*len(counts) > 256 {
		a.fail(a.root, "the search of %q has %d configurations: a plan has 1 to 256", m.name, len(sizes)*len(counts))
		return
	}
	s.config = []string{"max_batch_size: " + s.axis("max_batch_size", sizes)}
	kind := ""
	if n := m.node.Get("cpu_only"); n != nil && n.Text == "true" {
		kind = ", kind: KIND_CPU"
	}
	s.config = append(s.config, "instance_group: [{count: "+s.axis("instances", counts)+kind+"}]", "dynamic_batching: true")
}

// limit returns a bound of the search.
func (a *analyzer) limit(key string, usual int64) int64 {
	n := a.root.Get(key)
	if n == nil {
		return usual
	}
	v, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil || v < 1 || v > 1<<20 {
		a.fail(n, "`%s` is no number from 1 on", key)
		return usual
	}
	return v
}

// fields writes the entries of a map of a configuration. A list of scalars is values to try, but where Triton
// has a list.
func (a *analyzer) fields(n *source.Node, s *sweep, inside string) (lines []string) {
	for _, e := range n.Entries {
		if inside == "" && !slices.Contains(strings.Fields("max_batch_size instance_group dynamic_batching response_cache "+
			"parameters optimization sequence_batching version_policy"), e.Key) {
			a.warn(e.Value, "`%s` cannot be set by a plan", e.Key)
			continue
		}
		var text string
		if inside == "" && e.Key == "parameters" {
			text = a.parameters(e.Value, s)
		} else {
			text = a.value(e.Key, e.Value, s)
		}
		if inside == "" && e.Key == "dynamic_batching" && text == "{}" {
			text = "true"
		}
		lines = append(lines, scalar(e.Key)+": "+text)
	}
	return lines
}

// value writes one value of a configuration in flow style.
func (a *analyzer) value(key string, n *source.Node, s *sweep) string {
	switch n.Kind {
	case source.Map:
		return flow(a.fields(n, s, key)...)
	case source.List:
		lists := slices.Contains([]string{"preferred_batch_size", "gpus", "profile"}, key)
		scalars := !slices.ContainsFunc(n.Items, func(i *source.Node) bool { return i.Kind != source.Scalar })
		if len(n.Items) > 0 && scalars && !lists {
			var values []string
			for _, i := range n.Items {
				values = append(values, plainText(i))
			}
			name := map[string]string{"count": "instances", "max_queue_delay_microseconds": "delay_us"}[key]
			return s.axis(cmp.Or(name, notInAxis.ReplaceAllString(key, "_")), values)
		}
		if len(n.Items) > 0 && lists && !scalars {
			if len(n.Items) > 1 {
				a.warn(n, "`%s`: an axis has no lists as values: the first one is used", key)
			}
			return a.value(key, n.Items[0], s)
		}
		var items []string
		for _, i := range n.Items {
			items = append(items, a.value("item of "+key, i, s))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case source.Scalar:
		return plainText(n)
	case source.Null:
	}
	return "{}"
}

// parameters writes those of the backend, whose values are in a map.
func (a *analyzer) parameters(n *source.Node, s *sweep) string {
	var list []string
	for _, e := range n.Entries {
		v := e.Value.Get("string_value")
		if v == nil {
			v = e.Value
		}
		text := a.value(e.Key, v, s)
		if v.Kind == source.Scalar {
			text = strconv.Quote(escaped(strings.ToValidUTF8(v.Text, "\ufffd"))) // a number too is a text here
		}
		list = append(list, scalar(e.Key)+": "+text)
	}
	return flow(list...)
}

// plainText writes a scalar as it was.
func plainText(n *source.Node) string {
	switch v := n.JSON().(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		return scalar(v)
	}
	return n.Text
}
