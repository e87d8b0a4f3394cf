package kserve

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/coding"
)

func openFor(t testing.TB, target backends.Target) Conn {
	t.Helper()
	c, err := Open(target, backends.Clock{Origin: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	return c
}

// wireBytes are a call's bytes with the id 7.
func wireBytes(c *backends.Call, headLast bool) []byte {
	head := bytes.Clone(c.Head)
	for _, h := range c.Holes {
		copy(head[h.At:], strings.Repeat("0", int(h.Width)-1)+"7")
	}
	body := bytes.Join(c.Body, nil)
	if headLast {
		return append(body, head...)
	}
	return append(head, body...)
}

var simple = backends.Request{
	Inputs: []backends.Tensor{
		{Name: "IN", Type: tensor.Int32, Shape: []int64{1, 2}, Data: []byte{1, 0, 0, 0, 254, 255, 255, 255}},
		{Name: `t"é`, Type: tensor.Bytes, Shape: []int64{2}, Data: []byte("\x02\x00\x00\x00ab\x00\x00\x00\x00")},
	},
}

func TestHTTPBytes(t *testing.T) {
	named := simple
	named.Outputs = []backends.Output{{Name: "A"}, {Name: "B", Classification: 3}}
	named.Parameters = []backends.Parameter{
		{Name: "p", Value: int64(-5)},
		{Name: "q", Value: "x<y"},
		{Name: "r", Value: 0.5},
		{Name: "s", Value: true},
	}
	named.Headers = []backends.Header{{Name: "X-B", Value: "over"}}
	named.ModelVersion, named.Model = "3", "a/b"
	raw := "\x01\x00\x00\x00\xfe\xff\xff\xff\x02\x00\x00\x00ab\x00\x00\x00\x00"
	for _, c := range []struct {
		name    string
		target  backends.Target
		request backends.Request
		want    string // lines of the head end with \n here
	}{
		{
			"binary",
			backends.Target{URL: "http://h:8000", Model: "m"},
			simple,
			"POST /v2/models/m/infer HTTP/1.1\nHost: h:8000\nContent-Type: " +
				"application/octet-stream\nInference-Header-Content-Length: 249\nContent-Length: 267\n\n" +
				`{"id":"00000000000000000007","parameters":{"binary_data_output":true},"inputs":[{"name":"IN",` +
				`"shape":[1,2],"datatype":"INT32","parameters":{"binary_data_size":8}},{"name":"t\"é","shape":[2],` +
				`"datatype":"BYTES","parameters":{"binary_data_size":10}}]}` + raw,
		},
		{
			"prefix, version, parameters, outputs, headers",
			backends.Target{
				URL: "http://h:8000/triton", Model: "m", ModelVersion: "1",
				Parameters: []backends.Parameter{{Name: "p", Value: "base"}},
				Headers:    []backends.Header{{Name: "X-A", Value: "a"}, {Name: "x-b", Value: "b"}},
			},
			named,
			"POST /triton/v2/models/a%2Fb/versions/3/infer HTTP/1.1\nHost: h:8000\nX-A: a\nX-B: " +
				"over\nContent-Type: application/octet-stream\nInference-Header-Content-Length: 382\nContent-Length: " +
				"400\n\n" +
				`{"id":"00000000000000000007","parameters":{"p":-5,"q":"x<y","r":0.5,"s":true},` +
				`"inputs":[{"name":"IN","shape":[1,2],"datatype":"INT32","parameters":{"binary_data_size":8}},` +
				`{"name":"t\"é","shape":[2],"datatype":"BYTES","parameters":{"binary_data_size":10}}],` +
				`"outputs":[{"name":"A","parameters":{"binary_data":true}},{"name":"B",` +
				`"parameters":{"binary_data":true,"classification":3}}]}` + raw,
		},
		{
			"json",
			backends.Target{URL: "http://h:8000", Model: "m", ModelVersion: "2", InputJSON: true, OutputJSON: true},
			simple,
			"POST /v2/models/m/versions/2/infer HTTP/1.1\nHost: h:8000\nContent-Type: " +
				"application/json\nContent-Length: 166\n\n" +
				`{"id":"00000000000000000007","inputs":[{"name":"IN","shape":[1,2],"datatype":"INT32","data":[1,-2]},` +
				`{"name":"t\"é","shape":[2],"datatype":"BYTES","data":["ab",""]}]}`,
		},
	} {
		call, err := openFor(t, c.target).Prepare(c.request)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		head, body, _ := strings.Cut(c.want, "\n\n")
		want := strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n" + body
		got := string(wireBytes(call, false))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
		if call.Size != len(got) || call.Stateful {
			t.Errorf("%s: size %d of %d", c.name, call.Size, len(got))
		}
	}
}

// The message is written by hand from the field numbers of the published protocol.
func TestGRPCBytes(t *testing.T) {
	r := simple
	r.Outputs = []backends.Output{{Name: "A"}, {Name: "B", Classification: 300}}
	r.Parameters = []backends.Parameter{
		{Name: "i", Value: int64(-1)}, {Name: "b", Value: true}, {Name: "s", Value: "v"}, {Name: "d", Value: 1.0},
	}
	want := "0a016d" + "120132" + // model_name, model_version
		"2210" + "0a0169" + "120b" + "10ffffffffffffffffff01" + // parameters: i
		"2207" + "0a0162" + "1202" + "0801" +
		"2208" + "0a0173" + "1203" + "1a0176" +
		"220e" + "0a0164" + "1209" + "21000000000000f03f" +
		"2a0f" + "0a02494e" + "1205" + hex.EncodeToString([]byte("INT32")) + "1a020102" + // inputs
		"2a10" + "0a04" + hex.EncodeToString([]byte(`t"é`)) + "1205" + hex.EncodeToString([]byte("BYTES")) +
		"1a0102" +
		"3203" + "0a0141" + // outputs
		"321a" + "0a0142" + "1215" + "0a0e" + hex.EncodeToString([]byte("classification")) + "1203" + "10ac02" +
		"3a08" + "01000000feffffff" + "3a0a" + "02000000616200000000" + // raw_input_contents
		"1a14" + hex.EncodeToString([]byte("00000000000000000007")) // id
	call, err := openFor(t, backends.Target{URL: "grpc://h:1", Model: "m", ModelVersion: "2"}).Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, hex.EncodeToString(wireBytes(call, true))); diff != "" {
		t.Error(diff)
	}
	big := backends.Request{
		Inputs: []backends.Tensor{{Name: "I", Type: tensor.Uint8, Shape: []int64{5000}, Data: make([]byte, 5000)}},
	}
	if call, err = openFor(t, backends.Target{URL: "grpc://h:1", Model: "m"}).Prepare(big); err != nil {
		t.Fatal(err)
	}
	if &call.Body[1][0] != &big.Inputs[0].Data[0] {
		t.Error("a large tensor was copied")
	}
}

// TestGRPCBody: a whole message goes as it stands; on a stream it also asks to be told of the end,
// unless it says something else.
func TestGRPCBody(t *testing.T) {
	id := "1a14" + hex.EncodeToString([]byte("00000000000000000007"))
	asks := hexLength("22",
		hexLength("0a", hex.EncodeToString([]byte("triton_enable_empty_final_response")))+"1202"+"0801")
	declines := strings.TrimSuffix(asks, "01") + "00"
	for _, c := range []struct {
		streaming  bool
		body, want string
	}{
		{false, "0a016d", "0a016d" + id},
		{true, "0a016d", "0a016d" + asks + id},
		{
			true, "0a016d" + "2207" + "0a0162" + "1202" + "0801",
			"0a016d" + "2207" + "0a0162" + "1202" + "0801" + asks + id,
		},
		{true, "0a016d" + declines, "0a016d" + declines + id},
	} {
		body, err := hex.DecodeString(c.body)
		if err != nil {
			t.Fatal(err)
		}
		call, err := openFor(t,
			backends.Target{
				URL: "grpc://h:1", Model: "m", Streaming: c.streaming,
			}).Prepare(backends.Request{Body: body})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, hex.EncodeToString(wireBytes(call, true))); diff != "" {
			t.Errorf("%s, streaming %v: %s", c.body, c.streaming, diff)
		}
	}
}

func TestPrepareRefuses(t *testing.T) {
	f16 := backends.Tensor{Name: "H", Type: tensor.FP16, Shape: []int64{1}, Data: []byte{0, 0x3c}}
	nan := backends.Tensor{
		Name: "F", Type: tensor.FP32, Shape: []int64{2}, Data: []byte{0, 0, 0, 0, 0, 0, 0xc0, 0x7f},
	}
	inf := backends.Tensor{
		Name: "F", Type: tensor.FP64, Shape: []int64{1}, Data: []byte{0, 0, 0, 0, 0, 0, 0xf0, 0xff},
	}
	latin := backends.Tensor{
		Name: "S", Type: tensor.Bytes, Shape: []int64{1}, Data: []byte("\x01\x00\x00\x00\xe9"),
	}
	json := backends.Target{URL: "http://h", Model: "m", InputJSON: true}
	plain := backends.Target{URL: "http://h", Model: "m"}
	object := backends.Target{URL: "http://h", Model: "m", Endpoint: Generate}
	tensors := func(t ...backends.Tensor) backends.Request { return backends.Request{Inputs: t} }
	for _, c := range []struct {
		target  backends.Target
		request backends.Request
		want    string
	}{
		{json, tensors(f16), "input H: FP16 has no JSON form"},
		{json, tensors(nan), "input F: element 1 is NaN"},
		{json, tensors(inf), "input F: element 0 is Inf"},
		{json, tensors(latin), "input S: element 0 is not UTF-8, which JSON needs: use tensors: {input: binary}"},
		{object, tensors(f16), "input H: FP16 has no JSON form"},
		{object, tensors(nan), "input F: element 1 is NaN"},
		{object, tensors(latin), "input S: element 0 is not UTF-8"},
		{
			object,
			backends.Request{Parameters: []backends.Parameter{{Name: "p", Value: math.Inf(1)}}},
			"parameter p is +Inf",
		},
		{
			object,
			backends.Request{Outputs: []backends.Output{{Name: "O"}}},
			"outputs cannot be requested at endpoint generate",
		},
		{plain, tensors(backends.Tensor{Name: "A", Type: "FP99"}), `input "A" has the unknown datatype "FP99"`},
		{
			plain, tensors(backends.Tensor{Name: "A", Type: tensor.FP32, Shape: []int64{2}, Data: make([]byte, 4)}),
			"input A has 4 bytes, its shape [2] of FP32 takes 8",
		},
		{
			plain, tensors(backends.Tensor{Name: "A", Type: tensor.FP32, Shape: []int64{-1}}),
			"input A: dimension 0 is -1",
		},
		{
			plain,
			tensors(backends.Tensor{
				Name: "S", Type: tensor.Bytes, Shape: []int64{2}, Data: []byte("\x01\x00\x00\x00x\x09"),
			}),
			"input S has 1 whole strings",
		},
		{backends.Target{URL: "http://h"}, backends.Request{}, "no model is named"},
		{plain, backends.Request{Parameters: []backends.Parameter{{Name: "p", Value: 1}}}, "parameter p is a int"},
		{
			plain,
			backends.Request{Parameters: []backends.Parameter{{Name: "binary_data_output", Value: true}}},
			"binary_data_output cannot be set",
		},
		{
			plain,
			backends.Request{Headers: []backends.Header{{Name: "content-type", Value: "x"}}},
			"content-type cannot be set",
		},
		{plain, backends.Request{Headers: []backends.Header{{Name: "x", Value: "a\r\nb"}}}, "control character"},
		{backends.Target{URL: "grpc://h:1", Model: "m", MaxMessage: 10}, tensors(f16), "over max_message, 10"},
		{backends.Target{URL: "grpc://h:1"}, backends.Request{}, "no model is named"},
		{
			backends.Target{URL: "grpc://h:1", Model: "m"},
			backends.Request{Body: []byte(`{"inputs":[]}`)},
			"the body is not a ModelInferRequest",
		},
		{
			backends.Target{URL: "grpc://h:1", Model: "m"},
			backends.Request{Body: []byte("\x08\x01")},
			"the body is not a ModelInferRequest",
		},
		{
			backends.Target{URL: "grpc://h:1", Model: "m"},
			backends.Request{Body: []byte{}},
			"the body is not a ModelInferRequest",
		},
		{plain, backends.Request{Body: []byte("\x0a\x01m")}, "the body is not JSON"},
	} {
		if _, err := openFor(t, c.target).Prepare(c.request); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	for _, target := range []backends.Target{
		{URL: "grpc://h:1", OutputJSON: true},
		{URL: "grpc://h:1", Headers: []backends.Header{{Name: "grpc-x", Value: "y"}}},
		{URL: "https://h", TLS: &backends.TLSOptions{CA: "/nothing"}},
	} {
		if _, err := Open(target, backends.Clock{}); err == nil {
			t.Errorf("%+v was opened", target)
		}
	}
}

// TestPrepareObject: a value for one element, flat lists for others, parameters as an object.
func TestPrepareObject(t *testing.T) {
	call, err := openFor(t,
		backends.Target{URL: "http://h", Model: "m", Endpoint: Generate, Streaming: true}).Prepare(backends.Request{
		Row: 3, Items: 2,
		Inputs: []backends.Tensor{
			{Name: "text", Type: tensor.Bytes, Shape: []int64{1, 1}, Data: []byte("\x02\x00\x00\x00\"<")},
			{Name: "list", Type: tensor.Int8, Shape: []int64{2, 1}, Data: []byte{1, 255}},
			{Name: "none", Type: tensor.FP32, Shape: []int64{0}},
		},
		Parameters: []backends.Parameter{{Name: "a", Value: int64(1)}, {Name: "b", Value: "c"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	head, text, _ := strings.Cut(string(call.Head), "\r\n\r\n")
	want := `{"id":"00000000000000000000","text":"\"<","list":[1,-1],"none":[],"parameters":{"a":1,"b":"c"}}`
	if text != want || !strings.HasPrefix(head, "POST /v2/models/m/generate_stream HTTP/1.1\r\n") ||
		len(call.Body) > 0 || len(call.Holes) != 1 {
		t.Errorf("%s\n%s\nwant %s; body of %d pieces, %d holes", head, text, want, len(call.Body), len(call.Holes))
	}
	if call.Size != len(call.Head) || call.Row != 3 || call.Items != 2 {
		t.Errorf("size %d of a head of %d, row %d, %d items", call.Size, len(call.Head), call.Row, call.Items)
	}
}

// begun is the JSON of a request as the wire sends it.
func begun(t *testing.T, target backends.Target, r backends.Request, f backends.Fields) (message struct {
	ID         string
	Parameters map[string]any
},
) {
	t.Helper()
	call, err := openFor(t, target).Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	if !call.Stateful {
		t.Error("a request of a sequence could be resent")
	}
	head, body := new(HTTP).newWire().Begin(0, call, f, new(backends.Sample))
	_, text, _ := bytes.Cut(append(bytes.Clone(head), bytes.Join(body, nil)...), []byte("\r\n\r\n"))
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&message); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return message
}

func TestHTTPSequences(t *testing.T) {
	r := simple
	r.Parameters = []backends.Parameter{{Name: "p", Value: "q"}}
	target := backends.Target{URL: "http://h", Model: "m"}
	r.Sequence = new(backends.Sequence)
	got := begun(t, target, r, backends.Fields{ID: 3, Sequence: 4294967295, Start: true})
	want := map[string]any{
		"sequence_id": 4294967295.0, "sequence_start": true, "sequence_end": false, "p": "q",
		"binary_data_output": true,
	}
	if diff := cmp.Diff(want, got.Parameters); diff != "" || got.ID != "00000000000000000003" {
		t.Errorf("id %q\n%s", got.ID, diff)
	}
	r.Parameters, r.Sequence.Text, target.OutputJSON = nil, true, true
	got = begun(t, target, r, backends.Fields{Sequence: 12, End: true})
	want = map[string]any{"sequence_id": "00000000000000000012", "sequence_start": false, "sequence_end": true}
	if diff := cmp.Diff(want, got.Parameters); diff != "" {
		t.Error(diff)
	}
}

// The entries are written by hand from the field numbers of the published protocol; numbers are
// varints of fixed width.
func TestGRPCSequences(t *testing.T) {
	entry := func(name, value string) string {
		return hexLength("22", hexLength("0a", hex.EncodeToString([]byte(name)))+hexLength("12", value))
	}
	for _, c := range []struct {
		text bool
		want string
	}{
		{
			false,
			entry("sequence_id",
				"1080808080808080808000") + entry("sequence_start", "0800") + entry("sequence_end", "0800"),
		},
		{
			true,
			entry("sequence_id",
				"1a14"+hex.EncodeToString([]byte(idHole))) + entry("sequence_start",
				"0800") + entry("sequence_end", "0800"),
		},
	} {
		r := simple
		r.Sequence = &backends.Sequence{Text: c.text}
		call, err := openFor(t, backends.Target{URL: "grpc://h:1", Model: "m"}).Prepare(r)
		if err != nil {
			t.Fatal(err)
		}
		id := hexLength("1a", hex.EncodeToString([]byte(idHole)))
		// As the lane fills it with 0
		got := strings.Replace(hex.EncodeToString(call.Head), "1000000000000000000000", "1080808080808080808000", 1)
		if diff := cmp.Diff(id+c.want, got); diff != "" || !call.Stateful || len(call.Holes) != 4 {
			t.Errorf("%d holes, stateful %t\n%s", len(call.Holes), call.Stateful, diff)
		}
	}
}

// hexLength is a length-delimited field in hexadecimal.
func hexLength(tag, content string) string {
	return tag + hex.EncodeToString([]byte{byte(len(content) / 2)}) + content
}

func TestSequenceParametersAreTheirs(t *testing.T) {
	r := simple
	r.Parameters = []backends.Parameter{{Name: "sequence_id", Value: int64(1)}}
	for _, url := range []string{"http://h", "grpc://h"} {
		conn := openFor(t, backends.Target{URL: url, Model: "m"})
		r.Sequence = nil
		if _, err := conn.Prepare(r); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		r.Sequence = new(backends.Sequence)
		if _, err := conn.Prepare(r); err == nil || !strings.Contains(err.Error(), "sequence_id") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestHTTPCompressed undoes what goes out with the standard library: it is what goes out without
// compression, with the id of each sending in it.
func TestHTTPCompressed(t *testing.T) {
	r := simple
	r.Sequence = new(backends.Sequence)
	for _, name := range []string{"gzip", "deflate"} {
		target := backends.Target{URL: "http://h", Model: "m"}
		plain, err := openFor(t, target).Prepare(r)
		if err != nil {
			t.Fatal(err)
		}
		target.Compression = name
		packed, err := openFor(t, target).Prepare(r)
		if err != nil {
			t.Fatal(err)
		}
		w := new(HTTP).newWire()
		for id := range uint64(3) {
			f := backends.Fields{ID: id * 1e18, Sequence: id + 1, Start: id == 0, End: id == 2}
			_, want, _ := bytes.Cut(sent(new(HTTP).newWire(), plain, f), []byte("\r\n\r\n"))
			all := sent(w, packed, f)
			head, body, _ := bytes.Cut(all, []byte("\r\n\r\n"))
			got, err := new(coding.Reader).Read(name, body, 1<<20)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v\n%q\n%q", name, err, got, want)
			}
			for _, field := range []string{
				"Content-Encoding: " + name, "Accept-Encoding: " + name, fmt.Sprintf("Content-Length: %d", len(body)),
			} {
				if !bytes.Contains(append(head, "\r\n"...), []byte("\r\n"+field+"\r\n")) {
					t.Errorf("%s: the head lacks %s: %s", name, field, head)
				}
			}
			if packed.Size != len(all) {
				t.Errorf("%s: size %d of %d", name, packed.Size, len(all))
			}
		}
	}
	r.Headers = []backends.Header{{Name: "content-encoding", Value: "br"}}
	target := backends.Target{URL: "http://h", Model: "m", Compression: "gzip"}
	if _, err := openFor(t, target).Prepare(r); err == nil ||
		!strings.Contains(err.Error(), "content-encoding") {
		t.Errorf("a content coding of a row's own: %v", err)
	}
	target.Headers = r.Headers
	if err := Check(target); err == nil || !strings.Contains(err.Error(), "content-encoding") {
		t.Errorf("a content coding of the target's own: %v", err)
	}
}

func sent(w backends.Wire, c *backends.Call, f backends.Fields) []byte {
	head, body := w.Begin(0, c, f, new(backends.Sample))
	return append(bytes.Clone(head), bytes.Join(body, nil)...)
}
