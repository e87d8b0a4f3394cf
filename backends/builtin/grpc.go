package builtin

import (
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // accepts compressed calls, whose replies are compressed too
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// service describes the gRPC side of the server.
func (s *Server) service() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: pb.GRPCInferenceService_ServiceDesc.ServiceName,
		Streams: []grpc.StreamDesc{{
			StreamName: "ModelStreamInfer", ServerStreams: true, ClientStreams: true,
			Handler: func(_ any, stream grpc.ServerStream) error { return s.inferStream(stream) },
		}},
		Methods: slices.Concat(s.sharedMethods(), s.repositoryMethods(), []grpc.MethodDesc{
			unary("ServerLive", func(*pb.ServerLiveRequest) (proto.Message, error) {
				return &pb.ServerLiveResponse{Live: true}, nil
			}),
			unary("ServerReady", func(*pb.ServerReadyRequest) (proto.Message, error) {
				return &pb.ServerReadyResponse{Ready: true}, nil
			}),
			unary("ServerMetadata", func(*pb.ServerMetadataRequest) (proto.Message, error) {
				return toMessage(aboutServer, &pb.ServerMetadataResponse{})
			}),
			unary("ModelReady", func(r *pb.ModelReadyRequest) (proto.Message, error) {
				_, err := s.find(r.Name, r.Version)
				return &pb.ModelReadyResponse{Ready: err == nil}, nil
			}),
			unary("ModelMetadata", func(r *pb.ModelMetadataRequest) (proto.Message, error) {
				return s.about(r, (*model).metadata, &pb.ModelMetadataResponse{})
			}),
			unary("ModelConfig", func(r *pb.ModelConfigRequest) (proto.Message, error) {
				view := func(m *model) any { return object{"config": m.configuration()} }
				return s.about(r, view, &pb.ModelConfigResponse{})
			}),
			unary("ModelStatistics", func(r *pb.ModelStatisticsRequest) (proto.Message, error) {
				if r.Name == "" {
					return toMessage(s.allStats(), &pb.ModelStatisticsResponse{})
				}
				return s.about(r, (*model).statistics, &pb.ModelStatisticsResponse{})
			}),
			{MethodName: "ModelInfer", Handler: s.inferUnary},
		}),
	}
}

// unary describes a method with one request, of type Q, and one reply.
func unary[Q any, P interface {
	*Q
	proto.Message
}](name string, answer func(P) (proto.Message, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(
		_ any, _ context.Context, read func(any) error, _ grpc.UnaryServerInterceptor,
	) (any, error) {
		request := P(new(Q))
		if err := read(request); err != nil {
			return nil, err
		}
		return answer(request)
	}}
}

// toMessage fills a message from the value that HTTP sends as JSON, whose members have the names of
// the message's fields.
func toMessage(from any, to proto.Message) (proto.Message, error) {
	text, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	return to, protojson.Unmarshal(text, to)
}

// about fills a message from a view of the model that a request names.
func (s *Server) about(
	r interface {
		GetName() string
		GetVersion() string
	}, view func(*model) any, to proto.Message,
) (proto.Message, error) {
	m, err := s.find(r.GetName(), r.GetVersion())
	if err != nil {
		return nil, err
	}
	return toMessage(view(m), to)
}

// inferUnary is the handler of ModelInfer.
func (s *Server) inferUnary(
	_ any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor,
) (any, error) {
	r := &pb.ModelInferRequest{}
	if err := read(r); err != nil {
		return nil, err
	}
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
func (s *Server) inferMessage(
	ctx context.Context, r *pb.ModelInferRequest, use *resources, turn *streamOrder, streamed bool,
) (*inference, error) {
	if !use.reserve(int64(proto.Size(r))) {
		s.count(errBusy)
		return nil, errBusy
	}
	inf, err := s.infer(ctx, r.ModelName, r.ModelVersion, func(m *model) (*inference, error) {
		if m.moves != nil && !streamed {
			return nil, notUnary("ModelInfer RPC")
		}
		return parseMessage(r, &inference{id: r.Id, turn: turn}, use)
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

// deflated decodes gRPC's deflate, for which grpc-go has no registered coding; replies are not compressed.
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
