package builtin

import (
	"context"
	"encoding/json"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"
)

// torchService describes TorchServe's inference API over gRPC (inference.proto). Messages are read and
// written by field numbers, as those of TensorFlow Serving.
func (s *Server) torchService() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: "org.pytorch.serve.grpc.inference.InferenceAPIsService",
		Methods: []grpc.MethodDesc{
			method("Ping", func(ctx context.Context, _ []byte) ([]byte, error) {
				return appendField(nil, 1, []byte(`{"status": "Healthy"}`)), s.torchAllowed(ctx)
			}),
			method("Predictions", s.torchPredictions),
		},
		Streams: []grpc.StreamDesc{{
			StreamName: "StreamPredictions", ServerStreams: true,
			Handler: func(_ any, stream grpc.ServerStream) error { return s.torchStream(stream) },
		}},
	}
}

// torchAllowed refuses calls without the key, which is read only beside protocol: gRPC.
func (s *Server) torchAllowed(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	key := s.config.APIKey
	token, protocol := md.Get("authorization"), md.Get("protocol")
	if key == "" || len(token) == 1 && len(protocol) == 1 && token[0] == "Bearer "+key && protocol[0] == "gRPC" {
		return nil
	}
	return status.Error(codes.PermissionDenied,
		"Token Authorization failed. Token either incorrect, expired, or not provided correctly")
}

// torchRequest runs a PredictionsRequest: model_name 1, model_version 2, input 3, a map of bytes.
func (s *Server) torchRequest(ctx context.Context, request []byte) (*inference, error) {
	if err := s.torchAllowed(ctx); err != nil {
		return nil, err
	}
	var name, v string
	inputs, sizes := map[string][]byte{}, map[string]int{}
	fields(request, func(number protowire.Number, _ uint64, b []byte) {
		switch number {
		case 1:
			name = string(b)
		case 2:
			v = string(b)
		case 3:
			var key string
			var value []byte
			fields(b, func(number protowire.Number, _ uint64, b []byte) {
				if number == 1 {
					key = string(b)
				} else {
					value = b
				}
			})
			inputs[key], sizes[key] = value, len(value)
		}
	})
	m, err := s.findTorch(name, v)
	if err != nil {
		return nil, torchStatus(err)
	}
	var body []byte
	for _, value := range inputs { // the only one
		body = value
	}
	if len(inputs) > 1 {
		body, _ = json.MarshalIndent(sizes, "", "  ") // of strings and numbers
	}
	inf, err := s.torchInfer(ctx, m.name, body)
	if errors.Is(err, errReset) {
		resetGRPCPeer(ctx)
	}
	return inf, torchStatus(err)
}

// torchStatus returns the status of an error, whose message is followed by a stack trace.
func torchStatus(err error) error {
	var e *torchError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &e):
		var f *failure
		if errors.As(err, &f) && f.grpc == codes.Internal {
			return status.Error(codes.Unavailable, "Prediction failed")
		}
		return err
	case e.Code == 503:
		return status.Error(codes.Internal, e.Message+" InternalServerException.()")
	}
	return status.Error(codes.Internal, e.Message+"\norg.pytorch.serve.archive.model."+e.Type+": "+e.Message+
		"\n\tat java.base/java.lang.Thread.run(Thread.java:840)")
}

// torchPredictions answers with a PredictionResponse: prediction 1.
func (s *Server) torchPredictions(ctx context.Context, request []byte) ([]byte, error) {
	inf, err := s.torchRequest(ctx, request)
	if err != nil {
		return nil, err
	}
	if inf.model.moves != nil {
		return nil, status.Error(codes.Internal, "the model streams: use StreamPredictions")
	}
	return appendField(nil, 1, inf.results[0].data[4:]), nil
}

// torchStream answers with a PredictionResponse for each response of the model.
func (s *Server) torchStream(stream grpc.ServerStream) error {
	request := &emptypb.Empty{}
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	inf, err := s.torchRequest(stream.Context(), request.ProtoReflect().GetUnknown())
	if err != nil {
		return err
	}
	return s.play(stream.Context(), inf, func(out []tensor) error {
		return stream.SendMsg(rawMessage(appendField(nil, 1, out[0].data[4:])))
	})
}
