package builtin

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// object is a JSON object.
type object = map[string]any

// aboutServer is the metadata of the server, with the extensions that both protocols serve.
var aboutServer = object{"name": "sluice-builtin", "version": "1", "extensions": []string{
	"classification", "binary_tensor_data", "statistics", "model_configuration", "model_repository", "trace",
	"logging", "system_shared_memory",
}}

// routes returns the inference endpoints, with and without a model version.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	empty := func(*http.Request) (any, error) { return nil, nil }
	about := func(*http.Request) (any, error) { return aboutServer, nil }
	serveJSON(mux, "GET /v2/health/live", empty)
	serveJSON(mux, "GET /v2/health/ready", empty)
	serveJSON(mux, "GET /v2", about)
	serveJSON(mux, "GET /v2/{$}", about)
	serveJSON(mux, "GET /v2/models/stats", func(*http.Request) (any, error) { return s.allStats(), nil })
	serveJSON(mux, "POST /v2/repository/index", s.httpIndex)
	for verb, loaded := range map[string]bool{"load": true, "unload": false} {
		serveJSON(mux, "POST /v2/repository/models/{model}/"+verb, func(r *http.Request) (any, error) {
			config, err := readConfig(r)
			if err != nil {
				return nil, err
			}
			return nil, s.load(r.PathValue("model"), loaded, config)
		})
	}
	for path, group := range map[string]*settings{"/v2/trace/setting": &s.trace, "/v2/logging": &s.logs} {
		serveJSON(mux, "GET "+path, group.httpSettings)
		serveJSON(mux, "POST "+path, group.httpSettings)
	}
	mux.HandleFunc("GET /metrics", s.metrics)
	for _, base := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		for path, view := range map[string]func(*model) any{
			"": (*model).metadata, "/config": (*model).configuration, "/stats": (*model).statistics,
			"/ready": func(*model) any { return nil },
		} {
			serveJSON(mux, "GET "+base+path, func(r *http.Request) (any, error) {
				m, err := s.find(r.PathValue("model"), r.PathValue("version"))
				if err != nil {
					return nil, err
				}
				return view(m), nil
			})
		}
		mux.HandleFunc("POST "+base+"/infer", refusing(s.httpInfer))
		mux.HandleFunc("POST "+base+"/generate", refusing(s.httpGenerate))
		mux.HandleFunc("POST "+base+"/generate_stream", refusing(s.httpGenerateStream))
	}
	s.sharedRoutes(mux)
	s.text.routes(mux)
	s.torchRoutes(mux)
	s.v1Routes(mux)
	return mux
}

// refusing answers with the error of h, if any.
func refusing(h func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch err := h(w, r); {
		case errors.Is(err, errReset):
			resetPeer(w)
		case err != nil:
			writeFailure(w, err)
		}
	}
}

// serveJSON serves a pattern with the JSON of what h returns; nil: an empty reply.
func serveJSON(mux *http.ServeMux, pattern string, h func(*http.Request) (any, error)) {
	mux.HandleFunc(pattern, refusing(func(w http.ResponseWriter, r *http.Request) error {
		v, err := h(r)
		if err != nil || v == nil {
			return err
		}
		body, err := json.Marshal(v)
		if err == nil {
			writeJSON(w, http.StatusOK, body)
		}
		return err
	}))
}

// writeJSON sends a whole reply.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

type statsReply struct {
	ModelStats []modelStats `json:"model_stats"`
}

func (s *Server) allStats() (r statsReply) {
	for _, m := range s.order {
		r.ModelStats = append(r.ModelStats, m.stats.snapshot())
	}
	return r
}

func (m *model) statistics() any { return statsReply{[]modelStats{m.stats.snapshot()}} }

// platform replaces the framework name of a real server.
const platform = "sluice_builtin"

func (m *model) metadata() any {
	list := func(specs []spec) (l []object) {
		for _, s := range specs {
			l = append(l, object{"name": s.name, "datatype": s.typ.name, "shape": m.shape(s)})
		}
		return l
	}
	return object{
		"name": m.name, "versions": []string{version}, "platform": platform,
		"inputs": list(m.inputs), "outputs": list(m.outputs),
	}
}

// configuration returns the model's configuration, with Triton's field names.
func (m *model) configuration() any {
	list := func(specs []spec, required int) (l []object) {
		for i, s := range specs {
			t := object{"name": s.name, "data_type": s.typ.config(), "dims": s.dims}
			if i >= required {
				t["optional"] = true
			}
			l = append(l, t)
		}
		return l
	}
	now := m.settings()
	c := object{
		"name": m.name, "platform": "", "backend": platform, "max_batch_size": now.size,
		"input": list(m.inputs, len(m.inputs)-m.optional), "output": list(m.outputs, len(m.outputs)),
		"instance_group":           []object{{"name": m.name, "kind": "KIND_CPU", "count": now.count}},
		"model_transaction_policy": object{"decoupled": m.moves != nil},
	}
	if m.sequences != nil {
		c["sequence_batching"] = m.sequences.config()
	}
	if now.batch > 1 && m.steps == nil {
		c["dynamic_batching"] = object{
			"preferred_batch_size": []int{now.batch}, "max_queue_delay_microseconds": now.delay.Microseconds(),
		}
	}
	if m.steps != nil {
		var steps []object
		for _, s := range m.steps {
			steps = append(steps, object{
				"model_name": s.called.name, "model_version": -1, "input_map": s.in, "output_map": s.out,
			})
		}
		c["platform"], c["backend"], c["instance_group"] = "ensemble", "", nil
		c["ensemble_scheduling"] = object{"step": steps}
	}
	return c
}
