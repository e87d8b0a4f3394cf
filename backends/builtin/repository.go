package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// load loads or unloads a model. Accepted requests are finished in either case; sequences open at
// an unload are lost.
func (s *Server) load(name string, loaded bool) error {
	m := s.models[name]
	switch {
	case m == nil && loaded:
		return internal("failed to load '%s', failed to poll from model repository", name)
	case m != nil:
		m.unloaded.Store(!loaded)
		m.sequences.load(loaded)
	}
	return nil
}

// indexed is a model in the index of the repository.
type indexed struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
}

// index lists all models, including unloaded ones unless ready is set.
func (s *Server) index(ready bool) []indexed {
	list := []indexed{}
	for _, name := range slices.Sorted(maps.Keys(s.models)) {
		one := indexed{Name: name, Version: version, State: "READY"}
		if s.models[name].unloaded.Load() {
			if ready {
				continue
			}
			one.State, one.Reason = "UNAVAILABLE", "unloaded"
		}
		list = append(list, one)
	}
	return list
}

// httpIndex returns the index; the body may be empty, or ask for ready models only.
func (s *Server) httpIndex(r *http.Request) (any, error) {
	var want struct{ Ready bool }
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&want); err != nil &&
		!errors.Is(err, io.EOF) {
		return nil, invalid("failed to parse the request JSON buffer: %v", err)
	}
	return s.index(want.Ready), nil
}

// RepositoryIndex implements the service.
func (s grpcService) RepositoryIndex(
	_ context.Context, r *pb.RepositoryIndexRequest,
) (*pb.RepositoryIndexResponse, error) {
	return toMessage(map[string]any{"models": s.index(r.Ready)}, &pb.RepositoryIndexResponse{})
}

func (s grpcService) RepositoryModelLoad(
	_ context.Context, r *pb.RepositoryModelLoadRequest,
) (*pb.RepositoryModelLoadResponse, error) {
	return &pb.RepositoryModelLoadResponse{}, s.load(r.ModelName, true)
}

func (s grpcService) RepositoryModelUnload(
	_ context.Context, r *pb.RepositoryModelUnloadRequest,
) (*pb.RepositoryModelUnloadResponse, error) {
	return &pb.RepositoryModelUnloadResponse{}, s.load(r.ModelName, false)
}

// settings is a group of settings: booleans, integers, strings and lists of strings. They are
// stored and have no effect.
type settings struct {
	mu     sync.Mutex
	values map[string]any
}

func traceSettings() *settings {
	return &settings{values: map[string]any{
		"trace_level": []string{"OFF"}, "trace_rate": "1000", "trace_count": "-1", "log_frequency": "0",
	}}
}

func logSettings() *settings {
	return &settings{values: map[string]any{
		"log_info": true, "log_warning": true, "log_error": true, "log_verbose_level": int64(0),
		"log_format": "default",
	}}
}

// set changes the named settings, all or none, and returns all values. A value must have the type
// of the present one.
func (s *settings) set(values map[string]any) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(s.values)
	for name, v := range values {
		old, ok := next[name]
		if !ok {
			return nil, invalid("unknown setting '%s'", name)
		}
		if fmt.Sprintf("%T", old) != fmt.Sprintf("%T", v) {
			return nil, invalid("setting '%s' cannot be %v", name, v)
		}
		next[name] = v
	}
	s.values = next
	return next, nil
}

// httpSettings returns the settings, after the changes of a POST.
func (s *settings) httpSettings(r *http.Request) (any, error) {
	values := map[string]any{}
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err == nil {
			err = json.Unmarshal(body, &values)
		}
		if err != nil {
			return nil, invalid("failed to parse the settings")
		}
	}
	for name, v := range values {
		switch v := v.(type) {
		case float64:
			values[name] = int64(v)
		case []any:
			texts := []string{}
			for _, text := range v {
				texts = append(texts, fmt.Sprint(text))
			}
			values[name] = texts
		}
	}
	return s.set(values)
}

func (s grpcService) TraceSetting(
	_ context.Context, r *pb.TraceSettingRequest,
) (*pb.TraceSettingResponse, error) {
	values := map[string]any{}
	for name, v := range r.Settings {
		values[name] = v.Value
		if name != "trace_level" {
			values[name] = strings.Join(v.Value, ",")
		}
	}
	all, err := s.trace.set(values)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, v := range all {
		texts, ok := v.([]string)
		if !ok {
			texts = []string{fmt.Sprint(v)}
		}
		out[name] = map[string]any{"value": texts}
	}
	return toMessage(map[string]any{"settings": out}, &pb.TraceSettingResponse{})
}

func (s grpcService) LogSettings(
	_ context.Context, r *pb.LogSettingsRequest,
) (*pb.LogSettingsResponse, error) {
	values := map[string]any{}
	for name, v := range r.Settings {
		switch v := v.ParameterChoice.(type) {
		case *pb.LogSettingsRequest_SettingValue_BoolParam:
			values[name] = v.BoolParam
		case *pb.LogSettingsRequest_SettingValue_Uint32Param:
			values[name] = int64(v.Uint32Param)
		case *pb.LogSettingsRequest_SettingValue_StringParam:
			values[name] = v.StringParam
		}
	}
	all, err := s.logs.set(values)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, v := range all {
		kind := "string_param"
		switch v.(type) {
		case bool:
			kind = "bool_param"
		case int64:
			kind = "uint32_param"
		}
		out[name] = map[string]any{kind: v}
	}
	return toMessage(map[string]any{"settings": out}, &pb.LogSettingsResponse{})
}

// metrics serves the statistics in Prometheus' text format, under Triton's names, times in
// microseconds.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	families := [...][2]string{
		{"request_success", "Number of successful inference requests"},
		{"request_failure", "Number of failed inference requests"},
		{"count", "Number of inferences"},
		{"exec_count", "Number of model executions"},
		{"request_duration_us", "Cumulative duration of requests"},
		{"queue_duration_us", "Cumulative duration in the queue"},
		{"compute_infer_duration_us", "Cumulative duration of inference"},
	}
	var lines [len(families)][]string
	for _, m := range slices.SortedFunc(slices.Values(s.order),
		func(a, b *model) int { return strings.Compare(a.name, b.name) }) {
		n := m.stats.snapshot()
		i := &n.InferenceStats
		for k, v := range [len(families)]uint64{
			i.Success.Count, i.Fail.Count, n.InferenceCount, n.ExecutionCount,
			i.Success.NS / 1000, i.Queue.NS / 1000, i.ComputeInfer.NS / 1000,
		} {
			lines[k] = append(lines[k], fmt.Sprintf("{model=%q,version=%q} %d\n", m.name, version, v))
		}
	}
	var b strings.Builder
	for k, f := range families {
		name := "nv_inference_" + f[0]
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n", name, f[1], name)
		for _, line := range lines[k] {
			b.WriteString(name + line)
		}
	}
	b.WriteString("# HELP nv_inference_pending_request_count Requests that wait for execution\n# TYPE " +
		"nv_inference_pending_request_count gauge\n")
	for _, m := range s.order {
		fmt.Fprintf(&b, "nv_inference_pending_request_count{model=%q,version=%q} %d\n", m.name, version,
			m.queue.waiting())
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	_, _ = io.WriteString(w, b.String())
}
