package builtin

import (
	"encoding/json"
	"net/http"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// sharedRoutes are the endpoints of Triton's shared memory extension.
func (s *Server) sharedRoutes(mux *http.ServeMux) {
	const base = "/v2/systemsharedmemory"
	status := func(w http.ResponseWriter, r *http.Request) {
		list, err := s.regions.list(r.PathValue("region"))
		if err != nil {
			writeFailure(w, err)
			return
		}
		writeJSON(w, http.StatusOK, list)
	}
	mux.HandleFunc("GET "+base+"/status", status)
	mux.HandleFunc("GET "+base+"/region/{region}/status", status)
	mux.HandleFunc("POST "+base+"/region/{region}/register", func(w http.ResponseWriter, r *http.Request) {
		var status regionStatus
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&status); err != nil {
			writeFailure(w, invalid("failed to parse the request JSON buffer: %v", err))
			return
		}
		status.Name = r.PathValue("region")
		answerEmpty(w, s.regions.register(status))
	})
	unregister := func(w http.ResponseWriter, r *http.Request) {
		answerEmpty(w, s.regions.unregister(r.PathValue("region")))
	}
	mux.HandleFunc("POST "+base+"/unregister", unregister)
	mux.HandleFunc("POST "+base+"/region/{region}/unregister", unregister)
}

func answerEmpty(w http.ResponseWriter, err error) {
	if err != nil {
		writeFailure(w, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// sharedParameters say where a tensor lies, in JSON.
type sharedParameters struct {
	Region string `json:"shared_memory_region"`
	Offset uint64 `json:"shared_memory_offset"`
	Size   uint64 `json:"shared_memory_byte_size"`
}

func (p sharedParameters) place() (place, bool) {
	return place{p.Region, p.Offset, p.Size}, p.Region != ""
}

// placeOf says where a tensor lies, in a gRPC message.
func placeOf(p map[string]*pb.InferParameter) (place, bool) {
	region := p["shared_memory_region"].GetStringParam()
	at := place{region, uint64(p["shared_memory_offset"].GetInt64Param()), uint64(p["shared_memory_byte_size"].GetInt64Param())}
	return at, region != ""
}
