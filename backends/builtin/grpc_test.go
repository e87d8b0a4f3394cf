package builtin

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
)

// dial is a generated client of s.
func dial(t testing.TB, s *Server) pb.GRPCInferenceServiceClient {
	t.Helper()
	scheme, target, _ := strings.Cut(s.GRPCURL(), "://")
	creds := insecure.NewCredentials()
	switch scheme {
	case "grpcs":
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM([]byte(s.URLs().CA))
		creds = credentials.NewTLS(&tls.Config{RootCAs: pool})
	case "grpc+unix":
		target = "unix://" + target
	}
	c, err := grpc.NewClient(target, grpc.WithTransportCredentials(creds), grpc.WithDisableRetry())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return pb.NewGRPCInferenceServiceClient(c)
}

// message parses protobuf text, in which tests are easiest to read.
func message[M proto.Message](t testing.TB, into M, text string) M {
	t.Helper()
	if err := prototext.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
	return into
}

func TestGRPCServiceName(t *testing.T) {
	// The protocol fixes what a client asks for on the wire.
	const want = "/inference.GRPCInferenceService/ModelInfer"
	if got := pb.GRPCInferenceService_ModelInfer_FullMethodName; got != want {
		t.Error(got)
	}
}

func TestGRPCMetadata(t *testing.T) {
	c := dial(t, start(t, Config{MaxBatch: 16, QueueDelay: 5000000, Instances: 2}))
	ctx := t.Context()
	live, err := c.ServerLive(ctx, &pb.ServerLiveRequest{})
	if err != nil || !live.Live {
		t.Error(live, err)
	}
	ready, err := c.ServerReady(ctx, &pb.ServerReadyRequest{})
	if err != nil || !ready.Ready {
		t.Error(ready, err)
	}
	for name, want := range map[string]bool{"simple": true, "nosuch": false} {
		r, err := c.ModelReady(ctx, &pb.ModelReadyRequest{Name: name})
		if err != nil || r.Ready != want {
			t.Error(name, r, err)
		}
	}
	sm, err := c.ServerMetadata(ctx, &pb.ServerMetadataRequest{})
	same(t, err, sm,
		message(t, &pb.ServerMetadataResponse{},
			`name:"sluice-builtin" version:"1" `+
				`extensions:["classification","binary_tensor_data","statistics","model_configuration",`+
				`"model_repository","trace","logging","system_shared_memory"]`))
	mm, err := c.ModelMetadata(ctx, &pb.ModelMetadataRequest{Name: "simple", Version: "1"})
	same(t, err, mm, message(t, &pb.ModelMetadataResponse{}, `name:"simple" versions:"1"
		platform:"sluice_builtin"
		inputs:{name:"INPUT0" datatype:"INT32" shape:[-1,16]} inputs:{name:"INPUT1" datatype:"INT32" shape:[-1,16]}
		outputs:{name:"OUTPUT0" datatype:"INT32" shape:[-1,16]}
		outputs:{name:"OUTPUT1" datatype:"INT32" shape:[-1,16]}`))
	mc, err := c.ModelConfig(ctx, &pb.ModelConfigRequest{Name: "identity_bytes"})
	same(t, err, mc, message(t, &pb.ModelConfigResponse{}, `config:{name:"identity_bytes"
		backend:"sluice_builtin" max_batch_size:8
		input:{name:"INPUT0" data_type:TYPE_STRING dims:-1} output:{name:"OUTPUT0" data_type:TYPE_STRING dims:-1}
		instance_group:{name:"identity_bytes" count:2 kind:KIND_CPU}
		dynamic_batching:{preferred_batch_size:16 max_queue_delay_microseconds:5000} model_transaction_policy:{}}`))
	all, err := c.ModelStatistics(ctx, &pb.ModelStatisticsRequest{})
	if err != nil || len(all.ModelStats) != len(catalogue()) {
		t.Error(err, all)
	}
	for what, call := range map[string]func() error{
		"metadata": func() error {
			_, err := c.ModelMetadata(ctx,
				&pb.ModelMetadataRequest{Name: "nosuch"})
			return err
		},
		"config": func() error {
			_, err := c.ModelConfig(ctx,
				&pb.ModelConfigRequest{Name: "nosuch"})
			return err
		},
		"statistics": func() error {
			_, err := c.ModelStatistics(ctx,
				&pb.ModelStatisticsRequest{Name: "nosuch"})
			return err
		},
	} {
		if s := status.Convert(call()); s.Code() != codes.NotFound ||
			s.Message() != "Request for unknown model: 'nosuch' is not found" {
			t.Error(what, s)
		}
	}
}

func same(t *testing.T, err error, got, want proto.Message) {
	t.Helper()
	if err != nil {
		t.Error(err)
		return
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestGRPCInferRaw(t *testing.T) {
	c := dial(t, start(t, Config{}))
	a, b, sum, diff := make([]byte, 64), make([]byte, 64), make([]byte, 64), make([]byte, 64)
	for i := range 16 {
		binary.LittleEndian.PutUint32(a[4*i:], uint32(i))
		binary.LittleEndian.PutUint32(b[4*i:], math.MaxInt32)
		binary.LittleEndian.PutUint32(sum[4*i:], uint32(i)+math.MaxInt32) // wraps
		binary.LittleEndian.PutUint32(diff[4*i:], uint32(i-math.MaxInt32))
	}
	req := message(t, &pb.ModelInferRequest{},
		`model_name:"simple" id:"q" inputs:{name:"INPUT1" datatype:"INT32" shape:[1,16]} inputs:{name:"INPUT0" `+
			`datatype:"INT32" shape:[1,16]}`)
	req.RawInputContents = [][]byte{b, a}
	want := message(t, &pb.ModelInferResponse{},
		`model_name:"simple" model_version:"1" id:"q" outputs:{name:"OUTPUT0" datatype:"INT32" shape:[1,16]} `+
			`outputs:{name:"OUTPUT1" datatype:"INT32" shape:[1,16]}`)
	want.RawOutputContents = [][]byte{sum, diff}
	got, err := c.ModelInfer(t.Context(), req)
	same(t, err, got, want)

	req.Outputs = []*pb.ModelInferRequest_InferRequestedOutputTensor{{Name: "OUTPUT1"}}
	want.Outputs, want.RawOutputContents = want.Outputs[1:], want.RawOutputContents[1:]
	got, err = c.ModelInfer(t.Context(), req)
	same(t, err, got, want)
}

func TestGRPCInferTyped(t *testing.T) {
	c := dial(t, start(t, Config{}))
	for _, r := range []struct {
		typ, contents string
		want          []byte
	}{
		{"BOOL", `bool_contents:[true,false]`, []byte{1, 0}},
		{"INT8", `int_contents:[-1,127]`, []byte{0xff, 0x7f}},
		{"INT16", `int_contents:[-2,32767]`, []byte{0xfe, 0xff, 0xff, 0x7f}},
		{"INT32", `int_contents:[-2,1]`, []byte{0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0}},
		{
			"INT64", `int64_contents:[-2,1]`,
			[]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0, 0, 0, 0, 0},
		},
		{"UINT8", `uint_contents:[1,255]`, []byte{1, 255}},
		{"UINT16", `uint_contents:[1,65535]`, []byte{1, 0, 255, 255}},
		{"UINT32", `uint_contents:[1,2]`, []byte{1, 0, 0, 0, 2, 0, 0, 0}},
		{"UINT64", `uint64_contents:[1,2]`, []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}},
		{"FP32", `fp32_contents:[1,-2]`, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}},
		{"FP64", `fp64_contents:[1,-2]`, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0xc0}},
		{"BYTES", `bytes_contents:["a",""]`, []byte{1, 0, 0, 0, 'a', 0, 0, 0, 0}},
	} {
		req := message(t, &pb.ModelInferRequest{},
			`model_name:"identity_`+strings.ToLower(r.typ)+`" `+
				`inputs:{name:"INPUT0" datatype:"`+r.typ+`" shape:[1,2] contents:{`+r.contents+`}}`)
		got, err := c.ModelInfer(t.Context(), req)
		if err != nil || len(got.RawOutputContents) != 1 || !bytes.Equal(got.RawOutputContents[0], r.want) {
			t.Errorf("%s: %v %v, want %x", r.typ, got, err, r.want)
		}
	}
}

func TestGRPCRefusals(t *testing.T) {
	c := dial(t, start(t, Config{}))
	for _, r := range []struct {
		what, req string
		code      codes.Code
		text      string
	}{
		{
			"unknown model", `model_name:"nosuch"`, codes.NotFound,
			"Request for unknown model: 'nosuch' is not found",
		},
		{"unknown version", `model_name:"simple" model_version:"3"`, codes.NotFound, "version 3 is not found"},
		{
			"no inputs", `model_name:"identity" id:"5"`, codes.InvalidArgument,
			"[request id: 5] expected 1 inputs but got 0 inputs",
		},
		{
			"raw for one of two",
			`model_name:"simple" inputs:{name:"INPUT0" datatype:"INT32" shape:[1,16]} inputs:{name:"INPUT1" ` +
				`datatype:"INT32" shape:[1,16]} raw_input_contents:"1234"`,
			codes.InvalidArgument, "expected 2 raw input contents",
		},
		{
			"raw and typed",
			`model_name:"identity" inputs:{name:"INPUT0" datatype:"FP32" shape:[1,1] contents:{fp32_contents:1}} ` +
				`raw_input_contents:"1234"`,
			codes.InvalidArgument, "contents field must not be specified when using raw_input_contents for 'INPUT0'",
		},
		{
			"wrong size",
			`model_name:"identity" inputs:{name:"INPUT0" datatype:"FP32" shape:[1,2]} raw_input_contents:"1234"`,
			codes.InvalidArgument, "Expected 8, got 4",
		},
		{
			"no such type",
			`model_name:"identity" inputs:{name:"INPUT0" datatype:"FP99" shape:[1,2]} raw_input_contents:"1234"`,
			codes.InvalidArgument, "unknown datatype 'FP99'",
		},
		{
			"typed FP16",
			`model_name:"identity_fp16" inputs:{name:"INPUT0" datatype:"FP16" shape:[1,1] contents:{fp32_contents:1}}`,
			codes.InvalidArgument, "FP16 has no typed contents",
		},
		{
			"typed too large",
			`model_name:"identity_uint8" inputs:{name:"INPUT0" datatype:"UINT8" shape:[1,1] ` +
				`contents:{uint_contents:256}}`,
			codes.InvalidArgument, "does not fit UINT8",
		},
		{
			"typed too small",
			`model_name:"identity_int16" inputs:{name:"INPUT0" datatype:"INT16" shape:[1,1] ` +
				`contents:{int_contents:-32769}}`,
			codes.InvalidArgument, "does not fit INT16",
		},
		{
			"batch 9",
			`model_name:"identity_bytes" inputs:{name:"INPUT0" datatype:"BYTES" shape:[9,0]} raw_input_contents:""`,
			codes.InvalidArgument, "inference request batch-size must be <= 8 for 'identity_bytes'",
		},
	} {
		_, err := c.ModelInfer(t.Context(), message(t, &pb.ModelInferRequest{}, r.req))
		if s := status.Convert(err); s.Code() != r.code || !strings.Contains(s.Message(), r.text) {
			t.Errorf("%s: %v, want %v with %s", r.what, err, r.code, r.text)
		}
	}
}

// fp32 is a request for one FP32 of a model.
func fp32(model string) *pb.ModelInferRequest {
	shape := []int64{1, 1}
	if strings.HasPrefix(model, "slow") {
		shape = shape[1:]
	}
	return &pb.ModelInferRequest{
		ModelName: model,
		Inputs: []*pb.ModelInferRequest_InferInputTensor{
			{Name: "INPUT0", Datatype: "FP32", Shape: shape},
		},
		RawInputContents: [][]byte{{0, 0, 0x80, 0x3f}},
	}
}

func TestTLS(t *testing.T) {
	s := start(t, Config{TLS: true})
	if _, err := dial(t, s).ModelInfer(t.Context(), fp32("identity")); err != nil {
		t.Error(err)
	}
	c := client(t)
	if _, err := request(t, c, http.MethodGet, s.HTTPURL()+"/v2", nil, nil); err == nil {
		t.Error("a client that does not trust the certificate got an answer")
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(s.URLs().CA))
	c.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: pool}
	if a, err := request(t, c, http.MethodGet, s.HTTPURL()+"/v2", nil, nil); err != nil || a.status != 200 {
		t.Error(err, a.status)
	}
}

func TestUnixSockets(t *testing.T) {
	dir := t.TempDir()
	s := start(t, Config{HTTP: "unix:" + filepath.Join(dir, "h"), GRPC: "unix:" + filepath.Join(dir, "g")})
	if s.HTTPURL() != "http+unix://"+filepath.Join(dir, "h") ||
		s.GRPCURL() != "grpc+unix://"+filepath.Join(dir, "g") {
		t.Error(s.URLs())
	}
	if _, err := dial(t, s).ModelInfer(t.Context(), fp32("identity")); err != nil {
		t.Error(err)
	}
	c := client(t)
	c.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(dir, "h"))
	}
	if a, err := request(t, c, http.MethodGet, "http://unix/v2/models/simple/ready", nil, nil); err != nil ||
		a.status != 200 {
		t.Error(err, a.status)
	}
	n := decode[countReply](t, get(t, s.URLs().Control+"/sim/count").body)
	if n.Connections != (connectionCounts{HTTP: 1, GRPC: 1}) {
		t.Errorf("%+v", n)
	}
}
