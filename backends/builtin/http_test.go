package builtin

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func seq(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, from+i)
	}
	return b.String()
}

// sorted returns JSON with the members of objects in the order of their names; other text unchanged.
func sorted(text []byte) string {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return string(text)
	}
	out, _ := json.Marshal(v) // it was JSON
	return string(out)
}

func TestHTTPMetadata(t *testing.T) {
	url := start(t, Config{}).HTTPURL()
	for _, c := range []struct {
		path, want string
		status     int
	}{
		{"/v2/health/live", ``, 200},
		{"/v2/health/ready", ``, 200},
		{
			"/v2",
			`{"name":"sluice-builtin","version":"1","extensions":["classification","binary_tensor_data",` +
				`"statistics","model_configuration","model_repository","trace","logging","system_shared_memory"]}`,
			200,
		},
		{"/v2/models/simple/ready", ``, 200},
		{"/v2/models/simple/versions/1/ready", ``, 200},
		{"/v2/models/nosuch/ready", `{"error":"Request for unknown model: 'nosuch' is not found"}`, 404},
		{"/v2/models/nosuch", `{"error":"Request for unknown model: 'nosuch' is not found"}`, 404},
		{
			"/v2/models/simple/versions/9", `{"error":"Request for unknown model: 'simple' version 9 is not found"}`,
			404,
		},
		{
			"/v2/models/simple",
			`{"name":"simple","versions":["1"],"platform":"sluice_builtin","inputs":[{"name":"INPUT0",` +
				`"datatype":"INT32","shape":[-1,16]},{"name":"INPUT1","datatype":"INT32","shape":[-1,16]}],` +
				`"outputs":[{"name":"OUTPUT0","datatype":"INT32","shape":[-1,16]},{"name":"OUTPUT1",` +
				`"datatype":"INT32","shape":[-1,16]}]}`,
			200,
		},
		{
			"/v2/models/identity_bytes/versions/1",
			`{"name":"identity_bytes","versions":["1"],"platform":"sluice_builtin","inputs":[{"name":"INPUT0",` +
				`"datatype":"BYTES","shape":[-1,-1]}],"outputs":[{"name":"OUTPUT0","datatype":"BYTES","shape":[-1,-1]}]}`,
			200,
		},
		{
			"/v2/models/slow",
			`{"name":"slow","versions":["1"],"platform":"sluice_builtin","inputs":[{"name":"INPUT0",` +
				`"datatype":"FP32","shape":[1]}],"outputs":[{"name":"OUTPUT0","datatype":"FP32","shape":[1]}]}`,
			200,
		},
		{
			"/v2/models/slow4/config",
			`{"name":"slow4","platform":"","backend":"sluice_builtin","max_batch_size":0,` +
				`"input":[{"name":"INPUT0","data_type":"TYPE_FP32","dims":[1]}],"output":[{"name":"OUTPUT0",` +
				`"data_type":"TYPE_FP32","dims":[1]}],"instance_group":[{"name":"slow4","kind":"KIND_CPU",` +
				`"count":4}],"model_transaction_policy":{"decoupled":false}}`,
			200,
		},
		{
			"/v2/models/identity/versions/1/config",
			`{"name":"identity","platform":"","backend":"sluice_builtin","max_batch_size":64,` +
				`"input":[{"name":"INPUT0","data_type":"TYPE_FP32","dims":[-1]}],"output":[{"name":"OUTPUT0",` +
				`"data_type":"TYPE_FP32","dims":[-1]}],"instance_group":[{"name":"identity","kind":"KIND_CPU",` +
				`"count":1}],"model_transaction_policy":{"decoupled":false}}`,
			200,
		},
	} {
		a := get(t, url+c.path)
		if a.status != c.status || sorted(a.body) != sorted([]byte(c.want)) {
			t.Errorf("%s: %d\n%s\nwant %d\n%s", c.path, a.status, a.body, c.status, c.want)
		}
	}
	if a := get(t, url+"/v2/models/simple/infer"); a.status != http.StatusMethodNotAllowed {
		t.Errorf("GET infer: %d", a.status)
	}
}

func TestHTTPInferJSON(t *testing.T) {
	url := start(t, Config{}).HTTPURL()
	simple := `{"id":"r1","inputs":[{"name":"INPUT1","shape":[1,16],"datatype":"INT32","data":[` + seq(100,
		16) + `]},{"name":"INPUT0","shape":[1,16],"datatype":"INT32","data":[[` + seq(0, 16) + `]]}]}`
	for _, c := range []struct{ model, body, want string }{
		{
			"simple", simple,
			`{"id":"r1","model_name":"simple","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"INT32",` +
				`"shape":[1,16],"data":[100,102,104,106,108,110,112,114,116,118,120,122,124,126,128,130]},` +
				`{"name":"OUTPUT1","datatype":"INT32","shape":[1,16],"data":[-100,-100,-100,-100,-100,-100,-100,-100,` +
				`-100,-100,-100,-100,-100,-100,-100,-100]}]}`,
		},
		{
			"identity/versions/1",
			`{"inputs":[{"name":"INPUT0","shape":[2,2],"datatype":"FP32","data":[[1,2.5],[-3,4e2]]}]}`,
			`{"model_name":"identity","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"FP32",` +
				`"shape":[2,2],"data":[1,2.5,-3,400]}]}`,
		},
		{
			"identity_bytes", `{"inputs":[{"name":"INPUT0","shape":[1,3],"datatype":"BYTES","data":["a","","zoë"]}]}`,
			`{"model_name":"identity_bytes","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"BYTES",` +
				`"shape":[1,3],"data":["a","","zoë"]}]}`,
		},
		{
			"identity_uint8", `{"inputs":[{"name":"INPUT0","shape":[1,2],"datatype":"UINT8","data":[0,255]}]}`,
			`{"model_name":"identity_uint8","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"UINT8",` +
				`"shape":[1,2],"data":[0,255]}]}`,
		},
		{
			"identity_bool",
			`{"inputs":[{"name":"INPUT0","shape":[1,2],"datatype":"BOOL","data":[true,false]}],` +
				`"outputs":[{"name":"OUTPUT0"},{"name":"OUTPUT0"}]}`,
			`{"model_name":"identity_bool","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"BOOL",` +
				`"shape":[1,2],"data":[true,false]}]}`,
		},
		{
			"identity_uint64",
			`{"inputs":[{"name":"INPUT0","shape":[1,1],"datatype":"UINT64","data":[18446744073709551615]}]}`,
			`{"model_name":"identity_uint64","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"UINT64",` +
				`"shape":[1,1],"data":[18446744073709551615]}]}`,
		},
		{
			"identity_fp32", `{"inputs":[{"name":"INPUT0","shape":[1,0],"datatype":"FP32","data":[]}]}`,
			`{"model_name":"identity_fp32","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"FP32",` +
				`"shape":[1,0],"data":[]}]}`,
		},
	} {
		a := post(t, url+"/v2/models/"+c.model+"/infer", c.body)
		if a.status != 200 || string(a.body) != c.want || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %v\n%s\nwant\n%s", c.model, a.status, a.header, a.body, c.want)
		}
	}
}

// binaryRequest is an infer request with one binary input.
func binaryRequest(model, datatype string, shape []int64, data []byte, extra string) (http.Header, []byte) {
	s, _ := json.Marshal(shape)
	head := fmt.Sprintf(`{"inputs":[{"name":"INPUT0","shape":%s,"datatype":%q,`+
		`"parameters":{"binary_data_size":%d}}]%s}`, s, datatype, len(data), extra)
	return http.Header{headerLength: {strconv.Itoa(len(head))}}, append([]byte(head), data...)
}

func TestHTTPInferBinaryEveryDatatype(t *testing.T) {
	url := start(t, Config{}).HTTPURL()
	for _, typ := range datatypes {
		data := bytes.Repeat([]byte{1}, int(typ.size)*6)
		if typ.size == 0 {
			for i := range 6 {
				data = append(binary.LittleEndian.AppendUint32(data, uint32(i)), "abcdef"[:i]...)
			}
		}
		h, body := binaryRequest("", typ.name, []int64{2, 3}, data, `,"parameters":{"binary_data_output":true}`)
		a, err := request(t, client(t), http.MethodPost,
			url+"/v2/models/identity_"+strings.ToLower(typ.name)+"/infer", h, body)
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(a.header.Get(headerLength))
		if a.status != 200 || err != nil || n > len(a.body) {
			t.Errorf("%s: %d %v %s", typ.name, a.status, a.header, a.body)
			continue
		}
		if !bytes.Equal(a.body[n:], data) || a.header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s: data %x, want %x", typ.name, a.body[n:], data)
		}
		want := fmt.Sprintf(`{"model_name":"identity_%s","model_version":"1","outputs":[{"name":"OUTPUT0",`+
			`"datatype":"%s","shape":[2,3],"parameters":{"binary_data_size":%d}}]}`,
			strings.ToLower(typ.name), typ.name, len(data))
		if diff := cmp.Diff(want, string(a.body[:n])); diff != "" {
			t.Error(diff)
		}
	}
}

func TestHTTPMixedOutputs(t *testing.T) {
	url := start(t, Config{}).HTTPURL()
	body := `{"inputs":[{"name":"INPUT0","shape":[1,16],"datatype":"INT32","data":[` + seq(0,
		16) + `]},{"name":"INPUT1","shape":[1,16],"datatype":"INT32","data":[` + seq(0, 16) + `]}],` +
		`"outputs":[{"name":"OUTPUT1","parameters":{"binary_data":true}},{"name":"OUTPUT0",` +
		`"parameters":{"binary_data":false}}],"parameters":{"binary_data_output":true}}`
	a := post(t, url+"/v2/models/simple/infer", body)
	n, _ := strconv.Atoi(a.header.Get(headerLength))
	want := `{"model_name":"simple","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"INT32",` +
		`"shape":[1,16],"data":[0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30]},{"name":"OUTPUT1",` +
		`"datatype":"INT32","shape":[1,16],"parameters":{"binary_data_size":64}}]}`
	if a.status != 200 || string(a.body[:n]) != want || !bytes.Equal(a.body[n:], make([]byte, 64)) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestHTTPRefusals(t *testing.T) {
	s := start(t, Config{})
	in := func(name, typ, shape, data string) string {
		return `{"name":"` + name + `","shape":` + shape + `,"datatype":"` + typ + `","data":` + data + `}`
	}
	i16 := in("INPUT0", "INT32", "[1,16]", "["+seq(0, 16)+"]")
	for _, c := range []struct {
		what, model, length, body string // length "|": that of the part of body before the |
		status                    int
		text                      string
	}{
		{"unknown model", "nosuch", "", `{}`, 404, "Request for unknown model: 'nosuch' is not found"},
		{
			"unknown version", "simple/versions/2", "", `{}`, 404,
			"Request for unknown model: 'simple' version 2 is not found",
		},
		{"cut JSON", "simple", "", `{"inputs":[`, 400, "failed to parse the request JSON buffer"},
		{"empty body", "simple", "", ``, 400, "failed to parse the request JSON buffer"},
		{"no inputs", "simple", "", `{}`, 400, "missing 'inputs'"},
		{
			"missing input", "simple", "", `{"id":"7","inputs":[` + i16 + `]}`, 400,
			"[request id: 7] expected 2 inputs but got 1 inputs for model 'simple'. Got input(s) ['INPUT0'], but " +
				"missing required input(s) ['INPUT1'].",
		},
		{
			"unknown input", "identity", "", `{"inputs":[` + in("X", "FP32", "[1,1]", "[1]") + `]}`, 400,
			"[request id: <id_unknown>] unexpected inference input 'X' for model 'identity'",
		},
		{"input twice", "simple", "", `{"inputs":[` + i16 + `,` + i16 + `]}`, 400, "already exists"},
		{
			"wrong type", "identity", "", `{"inputs":[` + in("INPUT0", "INT32", "[1,1]", "[1]") + `]}`, 400,
			"inference input 'INPUT0' data-type is 'INT32', but model 'identity' expects 'FP32'",
		},
		{
			"no such type", "identity", "", `{"inputs":[` + in("INPUT0", "FP99", "[1,1]", "[1]") + `]}`, 400,
			"unknown datatype 'FP99'",
		},
		{
			"wrong dims", "slow", "", `{"inputs":[` + in("INPUT0", "FP32", "[2]", "[1,2]") + `]}`, 400,
			"unexpected shape for input 'INPUT0' for model 'slow'. Expected [1], got [2].",
		},
		{
			"wrong rank", "identity", "", `{"inputs":[` + in("INPUT0", "FP32", "[1]", "[1]") + `]}`, 400,
			"Expected [-1,-1], got [1].",
		},
		{
			"negative dim", "identity", "", `{"inputs":[` + in("INPUT0", "FP32", "[1,-1]", "[]") + `]}`, 400,
			"got [1,-1]",
		},
		{
			"huge dims", "identity", "",
			`{"inputs":[` + in("INPUT0", "FP32", "[4,9223372036854775807]", "[1]") + `]}`, 400, "too many elements",
		},
		{
			"batch 65", "identity", "", `{"inputs":[` + in("INPUT0", "FP32", "[65,1]", "["+seq(0, 65)+"]") + `]}`,
			400, "inference request batch-size must be <= 64 for 'identity'",
		},
		{
			"batch 0", "identity", "", `{"inputs":[` + in("INPUT0", "FP32", "[0,1]", "[]") + `]}`, 400,
			"must be >= 1",
		},
		{
			"unlike batches", "simple", "",
			`{"inputs":[` + i16 + `,` + in("INPUT1", "INT32", "[2,16]", "["+seq(0, 32)+"]") + `]}`, 400,
			"batch size does not match",
		},
		{
			"too few elements", "identity", "", `{"inputs":[` + in("INPUT0", "FP32", "[1,3]", "[1,2]") + `]}`, 400,
			"got 2 elements for shape [1,3]",
		},
		{
			"text for a number", "identity", "", `{"inputs":[` + in("INPUT0", "FP32", "[1,1]", `["x"]`) + `]}`, 400,
			"unable to parse 'data' of input 'INPUT0'",
		},
		{
			"number too large", "identity_int8", "", `{"inputs":[` + in("INPUT0", "INT8", "[1,1]", `[128]`) + `]}`,
			400, "unable to parse 'data'",
		},
		{
			"byte too large", "identity_uint8", "", `{"inputs":[` + in("INPUT0", "UINT8", "[1,1]", `[256]`) + `]}`,
			400, "256",
		},
		{
			"ragged data", "identity", "", `{"inputs":[` + in("INPUT0", "FP32", "[1,2]", `[[1],2]`) + `]}`, 400,
			"unable to parse 'data'",
		},
		{
			"FP16 as JSON", "identity_fp16", "", `{"inputs":[` + in("INPUT0", "FP16", "[1,1]", `[1]`) + `]}`, 400,
			"sending FP16 data via JSON is not supported",
		},
		{
			"no data", "identity", "", `{"inputs":[{"name":"INPUT0","shape":[1,1],"datatype":"FP32"}]}`, 400,
			"neither 'data' nor 'binary_data_size'",
		},
		{
			"unknown output", "identity", "",
			`{"inputs":[` + in("INPUT0", "FP32", "[1,1]", "[1]") + `],"outputs":[{"name":"Y"}]}`, 400,
			"unexpected inference output 'Y' for model 'identity'",
		},
		{
			"length is text", "identity", "abc", `{}`, 400,
			"unable to parse Inference-Header-Content-Length, got: abc",
		},
		{"length is negative", "identity", "-1", `{}`, 400, "got: -1"},
		{"length beyond body", "identity", "3", `{}`, 400, "got: 3"},
		{
			"binary too short", "identity", "|",
			`{"inputs":[{"name":"INPUT0","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":8}}]}` +
				"|1234",
			400, "expecting 8 additional bytes but 4 are left",
		},
		{
			"binary too long", "identity", "|",
			`{"inputs":[{"name":"INPUT0","shape":[1,1],"datatype":"FP32","parameters":{"binary_data_size":4}}]}` +
				"|12345",
			400, "unexpected additional input data",
		},
		{
			"binary size unlike shape", "identity", "|",
			`{"inputs":[{"name":"INPUT0","shape":[1,2],"datatype":"FP32","parameters":{"binary_data_size":4}}]}` +
				"|1234",
			400, "input byte size mismatch for input 'INPUT0' for model 'identity'. Expected 8, got 4",
		},
		{
			"BYTES cut", "identity_bytes", "|",
			`{"inputs":[{"name":"INPUT0","shape":[1,1],"datatype":"BYTES","parameters":{"binary_data_size":3}}]}` +
				"|" + "\x01\x00\x00",
			400, "incomplete string length indicator",
		},
		{
			"BYTES count", "identity_bytes", "|",
			`{"inputs":[{"name":"INPUT0","shape":[1,2],"datatype":"BYTES","parameters":{"binary_data_size":4}}]}` +
				"|" + "\x00\x00\x00\x00",
			400, "unexpected number of string elements 1 for inference input 'INPUT0', expecting 2",
		},
	} {
		h := http.Header{}
		if c.length == "|" {
			head, tail, _ := strings.Cut(c.body, "|")
			c.length, c.body = strconv.Itoa(len(head)), head+tail
		}
		if c.length != "" {
			h[headerLength] = []string{c.length}
		}
		a, err := request(t, client(t), http.MethodPost, s.HTTPURL()+"/v2/models/"+c.model+"/infer", h,
			[]byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		got := decode[map[string]string](t, a.body)
		if a.status != c.status || len(got) != 1 || !strings.Contains(got["error"], c.text) || got["error"] == "" {
			t.Errorf("%s: %d %s\nwant %d with %s", c.what, a.status, a.body, c.status, c.text)
		}
	}
	n := decode[countReply](t, get(t, s.URLs().Control+"/sim/count").body)
	if n.Results.Invalid != n.Arrivals || n.Results.OK != 0 {
		t.Errorf("%+v", n)
	}
}

func TestHTTPNotANumberHasNoJSON(t *testing.T) {
	url := start(t, Config{}).HTTPURL() + "/v2/models/identity/infer"
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	h, body := binaryRequest("", "FP32", []int64{1, 1}, nan, "")
	a, err := request(t, client(t), http.MethodPost, url, h, body)
	if err != nil || a.status != 400 || !strings.Contains(string(a.body), "cannot be written as JSON") {
		t.Errorf("%v %d %s", err, a.status, a.body)
	}
}

func TestHTTPCodings(t *testing.T) {
	url := start(t, Config{}).HTTPURL() + "/v2/models/identity/infer"
	for _, c := range []struct {
		coding, body, want string
		status             int
	}{
		{"br", "x", "unsupported Content-Encoding 'br'", 415},
		{"gzip", "x", "failed to decompress the request body", 400},
		{"deflate", "\x78\x9cx", "failed to decompress the request body", 400},
		{"identity", oneFP32, `"OUTPUT0"`, 200},
	} {
		a, err := request(t, client(t), http.MethodPost, url, http.Header{"Content-Encoding": {c.coding}},
			[]byte(c.body))
		if err != nil || a.status != c.status || !strings.Contains(string(a.body), c.want) {
			t.Errorf("%s: %v %d %s", c.coding, err, a.status, a.body)
		}
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write([]byte(oneFP32))
	_ = z.Close()
	a, err := request(t, client(t), http.MethodPost, url,
		http.Header{"Content-Encoding": {"deflate"}, "Accept-Encoding": {"br, deflate"}}, packed.Bytes())
	if err != nil || a.status != 200 {
		t.Fatalf("%v %d %s", err, a.status, a.body)
	}
	plain, err := zlib.NewReader(bytes.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(plain); err != nil || !strings.Contains(string(text), `"OUTPUT0"`) {
		t.Errorf("%v: %s", err, text)
	}
}
