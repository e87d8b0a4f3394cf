package builtin

import (
	"context"
	"encoding/json"
	"net/http"

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

// readRegion reads the body of a registration.
func (m memory) readRegion(body *json.Decoder) (regionStatus, error) {
	var system systemRegion
	var cuda cudaRegion
	into := any(&system)
	if m == cudaMemory {
		into = &cuda
	}
	switch err := body.Decode(into); {
	case err != nil:
		return regionStatus{}, invalid("failed to parse the request JSON buffer: %v", err)
	case m == systemMemory:
		return regionStatus{key: system.Key, offset: system.Offset, size: system.Size}, nil
	case cuda.Handle == nil:
		return regionStatus{}, invalid("Shared memory register request has no 'raw_handle' field")
	case len(cuda.Handle.Base64) != handleSize:
		return regionStatus{}, invalid("'raw_handle' must be a valid base64 encoded cudaIpcMemHandle_t")
	}
	return regionStatus{key: keyOf(cuda.Handle.Base64), device: cuda.Device, size: cuda.Size}, nil
}

// statusMessage fills a message with a region of a memory, or all.
func statusMessage[M proto.Message](s *regions, m memory, name string, to M) (M, error) {
	list, err := s.list(m, name)
	if err != nil {
		return to, err
	}
	byName := map[string]any{}
	for _, g := range list {
		byName[g.name] = g.json()
	}
	return toMessage(map[string]any{"regions": byName}, to)
}

func (s grpcService) SystemSharedMemoryStatus(
	_ context.Context, r *pb.SystemSharedMemoryStatusRequest,
) (*pb.SystemSharedMemoryStatusResponse, error) {
	return statusMessage(&s.regions, systemMemory, r.Name, &pb.SystemSharedMemoryStatusResponse{})
}

func (s grpcService) SystemSharedMemoryRegister(
	_ context.Context, r *pb.SystemSharedMemoryRegisterRequest,
) (*pb.SystemSharedMemoryRegisterResponse, error) {
	return &pb.SystemSharedMemoryRegisterResponse{}, s.regions.register(
		regionStatus{memory: systemMemory, name: r.Name, key: r.Key, offset: r.Offset, size: r.ByteSize})
}

func (s grpcService) SystemSharedMemoryUnregister(
	_ context.Context, r *pb.SystemSharedMemoryUnregisterRequest,
) (*pb.SystemSharedMemoryUnregisterResponse, error) {
	return &pb.SystemSharedMemoryUnregisterResponse{}, s.regions.unregister(systemMemory, r.Name)
}

func (s grpcService) CudaSharedMemoryStatus(
	_ context.Context, r *pb.CudaSharedMemoryStatusRequest,
) (*pb.CudaSharedMemoryStatusResponse, error) {
	return statusMessage(&s.regions, cudaMemory, r.Name, &pb.CudaSharedMemoryStatusResponse{})
}

func (s grpcService) CudaSharedMemoryRegister(
	_ context.Context, r *pb.CudaSharedMemoryRegisterRequest,
) (*pb.CudaSharedMemoryRegisterResponse, error) {
	if len(r.RawHandle) != handleSize || r.DeviceId < 0 {
		return nil, invalid("failed to register shared memory region: invalid args")
	}
	return &pb.CudaSharedMemoryRegisterResponse{}, s.regions.register(regionStatus{
		memory: cudaMemory, name: r.Name, key: keyOf(r.RawHandle), device: uint64(r.DeviceId),
		size: r.ByteSize,
	})
}

func (s grpcService) CudaSharedMemoryUnregister(
	_ context.Context, r *pb.CudaSharedMemoryUnregisterRequest,
) (*pb.CudaSharedMemoryUnregisterResponse, error) {
	return &pb.CudaSharedMemoryUnregisterResponse{}, s.regions.unregister(cudaMemory, r.Name)
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
