package builtin

import (
	"encoding/json"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// sharedRoutes adds the HTTP endpoints of Triton's shared memory extensions: the same ones for each
// memory.
func (s *Server) sharedRoutes(mux *http.ServeMux) {
	for _, m := range []memory{systemMemory, cudaMemory} {
		base := "/v2/" + string(m) + "sharedmemory"
		status := func(r *http.Request) (any, error) {
			list, err := s.regions.list(m, r.PathValue("region"))
			shown := []any{}
			for _, g := range list {
				shown = append(shown, g.json())
			}
			return shown, err
		}
		serveJSON(mux, "GET "+base+"/status", status)
		serveJSON(mux, "GET "+base+"/region/{region}/status", status)
		serveJSON(mux, "POST "+base+"/region/{region}/register", func(r *http.Request) (any, error) {
			status, err := m.readRegion(json.NewDecoder(http.MaxBytesReader(nil, r.Body, 1<<16)))
			if err != nil {
				return nil, err
			}
			status.memory, status.name = m, r.PathValue("region")
			return nil, s.regions.register(status)
		})
		unregister := func(r *http.Request) (any, error) {
			return nil, s.regions.unregister(m, r.PathValue("region"))
		}
		serveJSON(mux, "POST "+base+"/unregister", unregister)
		serveJSON(mux, "POST "+base+"/region/{region}/unregister", unregister)
	}
}

// readRegion reads the body of a registration.
func (m memory) readRegion(body *json.Decoder) (regionStatus, error) {
	var in struct {
		regionStatus
		Handle *struct {
			Base64 []byte `json:"b64"`
		} `json:"raw_handle"`
	}
	switch err := body.Decode(&in); {
	case err != nil:
		return in.regionStatus, invalid("failed to parse the request JSON buffer: %v", err)
	case m == systemMemory:
		return in.regionStatus, nil
	case in.Handle == nil:
		return in.regionStatus, invalid("Shared memory register request has no 'raw_handle' field")
	case len(in.Handle.Base64) != handleSize:
		return in.regionStatus, invalid("'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t")
	}
	return regionStatus{Key: keyOf(in.Handle.Base64), Device: in.Device, Size: in.Size}, nil
}

// statusMessage fills a message with a region of a memory, or all.
func (s *regions) statusMessage(m memory, name string, to proto.Message) (proto.Message, error) {
	list, err := s.list(m, name)
	if err != nil {
		return nil, err
	}
	byName := object{}
	for _, g := range list {
		byName[g.name] = g.json()
	}
	return toMessage(object{"regions": byName}, to)
}

// sharedMethods returns the gRPC methods of the extensions.
func (s *Server) sharedMethods() []grpc.MethodDesc {
	return []grpc.MethodDesc{
		unary("SystemSharedMemoryStatus", func(r *pb.SystemSharedMemoryStatusRequest) (proto.Message, error) {
			return s.regions.statusMessage(systemMemory, r.Name, &pb.SystemSharedMemoryStatusResponse{})
		}),
		unary("SystemSharedMemoryRegister",
			func(r *pb.SystemSharedMemoryRegisterRequest) (proto.Message, error) {
				return &pb.SystemSharedMemoryRegisterResponse{}, s.regions.register(regionStatus{
					memory: systemMemory, name: r.Name, Key: r.Key, Offset: r.Offset, Size: r.ByteSize,
				})
			}),
		unary("SystemSharedMemoryUnregister",
			func(r *pb.SystemSharedMemoryUnregisterRequest) (proto.Message, error) {
				return &pb.SystemSharedMemoryUnregisterResponse{}, s.regions.unregister(systemMemory, r.Name)
			}),
		unary("CudaSharedMemoryStatus", func(r *pb.CudaSharedMemoryStatusRequest) (proto.Message, error) {
			return s.regions.statusMessage(cudaMemory, r.Name, &pb.CudaSharedMemoryStatusResponse{})
		}),
		unary("CudaSharedMemoryRegister", func(r *pb.CudaSharedMemoryRegisterRequest) (proto.Message, error) {
			if len(r.RawHandle) != handleSize || r.DeviceId < 0 {
				return nil, invalid("failed to register shared memory region: invalid args")
			}
			return &pb.CudaSharedMemoryRegisterResponse{}, s.regions.register(regionStatus{
				memory: cudaMemory, name: r.Name, Key: keyOf(r.RawHandle), Device: uint64(r.DeviceId),
				Size: r.ByteSize,
			})
		}),
		unary("CudaSharedMemoryUnregister",
			func(r *pb.CudaSharedMemoryUnregisterRequest) (proto.Message, error) {
				return &pb.CudaSharedMemoryUnregisterResponse{}, s.regions.unregister(cudaMemory, r.Name)
			}),
	}
}

// sharedParameters are the JSON parameters of a tensor in shared memory.
type sharedParameters struct {
	Region string `json:"shared_memory_region"`
	Offset uint64 `json:"shared_memory_offset"`
	Size   uint64 `json:"shared_memory_byte_size"`
}

// place returns the place of a tensor; it has no region if the tensor is in the message.
func (p sharedParameters) place() place { return place{p.Region, p.Offset, p.Size} }

// placeOf returns the place of a tensor of a gRPC message.
func placeOf(p map[string]*pb.InferParameter) place {
	return place{
		p["shared_memory_region"].GetStringParam(), uint64(p["shared_memory_offset"].GetInt64Param()),
		uint64(p["shared_memory_byte_size"].GetInt64Param()),
	}
}
