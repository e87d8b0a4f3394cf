package llm

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// vllmTimes lists the times of vLLM's bench with their tags: its TPOT is what GenAI-Perf and AIPerf call ITL, and its
// ITL is the gap between two chunks.
func vllmTimes() [][2]string {
	return [][2]string{{"ttft", TTFT}, {"tpot", ITL}, {"itl", Gap}, {"e2el", Latency}}
}

// VLLM writes a result file of vLLM's bench as --save-result --save-detailed makes it, in one line: the load, the
// numbers of the run, and a list for each number of each request. each yields every request; it is called several
// times. Answered requests and failures are in the lists, requests of a warm-up are not.
func VLLM(w io.Writer, r *Run, t *Tally, each func(func(*Request) error) error) error {
	head := object{
		{"date", time.Unix(0, r.Start).UTC().Format("20060102-150405")},
		{"endpoint_type", vllmBackend(r)},
		{"backend", vllmBackend(r)},
		{"label", r.Name},
		{"model_id", r.Model},
		{"tokenizer_id", nil},
		{"num_prompts", t.count + t.failed},
	}
	head = append(head, r.vllmLoad()...)
	head = append(head, member{"tool", r.Tool + " " + r.Version})
	value := func(tag string) float { return float(r.Stats[tag].Values["avg"]) } // 0 without data, as there
	head = append(
		head,
		member{"duration", value(duration)},
		member{"completed", t.count},
		member{"failed", t.failed},
		member{"total_input_tokens", t.input},
		member{"total_output_tokens", t.output},
		member{"request_throughput", value(RequestRate)},
	)
	if s, ok := r.Stats[GoodputRate]; ok {
		head = append(head, member{"request_goodput", float(s.Values["avg"])})
	}
	total := 0.0
	if s := value(duration); s > 0 {
		total = float64(t.input+t.output) / float64(s)
	}
	head = append(
		head,
		member{"output_throughput", value(OutputRate)},
		member{"total_token_throughput", float(total)},
		member{"max_concurrent_requests", t.peak()},
	)
	for _, x := range vllmTimes() {
		s := r.Stats[x[1]].Values
		head = append(
			head,
			member{"mean_" + x[0] + "_ms", float(s["avg"])},
			member{"median_" + x[0] + "_ms", float(s["p50"])},
			member{"std_" + x[0] + "_ms", float(s["std"])},
		)
		for _, p := range []string{"p50", "p90", "p95", "p99"} {
			head = append(head, member{p + "_" + x[0] + "_ms", float(s[p])})
		}
	}
	text, err := encode(head)
	if err != nil {
		return err
	}
	if _, err := w.Write(text[:len(text)-1]); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	if err := vllmLists(w, each); err != nil {
		return err
	}
	_, err = io.WriteString(w, "}\n")
	return err
}

// vllmLists writes ,"NAME":[…] for each list.
func vllmLists(w io.Writer, each func(func(*Request) error) error) error {
	for _, list := range []struct {
		name string
		of   func(b []byte, r *Request) []byte
	}{
		{"input_lens", func(b []byte, r *Request) []byte { return strconv.AppendInt(b, max(r.Input, 0), 10) }},
		{"output_lens", func(b []byte, r *Request) []byte {
			if r.Class != "" {
				return append(b, '0')
			}
			return strconv.AppendInt(b, max(r.Output, 0), 10)
		}},
		{"start_times", func(b []byte, r *Request) []byte { return appendS(b, r.Sent) }},
		{"ttfts", func(b []byte, r *Request) []byte { return appendS(b, max(r.First, 0)) }},
		{"itls", func(b []byte, r *Request) []byte {
			b = append(b, '[')
			for i, g := range r.Gaps {
				if i > 0 {
					b = append(b, ',')
				}
				b = appendS(b, g)
			}
			return append(b, ']')
		}},
		{"latencies", func(b []byte, r *Request) []byte { return appendS(b, max(r.Latency, 0)) }},
		{"errors", func(b []byte, r *Request) []byte {
			message := ""
			if r.Class != "" {
				message = r.Class + ": " + r.Text
			}
			quoted, _ := encode(message) // a text always has a JSON form
			return append(b, quoted...)
		}},
	} {
		b := append(strconv.AppendQuote([]byte(","), list.name), ":["...)
		first := true
		err := each(func(r *Request) error {
			if r.Warmup || r.Canceled {
				return nil
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = list.of(b, r)
			if len(b) < 64<<10 {
				return nil
			}
			_, err := w.Write(b)
			b = b[:0]
			return err
		})
		if err == nil {
			_, err = w.Write(append(b, ']'))
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", list.name, err)
		}
	}
	return nil
}

// appendS appends ns as s.
func appendS(b []byte, ns int64) []byte { return strconv.AppendFloat(b, float64(ns)/1e9, 'f', -1, 64) }

func vllmBackend(r *Run) string {
	switch r.Endpoint {
	case "chat":
		return "openai-chat"
	case "embeddings":
		return "openai-embeddings"
	case "rankings":
		return "vllm-rerank"
	}
	return "openai"
}

func (r *Run) vllmLoad() object {
	if r.Closed {
		return object{{"request_rate", "inf"}, {"burstiness", float(1)}, {"max_concurrency", int64(r.Level)}}
	}
	load := object{{"request_rate", float(r.Level)}}
	if r.Arrivals == poisson {
		load = append(load, member{"burstiness", float(1)})
	}
	return append(load, member{"max_concurrency", nil})
}

// vllmResult is a result file of any edition. Older ones have no start_times, latencies and failed, and one without
// --save-detailed has no lists.
type vllmResult struct {
	Backend     string
	Endpoint    string `json:"endpoint_type"`
	Label       string
	Model       string `json:"model_id"`
	Tool        string
	Rate        json.RawMessage `json:"request_rate"`
	Concurrency *float64        `json:"max_concurrency"`
	Burstiness  *float64

	Duration, Completed, Failed float64
	RequestRate                 float64   `json:"request_throughput"`
	Goodput                     *float64  `json:"request_goodput"`
	OutputRate                  float64   `json:"output_throughput"`
	Inputs                      []float64 `json:"input_lens"`
	Outputs                     []float64 `json:"output_lens"`
	Starts                      []float64 `json:"start_times"`
	TTFTs, Latencies            []float64
	ITLs                        [][]float64
	Errors                      []string
}

// readVLLM reads a result file of vLLM's bench. Its warm-up is in no list.
func readVLLM(data []byte, doc map[string]json.RawMessage) (*Run, error) {
	var x vllmResult
	if err := json.Unmarshal(data, &x); err != nil {
		return nil, fmt.Errorf("a result of vLLM's bench: %w", err)
	}
	r := &Run{
		Tool: "vLLM bench", Name: x.Label, Model: x.Model, Endpoint: "completions", Streaming: true,
		Failed: int64(x.Failed),
	}
	ours := x.Tool != ""
	if ours {
		r.Tool, r.Version, _ = cutTool(x.Tool)
	} else {
		r.Notes = append(r.Notes, "its TTFT ends with the first chunk, even one without text, and its tokens may be counted "+
			"by its own tokenizer")
	}
	switch x.Backend {
	case "openai-chat":
		r.Endpoint = "chat"
	case "openai-embeddings":
		r.Endpoint = "embeddings"
	case "vllm-rerank":
		r.Endpoint = "rankings"
	}
	if old := doc["request_goodput:"]; x.Goodput == nil && json.Unmarshal(old, &x.Goodput) != nil { // of older editions
		x.Goodput = nil
	}
	if x.Concurrency != nil {
		r.Closed, r.Level = true, *x.Concurrency
	} else if json.Unmarshal(x.Rate, &r.Level) != nil {
		r.Level = 0 // "inf"
	}
	if len(x.TTFTs) > 0 {
		if err := x.requests(r); err != nil {
			return nil, err
		}
		return r, nil
	}
	r.vllmStats(&x, doc)
	return r, nil
}

// vllmStats enters the numbers of a file without lists.
func (r *Run) vllmStats(x *vllmResult, doc map[string]json.RawMessage) {
	r.set(RequestCount, "count", x.Completed)
	r.set(RequestRate, "requests/sec", x.RequestRate)
	r.set(OutputRate, "tokens/sec", x.OutputRate)
	r.set(duration, "sec", x.Duration)
	if x.Goodput != nil {
		r.set(GoodputRate, "requests/sec", *x.Goodput)
	}
	for _, t := range vllmTimes() {
		s := Stats{"ms", make(map[string]float64)}
		take := func(name, key string) {
			var v float64
			if raw, ok := doc[key+"_"+t[0]+"_ms"]; ok && json.Unmarshal(raw, &v) == nil {
				s.Values[name] = v
			}
		}
		for name := range percents() {
			take(name, name)
		}
		take("p50", "median")
		take("avg", "mean")
		take("std", "std")
		if len(s.Values) > 0 {
			r.Stats[t[1]] = s
		}
	}
}

// requests enters the requests of the lists, which must be equally long.
func (x *vllmResult) requests(r *Run) error {
	n := len(x.TTFTs)
	for _, list := range []struct {
		name   string
		length int
	}{{"input_lens", len(x.Inputs)}, {"output_lens", len(x.Outputs)}, {"itls", len(x.ITLs)}} {
		if list.length != n {
			return fmt.Errorf("%s has %d elements, ttfts %d", list.name, list.length, n)
		}
	}
	if n > maxRequests {
		return fmt.Errorf("more than %d requests", maxRequests)
	}
	var tally Tally
	for i := range n {
		q := NewRequest()
		q.First = whole(x.TTFTs[i] * 1e9)
		q.Input, q.Output = whole(x.Inputs[i]), whole(x.Outputs[i])
		q.Latency = q.First
		for _, gap := range x.ITLs[i] {
			g := whole(gap * 1e9)
			q.Gaps, q.Latency = append(q.Gaps, g), q.Latency+g
		}
		if len(x.Latencies) == n {
			q.Latency = whole(x.Latencies[i] * 1e9)
		}
		if len(x.Starts) == n {
			q.Sent = whole(x.Starts[i] * 1e9)
		}
		if len(x.Errors) == n && x.Errors[i] != "" || q.Latency == 0 {
			q.Class = "error"
			if len(x.Errors) == n {
				q.Text = x.Errors[i]
			}
		}
		if q.First == 0 && q.Latency > 0 {
			q.First = Unknown // a reply in one piece
		}
		tally.Add(&q)
		if q.Class == "" {
			r.Requests = append(r.Requests, q)
		}
	}
	tally.Sum(r)
	if x.Duration > 0 && !math.IsInf(x.Duration, 0) { // of the whole call, also where starts are unknown
		r.set(duration, "sec", x.Duration)
		r.set(RequestRate, "requests/sec", x.RequestRate)
		r.set(OutputRate, "tokens/sec", x.OutputRate)
	}
	if x.Goodput != nil {
		r.set(GoodputRate, "requests/sec", *x.Goodput)
	}
	return nil
}
