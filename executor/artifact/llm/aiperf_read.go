package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Limits of what is read.
const (
	maxFile     = 256 << 20 // of a document
	maxLine     = 16 << 20  // of a line of records
	maxLines    = 8 << 30   // of a file of records
	maxRequests = 2_000_000
	maxAppended = 1000 // results in a file of vLLM's bench
)

// tagOf returns a metric's tag of today: until 0.2 AIPerf's records and aggregates said ttft and ttst, and
// its goodput has another name than GenAI-Perf's.
func tagOf(name string) string {
	switch name {
	case "ttft":
		return TTFT
	case "ttst":
		return TTST
	case aiperfGoodput:
		return GoodputRate
	}
	return name
}

// aiperfRecord is a line of profile_export.jsonl, with the names of all editions.
type aiperfRecord struct {
	Metadata *struct {
		RequestID string `json:"x_request_id"`
		Issued    int64  `json:"credit_issued_ns"`
		Start     int64  `json:"request_start_ns"`
		Timestamp int64  `json:"timestamp_ns"` // of its start, in the first editions
		End       int64  `json:"request_end_ns"`
		Phase     string `json:"benchmark_phase"`
		Credit    string `json:"credit_phase"` // the first editions' name of the phase
		Kind      string `json:"phase_kind"`   // from 0.13 on, where phases have names of their own
		Canceled  bool   `json:"was_cancelled"`
	}
	Metrics map[string]struct {
		Value json.RawMessage
		Unit  string
	}
	Error *struct {
		Code          int32
		Type, Message string
	}
}

// readAIPerfRecords reads profile_export.jsonl, of a load in some windows; nil: in one. Requests of a warm-up
// are counted and left out.
func readAIPerfRecords(in io.Reader, windows []Window) (*Run, error) {
	r := &Run{Tool: "AIPerf", Endpoint: "chat"}
	tally := Tally{Windows: windows}
	err := eachLine(in, func(n int, line []byte) error {
		var x aiperfRecord
		if err := json.Unmarshal(line, &x); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if x.Metadata == nil {
			return fmt.Errorf("line %d is no record of AIPerf: it has no metadata", n)
		}
		q := x.request()
		if tally.Add(&q); q.Warmup || q.Class != "" || q.Canceled {
			return nil
		}
		if len(r.Requests) >= maxRequests {
			return fmt.Errorf("more than %d requests", maxRequests)
		}
		r.Streaming = r.Streaming || q.First >= 0
		r.Requests = append(r.Requests, q)
		return nil
	})
	if err != nil {
		return nil, err
	}
	tally.Sum(r)
	return r, nil
}

// eachLine calls f with each line that is not blank.
func eachLine(in io.Reader, f func(n int, line []byte) error) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for n := 1; lines.Scan(); n++ {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := f(n, line); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("a line is longer than %d bytes", maxLine)
	} else if err != nil {
		return fmt.Errorf("read lines: %w", err)
	}
	return nil
}

func (x *aiperfRecord) request() Request {
	q := NewRequest()
	m := x.Metadata
	q.Sent, q.Due, q.Canceled = max(m.Start, m.Timestamp), m.Issued, m.Canceled
	q.Warmup = m.Phase == "warmup" || m.Credit == "warmup" || m.Kind == "warmup"
	if x.Error != nil && !m.Canceled {
		q.Class, q.Code, q.Text = x.Error.Type, x.Error.Code, x.Error.Message
		if q.Class == "" {
			q.Class = "error"
		}
	}
	if m.End > q.Sent && q.Sent > 0 {
		q.End = m.End - q.Sent
	}
	for name, v := range x.Metrics {
		scale := milliseconds(v.Unit) * 1e6 // ns
		tag := tagOf(name)
		if tag == Gap {
			var list []float64
			if json.Unmarshal(v.Value, &list) == nil {
				for _, g := range list {
					q.Gaps = append(q.Gaps, whole(g*scale))
				}
			}
			continue
		}
		var f float64
		if json.Unmarshal(v.Value, &f) != nil || f < 0 {
			continue
		}
		switch tag {
		case TTFT:
			q.First = whole(f * scale)
		case Latency:
			q.Latency = whole(f * scale)
		case ITL:
			q.ITL = f * scale
		case "time_to_first_output_token":
			q.Answer = whole(f * scale)
		case ISL, "error_isl":
			q.Input = whole(f)
		case OSL:
			q.Output = whole(f)
		case "usage_prompt_cache_read_tokens":
			q.Cached = whole(f)
		case "reasoning_token_count":
			q.Thought = whole(f)
		}
	}
	return q
}

// whole rounds to a whole number that fits.
func whole(f float64) int64 {
	if !(f < math.MaxInt64/2) { // also no number
		return Unknown
	}
	return int64(math.Round(max(f, Unknown)))
}

// readAIPerf reads profile_export_aiperf.json.
func readAIPerf(doc map[string]json.RawMessage) *Run {
	r := &Run{Tool: "AIPerf", Endpoint: "chat"}
	if inner, ok := doc["records"]; ok { // of the first editions
		var records map[string]json.RawMessage
		if json.Unmarshal(inner, &records) == nil {
			for name, text := range records {
				doc[name] = text
			}
		}
	}
	readStats(r, doc)
	r.Version = text(doc["aiperf_version"])
	if tool, version, ok := strings.Cut(r.Version, " "); ok {
		r.Tool, r.Version = tool, version // written by another program
	}
	if s, ok := r.Stats["error_request_count"]; ok {
		r.Failed = whole(s.Values["avg"])
	}
	var config struct {
		Models struct {
			Items []struct{ Name string }
		}
		Endpoint struct {
			URLs      []string
			Type      string
			Streaming bool
			Models    []string `json:"model_names"` // of the first editions
		}
		Phases []struct {
			Kind        string
			Concurrency float64
			Rate        float64
		}
	}
	if json.Unmarshal(doc["input_config"], &config) == nil {
		if len(config.Models.Items) > 0 {
			r.Model = config.Models.Items[0].Name
		} else if len(config.Endpoint.Models) > 0 {
			r.Model = config.Endpoint.Models[0]
		}
		if r.Streaming = config.Endpoint.Streaming; config.Endpoint.Type != "" {
			r.Endpoint = config.Endpoint.Type
		}
		for _, p := range config.Phases {
			if p.Kind != "warmup" {
				r.Closed, r.Level = p.Concurrency > 0, max(p.Concurrency, p.Rate)
			}
		}
	}
	var info struct {
		Name string `json:"name"`
		Line string `json:"cli_command"`
	}
	if json.Unmarshal(doc["run_info"], &info) == nil {
		r.Name = info.Name
		if strings.Contains(info.Line, "--per-chunk-usage") {
			r.Notes = append(r.Notes, "its ITL divides by the tokens after the first chunk (--per-chunk-usage)")
		}
	}
	return r
}

// text returns a JSON string, "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
