package builtin

import (
	"context"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

func (s grpcService) SystemSharedMemoryStatus(
	_ context.Context, r *pb.SystemSharedMemoryStatusRequest,
) (*pb.SystemSharedMemoryStatusResponse, error) {
	list, err := s.regions.list(systemMemory, r.Name)
	if err != nil {
		return nil, grpcError(err)
	}
	out := &pb.SystemSharedMemoryStatusResponse{
		Regions: map[string]*pb.SystemSharedMemoryStatusResponse_RegionStatus{},
	}
	for _, g := range list {
		out.Regions[g.name] = &pb.SystemSharedMemoryStatusResponse_RegionStatus{
			Name: g.name, Key: g.key, Offset: g.offset, ByteSize: g.size,
		}
	}
	return out, nil
}

func (s grpcService) SystemSharedMemoryRegister(
	_ context.Context, r *pb.SystemSharedMemoryRegisterRequest,
) (*pb.SystemSharedMemoryRegisterResponse, error) {
	status := regionStatus{memory: systemMemory, name: r.Name, key: r.Key, offset: r.Offset, size: r.ByteSize}
	if err := s.regions.register(status); err != nil {
		return nil, grpcError(err)
	}
	return &pb.SystemSharedMemoryRegisterResponse{}, nil
}

func (s grpcService) SystemSharedMemoryUnregister(
	_ context.Context, r *pb.SystemSharedMemoryUnregisterRequest,
) (*pb.SystemSharedMemoryUnregisterResponse, error) {
	if err := s.regions.unregister(systemMemory, r.Name); err != nil {
		return nil, grpcError(err)
	}
	return &pb.SystemSharedMemoryUnregisterResponse{}, nil
}

func (s grpcService) CudaSharedMemoryStatus(
	_ context.Context, r *pb.CudaSharedMemoryStatusRequest,
) (*pb.CudaSharedMemoryStatusResponse, error) {
	list, err := s.regions.list(cudaMemory, r.Name)
	if err != nil {
		return nil, grpcError(err)
	}
	out := &pb.CudaSharedMemoryStatusResponse{
		Regions: map[string]*pb.CudaSharedMemoryStatusResponse_RegionStatus{},
	}
	for _, g := range list {
		out.Regions[g.name] = &pb.CudaSharedMemoryStatusResponse_RegionStatus{
			Name: g.name, DeviceId: g.device, ByteSize: g.size,
		}
	}
	return out, nil
}

func (s grpcService) CudaSharedMemoryRegister(
	_ context.Context, r *pb.CudaSharedMemoryRegisterRequest,
) (*pb.CudaSharedMemoryRegisterResponse, error) {
	if len(r.RawHandle) != handleSize || r.DeviceId < 0 {
		return nil, grpcError(invalid("failed to register shared memory region: invalid args"))
	}
	status := regionStatus{
		memory: cudaMemory, name: r.Name, key: keyOf(r.RawHandle), device: uint64(r.DeviceId), size: r.ByteSize,
	}
	if err := s.regions.register(status); err != nil {
		return nil, grpcError(err)
	}
	return &pb.CudaSharedMemoryRegisterResponse{}, nil
}

func (s grpcService) CudaSharedMemoryUnregister(
	_ context.Context, r *pb.CudaSharedMemoryUnregisterRequest,
) (*pb.CudaSharedMemoryUnregisterResponse, error) {
	if err := s.regions.unregister(cudaMemory, r.Name); err != nil {
		return nil, grpcError(err)
	}
	return &pb.CudaSharedMemoryUnregisterResponse{}, nil
}
