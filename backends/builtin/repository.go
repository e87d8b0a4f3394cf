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

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// load loads or unloads a model. Accepted requests are finished in either case; sequences open at
// an unload are lost.
func (s *Server) load(name string, loaded bool) error {
	m := s.models[name]
	switch {
	case m == nil && loaded:
		return fmt.Errorf("failed to load '%s', failed to poll from model repository", name)
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

// httpIndex answers with the index; the body may be empty, or ask for ready models only.
func (s *Server) httpIndex(w http.ResponseWriter, r *http.Request) {
	var want struct{ Ready bool }
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&want); err != nil &&
		!errors.Is(err, io.EOF) {
		writeFailure(w,
			&failure{
				http.StatusBadRequest, codes.InvalidArgument, "failed to parse the request JSON buffer: " + err.Error(),
			})
		return
	}
	writeJSON(w, http.StatusOK, s.index(want.Ready))
}

// RepositoryIndex implements the service.
func (s grpcService) RepositoryIndex(
	_ context.Context, r *pb.RepositoryIndexRequest,
) (*pb.RepositoryIndexResponse, error) {
	reply := &pb.RepositoryIndexResponse{}
	for _, m := range s.index(r.Ready) {
		reply.Models = append(reply.Models,
			&pb.RepositoryIndexResponse_ModelIndex{Name: m.Name, Version: m.Version, State: m.State, Reason: m.Reason})
	}
	return reply, nil
}

func (s *Server) httpLoad(loaded bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.load(r.PathValue("model"), loaded); err != nil {
			writeFailure(w, &failure{http.StatusInternalServerError, codes.Internal, err.Error()})
		}
	}
}

func (s grpcService) RepositoryModelLoad(
	_ context.Context, r *pb.RepositoryModelLoadRequest,
) (*pb.RepositoryModelLoadResponse, error) {
	if err := s.load(r.ModelName, true); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &pb.RepositoryModelLoadResponse{}, nil
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
			return nil, fmt.Errorf("unknown setting '%s'", name)
		}
		if fmt.Sprintf("%T", old) != fmt.Sprintf("%T", v) {
			return nil, fmt.Errorf("setting '%s' cannot be %v", name, v)
		}
		next[name] = v
	}
	s.values = next
	return next, nil
}

// httpSettings returns the settings, after the changes of a POST.
func (s *settings) httpSettings(w http.ResponseWriter, r *http.Request) {
	values := map[string]any{}
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err == nil {
			err = json.Unmarshal(body, &values)
		}
		if err != nil {
			writeFailure(w, &failure{http.StatusBadRequest, codes.InvalidArgument, "failed to parse the settings"})
			return
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
	all, err := s.set(values)
	if err != nil {
		writeFailure(w, &failure{http.StatusBadRequest, codes.InvalidArgument, err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, all)
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
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	out := &pb.TraceSettingResponse{Settings: map[string]*pb.TraceSettingResponse_SettingValue{}}
	for name, v := range all {
		texts, ok := v.([]string)
		if !ok {
			texts = []string{fmt.Sprint(v)}
		}
		out.Settings[name] = &pb.TraceSettingResponse_SettingValue{Value: texts}
	}
	return out, nil
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
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	out := &pb.LogSettingsResponse{Settings: map[string]*pb.LogSettingsResponse_SettingValue{}}
	for name, v := range all {
		value := &pb.LogSettingsResponse_SettingValue{}
		switch v := v.(type) {
		case bool:
			value.ParameterChoice = &pb.LogSettingsResponse_SettingValue_BoolParam{BoolParam: v}
		case int64:
			value.ParameterChoice = &pb.LogSettingsResponse_SettingValue_Uint32Param{Uint32Param: uint32(v)}
		case string:
			value.ParameterChoice = &pb.LogSettingsResponse_SettingValue_StringParam{StringParam: v}
		}
		out.Settings[name] = value
	}
	return out, nil
}

// metrics serves the statistics in Prometheus' text format, under Triton's names, times in
// microseconds.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	type family struct {
		name, help string
		of         func(*modelStats) uint64
	}
	us := func(of func(*inferStats) duration) func(*modelStats) uint64 {
		return func(m *modelStats) uint64 { return of(&m.InferenceStats).NS / 1000 }
	}
	families := []family{
		{
			"nv_inference_request_success", "Number of successful inference requests",
			func(m *modelStats) uint64 { return m.InferenceStats.Success.Count },
		},
		{
			"nv_inference_request_failure", "Number of failed inference requests",
			func(m *modelStats) uint64 { return m.InferenceStats.Fail.Count },
		},
		{"nv_inference_count", "Number of inferences", func(m *modelStats) uint64 { return m.InferenceCount }},
		{
			"nv_inference_exec_count", "Number of model executions",
			func(m *modelStats) uint64 { return m.ExecutionCount },
		},
		{
			"nv_inference_request_duration_us", "Cumulative duration of requests",
			us(func(i *inferStats) duration { return i.Success }),
		},
		{
			"nv_inference_queue_duration_us", "Cumulative duration in the queue",
			us(func(i *inferStats) duration { return i.Queue }),
		},
		{
			"nv_inference_compute_infer_duration_us", "Cumulative duration of inference",
			us(func(i *inferStats) duration { return i.ComputeInfer }),
		},
	}
	var b strings.Builder
	all := make([]modelStats, len(s.order))
	for i, m := range s.order {
		all[i] = m.stats.snapshot()
	}
	slices.SortFunc(all, func(a, b modelStats) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range families {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s counter\n", f.name, f.help, f.name)
		for i := range all {
			fmt.Fprintf(&b, "%s{model=%q,version=%q} %d\n", f.name, all[i].Name, all[i].Version, f.of(&all[i]))
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
