package builtin

import (
	"encoding/json"
	"net/http"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// sharedRoutes adds the endpoints of Triton's shared memory extensions: the same ones for each
// memory.
func (s *Server) sharedRoutes(mux *http.ServeMux) {
	s.memoryRoutes(mux, systemMemory, readSystemRegion)
	s.memoryRoutes(mux, cudaMemory, readCUDARegion)
}

func (s *Server) memoryRoutes(
	mux *http.ServeMux, m memory, read func(body *json.Decoder) (regionStatus, error),
) {
	base := "/v2/" + string(m) + "sharedmemory"
	status := func(w http.ResponseWriter, r *http.Request) {
		list, err := s.regions.list(m, r.PathValue("region"))
		if err != nil {
			writeFailure(w, err)
			return
		}
		shown := []any{}
		for _, g := range list {
			shown = append(shown, g.json())
		}
		writeJSON(w, http.StatusOK, shown)
	}
	mux.HandleFunc("GET "+base+"/status", status)
	mux.HandleFunc("GET "+base+"/region/{region}/status", status)
	mux.HandleFunc("POST "+base+"/region/{region}/register", func(w http.ResponseWriter, r *http.Request) {
		status, err := read(json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)))
		if err != nil {
			writeFailure(w, err)
			return
		}
		status.memory, status.name = m, r.PathValue("region")
		answerEmpty(w, s.regions.register(status))
	})
	unregister := func(w http.ResponseWriter, r *http.Request) {
		answerEmpty(w, s.regions.unregister(m, r.PathValue("region")))
	}
	mux.HandleFunc("POST "+base+"/unregister", unregister)
	mux.HandleFunc("POST "+base+"/region/{region}/unregister", unregister)
}

// systemRegion and cudaRegion describe a region in JSON; the server also sends its name.
type (
	systemRegion struct {
		Name   string `json:"name"`
		Key    string `json:"key"`
		Offset uint64 `json:"offset"`
		Size   uint64 `json:"byte_size"`
	}
	cudaRegion struct {
		Name   string     `json:"name"`
		Handle *rawHandle `json:"raw_handle,omitempty"`
		Device uint64     `json:"device_id"`
		Size   uint64     `json:"byte_size"`
	}
	rawHandle struct {
		Base64 []byte `json:"b64"`
	}
)

func (r *regionStatus) json() any {
	if r.memory == cudaMemory {
		return cudaRegion{Name: r.name, Device: r.device, Size: r.size}
	}
	return systemRegion{r.name, r.key, r.offset, r.size}
}

func readSystemRegion(body *json.Decoder) (regionStatus, error) {
	var r systemRegion
	if err := body.Decode(&r); err != nil {
		return regionStatus{}, invalid("failed to parse the request JSON buffer: %v", err)
	}
	return regionStatus{key: r.Key, offset: r.Offset, size: r.Size}, nil
}

func readCUDARegion(body *json.Decoder) (regionStatus, error) {
	var r cudaRegion
	switch err := body.Decode(&r); {
	case err != nil:
		return regionStatus{}, invalid("failed to parse the request JSON buffer: %v", err)
	case r.Handle == nil:
		return regionStatus{}, invalid("Shared memory register request has no 'raw_handle' field")
	case len(r.Handle.Base64) != handleSize:
		return regionStatus{}, invalid("'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t")
	}
	return regionStatus{key: keyOf(r.Handle.Base64), device: r.Device, size: r.Size}, nil
}

func answerEmpty(w http.ResponseWriter, err error) {
	if err != nil {
		writeFailure(w, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// sharedParameters are the JSON parameters of a tensor in shared memory.
type sharedParameters struct {
	Region string `json:"shared_memory_region"`
	Offset uint64 `json:"shared_memory_offset"`
	Size   uint64 `json:"shared_memory_byte_size"`
}

func (p sharedParameters) place() (place, bool) {
	return place{p.Region, p.Offset, p.Size}, p.Region != ""
}

// placeOf returns the place of a tensor in a gRPC message.
func placeOf(p map[string]*pb.InferParameter) (place, bool) {
	region := p["shared_memory_region"].GetStringParam()
	at := place{
		region, uint64(p["shared_memory_offset"].GetInt64Param()),
		uint64(p["shared_memory_byte_size"].GetInt64Param()),
	}
	return at, region != ""
}
