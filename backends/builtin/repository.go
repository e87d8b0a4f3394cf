package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// load loads or unloads a model. Accepted requests are finished in either case; sequences open at
// an unload are lost.
func (s *Server) load(name string, loaded bool, config string) error {
	m := s.models[name]
	switch {
	case m == nil && loaded:
		return internal("failed to load '%s', failed to poll from model repository", name)
	case m != nil:
		if loaded && config != "" {
			if err := m.configure(config); err != nil {
				return err
			}
		}
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

// settings is a group of settings: booleans, integers, strings and lists of strings. They are
// stored and have no effect.
type settings struct {
	mu     sync.Mutex
	values object
}

// set changes the named settings, all or none, and returns all values. A value must have the type
// of the present one.
func (s *settings) set(values object) (object, error) {
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
	values := object{}
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

// repositoryMethods returns the gRPC methods that change models and settings.
func (s *Server) repositoryMethods() []grpc.MethodDesc {
	return []grpc.MethodDesc{
		unary("RepositoryIndex", func(r *pb.RepositoryIndexRequest) (proto.Message, error) {
			return toMessage(object{"models": s.index(r.Ready)}, &pb.RepositoryIndexResponse{})
		}),
		unary("RepositoryModelLoad", func(r *pb.RepositoryModelLoadRequest) (proto.Message, error) {
			config := r.Parameters["config"].GetStringParam()
			return &pb.RepositoryModelLoadResponse{}, s.load(r.ModelName, true, config)
		}),
		unary("RepositoryModelUnload", func(r *pb.RepositoryModelUnloadRequest) (proto.Message, error) {
			return &pb.RepositoryModelUnloadResponse{}, s.load(r.ModelName, false, "")
		}),
		unary("TraceSetting", func(r *pb.TraceSettingRequest) (proto.Message, error) {
			values := object{}
			for name, v := range r.Settings {
				values[name] = v.Value
				if name != "trace_level" {
					values[name] = strings.Join(v.Value, ",")
				}
			}
			return s.trace.message(values, &pb.TraceSettingResponse{}, func(v any) object {
				if text, ok := v.(string); ok {
					v = []string{text}
				}
				return object{"value": v}
			})
		}),
		unary("LogSettings", func(r *pb.LogSettingsRequest) (proto.Message, error) {
			values := object{}
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
			return s.logs.message(values, &pb.LogSettingsResponse{}, func(v any) object {
				switch v.(type) {
				case bool:
					return object{"bool_param": v}
				case int64:
					return object{"uint32_param": v}
				}
				return object{"string_param": v}
			})
		}),
	}
}

// message changes the named settings, and fills a message with all of them.
func (s *settings) message(
	values object, to proto.Message, show func(value any) object,
) (proto.Message, error) {
	all, err := s.set(values)
	if err != nil {
		return nil, err
	}
	shown := object{}
	for name, v := range all {
		shown[name] = show(v)
	}
	return toMessage(object{"settings": shown}, to)
}

// metrics serves the statistics in Prometheus' text format, under Triton's names, times in
// microseconds.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	families := [...][3]string{
		{"inference_request_success", "counter", "Number of successful inference requests"},
		{"inference_request_failure", "counter", "Number of failed inference requests"},
		{"inference_count", "counter", "Number of inferences"},
		{"inference_exec_count", "counter", "Number of model executions"},
		{"inference_request_duration_us", "counter", "Cumulative duration of requests"},
		{"inference_queue_duration_us", "counter", "Cumulative duration in the queue"},
		{"inference_compute_infer_duration_us", "counter", "Cumulative duration of inference"},
		{"inference_pending_request_count", "gauge", "Requests that wait for execution"},
	}
	values := make([][len(families)]uint64, len(s.order)) // of each model, taken together
	for i, m := range s.order {
		n := m.stats.snapshot()
		is := &n.InferenceStats
		values[i] = [len(families)]uint64{
			is.Success.Count, is.Fail.Count, n.InferenceCount, n.ExecutionCount,
			is.Success.NS / 1000, is.Queue.NS / 1000, is.ComputeInfer.NS / 1000, uint64(m.queue.waiting()),
		}
	}
	var b strings.Builder
	for k, f := range families {
		fmt.Fprintf(&b, "# HELP nv_%s %s\n# TYPE nv_%s %s\n", f[0], f[2], f[0], f[1])
		for i, m := range s.order {
			fmt.Fprintf(&b, "nv_%s{model=%q,version=%q} %d\n", f[0], m.name, version, values[i][k])
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = io.WriteString(w, b.String())
}
