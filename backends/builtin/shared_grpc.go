package builtin

import (
	"context"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

func (s grpcService) SystemSharedMemoryStatus(_ context.Context, r *pb.SystemSharedMemoryStatusRequest) (*pb.SystemSharedMemoryStatusResponse, error) {
	list, err := s.regions.list(r.Name)
	if err != nil {
		return nil, grpcError(err)
	}
	out := &pb.SystemSharedMemoryStatusResponse{Regions: map[string]*pb.SystemSharedMemoryStatusResponse_RegionStatus{}}
	for _, g := range list {
		out.Regions[g.Name] = &pb.SystemSharedMemoryStatusResponse_RegionStatus{Name: g.Name, Key: g.Key, Offset: g.Offset, ByteSize: g.Size}
	}
	return out, nil
}

func (s grpcService) SystemSharedMemoryRegister(_ context.Context, r *pb.SystemSharedMemoryRegisterRequest) (*pb.SystemSharedMemoryRegisterResponse, error) {
	if err := s.regions.register(regionStatus{r.Name, r.Key, r.Offset, r.ByteSize}); err != nil {
		return nil, grpcError(err)
	}
	return &pb.SystemSharedMemoryRegisterResponse{}, nil
}

func (s grpcService) SystemSharedMemoryUnregister(_ context.Context, r *pb.SystemSharedMemoryUnregisterRequest) (*pb.SystemSharedMemoryUnregisterResponse, error) {
	if err := s.regions.unregister(r.Name); err != nil {
		return nil, grpcError(err)
	}
	return &pb.SystemSharedMemoryUnregisterResponse{}, nil
}
