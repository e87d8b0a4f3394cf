package builtin

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// grpcService is the gRPC side of the server.
type grpcService struct {
	pb.UnimplementedGRPCInferenceServiceServer
	*Server
}

func (grpcService) ServerLive(context.Context, *pb.ServerLiveRequest) (*pb.ServerLiveResponse, error) {
	return &pb.ServerLiveResponse{Live: true}, nil
}

func (grpcService) ServerReady(context.Context, *pb.ServerReadyRequest) (*pb.ServerReadyResponse, error) {
	return &pb.ServerReadyResponse{Ready: true}, nil
}

func (s grpcService) ModelReady(_ context.Context, r *pb.ModelReadyRequest) (*pb.ModelReadyResponse, error) {
	_, err := s.find(r.Name, r.Version)
	return &pb.ModelReadyResponse{Ready: err == nil}, nil
}

func (grpcService) ServerMetadata(
	context.Context, *pb.ServerMetadataRequest,
) (*pb.ServerMetadataResponse, error) {
	return &pb.ServerMetadataResponse{Name: serverName, Version: serverVersion, Extensions: extensions()}, nil
}

func (s grpcService) ModelMetadata(
	_ context.Context, r *pb.ModelMetadataRequest,
) (*pb.ModelMetadataResponse, error) {
	m, err := s.find(r.Name, r.Version)
	if err != nil {
		return nil, grpcError(err)
	}
	md := m.metadata()
	list := func(ts []tensorMetadata) (l []*pb.ModelMetadataResponse_TensorMetadata) {
		for _, t := range ts {
			l = append(l, &pb.ModelMetadataResponse_TensorMetadata{Name: t.Name, Datatype: t.Datatype, Shape: t.Shape})
		}
		return l
	}
	return &pb.ModelMetadataResponse{
		Name: md.Name, Versions: md.Versions, Platform: md.Platform, Inputs: list(md.Inputs),
		Outputs: list(md.Outputs),
	}, nil
}

func (s grpcService) ModelConfig(
	_ context.Context, r *pb.ModelConfigRequest,
) (*pb.ModelConfigResponse, error) {
	m, err := s.find(r.Name, r.Version)
	if err != nil {
		return nil, grpcError(err)
	}
	c := m.configuration()
	out := &pb.ModelConfig{
		Name: c.Name, Platform: c.Platform, Backend: c.Backend, MaxBatchSize: int32(c.MaxBatchSize),
		ModelTransactionPolicy: &pb.ModelTransactionPolicy{Decoupled: c.TransactionPolicy.Decoupled},
	}
	for _, t := range c.Input {
		out.Input = append(out.Input,
			&pb.ModelInput{
				Name: t.Name, DataType: pb.DataType(pb.DataType_value[t.DataType]), Dims: t.Dims, Optional: t.Optional,
			})
	}
	for _, t := range c.Output {
		out.Output = append(out.Output,
			&pb.ModelOutput{Name: t.Name, DataType: pb.DataType(pb.DataType_value[t.DataType]), Dims: t.Dims})
	}
	for _, g := range c.InstanceGroup {
		kind := pb.ModelInstanceGroup_Kind(pb.ModelInstanceGroup_Kind_value[g.Kind])
		out.InstanceGroup = append(out.InstanceGroup,
			&pb.ModelInstanceGroup{Name: g.Name, Count: int32(g.Count), Kind: kind})
	}
	if d := c.DynamicBatching; d != nil {
		out.DynamicBatching = &pb.ModelDynamicBatching{MaxQueueDelayMicroseconds: uint64(d.MaxQueueDelay)}
		for _, n := range d.PreferredBatchSize {
			out.DynamicBatching.PreferredBatchSize = append(out.DynamicBatching.PreferredBatchSize, int32(n))
		}
	}
	if e := c.Ensemble; e != nil {
		out.EnsembleScheduling = &pb.ModelEnsembling{}
		for _, s := range e.Step {
			out.EnsembleScheduling.Step = append(out.EnsembleScheduling.Step, &pb.ModelEnsembling_Step{
				ModelName: s.Model, ModelVersion: s.Version, InputMap: s.In, OutputMap: s.Out,
			})
		}
	}
	if q := c.SequenceBatching; q != nil {
		out.SequenceBatching = q.message()
	}
	return &pb.ModelConfigResponse{Config: out}, nil
}

func (s grpcService) ModelStatistics(
	_ context.Context, r *pb.ModelStatisticsRequest,
) (*pb.ModelStatisticsResponse, error) {
	models := s.order
	if r.Name != "" {
		m, err := s.find(r.Name, r.Version)
		if err != nil {
			return nil, grpcError(err)
		}
		models = []*model{m}
	}
	out := &pb.ModelStatisticsResponse{}
	for _, m := range models {
		out.ModelStats = append(out.ModelStats, m.stats.snapshot().message())
	}
	return out, nil
}

func (d duration) message() *pb.StatisticDuration {
	return &pb.StatisticDuration{Count: d.Count, Ns: d.NS}
}

func (m modelStats) message() *pb.ModelStatistics {
	i := m.InferenceStats
	out := &pb.ModelStatistics{
		Name: m.Name, Version: m.Version, LastInference: m.LastInference,
		InferenceCount: m.InferenceCount, ExecutionCount: m.ExecutionCount,
		InferenceStats: &pb.InferStatistics{
			Success:       i.Success.message(),
			Fail:          i.Fail.message(),
			Queue:         i.Queue.message(),
			ComputeInput:  i.ComputeInput.message(),
			ComputeInfer:  i.ComputeInfer.message(),
			ComputeOutput: i.ComputeOutput.message(),
			CacheHit:      i.CacheHit.message(),
			CacheMiss:     i.CacheMiss.message(),
		},
	}
	for _, b := range m.BatchStats {
		out.BatchStats = append(out.BatchStats, &pb.InferBatchStatistics{
			BatchSize: b.BatchSize, ComputeInput: b.ComputeInput.message(),
			ComputeInfer: b.ComputeInfer.message(), ComputeOutput: b.ComputeOutput.message(),
		})
	}
	return out
}

func (s grpcService) ModelInfer(
	ctx context.Context, r *pb.ModelInferRequest,
) (*pb.ModelInferResponse, error) {
	size := int64(proto.Size(r))
	if !s.bodies.reserve(size) {
		err := errBusy()
		s.count(err)
		return nil, grpcError(err)
	}
	defer s.bodies.release(size)
	held := &regionUse{of: &s.regions}
	defer held.done()
	parse := func(m *model) (*inference, error) {
		if m.moves != nil {
			return nil, notUnary("ModelInfer RPC")
		}
		return s.parseMessage(r, held)
	}
	_, m, out, err := s.infer(ctx, r.ModelName, r.ModelVersion, parse)
	if errors.Is(err, errReset) {
		resetGRPCPeer(ctx)
	}
	if err != nil {
		return nil, grpcError(err)
	}
	if s.config.SlowBody > 0 {
		if err := grpc.SendHeader(ctx, metadata.MD{}); err != nil {
			return nil, err
		}
		if err := sleep(ctx, s.config.SlowBody); err != nil {
			return nil, grpcError(err)
		}
	}
	reply, err := response(m, r.Id, out, held)
	if err != nil {
		return nil, grpcError(err)
	}
	return reply, nil
}

// grpcError converts err to a gRPC status.
func grpcError(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	case errors.Is(err, errReset):
		return status.Error(codes.Unavailable, err.Error())
	}
	f := asFailure(err)
	return status.Error(f.grpc, f.text)
}

// resetGRPCPeer resets the connection of ctx's call.
func resetGRPCPeer(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		if a, ok := p.AuthInfo.(connInfo); ok {
			resetConn(a.conn)
		}
	}
}
