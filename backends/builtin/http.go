package builtin

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
)

// serverName and serverVersion are shown in the metadata.
const (
	serverName    = "sluice-builtin"
	serverVersion = "1"
)

// extensions returns the protocol extensions that both protocols serve.
func extensions() []string {
	return []string{
		"classification", "binary_tensor_data", "statistics", "model_configuration", "model_repository",
		"trace",
		"logging", "system_shared_memory",
	}
}

// routes returns the inference endpoints, with and without a model version.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	empty := func(*http.Request) (any, error) { return nil, nil }
	about := func(*http.Request) (any, error) { return metadataOfServer(), nil }
	serveJSON(mux, "GET /v2/health/live", empty)
	serveJSON(mux, "GET /v2/health/ready", empty)
	serveJSON(mux, "GET /v2", about)
	serveJSON(mux, "GET /v2/{$}", about)
	serveJSON(mux, "GET /v2/models/stats", func(*http.Request) (any, error) { return s.allStats(), nil })
	serveJSON(mux, "POST /v2/repository/index", s.httpIndex)
	for verb, loaded := range map[string]bool{"load": true, "unload": false} {
		serveJSON(mux, "POST /v2/repository/models/{model}/"+verb, func(r *http.Request) (any, error) {
			return nil, s.load(r.PathValue("model"), loaded)
		})
	}
	for path, group := range map[string]*settings{"/v2/trace/setting": s.trace, "/v2/logging": s.logs} {
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

func metadataOfServer() any {
	return struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
	}{serverName, serverVersion, extensions()}
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

// tensorMetadata describes a tensor in a model's metadata.
type tensorMetadata struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// modelMetadata lists a model's inputs and outputs.
type modelMetadata struct {
	Name     string           `json:"name"`
	Versions []string         `json:"versions"`
	Platform string           `json:"platform"`
	Inputs   []tensorMetadata `json:"inputs"`
	Outputs  []tensorMetadata `json:"outputs"`
}

// platform replaces the framework name of a real server.
const platform = "sluice_builtin"

func (m *model) metadata() any {
	list := func(specs []spec) []tensorMetadata {
		var l []tensorMetadata
		for _, s := range specs {
			l = append(l, tensorMetadata{s.name, s.typ.name, m.shape(s)})
		}
		return l
	}
	return modelMetadata{m.name, []string{version}, platform, list(m.inputs), list(m.outputs)}
}

// The model configuration's JSON, with Triton's field names.
type (
	tensorConfig struct {
		Name     string  `json:"name"`
		DataType string  `json:"data_type"`
		Dims     []int64 `json:"dims"`
		Optional bool    `json:"optional,omitempty"`
	}
	instanceGroup struct {
		Name  string `json:"name"`
		Kind  string `json:"kind"`
		Count int    `json:"count"`
	}
	dynamicBatching struct {
		PreferredBatchSize []int `json:"preferred_batch_size"`
		MaxQueueDelay      int64 `json:"max_queue_delay_microseconds"`
	}
	ensembleStep struct {
		Model   string            `json:"model_name"`
		Version int64             `json:"model_version"`
		In      map[string]string `json:"input_map"`
		Out     map[string]string `json:"output_map"`
	}
	ensembleScheduling struct {
		Step []ensembleStep `json:"step"`
	}
	transactionPolicy struct {
		Decoupled bool `json:"decoupled"`
	}
	modelConfig struct {
		Name              string              `json:"name"`
		Platform          string              `json:"platform"`
		Backend           string              `json:"backend"`
		MaxBatchSize      int                 `json:"max_batch_size"`
		Input             []tensorConfig      `json:"input"`
		Output            []tensorConfig      `json:"output"`
		InstanceGroup     []instanceGroup     `json:"instance_group"`
		DynamicBatching   *dynamicBatching    `json:"dynamic_batching,omitempty"`
		SequenceBatching  *sequenceBatching   `json:"sequence_batching,omitempty"`
		Ensemble          *ensembleScheduling `json:"ensemble_scheduling,omitempty"`
		TransactionPolicy transactionPolicy   `json:"model_transaction_policy"`
	}
)

func (m *model) configuration() any {
	list := func(specs []spec) []tensorConfig {
		var l []tensorConfig
		for _, s := range specs {
			l = append(l, tensorConfig{Name: s.name, DataType: s.typ.config, Dims: s.dims})
		}
		return l
	}
	c := modelConfig{
		Name: m.name, Backend: platform, MaxBatchSize: m.maxBatch,
		Input: list(m.inputs), Output: list(m.outputs),
		InstanceGroup:     []instanceGroup{{Name: m.name, Kind: "KIND_CPU", Count: m.count}},
		TransactionPolicy: transactionPolicy{Decoupled: m.moves != nil},
	}
	for i := len(c.Input) - m.optional; i < len(c.Input); i++ {
		c.Input[i].Optional = true
	}
	if m.sequences != nil {
		c.SequenceBatching = m.sequences.config()
	}
	if q := m.queue; q.batch > 1 {
		c.DynamicBatching = &dynamicBatching{
			PreferredBatchSize: []int{q.batch}, MaxQueueDelay: q.delay.Microseconds(),
		}
	}
	if m.steps != nil {
		c.Platform, c.Backend, c.InstanceGroup, c.DynamicBatching = "ensemble", "", nil, nil
		c.Ensemble = &ensembleScheduling{}
		for _, s := range m.steps {
			c.Ensemble.Step = append(c.Ensemble.Step, ensembleStep{s.model, -1, s.in, s.out})
		}
	}
	return c
}
