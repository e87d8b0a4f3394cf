package builtin

import (
	"encoding/json"
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
		"classification", "binary_tensor_data", "statistics", "model_configuration", "model_repository", "trace",
		"logging", "system_shared_memory",
	}
}

// routes returns the inference endpoints, with and without a model version.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	ok := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	mux.HandleFunc("GET /v2/health/live", ok)
	mux.HandleFunc("GET /v2/health/ready", ok)
	mux.HandleFunc("GET /v2", s.serverMetadata)
	mux.HandleFunc("GET /v2/{$}", s.serverMetadata)
	mux.HandleFunc("GET /v2/models/stats", s.allStats)
	mux.HandleFunc("POST /v2/repository/index", s.httpIndex)
	mux.HandleFunc("POST /v2/repository/models/{model}/load", s.httpLoad(true))
	mux.HandleFunc("POST /v2/repository/models/{model}/unload", s.httpLoad(false))
	for path, group := range map[string]*settings{"/v2/trace/setting": s.trace, "/v2/logging": s.logs} {
		mux.HandleFunc("GET "+path, group.httpSettings)
		mux.HandleFunc("POST "+path, group.httpSettings)
	}
	mux.HandleFunc("GET /metrics", s.metrics)
	for _, base := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		mux.HandleFunc("GET "+base, s.withModel(func(m *model) any { return m.metadata() }))
		mux.HandleFunc("GET "+base+"/config", s.withModel(func(m *model) any { return m.configuration() }))
		mux.HandleFunc("GET "+base+"/stats",
			s.withModel(func(m *model) any { return statsReply{[]modelStats{m.stats.snapshot()}} }))
		mux.HandleFunc("GET "+base+"/ready", s.withModel(nil))
		mux.HandleFunc("POST "+base+"/infer", s.httpInfer)
		mux.HandleFunc("POST "+base+"/generate", s.httpGenerate)
		mux.HandleFunc("POST "+base+"/generate_stream", s.httpGenerateStream)
	}
	s.sharedRoutes(mux)
	return mux
}

// withModel answers with view of the request's model; without view the answer is empty.
func (s *Server) withModel(view func(*model) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m, err := s.find(r.PathValue("model"), r.PathValue("version"))
		if err != nil {
			writeFailure(w, err)
			return
		}
		if view != nil {
			writeJSON(w, http.StatusOK, view(m))
		}
	}
}

func (s *Server) serverMetadata(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
	}{serverName, serverVersion, extensions()})
}

type statsReply struct {
	ModelStats []modelStats `json:"model_stats"`
}

func (s *Server) allStats(w http.ResponseWriter, _ *http.Request) {
	var r statsReply
	for _, m := range s.order {
		r.ModelStats = append(r.ModelStats, m.stats.snapshot())
	}
	writeJSON(w, http.StatusOK, r)
}

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

func (m *model) metadata() modelMetadata {
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

func (m *model) configuration() modelConfig {
	list := func(specs []spec) []tensorConfig {
		var l []tensorConfig
		for _, s := range specs {
			l = append(l, tensorConfig{Name: s.name, DataType: s.typ.config, Dims: s.dims})
		}
		return l
	}
	c := modelConfig{
		Name: m.name, Backend: platform, MaxBatchSize: m.maxBatch, Input: list(m.inputs), Output: list(m.outputs),
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

// writeJSON answers with v, which can always be encoded here.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		writeFailure(w, err)
		return
	}
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
