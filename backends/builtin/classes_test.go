package builtin

import (
	"net/http"
	"strings"
	"testing"

	pb "github.com/sluice-bench/sluice/backends/builtin/internal/kservepb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestHTTPClasses: values as a real Triton 2.51 gives them for the same data.
func TestHTTPClasses(t *testing.T) {
	url := start(t, Config{}).HTTPURL()
	for _, c := range []struct{ typ, data, wanted, want string }{
		{"INT8", "-1,5,5", "2", `"BYTES","shape":[1,2],"data":["5:1","5:2"]`},
		{"UINT8", "200,3,3", "2", `"BYTES","shape":[1,2],"data":["200:0","3:1"]`},
		{"INT16", "-300,-2,-1", "1", `"BYTES","shape":[1,1],"data":["-1:2"]`},
		{"UINT16", "1,65535,0", "1", `"BYTES","shape":[1,1],"data":["65535:1"]`},
		{"INT32", "7,-8,9", "100", `"BYTES","shape":[1,3],"data":["9:2","7:0","-8:1"]`},
		{"UINT32", "4294967295,0,1", "1", `"BYTES","shape":[1,1],"data":["4294967295:0"]`},
		{"INT64", "9007199254740993,-4,1", "2", `"BYTES","shape":[1,2],"data":["9007199254740993:0","1:2"]`},
		{
			"UINT64", "18446744073709551615,3,2", "2",
			`"BYTES","shape":[1,2],"data":["18446744073709551615:0","3:1"]`,
		},
		{"FP32", "0.5,1.25,1.25", "3", `"BYTES","shape":[1,3],"data":["1.250000:1","1.250000:2","0.500000:0"]`},
		{
			"FP64", "0.1,1e20,-0.0", "2",
			`"BYTES","shape":[1,2],"data":["100000000000000000000.000000:1","0.100000:0"]`,
		},
		{"INT32", "7,-8,9", "0", `"INT32","shape":[1,3],"data":[7,-8,9]`},
		{"INT32", "7,-8,9", "4294967297", `"BYTES","shape":[1,1],"data":["9:2"]`},
	} {
		a := post(t, url+"/v2/models/identity_"+strings.ToLower(c.typ)+"/infer",
			`{"inputs":[{"name":"INPUT0","shape":[1,3],"datatype":"`+c.typ+`","data":[`+c.data+`]}],`+
				`"outputs":[{"name":"OUTPUT0","parameters":{"classification":`+c.wanted+`}}]}`)
		if a.status != 200 || !strings.Contains(string(a.body), `"datatype":`+c.want+`}]`) {
			t.Errorf("%s %s of %s: %d %s", c.typ, c.wanted, c.data, a.status, a.body)
		}
	}
	a := post(t, url+"/v2/models/identity/infer",
		`{"inputs":[{"name":"INPUT0","shape":[2,4],"datatype":"FP32","data":[0.5,1.25,1.25,-7e10,3,4,1e-9,3]}],`+
			`"outputs":[{"name":"OUTPUT0","parameters":{"classification":3}}]}`)
	if want := `"shape":[2,3],"data":["1.250000:1","1.250000:2","0.500000:0","4.000000:1","3.000000:0",` +
		`"3.000000:3"]`; !strings.Contains(string(a.body), want) {
		t.Errorf("a batch of two: %s", a.body)
	}
}

func TestClassesRefused(t *testing.T) {
	s := start(t, Config{})
	const input = `{"inputs":[{"name":"INPUT0","shape":[1,1],"datatype":"BOOL","data":[true]}],` +
		`"outputs":[{"name":"OUTPUT0","parameters":`
	for parameters, want := range map[string]string{
		`{"classification":1}`:   "class result not available for output due to unsupported type 'BOOL'",
		`{"classification":-1}`:  "Unable to set 'classification'",
		`{"classification":"1"}`: "Unable to set 'classification'",
		`{"classification":1,"shared_memory_region":"r",` +
			`"shared_memory_byte_size":8}`: "Output can't set both 'shared_memory_region' and 'classification'",
	} {
		a := post(t, s.HTTPURL()+"/v2/models/identity_bool/infer", input+parameters+"}]}")
		if a.status != http.StatusBadRequest || !strings.Contains(string(a.body), want) {
			t.Errorf("%s: %d %s", parameters, a.status, a.body)
		}
	}
	c := dial(t, s)
	for parameter, want := range map[string]string{
		`int64_param:1`:     "unsupported type 'BOOL'",
		`string_param:"1"`:  "invalid value type for 'classification' parameter",
		`bool_param:true`:   "invalid value type for 'classification' parameter",
		`double_param:1.0 `: "invalid value type for 'classification' parameter",
	} {
		_, err := c.ModelInfer(t.Context(), message(t, &pb.ModelInferRequest{}, `model_name:"identity_bool"
			inputs:{name:"INPUT0" datatype:"BOOL" shape:[1,1]} raw_input_contents:"\x01"
			outputs:{name:"OUTPUT0" parameters:{key:"classification" value:{`+parameter+`}}}`))
		if s := status.Convert(err); s.Code() != codes.InvalidArgument || !strings.Contains(s.Message(), want) {
			t.Errorf("%s: %v", parameter, err)
		}
	}
}

// A decoupled model's responses come as classes too.
func TestClassesOfAStream(t *testing.T) {
	c := dial(t, start(t, Config{}))
	stream, err := c.ModelStreamInfer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	req := message(t, &pb.ModelInferRequest{}, `model_name:"simple" id:"1"
		inputs:{name:"INPUT0" datatype:"INT32" shape:[1,16]} inputs:{name:"INPUT1" datatype:"INT32" shape:[1,16]}
		outputs:{name:"OUTPUT1"} outputs:{name:"OUTPUT0" parameters:{key:"classification" value:{int64_param:2}}}`)
	ones := make([]byte, 64)
	ones[8] = 5
	req.RawInputContents = [][]byte{ones, ones}
	if err := stream.Send(req); err != nil {
		t.Fatal(err)
	}
	got, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	out := got.InferResponse.Outputs[0]
	if text := string(got.InferResponse.RawOutputContents[0]); out.Datatype != "BYTES" || len(out.Shape) != 2 ||
		out.Shape[1] != 2 || text != "\x04\x00\x00\x0010:2\x03\x00\x00\x000:0" {
		t.Errorf("%v %q", out, text)
	}
	if err := stream.CloseSend(); err != nil {
		t.Error(err)
	}
}
