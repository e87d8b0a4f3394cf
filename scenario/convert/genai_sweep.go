package convert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/source"
)

// sweptAxis is one stimulus that `genai-perf analyze` sweeps.
type sweptAxis struct {
	kind   string
	values []float64
	from   given
}

// usualRange is the range that analyze sweeps without one.
const usualRange = "1:1024"

// takeRange keeps the range of an axis. A file of settings may have several axes, each with its kind before
// it.
func (c *genai) takeRange(g given) {
	c.sweepRange = g.value
	if g.inFile() {
		c.axes = append(c.axes, sweptAxis{c.sweep, c.rangeOf(g.value, c.sweep, true), g})
	}
}

// inFile reports whether an option is a setting of a file.
func (g given) inFile() bool { return g.at >= len(g.line.at) }

// swept applies the options of analyze.
func (c *genai) swept() {
	options := []string{"--sweep-type", "--sweep-range", "--sweep-list"}
	if !c.analyze && !slices.ContainsFunc(options, c.has) {
		return
	}
	if c.analyze {
		c.notes = append(c.notes, note{"analyze", "all points have one folder, where the files of all but the first begin with the point's name; " +
			"there is no analyze_export_genai_perf.csv: stages.csv has a row for each point"})
	}
	if len(c.axes) == 0 {
		c.axes = []sweptAxis{c.lineAxis()}
	}
	c.clash(c.load.schedule, options[0], "--fixed-schedule", "each row is sent at its time")
	byKind := map[string]bool{}
	for _, a := range c.axes {
		switch {
		case len(a.values) == 0:
			return // its mistake is reported
		case byKind[a.kind] || byKind["concurrency"] && a.kind == "request_rate" || byKind["request_rate"] &&
			a.kind == "concurrency":
			c.wrongValue("--sweep-type", "one sweep says what the load is")
			return
		}
		byKind[a.kind] = true
		c.sweepOver(a)
	}
	if !c.has("--request-count") && c.extent.window == 0 {
		c.extent.requests = max(10, 2*most(c.load.concurrency))
	}
}

// lineAxis returns the axis of the command line. A list goes before a range.
func (c *genai) lineAxis() sweptAxis {
	a := sweptAxis{c.sweep, c.sweepList, c.seen["--sweep-list"]}
	if len(a.values) > 0 {
		c.needless("--sweep-range", "--sweep-list has the values")
	} else {
		a.from = c.seen["--sweep-range"]
		text := c.sweepRange
		if text == "" {
			text = usualRange
		}
		a.values = c.rangeOf(text, a.kind, false)
	}
	switch kind, has := c.seen["--sweep-type"]; {
	case has && a.from.option == nil:
		a.from = kind
	case has:
		a.from.as = "--sweep-type, " + a.from.String()
	case a.from.option == nil: // analyze alone
		a.from = given{
			option: &option{names: []string{"sweep-range"}}, line: c.line, as: "analyze", at: -1,
			nameAt: -1,
		}
	}
	return a
}

// sweepOver makes levels of the load of an axis, or an axis of the stage's matrix.
func (c *genai) sweepOver(a sweptAxis) {
	p := &c.prompts
	if p.file != "" && (a.kind == "input_sequence_length" || a.kind == "num_dataset_entries") {
		c.remark("--sweep-type", "rows of a file are sent as they are: write a stage for each of several files")
		return
	}
	replaces := func(option string) {
		if c.has(option) {
			c.moot = append(c.moot, note{c.spoken(option), "the sweep has its values"})
		}
		c.seen[option] = a.from
	}
	load := func(option, other string) {
		c.needless(other, "the sweep says what the load is")
		replaces(option)
	}
	switch a.kind {
	case "concurrency":
		load("--concurrency", "--request-rate")
		c.load.concurrency, c.load.rates = a.values, nil
	case "request_rate":
		load("--request-rate", "--concurrency")
		c.load.rates, c.load.concurrency = a.values, nil
	case "input_sequence_length":
		replaces("--synthetic-input-tokens-mean")
		p.inputs, p.input.mean = a.values, a.values[0]
	case "num_dataset_entries":
		replaces("--num-dataset-entries")
		p.counts, p.count = a.values, int64(a.values[0])
	case "batch_size":
		replaces("--batch-size-text")
		batches := c.server.endpoint == "embeddings" || c.server.endpoint == "rankings" ||
			c.server.endpoint == "infer"
		if !batches && most(a.values) > 1 {
			c.clash(true, "--sweep-type", "--endpoint-type "+c.kind, "batches are for embeddings and rankings")
		}
		p.batches, p.batch = a.values, int64(a.values[0])
	}
}

// rangeOf returns the values of MIN:MAX[:STEP]: powers of two without a step.
func (c *genai) rangeOf(text, kind string, inFile bool) (values []float64) {
	const option = "--sweep-range"
	var n [3]float64
	parts := strings.Split(text, ":")
	for i, part := range parts[:min(len(parts), 3)] {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil || v < 1 || v > 1e9 {
			c.wrongValue(option, "write MIN:MAX or MIN:MAX:STEP, numbers above 0")
			return nil
		}
		n[i] = v
	}
	switch {
	case len(parts) < 2 || len(parts) > 3 || n[0] >= n[1]:
		c.wrongValue(option, "write MIN:MAX or MIN:MAX:STEP, with MIN below MAX")
	case len(parts) == 3 && kind == "concurrency" && !inFile:
		c.wrongValue(option, "concurrency takes no step: it doubles")
	case len(parts) == 3 && (n[1]-n[0])/n[2] > 1000:
		c.wrongValue(option, "there are more than 1000 values")
	case len(parts) == 3:
		for v := n[0]; v <= n[1]; v += n[2] {
			values = append(values, v)
		}
	default:
		for v := n[0]; v <= n[1]; v *= 2 {
			values = append(values, v)
		}
	}
	return values
}

// sweepsOf returns the settings of `analyze`: for each axis its kind and its range, which have GenAI-Perf's
// own ends where the file has none.
func sweepsOf(analyze *source.Node) (all []setting) {
	usual := map[string][2]string{
		"concurrency": {"1", "1024"}, "runtime_batch_size": {"1", "128"}, "request_rate": {"16", "8192"},
		"num_dataset_entries": {"100", "1000"}, "input_sequence_length": {"100", "1000"},
	}
	for _, e := range analyze.Entries {
		path, ends := "analyze."+e.Key, usual[e.Key]
		if ends[0] == "" || e.Value.Kind != source.Map {
			all = append(all, setting{path: path, node: e.Value})
			continue
		}
		text, step := [2]string{}, ""
		for i, key := range []string{"start", "stop"} {
			if text[i] = ends[i]; e.Value.Get(key) != nil {
				text[i] = e.Value.Get(key).Text
			}
		}
		if n := e.Value.Get("step"); n != nil {
			step = ":" + n.Text
		}
		for _, part := range e.Value.Entries {
			if !slices.Contains([]string{"start", "stop", "step"}, part.Key) {
				all = append(all, setting{path: path + "." + part.Key, node: part.Value})
			}
		}
		kind := strings.TrimPrefix(e.Key, "runtime_")
		all = append(all, setting{path, "--sweep-type", source.Plain(kind, e.Value.Pos)},
			setting{path, "--sweep-range", source.Plain(text[0]+":"+text[1]+step, e.Value.Pos)})
	}
	return all
}
