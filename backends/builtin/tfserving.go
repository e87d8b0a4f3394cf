package builtin

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/emptypb"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// The server speaks TensorFlow Serving's Predict, Classify, Regress, GetModelMetadata and GetModelStatus over
// gRPC: a request becomes one of KServe v2. Messages are read and written by field numbers
// (tensorflow_serving/apis, tensorflow/core/framework); to grpc-go they are empty messages with unknown
// fields. Every model has the signature serving_default.

// dtypes are the datatypes by their numbers in types.proto.
var dtypes = [...]string{
	1: "FP32", 2: "FP64", 3: "INT32", 4: "UINT8", 5: "INT16", 6: "INT8", 7: "BYTES", 9: "INT64", 10: "BOOL",
	14: "BF16", 17: "UINT16", 19: "FP16", 22: "UINT32", 23: "UINT64",
}

// tensorFlowServices describes both services.
func (s *Server) tensorFlowServices() []*grpc.ServiceDesc {
	return []*grpc.ServiceDesc{
		{
			ServiceName: "tensorflow.serving.PredictionService",
			Methods: []grpc.MethodDesc{
				method("Predict", s.predict), method("GetModelMetadata", s.signatures),
				method("Classify", s.exampleMethod("classify")), method("Regress", s.exampleMethod("regress")),
			},
		},
		{
			ServiceName: "tensorflow.serving.ModelService",
			Methods:     []grpc.MethodDesc{method("GetModelStatus", s.modelStatus)},
		},
	}
}

// method describes a method of one request and one reply, which are encoded messages.
func method(name string, answer func(context.Context, []byte) ([]byte, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(
		_ any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor,
	) (any, error) {
		request := &emptypb.Empty{}
		if err := read(request); err != nil {
			return nil, err
		}
		reply, err := answer(ctx, request.ProtoReflect().GetUnknown())
		if err != nil {
			return nil, err
		}
		return rawMessage(reply), nil
	}}
}

// rawMessage returns a message of these bytes.
func rawMessage(b []byte) *emptypb.Empty {
	message := &emptypb.Empty{}
	message.ProtoReflect().SetUnknown(b)
	return message
}

// fields calls each for the fields of a message: v of varints, b of the others.
func fields(message []byte, each func(number protowire.Number, v uint64, b []byte)) {
	for len(message) > 0 {
		number, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		rest := message[n:]
		size := protowire.ConsumeFieldValue(number, typ, rest)
		if size < 0 {
			return
		}
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(rest)
			each(number, v, nil)
		case protowire.BytesType:
			b, _ := protowire.ConsumeBytes(rest)
			each(number, 0, b)
		default:
			each(number, 0, rest[:size])
		}
		message = rest[size:]
	}
}

func appendField(dst []byte, number protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), b)
}

func appendVarint(dst []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), v)
}

// modelSpec is a ModelSpec: name 1, version 2 {value 1}, signature_name 3, version_label 4.
type modelSpec struct{ name, version, signature, label string }

func specOf(request []byte) (s modelSpec) {
	fields(request, func(number protowire.Number, _ uint64, b []byte) {
		if number != 1 {
			return
		}
		fields(b, func(number protowire.Number, _ uint64, b []byte) {
			switch number {
			case 1:
				s.name = string(b)
			case 2:
				fields(b, func(_ protowire.Number, v uint64, _ []byte) {
					s.version = strconv.FormatUint(v, 10)
				})
			case 3:
				s.signature = string(b)
			case 4:
				s.label = string(b)
			}
		})
	})
	return s
}

const onlySignature = "serving_default"

// findServable returns the model of a request, with TensorFlow Serving's errors.
func (s *Server) findServable(request []byte) (*model, modelSpec, error) {
	wanted := specOf(request)
	m, err := s.find(wanted.name, wanted.version)
	switch {
	case wanted.label != "" && wanted.label != label:
		return nil, wanted, status.Errorf(codes.InvalidArgument,
			"Unrecognized servable version label: %s", wanted.label)
	case err != nil:
		return nil, wanted, status.Errorf(codes.NotFound,
			"Servable not found for request: Latest(%s)", wanted.name)
	case !slices.Contains(append(m.exampleVerbs(), "", onlySignature), wanted.signature):
		return nil, wanted, status.Errorf(codes.InvalidArgument,
			"Serving signature key %q not found.", wanted.signature)
	}
	return m, wanted, nil
}

// predict answers Predict: inputs 2 (map<string, TensorProto>), output_filter 3; outputs 1.
func (s *Server) predict(ctx context.Context, request []byte) ([]byte, error) {
	m, wanted, err := s.findServable(request)
	if err != nil {
		return nil, err
	}
	r := &pb.ModelInferRequest{ModelName: wanted.name, ModelVersion: wanted.version}
	fields(request, func(number protowire.Number, _ uint64, b []byte) {
		switch number {
		case 2:
			input, raw := inputOf(b)
			r.Inputs, r.RawInputContents = append(r.Inputs, input), append(r.RawInputContents, raw)
		case 3:
			r.Outputs = append(r.Outputs, &pb.ModelInferRequest_InferRequestedOutputTensor{Name: string(b)})
		}
	})
	for _, in := range r.Inputs {
		if !slices.ContainsFunc(m.inputs, func(p spec) bool { return p.name == in.Name }) {
			return nil, status.Errorf(codes.InvalidArgument,
				"input tensor alias not found in signature: %s. Inputs expected to be in the set %v.",
				in.Name, namesOf(m.inputs))
		}
	}
	use := s.use()
	defer use.done()
	inf, err := s.inferMessage(ctx, r, use, nil, false)
	if err != nil {
		return nil, err
	}
	made, err := inf.message(inf.results, use)
	if err != nil {
		return nil, err
	}
	var reply []byte
	for i, o := range made.Outputs {
		entry := appendField(nil, 1, []byte(o.Name))
		value := tensorProto(o.Datatype, o.Shape, made.RawOutputContents[i])
		reply = appendField(reply, 1, appendField(entry, 2, value))
	}
	return reply, nil
}

// inputOf reads an entry of a map of TensorProtos: dtype 1, tensor_shape 2 {dim 2 {size 1}},
// tensor_content 4, string_val 8. Other fields with values are not read.
func inputOf(entry []byte) (*pb.ModelInferRequest_InferInputTensor, []byte) {
	in, raw := &pb.ModelInferRequest_InferInputTensor{}, []byte{}
	fields(entry, func(number protowire.Number, _ uint64, b []byte) {
		if number == 1 {
			in.Name = string(b)
			return
		}
		fields(b, func(number protowire.Number, v uint64, b []byte) {
			switch number {
			case 1:
				if v < uint64(len(dtypes)) {
					in.Datatype = dtypes[v]
				}
			case 2:
				fields(b, func(_ protowire.Number, _ uint64, dim []byte) {
					size := int64(0)
					fields(dim, func(_ protowire.Number, v uint64, _ []byte) { size = int64(v) })
					in.Shape = append(in.Shape, size)
				})
			case 4:
				raw = b
			case 8:
				raw = append(binary.LittleEndian.AppendUint32(raw, uint32(len(b))), b...)
			}
		})
	})
	return in, raw
}

// tensorProto encodes a TensorProto.
func tensorProto(datatype string, dims []int64, raw []byte) []byte {
	b := appendVarint(nil, 1, uint64(slices.Index(dtypes[:], datatype)))
	b = appendField(b, 2, shapeProto(dims))
	if datatype != "BYTES" {
		return appendField(b, 4, raw)
	}
	for len(raw) >= 4 {
		n := 4 + int(binary.LittleEndian.Uint32(raw))
		b, raw = appendField(b, 8, raw[4:n]), raw[n:]
	}
	return b
}

func shapeProto(dims []int64) (shape []byte) {
	for _, d := range dims {
		shape = appendField(shape, 2, appendVarint(nil, 1, uint64(d)))
	}
	return shape
}

// signatures answers GetModelMetadata: metadata 2, a map whose entry signature_def is an Any of a
// SignatureDefMap.
func (s *Server) signatures(_ context.Context, request []byte) ([]byte, error) {
	m, _, err := s.findServable(request)
	if err != nil {
		return nil, err
	}
	var def []byte
	for i, list := range [][]spec{m.inputs, m.outputs} {
		for _, p := range list {
			info := appendVarint(nil, 2, uint64(slices.Index(dtypes[:], p.typ.name)))
			info = appendField(info, 3, shapeProto(m.shape(p)))
			entry := appendField(appendField(nil, 1, []byte(p.name)), 2, info)
			def = appendField(def, protowire.Number(i+1), entry)
		}
	}
	def = appendField(def, 3, []byte("tensorflow/serving/predict"))
	signatures := appendField(nil, 1, appendField(appendField(nil, 1, []byte(onlySignature)), 2, def))
	for _, verb := range m.exampleVerbs() {
		info := appendField(appendVarint(nil, 2, 7), 3, shapeProto([]int64{-1}))
		def := appendField(nil, 1, appendField(appendField(nil, 1, []byte("inputs")), 2, info))
		def = appendField(def, 3, []byte("tensorflow/serving/"+verb))
		signatures = appendField(signatures, 1, appendField(appendField(nil, 1, []byte(verb)), 2, def))
	}
	const typeURL = "type.googleapis.com/tensorflow.serving.SignatureDefMap"
	value := appendField(appendField(nil, 1, []byte(typeURL)), 2, signatures)
	return appendField(nil, 2, appendField(appendField(nil, 1, []byte("signature_def")), 2, value)), nil
}

// modelStatus answers GetModelStatus: model_version_status 1 {version 1, state 2}.
func (s *Server) modelStatus(_ context.Context, request []byte) ([]byte, error) {
	if _, _, err := s.findServable(request); err != nil {
		return nil, err
	}
	const available = 30
	return appendField(nil, 1, appendVarint(appendVarint(nil, 1, 1), 2, available)), nil
}

func namesOf(specs []spec) (names []string) {
	for _, p := range specs {
		names = append(names, p.name)
	}
	return names
}
