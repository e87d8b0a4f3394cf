package builtin

import (
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"io"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // accepts compressed calls, whose replies are compressed too
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// grpcService is the gRPC side of the server.
type grpcService struct {
	pb.UnimplementedGRPCInferenceServiceServer
	*Server
}

// toMessage fills a message from the value that HTTP sends as JSON, whose members have the names of
// the message's fields.
func toMessage[M proto.Message](from any, to M) (M, error) {
	text, err := json.Marshal(from)
	if err != nil {
		return to, err
	}
	return to, protojson.Unmarshal(text, to)
}

// about fills a message from a view of a model.
func about[M proto.Message](s *Server, name, v string, view func(*model) any, to M) (M, error) {
	m, err := s.find(name, v)
	if err != nil {
		return to, err
	}
	return toMessage(view(m), to)
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
	return toMessage(metadataOfServer(), &pb.ServerMetadataResponse{})
}

func (s grpcService) ModelMetadata(
	_ context.Context, r *pb.ModelMetadataRequest,
) (*pb.ModelMetadataResponse, error) {
	return about(s.Server, r.Name, r.Version, (*model).metadata, &pb.ModelMetadataResponse{})
}

func (s grpcService) ModelConfig(
	_ context.Context, r *pb.ModelConfigRequest,
) (*pb.ModelConfigResponse, error) {
	config, err := about(s.Server, r.Name, r.Version, (*model).configuration, &pb.ModelConfig{})
	return &pb.ModelConfigResponse{Config: config}, err
}

func (s grpcService) ModelStatistics(
	_ context.Context, r *pb.ModelStatisticsRequest,
) (*pb.ModelStatisticsResponse, error) {
	if r.Name == "" {
		return toMessage(s.allStats(), &pb.ModelStatisticsResponse{})
	}
	return about(s.Server, r.Name, r.Version, (*model).statistics, &pb.ModelStatisticsResponse{})
}

func (s grpcService) ModelInfer(
	ctx context.Context, r *pb.ModelInferRequest,
) (*pb.ModelInferResponse, error) {
	use := s.use()
	defer use.done()
	inf, err := s.inferMessage(ctx, r, use, nil, false)
	if err != nil {
		return nil, err
	}
	if s.config.SlowBody > 0 {
		if err := grpc.SendHeader(ctx, metadata.MD{}); err != nil {
			return nil, err
		}
		if err := sleep(ctx, s.config.SlowBody); err != nil {
			return nil, err
		}
	}
	return inf.message(inf.results, use)
}

// inferMessage runs a request, alone or of a stream, whose bytes count in use. On errReset it has
// reset the connection.
func (s grpcService) inferMessage(
	ctx context.Context, r *pb.ModelInferRequest, use *resources, turn *streamOrder, streamed bool,
) (*inference, error) {
	if !use.reserve(int64(proto.Size(r))) {
		err := errBusy()
		s.count(err)
		return nil, err
	}
	inf, err := s.infer(ctx, r.ModelName, r.ModelVersion, func(m *model) (*inference, error) {
		if m.moves != nil && !streamed {
			return nil, notUnary("ModelInfer RPC")
		}
		inf := &inference{id: r.Id, turn: turn}
		return inf, s.parseMessage(r, inf, use)
	})
	if errors.Is(err, errReset) {
		resetGRPCPeer(ctx)
	}
	return inf, err
}

// resetGRPCPeer resets the connection of ctx's call.
func resetGRPCPeer(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok {
		if a, ok := p.AuthInfo.(connInfo); ok {
			resetConn(a.conn)
		}
	}
}

// deflated decodes gRPC's deflate, for which grpc-go has no registered coding.
type deflated struct{}

// Type returns the name of the coding.
func (deflated) Type() string { return "deflate" }

// Do decodes a message.
func (deflated) Do(r io.Reader) ([]byte, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxBody+1))
}

// deflateOption accepts deflated requests; their replies are not compressed.
func deflateOption() grpc.ServerOption {
	return grpc.RPCDecompressor(deflated{}) //nolint:staticcheck // its replacement is a registry of the process
}
