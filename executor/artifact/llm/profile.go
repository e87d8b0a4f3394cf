package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/executor/result"
)

// profileExport is perf_analyzer's raw file, from which GenAI-Perf makes its own.
type profileExport struct {
	Experiments []struct {
		Experiment struct {
			Mode  string
			Value float64
		}
		Requests []struct {
			Timestamp int64
			Inputs    map[string]json.RawMessage   `json:"request_inputs"`
			Times     []int64                      `json:"response_timestamps"`
			Outputs   []map[string]json.RawMessage `json:"response_outputs"`
		}
	}
	Version  string
	Endpoint string
}

// readProfile reads profile_export.json: a run for each experiment. Lengths are those of the server's usage, else an
// output's is the number of its events with text, and an input's is unknown.
func readProfile(data []byte) ([]*Run, error) {
	var x profileExport
	if err := json.Unmarshal(data, &x); err != nil {
		return nil, fmt.Errorf("a profile export: %w", err)
	}
	var runs []*Run
	for _, e := range x.Experiments {
		r := &Run{
			Tool: "perf_analyzer", Version: x.Version, Endpoint: endpointOf(x.Endpoint),
			Closed: e.Experiment.Mode == "concurrency", Level: e.Experiment.Value,
		}
		var tally Tally
		for i := range e.Requests {
			q := NewRequest()
			p := &e.Requests[i]
			if len(e.Requests) > maxRequests {
				return nil, fmt.Errorf("more than %d requests", maxRequests)
			}
			q.Sent = p.Timestamp
			if r.Model == "" {
				r.Model = modelOf(p.Inputs["payload"])
			}
			reply := profileReply{stream: len(p.Times) > 1}
			for i, at := range p.Times {
				var event string
				if i < len(p.Outputs) {
					event = text(p.Outputs[i]["response"])
				}
				reply.add(at-p.Timestamp, event)
			}
			reply.enter(&q)
			if tally.Add(&q); q.Class == "" {
				r.Streaming = r.Streaming || q.First >= 0
				r.Requests = append(r.Requests, q)
			}
		}
		tally.Sum(r)
		runs = append(runs, r)
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("it has no experiments")
	}
	return runs, nil
}

// experimentsOf returns the requests of each node of a result that perf_analyzer's raw file beside it has: it tells nodes
// apart by their load alone.
func experimentsOf(path string, nodes []*result.Node) map[string]*Run {
	data, err := readAll(path)
	if err != nil {
		return nil // there is none, or it is too long: the numbers of the result remain
	}
	runs, err := readProfile(data)
	if err != nil {
		return nil
	}
	type load struct {
		closed bool
		level  float64
	}
	at, count := make(map[load]*Run), make(map[load]int)
	for _, r := range runs {
		at[load{r.Closed, r.Level}] = r
	}
	key := func(n *result.Node) load { return load{n.Load.Kind == "concurrency", n.Load.Total()} }
	for _, n := range nodes {
		count[key(n)]++
	}
	of := make(map[string]*Run)
	for _, n := range nodes {
		if k := key(n); count[k] == 1 && at[k] != nil && len(at[k].Requests) > 0 {
			of[n.ID] = at[k]
		}
	}
	return of
}

// endpointOf returns the kind of endpoint of a path.
func endpointOf(path string) string {
	for _, kind := range []string{"embeddings", "ranking", "rerank", "responses", "messages"} {
		if strings.Contains(path, kind) {
			return kind
		}
	}
	if strings.HasSuffix(path, "completions") && !strings.Contains(path, "chat") {
		return "completions"
	}
	return "chat"
}

func modelOf(payload json.RawMessage) string {
	var body struct{ Model string }
	if json.Unmarshal([]byte(text(payload)), &body) != nil {
		return ""
	}
	return body.Model
}

// profileReply collects the reads of one reply, each of which may hold several events.
type profileReply struct {
	stream        bool
	times         []int64 // of events with content
	last          int64
	input, output int64 // by usage
	counted       bool
}

// chunk is an event or a reply of the usual endpoints, as far as it tells what is content.
type chunk struct {
	Choices []struct {
		Text    string
		Delta   delta
		Message delta
	}
	Output string `json:"text_output"`
	Delta  json.RawMessage
	Usage  *struct {
		PromptTokens     *int64 `json:"prompt_tokens"`
		CompletionTokens *int64 `json:"completion_tokens"`
		InputTokens      *int64 `json:"input_tokens"`
		OutputTokens     *int64 `json:"output_tokens"`
	}
}

type delta struct {
	Content   json.RawMessage
	Reasoning string            `json:"reasoning_content"`
	Thought   string            `json:"reasoning"`
	Tools     []json.RawMessage `json:"tool_calls"`
}

// hasContent reports whether a chunk has text, reasoning or a part of a tool call.
func (c *chunk) hasContent() bool {
	if c.Output != "" || text(c.Delta) != "" {
		return true
	}
	for _, x := range c.Choices {
		for _, d := range []delta{x.Delta, x.Message} {
			empty := len(d.Content) == 0 || string(d.Content) == "null" || string(d.Content) == `""`
			if !empty || d.Reasoning != "" || d.Thought != "" || len(d.Tools) > 0 {
				return true
			}
		}
		if x.Text != "" {
			return true
		}
	}
	return false
}

// add enters a read. Without a recorded text it counts as content.
func (p *profileReply) add(at int64, read string) {
	p.last = at
	if strings.TrimSpace(read) == "" {
		p.times = append(p.times, at)
		return
	}
	for event := range strings.SplitSeq(strings.ReplaceAll(read, "\r\n", "\n"), "\n\n") {
		body := event
		if !strings.HasPrefix(strings.TrimSpace(event), "{") {
			var data strings.Builder
			for line := range strings.Lines(event) {
				if text, ok := strings.CutPrefix(line, "data:"); ok {
					data.WriteString(strings.TrimSpace(text))
				}
			}
			body = data.String()
		}
		var c chunk
		if body == "" || json.Unmarshal([]byte(body), &c) != nil {
			continue
		}
		if u := c.Usage; u != nil {
			p.usage(u.PromptTokens, u.CompletionTokens)
			p.usage(u.InputTokens, u.OutputTokens)
		}
		if c.hasContent() || !p.stream {
			p.times = append(p.times, at)
		}
	}
}

func (p *profileReply) usage(input, output *int64) {
	if input != nil {
		p.input, p.counted = max(*input, 0), true
	}
	if output != nil {
		p.output = max(*output, 0)
	}
}

// enter fills the request. One without content failed.
func (p *profileReply) enter(q *Request) {
	if len(p.times) == 0 {
		q.Class, q.Text = "decode", "no content"
		return
	}
	q.Latency, q.End = p.times[len(p.times)-1], p.last
	if p.counted {
		q.Input = p.input
	}
	if p.output > 0 {
		q.Output = p.output
	}
	if !p.stream {
		return
	}
	q.First = p.times[0]
	for i := 1; i < len(p.times); i++ {
		q.Gaps = append(q.Gaps, p.times[i]-p.times[i-1])
	}
	if q.Output < 0 {
		q.Output = int64(len(p.times))
	}
}
