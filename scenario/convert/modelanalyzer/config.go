package modelanalyzer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"

	"github.com/sluice-bench/sluice/scenario/source"
)

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

// configuration writes the configurations of a model: those that it names, else those that Model Analyzer
// searches by itself.
func (a *analyzer) configuration(m analyzedModel, s *sweep) {
	given, onlyCPU := m.node.Get("model_config_parameters"), m.node.Get("cpu_only")
	if onlyCPU != nil && onlyCPU.Text != "true" && onlyCPU.Text != "false" {
		a.fail(onlyCPU, "`cpu_only` is true or false")
	}
	switch {
	case given != nil && given.Kind != source.Map:
		a.fail(given, "`model_config_parameters` is a map")
		return
	case given != nil:
		s.config = a.fields(given, s, "")
		if onlyCPU != nil && onlyCPU.Text == "true" {
			a.warn(onlyCPU, "`cpu_only`: write kind: KIND_CPU into the instance_group of the plan")
		}
		return
	case a.isTrue("run_config_search_disable"):
		return
	}
	var sizes, counts []string
	least, most := a.limit("run_config_search_min_model_batch_size", 1),
		a.limit("run_config_search_max_model_batch_size", 128)
	for n := least; n <= most; n *= 2 {
		sizes = append(sizes, plantext.Count(n))
	}
	least, most = a.limit("run_config_search_min_instance_count", 1),
		a.limit("run_config_search_max_instance_count", 5)
	for n := least; n <= most; n++ {
		counts = append(counts, plantext.Count(n))
	}
	if len(sizes) == 0 || len(counts) == 0 || len(sizes)*len(counts) > 256 {
		a.fail(a.root, "the search of %q has %d configurations: a plan has 1 to 256", m.name,
			len(sizes)*len(counts))
		return
	}
	s.config = []string{"max_batch_size: " + s.axis("max_batch_size", sizes)}
	kind := ""
	if onlyCPU != nil && onlyCPU.Text == "true" {
		kind = ", kind: KIND_CPU"
	}
	s.config = append(s.config, "instance_group: [{count: "+s.axis("instances", counts)+kind+"}]",
		"dynamic_batching: true")
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
		if inside == "" && !slices.Contains(strings.Fields("max_batch_size instance_group dynamic_batching "+
			"response_cache parameters optimization sequence_batching version_policy"), e.Key) {
			a.warn(e.Value, "`%s` cannot be set by a plan", e.Key)
			continue
		}
		var text string
		if inside == "" && e.Key == "parameters" {
			text = a.parameters(e.Value, s)
		} else {
			text = a.value(e.Key, e.Value, s, inside == "")
		}
		if inside == "" && e.Key == "dynamic_batching" && text == "{}" {
			text = "true"
		}
		lines = append(lines, plantext.Scalar(e.Key)+": "+text)
	}
	return lines
}

// wholeValues returns the first of several values of a field of the configuration that are no scalars,
// where n is a list of these: of maps, or of lists for instance_group, which is one. An axis has no such
// values.
func (a *analyzer) wholeValues(key string, n *source.Node, top bool) *source.Node {
	kind := source.Map
	if key == "instance_group" {
		kind = source.List
	}
	if !top || len(n.Items) == 0 || n.Items[0].Kind != kind {
		return nil
	}
	if len(n.Items) > 1 {
		a.warn(n, "`%s`: an axis has no maps and lists as values: the first one is used", key)
	}
	return n.Items[0]
}

// value writes one value of a configuration in flow style; top: it is that of a field of the configuration
// itself.
func (a *analyzer) value(key string, n *source.Node, s *sweep, top bool) string {
	switch n.Kind {
	case source.Map:
		return plantext.Flow(a.fields(n, s, key)...)
	case source.List:
		lists := slices.Contains([]string{"preferred_batch_size", "gpus", "profile"}, key)
		if whole := a.wholeValues(key, n, top); whole != nil {
			return a.value(key, whole, s, top)
		}
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
			return a.value(key, n.Items[0], s, false)
		}
		var items []string
		for _, i := range n.Items {
			items = append(items, a.value("item of "+key, i, s, false))
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
		text := a.value(e.Key, v, s, false)
		if v.Kind == source.Scalar {
			// a number too is a text here
			text = strconv.Quote(plantext.Escaped(strings.ToValidUTF8(v.Text, "\ufffd")))
		}
		list = append(list, plantext.Scalar(e.Key)+": "+text)
	}
	return plantext.Flow(list...)
}

// plainText writes a scalar as it was.
func plainText(n *source.Node) string {
	switch v := n.JSON().(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		return plantext.Scalar(v)
	}
	return n.Text
}
