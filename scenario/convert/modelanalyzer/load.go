package modelanalyzer

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"

	"github.com/sluice-bench/sluice/scenario/source"
)

// numbers lists the whole numbers of a scalar, a list, or a range {start, stop, step}.
func (a *analyzer) numbers(n *source.Node) (list []string) {
	var texts []*source.Node
	switch {
	case n == nil:
		return nil
	case n.Kind == source.List:
		texts = n.Items
	case n.Kind == source.Map:
		get := func(key string, usual int64) int64 {
			if e := n.Get(key); e != nil {
				usual, _ = strconv.ParseInt(e.Text, 10, 64)
			}
			return usual
		}
		a.known(n, []string{"start", "stop", "step"}, "a range")
		from, to, step := get("start", 0), get("stop", 0), get("step", 1)
		if from < 1 || to < from || step < 1 || (to-from)/step > 1000 {
			a.fail(n, "this is no range: start, stop and step are from 1 on, with 1000 values at most")
			return nil
		}
		for v := from; v <= to; v += step {
			list = append(list, plantext.Count(v))
		}
		return list
	default:
		for text := range strings.SplitSeq(n.Text, ",") {
			texts = append(texts, source.Plain(strings.TrimSpace(text), n.Pos))
		}
	}
	for _, t := range texts {
		v, err := strconv.ParseInt(t.Text, 10, 64)
		if err != nil || v < 1 {
			a.fail(t, "%q is no whole number from 1 on", t.Text)
			continue
		}
		list = append(list, plantext.Count(v))
	}
	return list
}

// load writes the load; many reports whether it has several levels.
func (a *analyzer) load(m analyzedModel, add func(text, comment string)) (many bool) {
	levels := func(key string, values []string, unit string) bool {
		text := values[0] + unit
		if len(values) > 1 {
			text = "[" + strings.Join(values, unit+", ") + unit + "]"
		}
		add("load: "+plantext.Flow(key+": "+text), "")
		return len(values) > 1
	}
	if n := a.of(m, "request_rate"); n != nil {
		if other := a.of(m, "concurrency"); other != nil {
			a.warn(other, "`concurrency`: `request_rate` says what the load of %s is", m.name)
		}
		if values := a.numbers(n); len(values) > 0 {
			return levels("rate", values, "/s")
		}
	}
	if n := a.of(m, "concurrency"); n != nil {
		if values := a.numbers(n); len(values) > 0 {
			return levels("concurrency", values, "")
		}
	}
	if a.isTrue("run_config_search_disable") {
		add("load: {concurrency: 1}", "")
		return false
	}
	from, to := a.limit("run_config_search_min_concurrency", 1), a.limit("run_config_search_max_concurrency",
		1024)
	add(fmt.Sprintf("load: {concurrency: {levels: {from: %d, to: %d, factor: 2}}}", from, max(from, to)),
		"as it searches")
	return to > from
}

// flags writes the options of perf_analyzer that a stage has keys for.
func (a *analyzer) flags(m analyzedModel, add func(text, comment string)) {
	window, metric := "5s", "latency.mean"
	if n := a.of(m, "perf_analyzer_flags"); n != nil {
		if n.Kind != source.Map && n.Kind != source.Null {
			a.fail(n, "`perf_analyzer_flags` is a map of options and their values")
		}
		for _, e := range n.Entries {
			key := strings.TrimLeft(e.Key, "-")
			number, err := strconv.ParseInt(e.Value.Text, 10, 64)
			switch {
			case key == "percentile" && err == nil && number > 0 && number < 100:
				metric = fmt.Sprintf("latency.p%d", number)
			case key == "measurement-interval" && err == nil && number > 0:
				window = plantext.Milliseconds(number)
			case key == "warmup-request-count" && err == nil && number > 0:
				add("warmup: "+plantext.Count(number)+" requests", "")
			case key == "H": // a header of the target
			case key == "shape":
				a.shapes(e.Value, add)
			case key == "input-data" && e.Value.Text == "random":
			case key == "input-data" && e.Value.Kind == source.Scalar && e.Value.Text != "zero":
				a.warn(e.Value, "`input-data`: write `data: {file: %s}` into the plan",
					filepath.ToSlash(filepath.Join(".", e.Value.Text)))
			default:
				a.warn(e.Value, "perf_analyzer's %s is not converted here: see `sluice convert perf-analyzer`", e.Key)
			}
		}
	}
	add(fmt.Sprintf("until: {stable: {window: %s, metrics: [throughput, %s]}}", window, metric), "")
}

// shapes writes the shapes of inputs: NAME:1,2 or a list of these.
func (a *analyzer) shapes(n *source.Node, add func(text, comment string)) {
	list := []*source.Node{n}
	if n.Kind == source.List {
		list = n.Items
	}
	var all []string
	for _, item := range list {
		name, dims, ok := strings.Cut(item.Text, ":")
		if !ok || !shapeText.MatchString(dims) {
			a.warn(item, "%q is no shape, such as INPUT:3,224", item.Text)
			continue
		}
		all = append(all, plantext.Scalar(name)+": ["+strings.ReplaceAll(dims, ",", ", ")+"]")
	}
	if all != nil {
		add("shapes: "+plantext.Flow(all...), "")
	}
}
