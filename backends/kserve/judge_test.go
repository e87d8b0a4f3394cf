package kserve

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/coding"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// judgeHTTP feeds a raw reply to a wire and gives the sample that it leaves.
func judgeHTTP(t testing.TB, reply string, e *backends.Expect) *backends.Sample {
	t.Helper()
	call := &backends.Call{Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: asking(e)}
	w := http1.New(&httpJudge{})
	s := &backends.Sample{}
	w.Begin(0, call, backends.Fields{}, s)
	if slot, _, _ := w.Feed([]byte(reply), 5); slot == backends.None {
		w.EOF(6)
	}
	return s
}

// asking is what is expected of the reply to a request that asks for a compressed one.
func asking(e *backends.Expect) *expectation {
	x := expect(&backends.Request{Expect: e}, nil)
	x.mayBeCoded = true
	return x
}

func floats(v ...float32) (b []byte) {
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func capture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".http"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCaptures(t *testing.T) {
	four := []backends.Tensor{
		{Name: "OUTPUT0", Type: tensor.FP32, Shape: []int64{1, 4}, Data: floats(1, 2, 3, 4)},
	}
	off := []backends.Tensor{
		{Name: "OUTPUT0", Type: tensor.FP32, Shape: []int64{1, 4}, Data: floats(1, 2, 3.5, 4)},
	}
	texts := []backends.Tensor{{
		Name: "OUTPUT0", Type: tensor.Bytes, Shape: []int64{2},
		Data: []byte("\x02\x00\x00\x00ab\x03\x00\x00\x00cé"),
	}}
	longs := []byte{}
	for _, v := range []uint64{1, 2, 3, 9007199254740993} {
		longs = binary.LittleEndian.AppendUint64(longs, v)
	}
	nested := []backends.Tensor{{Name: "OUTPUT0", Type: tensor.Int64, Shape: []int64{2, 2}, Data: longs}}
	for _, c := range []struct {
		name    string
		outputs []backends.Tensor
		class   backends.ErrorClass
		note    string
	}{
		{"mlserver_infer_ok", nil, backends.OK, ""},
		{"mlserver_infer_ok", four, backends.OK, ""},
		{"mlserver_infer_ok", off, backends.Mismatch, "output OUTPUT0 [2] is 3, want 3.5"},
		{"mlserver_infer_bytes", texts, backends.OK, ""},
		{"mlserver_infer_nested_data", nested, backends.OK, ""},
		// The server does not mind
		{"mlserver_infer_shape_mismatch", nil, backends.Decode, "output OUTPUT0 has 4 values, its shape takes 5"},
		{"mlserver_infer_shape_mismatch", four, backends.Decode, "output OUTPUT0 has 4 values, its shape takes 5"},
		{"mlserver_infer_unknown_model", four, backends.Status, `{"error":"Model nosuch not found"}`},
		{"mlserver_infer_bad_datatype", nil, backends.Status, `{"detail":[{"type":"enum"`},
		{"mlserver_generate_stream_unknown", nil, backends.ResetByPeer, ""},
		{"kserve_infer_ok", four, backends.OK, ""},
		{"kserve_infer_binary_out", four, backends.OK, ""},
		{"kserve_infer_unknown_model", nil, backends.Status, `{"error":"Model with name nosuch does not exist."}`},
		{"kserve_infer_malformed_json", nil, backends.Status, "JSON decode error"},
		{"kserve_infer_shape_mismatch", nil, backends.Status, "cannot reshape array"},
		{"kserve_infer_binary_short", nil, backends.Status, "buffer size must be a multiple"},
	} {
		s := judgeHTTP(t, capture(t, c.name), &backends.Expect{Outputs: c.outputs})
		if s.Class != c.class || !strings.Contains(string(s.Note), c.note) {
			t.Errorf("%s: %v %q, want %v %q", c.name, s.Class, s.Note, c.class, c.note)
		}
	}
}

// binaryReply is a reply with JSON and raw tensors.
func binaryReply(text, raw string, size int) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nInference-Header-Content-Length: %d\r\n"+
		"Content-Length: %d\r\n\r\n%s%s", size, len(text)+len(raw), text, raw)
}

func jsonReply(status int, text string) string {
	return fmt.Sprintf("HTTP/1.1 %d X\r\nLocation: http://other/v2\r\nContent-Length: %d\r\n\r\n%s",
		status, len(text), text)
}

func TestHTTPJudge(t *testing.T) {
	one := []backends.Tensor{{Name: "A", Type: tensor.Int32, Shape: []int64{1}, Data: []byte{7, 0, 0, 0}}}
	truth := []backends.Tensor{{Name: "A", Type: tensor.Bool, Shape: []int64{2}, Data: []byte{1, 0}}}
	two := append(one, backends.Tensor{Name: "B", Type: tensor.Uint8, Shape: []int64{2}, Data: []byte{1, 2}})
	head := `{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"parameters":{"binary_data_size":4}}]}`
	both := `{"id":"1","outputs":[{"name":"X","datatype":"UINT8","shape":[1],` +
		`"parameters":{"binary_data_size":1}},{"parameters":{"binary_data_size":4},"shape":[ 1 ` +
		`],"name":"\u0041","datatype":"INT32"},{"name":"B","shape":[2],"datatype":"UINT8","data":[[1],[2]]}],` +
		`"x":[{},null,-1.5e3,"\"]"]}`
	for _, c := range []struct {
		name, reply string
		expect      *backends.Expect
		class       backends.ErrorClass
		note        string
	}{
		{
			"binary", binaryReply(head, "\x07\x00\x00\x00", len(head)), &backends.Expect{Outputs: one}, backends.OK,
			"",
		},
		{"binary, nothing expected", binaryReply(head, "\x07\x00\x00\x00", len(head)), nil, backends.OK, ""},
		{
			"mixed, any order", binaryReply(both, "\x09\x07\x00\x00\x00", len(both)), &backends.Expect{Outputs: two},
			backends.OK, "",
		},
		{
			"other value", binaryReply(head, "\x08\x00\x00\x00", len(head)), &backends.Expect{Outputs: one},
			backends.Mismatch, "output A [0] is 8, want 7",
		},
		{
			"missing", binaryReply(head, "\x07\x00\x00\x00", len(head)), &backends.Expect{Outputs: two},
			backends.Mismatch, "output B is missing",
		},
		{
			"datatype", jsonReply(200, `{"outputs":[{"name":"A","datatype":"INT64","shape":[1],"data":[7]}]}`),
			&backends.Expect{Outputs: one}, backends.Mismatch, "datatype INT64, want INT32",
		},
		{
			"short", binaryReply(head, "\x07\x00", len(head)), &backends.Expect{Outputs: one}, backends.Decode,
			"too short for output A",
		},
		{
			"long", binaryReply(head, "\x07\x00\x00\x00\x00", len(head)), &backends.Expect{Outputs: one},
			backends.Decode, "bytes follow",
		},
		{
			"head too long", binaryReply(head, "", 1000), &backends.Expect{Outputs: one}, backends.Decode,
			"differs from its header",
		},
		{
			"head too long, nothing expected", binaryReply(head, "", 1000), nil, backends.Decode,
			"differs from its header",
		},
		{
			"bools", jsonReply(200, `{"outputs":[{"name":"A","datatype":"BOOL","shape":[2],"data":[true,false]}]}`),
			&backends.Expect{Outputs: truth}, backends.OK, "",
		},
		{
			"text for a number",
			jsonReply(200, `{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"data":["7"]}]}`),
			&backends.Expect{Outputs: one}, backends.Decode, "output A has texts as data, wanted numbers of INT32",
		},
		{
			"an error beside the right values",
			jsonReply(200, `{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"data":[7]}],"error":"late"}`),
			&backends.Expect{Outputs: one}, backends.Server, `"error":"late"`,
		},
		{
			"fraction", jsonReply(200, `{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"data":[7.5]}]}`),
			&backends.Expect{Outputs: one}, backends.Decode, "output A",
		},
		{
			"another output with fewer values",
			jsonReply(200,
				`{"outputs":[{"name":"B","datatype":"INT32","shape":[2],"data":[7]},{"name":"A","datatype":"INT32",`+
					`"shape":[1],"data":[7]}]}`),
			&backends.Expect{Outputs: one}, backends.Decode, "output B has 1 values, its shape takes 2",
		},
		{
			"no array", jsonReply(200, `{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"data":7}]}`),
			&backends.Expect{Outputs: one}, backends.Decode, "output A",
		},
		{
			"cut JSON", jsonReply(200, `{"outputs":[{"name":"A"`), &backends.Expect{Outputs: one}, backends.Decode,
			"JSON cannot be read",
		},
		{
			"more after", jsonReply(200, `{"outputs":[]} x`), &backends.Expect{Outputs: one}, backends.Decode,
			"JSON cannot be read",
		},
		{
			"no outputs", jsonReply(200, `{}`), &backends.Expect{Outputs: one}, backends.Mismatch,
			"output A is missing",
		},
		{
			"error in a 200", jsonReply(200, `{"error":"generate expects one response"}`), nil, backends.Server,
			"generate expects one response",
		},
		{
			"error in a 200, expected outputs", jsonReply(200, ` { "error" : "x" }`), &backends.Expect{Outputs: one},
			backends.Server, `"x"`,
		},
		{"html", jsonReply(200, "<html>"), nil, backends.Decode, "not a JSON object: <html>"},
		{"empty", jsonReply(200, ""), nil, backends.Decode, "not a JSON object"},
		{
			"redirect", jsonReply(301, ""), nil, backends.Status,
			"write the right address into `url`; it points to http://other/v2",
		},
		{"201", jsonReply(201, "made"), nil, backends.Status, "made"},
		{"503", jsonReply(503, `{"error":"busy"}`), nil, backends.Status, `{"error":"busy"}`},
		{"204", jsonReply(204, ""), nil, backends.Status, "an empty reply with status 204"},
		{"404, empty", jsonReply(404, ""), nil, backends.Status, "an empty reply with status 404"},
		{
			"503 expected", jsonReply(503, `{"error":"busy"}`),
			&backends.Expect{Status: []int{503, 200}, Outputs: one}, backends.OK, "",
		},
		{"200 not expected", jsonReply(200, `{}`), &backends.Expect{Status: []int{503}}, backends.Status, ""},
	} {
		s := judgeHTTP(t, c.reply, c.expect)
		if s.Class != c.class || !strings.Contains(string(s.Note), c.note) ||
			c.class == backends.OK && len(s.Note) > 0 {
			t.Errorf("%s: %v %q, want %v %q", c.name, s.Class, s.Note, c.class, c.note)
		}
	}
}

// outputMessage is an InferOutputTensor with contents, if any.
func outputMessage(name, datatype string, shape []int64, contents []byte) []byte {
	b := protow.AppendString(protow.AppendString([]byte(nil), 1, name), 2, datatype)
	b = protow.AppendInts(b, 3, shape)
	if contents != nil {
		b = protow.AppendString(b, 5, contents)
	}
	return b
}

func TestGRPCJudge(t *testing.T) {
	one := []backends.Tensor{
		{Name: "A", Type: tensor.Int32, Shape: []int64{1}, Data: []byte{254, 255, 255, 255}},
	}
	raw := protow.AppendString(protow.AppendString([]byte(nil), 5, outputMessage("A", "INT32", []int64{1}, nil)),
		6, "\xfe\xff\xff\xff")
	typed := func(t tensor.DataType, contents []byte) []byte {
		return protow.AppendString([]byte(nil), 5, outputMessage("A", string(t), []int64{1}, contents))
	}
	want := func(t tensor.DataType, data string) *backends.Expect {
		return &backends.Expect{
			Outputs: []backends.Tensor{{Name: "A", Type: t, Shape: []int64{1}, Data: []byte(data)}},
		}
	}
	for _, c := range []struct {
		name    string
		message []byte
		expect  *backends.Expect
		class   backends.ErrorClass
		note    string
	}{
		{"raw", raw, &backends.Expect{Outputs: one}, backends.OK, ""},
		{"nothing expected", raw, nil, backends.OK, ""},
		{"empty, nothing expected", nil, nil, backends.Decode, "not a ModelInferResponse"},
		{"empty", nil, &backends.Expect{Outputs: one}, backends.Mismatch, "output A is missing"},
		{"malformed", raw[:len(raw)-1], nil, backends.Decode, "no protobuf"},
		{
			"malformed, compared", raw[:len(raw)-1], &backends.Expect{Outputs: one}, backends.Decode,
			"not a ModelInferResponse",
		},
		{
			"fewer raw", protow.AppendString(raw, 5, outputMessage("B", "INT32", nil, nil)),
			&backends.Expect{Outputs: one}, backends.Decode, "not a ModelInferResponse",
		},
		{
			"broken tensor", protow.AppendString([]byte(nil), 5, "\x0a\x05x"), &backends.Expect{Outputs: one},
			backends.Decode, "tensor cannot be read",
		},
		{"other", raw, want(tensor.Int32, "\x01\x00\x00\x00"), backends.Mismatch, "output A [0] is -2, want 1"},
		{
			"int32 contents", typed(tensor.Int32, protow.AppendInts(nil, 2, []int64{-2})),
			&backends.Expect{Outputs: one}, backends.OK, "",
		},
		{
			"int32 contents, not packed", typed(tensor.Int32, protow.AppendUint(nil, 2, math.MaxUint64-1)),
			&backends.Expect{Outputs: one}, backends.OK, "",
		},
		{
			"bool", typed(tensor.Bool, protow.AppendInts(nil, 1, []int64{1})), want(tensor.Bool, "\x01"), backends.OK,
			"",
		},
		{
			"int64", typed(tensor.Int64, protow.AppendInts(nil, 3, []int64{-1})),
			want(tensor.Int64, "\xff\xff\xff\xff\xff\xff\xff\xff"), backends.OK, "",
		},
		{
			"uint8", typed(tensor.Uint8, protow.AppendInts(nil, 4, []int64{200})), want(tensor.Uint8, "\xc8"),
			backends.OK, "",
		},
		{
			"uint64", typed(tensor.Uint64, protow.AppendInts(nil, 5, []int64{-1})),
			want(tensor.Uint64, "\xff\xff\xff\xff\xff\xff\xff\xff"), backends.OK, "",
		},
		{
			"fp32", typed(tensor.FP32, protow.AppendString([]byte(nil), 6, floats(1))),
			want(tensor.FP32, "\x00\x00\x80\x3f"), backends.OK, "",
		},
		{
			"fp64, not packed", typed(tensor.FP64, protow.AppendFixed64(nil, 7, math.Float64bits(1))),
			want(tensor.FP64, "\x00\x00\x00\x00\x00\x00\xf0\x3f"), backends.OK, "",
		},
		{
			"bytes", typed(tensor.Bytes, protow.AppendString([]byte(nil), 8, "ab")),
			want(tensor.Bytes, "\x02\x00\x00\x00ab"), backends.OK, "",
		},
		{
			"cut varint", typed(tensor.Int32, protow.AppendString([]byte(nil), 2, "\xff")),
			&backends.Expect{Outputs: one}, backends.Decode, "contents cannot be read of output A",
		},
		{"OK not expected", raw, &backends.Expect{Status: []int{5}}, backends.Status, "not expected"},
	} {
		s := judgeGRPC(t, c.message, c.expect)
		if s.Class != c.class || !strings.Contains(string(s.Note), c.note) {
			t.Errorf("%s: %v %q, want %v %q", c.name, s.Class, s.Note, c.class, c.note)
		}
	}
}

func judgeGRPC(t testing.TB, message []byte, e *backends.Expect) *backends.Sample {
	t.Helper()
	conn := openFor(t, backends.Target{URL: "grpc://h:1", Model: "m"})
	call, err := conn.Prepare(backends.Request{Expect: e})
	if err != nil {
		t.Fatal(err)
	}
	s := &backends.Sample{}
	j := &grpcJudge{}
	pieces := [][]byte{message}
	if len(message) == 0 {
		pieces = nil
	}
	j.Reply(call, pieces, s)
	return s
}

func FuzzHTTPReply(f *testing.F) {
	for _, name := range []string{
		"mlserver_infer_ok", "mlserver_infer_bytes", "mlserver_infer_nested_data", "kserve_infer_binary_out",
	} {
		_, body, _ := strings.Cut(capture(f, name), "\r\n\r\n")
		f.Add(body, uint16(len(body)), "FP32")
	}
	f.Add(`{"outputs":[{"name":"OUTPUT0","datatype":"BYTES","shape":[1],`+
		`"parameters":{"binary_data_size":5}}]}`+"\x01\x00\x00\x00x", uint16(97), "BYTES")
	f.Fuzz(func(t *testing.T, body string, size uint16, datatype string) {
		e := &backends.Expect{
			Relative: 0.1,
			Outputs: []backends.Tensor{
				{Name: "OUTPUT0", Type: tensor.DataType(datatype), Shape: []int64{1, 4}, Data: floats(1, 2, 3, 4)},
			},
		}
		for _, expect := range []*backends.Expect{nil, e} {
			s := judgeHTTP(t, binaryReply(body, "", int(size)), expect)
			if (s.Class == backends.OK) != (len(s.Note) == 0) {
				t.Errorf("%v with note %q", s.Class, s.Note)
			}
		}
		sc := jsonscan.Lenient([]byte(body))
		sc.Skip()
		if json.Valid([]byte(body)) && !sc.AtEnd() && !deep(body) {
			t.Errorf("valid JSON refused: %q", body)
		}
	})
}

func deep(body string) bool {
	return strings.Count(body, "[")+strings.Count(body, "{") > jsonscan.MaxDepth
}

func FuzzGRPCReply(f *testing.F) {
	f.Add(protow.AppendString(protow.AppendString([]byte(nil), 5, outputMessage("A", "INT32", []int64{1}, nil)),
		6, "\xfe\xff\xff\xff"), "INT32")
	f.Add(protow.AppendString([]byte(nil), 5,
		outputMessage("A", "FP32", []int64{1}, protow.AppendString([]byte(nil), 6, floats(1)))), "FP32")
	f.Add(protow.AppendString([]byte(nil), 5,
		outputMessage("A", "BYTES", []int64{1}, protow.AppendString([]byte(nil), 8, "ab"))), "BYTES")
	conn, err := Open(backends.Target{URL: "grpc://h:1", Model: "m"}, backends.Clock{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, message []byte, datatype string) {
		j := &grpcJudge{}
		for _, outputs := range [][]backends.Tensor{
			nil, {{Name: "A", Type: tensor.DataType(datatype), Shape: []int64{1}, Data: []byte{1, 2, 3, 4}}},
		} {
			call, err := conn.Prepare(backends.Request{Expect: &backends.Expect{Outputs: outputs}})
			if err != nil {
				t.Fatal(err)
			}
			s := &backends.Sample{}
			j.Reply(call, [][]byte{message}, s)
			if (s.Class == backends.OK) != (len(s.Note) == 0) {
				t.Errorf("%v with note %q", s.Class, s.Note)
			}
		}
	})
}

// A head that is like the one before is not searched again, and one that differs is.
func TestLengthOfEveryReply(t *testing.T) {
	call := &backends.Call{Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: expect(&backends.Request{}, nil)}
	w := http1.New(&httpJudge{})
	for i, c := range []struct {
		length string
		class  backends.ErrorClass
	}{
		{"14", backends.OK},
		{"14", backends.OK},
		{"99", backends.Decode},
		{"99", backends.Decode},
		{"x", backends.Decode},
		{"", backends.OK},
		{"", backends.OK},
		{"99", backends.Decode},
	} {
		head := "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n"
		if c.length != "" {
			head += "Inference-Header-Content-Length: " + c.length + "\r\n"
		}
		s := &backends.Sample{}
		w.Begin(0, call, backends.Fields{}, s)
		w.Feed([]byte(head+"\r\n{\"outputs\":[]}"), 5)
		if s.Class != c.class {
			t.Errorf("reply %d with length %q: %s, want %s",
				i, c.length, backends.ClassNames[s.Class], backends.ClassNames[c.class])
		}
	}
}

// packed is a reply in a coding, of which the client asks for the first most bytes at a time.
func packed(t *testing.T, status int, name, coded, text string) string {
	t.Helper()
	s, err := coding.WithSuffix(coded, 0, [][]byte{[]byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	body := s.AppendTrailer(slices.Clone(s.Before), nil)
	return fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s",
		status, name, len(body), body)
}

func TestCompressedReplies(t *testing.T) {
	noise := make([]byte, 3000)
	for i := range noise {
		noise[i] = byte(i*i>>3) ^ byte(i*7919>>5)
	}
	long := `{"model_name":"m","outputs":[],"x":"` + base64.StdEncoding.EncodeToString(noise) + `"}`
	want := &backends.Expect{
		Outputs: []backends.Tensor{{Name: "A", Type: tensor.Int32, Shape: []int64{1}, Data: []byte{5, 0, 0, 0}}},
	}
	five := `{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"data":[5]}]}`
	six := strings.Replace(five, "5", "6", 1)
	for _, c := range []struct {
		what, reply string
		expect      *backends.Expect
		class       backends.ErrorClass
		note        string
	}{
		{"gzip", packed(t, 200, "gzip", "gzip", long), nil, backends.OK, ""},
		{"deflate", packed(t, 200, "Deflate", "deflate", long), nil, backends.OK, ""},
		{
			"an error with status 200", packed(t, 200, "gzip", "gzip", `{"error":"busy"}`), nil, backends.Server,
			"busy",
		},
		{"an error", packed(t, 400, "gzip", "gzip", `{"error":"bad shape"}`), nil, backends.Status, "bad shape"},
		{"compared", packed(t, 200, "gzip", "gzip", five), want, backends.OK, ""},
		{"different", packed(t, 200, "deflate", "deflate", six), want, backends.Mismatch, "[0] is 6, want 5"},
		{
			"another coding than it says", packed(t, 200, "gzip", "deflate", long), nil, backends.Decode,
			"not compressed as its header says: gzip",
		},
		{
			"a coding that was not requested", packed(t, 200, "br", "gzip", long), nil, backends.Decode,
			"not compressed as its header says: br",
		},
		{
			"none", "HTTP/1.1 200 X\r\nContent-Encoding: identity\r\nContent-Length: 14\r\n\r\n{\"outputs\":[]}", nil,
			backends.OK, "",
		},
	} {
		s := judgeHTTP(t, c.reply, c.expect)
		if s.Class != c.class || !strings.Contains(string(s.Note), c.note) {
			t.Errorf("%s: %s %s", c.what, s.Class, s.Note)
		}
	}
}

// TestCompressionIsAskedFor: a reply is decompressed only if its request asks for that, by the
// target's `compression` or a header of its own, and no further than the call allows.
func TestCompressionIsAskedFor(t *testing.T) {
	seven := &backends.Expect{
		Outputs: []backends.Tensor{{Name: "A", Type: tensor.Int32, Shape: []int64{1}, Data: []byte{7, 0, 0, 0}}},
	}
	good := packed(t, 200, "gzip", "gzip",
		`{"outputs":[{"name":"A","datatype":"INT32","shape":[1],"data":[7]}]}`)
	bomb := packed(t, 200, "gzip", "gzip", strings.Repeat(" ", 64<<20))
	failed := packed(t, 503, "gzip", "gzip", `{"error":"busy"}`)
	gzip, identity := backends.Header{Name: "accept-encoding", Value: "gzip"}, backends.Header{
		Name: "Accept-Encoding", Value: "identity",
	}
	for _, c := range []struct {
		name   string
		target backends.Target
		own    []backends.Header
		reply  string
		class  backends.ErrorClass
		note   string
	}{
		{
			"not asked for",
			backends.Target{},
			nil, good, backends.Decode,
			"the reply is compressed, but the target does not set `compression`: gzip",
		},
		{
			"not asked for, a status",
			backends.Target{},
			nil, failed, backends.Status,
			"the reply is compressed, but",
		},
		{"not asked for, a bomb", backends.Target{}, nil, bomb, backends.Decode, "does not set `compression`"},
		{
			"identity",
			backends.Target{Headers: []backends.Header{identity}},
			nil, good, backends.Decode,
			"does not set `compression`",
		},
		{"compression", backends.Target{Compression: "deflate"}, nil, good, backends.OK, ""},
		{"a header of the target", backends.Target{Headers: []backends.Header{gzip}}, nil, good, backends.OK, ""},
		{"a header of the request", backends.Target{}, []backends.Header{gzip}, good, backends.OK, ""},
		{
			"a header of the request over the target's",
			backends.Target{Headers: []backends.Header{gzip}},
			[]backends.Header{identity},
			good, backends.Decode, "does not set `compression`",
		},
		{"a status", backends.Target{Compression: "gzip"}, nil, failed, backends.Status, "busy"},
		{
			"a bomb",
			backends.Target{Compression: "gzip", MaxMessage: 1 << 20},
			nil, bomb, backends.Decode,
			"the decompressed reply exceeds `max_message`: 1048576",
		},
	} {
		for _, keep := range []bool{false, true} {
			c.target.URL = "http://h"
			conn := openFor(t, c.target)
			call, err := conn.Prepare(backends.Request{Model: "m", Headers: c.own, Expect: seven})
			if err != nil {
				t.Fatal(err)
			}
			judge, s := &httpJudge{keep: keep}, &backends.Sample{}
			w := http1.New(judge)
			w.Begin(0, call, backends.Fields{}, s)
			w.Feed([]byte(c.reply), 5)
			if s.Class != c.class || !strings.Contains(string(s.Note), c.note) {
				t.Errorf("%s: %s %q, want %s %q", c.name, s.Class, s.Note, c.class, c.note)
			}
			if most := judge.decoder.Cap(); most > 4<<20 {
				t.Errorf("%s: decompression took %d bytes", c.name, most)
			}
		}
	}
}

// TestReplyLimits: a reply may have max_message bytes, or the larger of 64 MiB and four times what
// the metadata imply.
func TestReplyLimits(t *testing.T) {
	const mib = 1 << 20
	fp32 := func(shape ...int64) backends.Port { return backends.Port{Type: tensor.FP32, Shape: shape} }
	big := backends.Signature{
		Batched: true, Outputs: []backends.Port{fp32(4 * mib), {Type: tensor.Int8, Shape: []int64{mib}}},
	}
	for _, c := range []struct {
		name  string
		plan  int64
		model backends.Signature
		items uint32
		json  bool
		want  int64
	}{
		{"nothing is known", 0, backends.Signature{}, 1, false, 64 * mib},
		{"small", 0, backends.Signature{Outputs: []backends.Port{fp32(4)}}, 1, false, 64 * mib},
		{"large", 0, big, 1, false, 4 * 17 * mib},
		{"a batch", 0, big, 8, false, 8 * 4 * 17 * mib},
		{
			"a batch of a model without that dimension", 0,
			backends.Signature{Outputs: big.Outputs},
			8, false,
			4 * 17 * mib,
		},
		{"as JSON", 0, big, 1, true, 4 * 26 * 5 * mib},
		{"a dimension is free", 0, backends.Signature{Outputs: []backends.Port{fp32(-1, mib)}}, 1, false, 64 * mib},
		{
			"texts", 0,
			backends.Signature{Outputs: []backends.Port{{Type: tensor.Bytes, Shape: []int64{100 * mib}}}},
			1, false, 64 * mib,
		},
		{"the plan says", 3, big, 1, false, 3},
	} {
		if got := replyLimit(&backends.Request{Signature: &c.model, Items: c.items},
			&backends.Target{MaxMessage: c.plan}, c.json); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// FuzzStreamMessage: no message of a stream makes the judge panic, however it is cut, and none is
// both empty and an error.
func FuzzStreamMessage(f *testing.F) {
	f.Add([]byte("\x0a\x02no\x12\x03\x1a\x017"), 3)
	f.Add([]byte("\x12\x1d\x22\x1b\x0a\x15triton_final_response\x12\x02\x08\x01"), 5)
	f.Fuzz(func(t *testing.T, message []byte, size int) {
		size = max(size, 1)
		var pieces [][]byte
		for rest := message; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			pieces = append(pieces, rest[:min(size, len(rest))])
		}
		cut, whole := (&streamJudge{}).Read(pieces), (&streamJudge{}).Read([][]byte{message})
		if cut.ID != whole.ID || cut.Final != whole.Final || cut.Broken != whole.Broken ||
			string(cut.Error) != string(whole.Error) {
			t.Errorf("in pieces %+v, whole %+v", cut, whole)
		}
		if whole.Empty && (whole.Error != nil || !whole.Final) {
			t.Errorf("%+v", whole)
		}
	})
}

// FuzzObject: no event of a stream makes the judge panic, and what is taken as a response is a JSON
// object.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"OUTPUT0":7,"model_name":"m"}`))
	f.Add([]byte(`{"error":"x"}`))
	f.Add([]byte(`{"OUTPUT0":[[7]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, e := range []*expectation{
			{},
			{outputs: []backends.Tensor{
				{Name: "OUTPUT0", Type: tensor.Int32, Shape: []int64{1}, Data: []byte{7, 0, 0, 0}},
			}},
		} {
			s := &backends.Sample{}
			if bad := (&objectJudge{}).object(&backends.Call{Impl: e}, text, s); bad == (s.Class == backends.OK) &&
				s.Class != backends.Mismatch {
				t.Errorf("bad %v, class %v, note %q", bad, s.Class, s.Note)
			}
		}
	})
}
