package llm

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// aiperfSchema is the edition of AIPerf's aggregate that is written: that of AIPerf 0.13.
const aiperfSchema = "1.4"

// aiperfGoodput is AIPerf's tag of GoodputRate.
const aiperfGoodput = "goodput"

// AIPerfRecord returns a line of AIPerf's profile_export.jsonl, for the n-th request of its phase and a turn of its
// session, both from 0. TTFT and latency run from sending, as AIPerf's do; effective_latency from when the request was due.
func AIPerfRecord(r *Run, q *Request, n, turn int64) ([]byte, error) {
	phase, index := "profiling", int64(1)
	if q.Warmup {
		phase, index = "warmup", 0
	}
	conversation := "session_" + pad(n)
	if q.Session != 0 {
		conversation = "session_" + strconv.FormatUint(q.Session, 10)
	}
	id := strconv.FormatUint(q.ID, 16)
	meta := object{
		{"session_num", n},
		{"x_request_id", id},
		{"x_correlation_id", id},
		{"conversation_id", conversation},
		{"turn_index", turn},
		{"credit_issued_ns", q.Due},
		{"request_start_ns", q.Sent},
	}
	if q.First >= 0 {
		meta = append(meta, member{"request_ack_ns", q.Sent + q.First})
	}
	meta = append(
		meta,
		member{"request_end_ns", q.Sent + max(q.End, q.Latency, 0)},
		member{"worker_id", r.Tool},
		member{"record_processor_id", r.Tool},
		member{"benchmark_phase", phase},
		member{"phase_index", index},
		member{"phase_name", phase},
		member{"phase_kind", phase},
		member{"was_cancelled", q.Canceled},
	)
	line := object{{"metadata", meta}, {"metrics", aiperfMetrics(q)}}
	if q.Class != "" || q.Canceled {
		line = append(line, member{"error", aiperfError(q)})
	}
	return encode(line)
}

func pad(n int64) string { return fmt.Sprintf("%06d", n) }

// aiperfMetrics returns the numbers of an answered request; of another only its input.
func aiperfMetrics(q *Request) object {
	metrics := object{}
	add := func(tag, unit string, v any) {
		metrics = append(metrics, member{tag, object{{"value", v}, {"unit", unit}}})
	}
	if q.Class != "" || q.Canceled {
		if q.Input >= 0 {
			add("error_isl", "tokens", q.Input)
		}
		return metrics
	}
	for _, m := range append(Metrics(), tokenMetrics()...) {
		if v, ok := m.Of(q); ok && m.Unit == "tokens" {
			add(m.Tag, m.Unit, int64(v))
		} else if ok {
			add(m.Tag, m.Unit, float(v))
		}
	}
	if q.Answer >= 0 {
		add("time_to_first_output_token", "ms", float(float64(q.Answer)/1e6))
	}
	if q.Due > 0 && q.Sent >= q.Due && q.Latency >= 0 {
		add("effective_latency", "ms", float(float64(q.Sent-q.Due+q.Latency)/1e6))
	}
	if len(q.Gaps) > 0 {
		gaps := make([]float, len(q.Gaps))
		for i, g := range q.Gaps {
			gaps[i] = float(float64(g) / 1e6)
		}
		add(Gap, "ms", gaps)
	}
	for _, x := range []struct {
		tag string
		n   int64
	}{
		{"usage_prompt_cache_read_tokens", q.Cached},
	} {
		if x.n >= 0 {
			add(x.tag, "tokens", x.n)
		}
	}
	return metrics
}

// aiperfError returns the error of a request; AIPerf's own code of one that the client closed is 499.
func aiperfError(q *Request) object {
	if q.Canceled {
		return object{{"code", 499}, {"type", "RequestCancellationError"}, {"message", q.Text}}
	}
	o := object{{"type", q.Class}, {"message", q.Text}}
	if q.Code != 0 {
		o = append(object{{"code", q.Code}}, o...)
	}
	return o
}

// AIPerfJSON returns profile_export_aiperf.json: {schema_version, aiperf_version, TAG: {unit, avg, p1 … p99, min, max,
// std, count, sum}, …, input_config, run_info, was_cancelled, error_summary, start_time, end_time}.
func AIPerfJSON(r *Run) ([]byte, error) {
	doc := object{{"schema_version", aiperfSchema}, {"aiperf_version", r.Tool + " " + r.Version}}
	names := append(statNames(), "count", "sum")
	for _, tag := range append(jsonOrder(), Gap, answered, reasoning, goodCount, duration) {
		s, ok := r.Stats[tag]
		switch {
		case !ok:
			continue
		case tag == RequestCount:
			s.Unit = "requests"
		case tag == GoodputRate:
			tag = aiperfGoodput
		}
		doc = append(doc, member{tag, s.object(names)})
	}
	for _, of := range [][2]string{
		{"total_isl", ISL},
		{"total_osl", OSL},
		{"total_output_tokens", answered},
		{"total_reasoning_tokens", reasoning},
	} {
		if v, ok := r.Stat(of[1], "sum"); ok {
			doc = append(doc, member{of[0], object{{"unit", "tokens"}, {"avg", float(v)}}})
		}
	}
	if r.Failed > 0 {
		doc = append(doc, member{"error_request_count", object{{"unit", "requests"}, {"avg", float(float64(r.Failed))}}})
	}
	failures := []object{}
	for _, f := range r.Failures {
		e := object{{"type", f.Class}, {"message", f.Text}}
		if f.Code != 0 {
			e = append(object{{"code", f.Code}}, e...)
		}
		failures = append(failures, object{{"error_details", e}, {"count", f.Count}})
	}
	return indented(append(
		doc,
		member{"input_config", r.aiperfConfig()},
		member{"run_info", object{{"random_seed", r.Seed}, {"trial", 0}, {"name", r.Name}}},
		member{"was_cancelled", r.Cut != ""},
		member{"error_summary", failures},
		member{"start_time", wall(r.Start)},
		member{"end_time", wall(r.End)},
	))
}

// wall returns a time in the form of AIPerf, in UTC; nil if it is unknown.
func wall(ns int64) any {
	if ns == 0 {
		return nil
	}
	return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000")
}

// aiperfEndpoint returns AIPerf's word for the endpoint. For tensors it has none: raw stands for any body.
func (r *Run) aiperfEndpoint() string {
	switch r.Endpoint {
	case "chat", "completions", "responses", "messages", "embeddings":
		return r.Endpoint
	case "rankings":
		return "nim_rankings"
	case "images":
		return "image_generation"
	}
	return "raw"
}

// aiperfConfig returns what AIPerf's own reader of the file demands. What was sent is described by its mean lengths.
func (r *Run) aiperfConfig() object {
	count, _ := r.Stat(RequestCount, "avg")
	requests := int64(count) + r.Failed
	phase := object{{"name", "profiling"}, {"kind", "profiling"}, {"requests", max(requests, 1)}}
	prompts := object{}
	for _, of := range [][2]string{{"isl", ISL}, {"osl", OSL}} {
		if mean, ok := r.Stat(of[1], "avg"); ok && mean > 0 {
			prompts = append(prompts, member{of[0], object{{"mean", float(mean)}, {"stddev", float(r.Stats[of[1]].Values["std"])}}})
		}
	}
	url := r.URL
	if scheme, rest, ok := strings.Cut(url, "://"); ok && scheme != "https" {
		url = "http://" + rest // it knows no others
	}
	if r.Closed {
		phase = append(phase, member{"type", "concurrency"}, member{"concurrency", int64(r.Level)})
	} else {
		kind := "constant"
		if r.Arrivals == poisson {
			kind = poisson
		}
		phase = append(phase, member{"type", kind}, member{"rate", float(r.Level)})
	}
	return object{
		{"models", object{{"items", []object{{{"name", r.Model}}}}}},
		{"endpoint", object{
			{"urls", []string{url}}, {"type", r.aiperfEndpoint()}, {"streaming", r.Streaming},
		}},
		{"datasets", []object{{
			{"name", "main"}, {"type", "synthetic"}, {"entries", max(requests, 1)}, {"prompts", prompts},
		}}},
		{"phases", []object{phase}},
	}
}
