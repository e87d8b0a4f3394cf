package llm

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// wholeRun lists what GenAI-Perf's CSV says of a whole run, in its order and words.
func wholeRun() []Metric {
	return []Metric{
		{Tag: OutputRate, Title: "Output Token Throughput", Unit: "tokens/sec"},
		{Tag: RequestRate, Title: "Request Throughput", Unit: "per sec"},
		{Tag: GoodputRate, Title: "Request Goodput", Unit: "per sec"},
		{Tag: RequestCount, Title: "Request Count", Unit: "count"},
	}
}

// jsonOrder lists the tags in the order of GenAI-Perf's JSON.
func jsonOrder() []string {
	return []string{RequestRate, GoodputRate, Latency, RequestCount, TTFT, TTST, ITL, OutputRate, PerUser, OSL, ISL}
}

// inGenAIPerf reports whether GenAI-Perf shows a metric of a run: lengths and tokens only of endpoints that
// generate text.
func inGenAIPerf(r *Run, tag string) bool {
	switch tag {
	case Latency, RequestRate, RequestCount, GoodputRate:
		return true
	}
	_, generates := r.Stats[OSL]
	return generates
}

// GenAIPerfJSON returns profile_export_genai_perf.json: {TAG: {unit, avg, p1 … p99, min, max, std}, …,
// "input_config": {…}}. It has no version; input_config says that it is of this program.
func GenAIPerfJSON(r *Run) ([]byte, error) {
	var doc object
	for _, tag := range jsonOrder() {
		if s, ok := r.Stats[tag]; ok && inGenAIPerf(r, tag) {
			doc = append(doc, member{tag, s.object(statNames())})
		}
	}
	return indented(append(doc, member{"input_config", r.inputConfig()}))
}

// object returns the statistics by name that s has.
func (s Stats) object(names []string) object {
	o := object{{"unit", s.Unit}}
	for _, name := range names {
		if v, ok := s.Values[name]; ok && name == "count" {
			o = append(o, member{name, int64(v)})
		} else if ok {
			o = append(o, member{name, float(v)})
		}
	}
	return o
}

// stimulus returns the load in GenAI-Perf's words.
func (r *Run) stimulus() object {
	if r.Closed {
		return object{{"concurrency", int64(r.Level)}}
	}
	return object{{"request_rate", float(r.Level)}}
}

func (r *Run) inputConfig() object {
	return object{
		{"model_names", []string{r.Model}},
		{"subcommand", "profile"},
		{"tool", object{{"name", r.Tool}, {"version", r.Version}, {"run", r.Name}}},
		{"endpoint", r.endpoint()},
		{"perf_analyzer", object{{"stimulus", r.stimulus()}}},
		{"input", object{{"random_seed", r.Seed}}},
		{"tokenizer", object{{"name", r.Model}}}, // its own reader demands one
		{"output", object{{"profile_export_file", "profile_export.json"}}},
	}
}

// endpoint returns the endpoint in GenAI-Perf's words: requests of tensors have the type kserve, and the
// server's backend beside it.
func (r *Run) endpoint() object {
	kind, service, backend := r.Endpoint, "openai", ""
	switch r.Endpoint {
	case "tensorrtllm", "vllm":
		kind, service, backend = kserve, triton, r.Endpoint
	case triton, kserve, "triton_inprocess", "infer":
		kind, service = kserve, triton
	}
	o := object{{"type", kind}, {"streaming", r.Streaming}, {"url", r.URL}, {"service_kind", service}}
	if backend != "" {
		o = append(o, member{"backend", backend})
	}
	return o
}

// Words of GenAI-Perf for servers of tensors.
const (
	kserve = "kserve"
	triton = "triton"
)

// GenAIPerfCSV returns profile_export_genai_perf.csv: a block of the metrics of requests, and one of the whole
// run. Numbers have two digits after the point, and commas in quotes.
func GenAIPerfCSV(r *Run) ([]byte, error) {
	columns := []string{"avg", "min", "max", "p99", "p95", "p90", "p75", "p50", "p25", "p10", "p5", "p1"}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	lines := [][]string{append([]string{"Metric"}, columns...)}
	for _, m := range Metrics() {
		s, ok := r.Stats[m.Tag]
		if !ok || !inGenAIPerf(r, m.Tag) {
			continue
		}
		line := []string{fmt.Sprintf("%s (%s)", m.Title, m.Unit)}
		for _, name := range columns {
			cell := ""
			if v, ok := s.Values[name]; ok {
				cell = thousands(v)
			}
			line = append(line, cell)
		}
		lines = append(lines, line)
	}
	lines = append(lines, nil, []string{"Metric", "Value"})
	for _, m := range wholeRun() {
		if v, ok := r.Stat(m.Tag, "avg"); ok && inGenAIPerf(r, m.Tag) {
			lines = append(lines, []string{fmt.Sprintf("%s (%s)", m.Title, m.Unit), thousands(v)})
		}
	}
	for _, line := range lines {
		if line == nil { // csv.Writer would quote an empty line
			w.Flush()
			b.WriteString("\r\n")
			continue
		}
		if err := w.Write(line); err != nil {
			return nil, fmt.Errorf("write GenAI-Perf's CSV: %w", err)
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// readGenAIPerf reads profile_export_genai_perf.json.
func readGenAIPerf(doc map[string]json.RawMessage) *Run {
	r := &Run{Tool: "GenAI-Perf", Endpoint: "chat"}
	readStats(r, doc)
	var config struct {
		Models []string `json:"model_names"`
		Tool   struct{ Name, Version, Run string }
		// of GenAI-Perf
		Endpoint struct {
			Type      string
			Streaming bool
			URL       string
		}
		PA struct {
			Stimulus map[string]float64
		} `json:"perf_analyzer"`
	}
	if text, ok := doc["input_config"]; ok {
		if err := json.Unmarshal(text, &config); err != nil {
			config.Models = nil // older files have another input_config; it only names things
		}
	}
	if len(config.Models) > 0 {
		r.Model = config.Models[0]
	}
	if config.Tool.Name != "" {
		r.Tool, r.Version, r.Name = config.Tool.Name, config.Tool.Version, config.Tool.Run
	}
	if config.Endpoint.Type != "" {
		r.Endpoint = config.Endpoint.Type
	}
	r.Streaming, r.URL = config.Endpoint.Streaming, config.Endpoint.URL
	r.Level, r.Closed = config.PA.Stimulus["concurrency"], config.PA.Stimulus["concurrency"] > 0
	if !r.Closed {
		r.Level = config.PA.Stimulus["request_rate"]
	}
	return r
}

// readStats reads the members of doc that are statistics, under the tags of today.
func readStats(r *Run, doc map[string]json.RawMessage) {
	r.Stats = make(map[string]Stats)
	for _, name := range slices.Sorted(maps.Keys(doc)) {
		var s map[string]any
		if err := json.Unmarshal(doc[name], &s); err != nil {
			continue // no object
		}
		unit, ok := s["unit"].(string)
		if !ok {
			continue
		}
		out := Stats{unit, make(map[string]float64)}
		factor := milliseconds(unit)
		if factor != 1 {
			out.Unit = "ms"
		}
		for stat, v := range s {
			if number, ok := v.(float64); ok && stat != "count" {
				out.Values[stat] = number * factor
			} else if ok {
				out.Values[stat] = number
			}
		}
		if len(out.Values) > 0 {
			r.Stats[tagOf(name)] = out
		}
	}
}

// milliseconds returns the number of ms in a unit of time, 1 for any other unit.
func milliseconds(unit string) float64 {
	switch unit {
	case "ns":
		return 1e-6
	case "us":
		return 1e-3
	case "s":
		return 1e3
	}
	return 1
}
