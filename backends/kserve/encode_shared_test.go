package kserve

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
)

// The parameters of shared tensors, by the names of Triton's extension.
func TestHTTPShared(t *testing.T) {
	r := simple
	r.Outputs = []backends.Output{{Name: "A"}, {Name: "B"}}
	p := &Places{
		Inputs: []Place{{Region: "in", Size: 8}, {Region: "in", At: 64, Size: 10}}, Output: "out-",
		Outputs: []Place{{Size: 16}, {At: 64, Size: 32}},
	}
	call, err := openFor(t, backends.Target{URL: "http://h", Model: "m"}).PrepareShared(r, p)
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := bytes.Cut(sent(new(HTTP).newWire(), call, backends.Fields{ID: 7, Region: 12}),
		[]byte("\r\n\r\n"))
	want := `{"id":"00000000000000000007","inputs":[` +
		`{"name":"IN","shape":[1,2],"datatype":"INT32","parameters":{"shared_memory_region":"in",` +
		`"shared_memory_byte_size":8}},` +
		`{"name":"t\"é","shape":[2],"datatype":"BYTES","parameters":{"shared_memory_region":"in",` +
		`"shared_memory_offset":64,"shared_memory_byte_size":10}}],` +
		`"outputs":[{"name":"A","parameters":{"shared_memory_region":"out-000012","shared_memory_byte_size":16}},` +
		`{"name":"B","parameters":{"shared_memory_region":"out-000012","shared_memory_offset":64,` +
		`"shared_memory_byte_size":32}}]}`
	if diff := cmp.Diff(want,
		strings.Replace(string(got), `"parameters":{"binary_data_output":true},`, "", 1)); diff != "" {
		t.Error(diff)
	}
	r.Inputs = append([]backends.Tensor(nil), r.Inputs...)
	r.Inputs[0].Parameters = []backends.Parameter{{Name: "content_type", Value: "np"}}
	r.Outputs[1].Parameters = []backends.Parameter{{Name: "k", Value: int64(3)}}
	if call, err = openFor(t, backends.Target{URL: "http://h", Model: "m"}).PrepareShared(r, p); err != nil {
		t.Fatal(err)
	}
	_, got, _ = bytes.Cut(sent(new(HTTP).newWire(), call, backends.Fields{ID: 7, Region: 12}),
		[]byte("\r\n\r\n"))
	for _, part := range []string{
		`"shared_memory_byte_size":8,"content_type":"np"}},`,
		`"shared_memory_offset":64,"shared_memory_byte_size":32,"k":3}}]}`,
	} {
		if !strings.Contains(string(got), part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
	r.Inputs[0].Parameters[0].Name = "binary_data_size"
	if _, err := openFor(t, backends.Target{URL: "http://h", Model: "m"}).Prepare(r); err == nil ||
		!strings.Contains(err.Error(), "parameter binary_data_size of input IN cannot be set") {
		t.Errorf("a parameter of the client's own: %v", err)
	}
	classes := simple
	classes.Outputs = []backends.Output{{Name: "A"}, {Name: "B", Classification: 3}}
	for name, wrong := range map[string]backends.Request{
		"classes": classes, "a body": {Body: []byte("{}"), Model: "m"}, "other inputs": {Model: "m"},
	} {
		if _, err := openFor(t, backends.Target{URL: "http://h", Model: "m"}).PrepareShared(wrong, p); err == nil {
			t.Errorf("%s: encoded", name)
		}
	}
}

// The message is written by hand from the field numbers of the published protocol.
func TestGRPCShared(t *testing.T) {
	r := simple
	r.Outputs = []backends.Output{{Name: "A"}}
	p := &Places{
		Inputs: []Place{{Region: "in", Size: 8}, {Region: "in", At: 64, Size: 10}}, Output: "o-",
		Outputs: []Place{{Size: 16}},
	}
	call, err := openFor(t, backends.Target{URL: "grpc://h:1", Model: "m"}).PrepareShared(r, p)
	if err != nil {
		t.Fatal(err)
	}
	text := func(s string) string { return hex.EncodeToString([]byte(s)) }
	entry := func(tag, name, value string) string {
		return hexLength(tag, hexLength("0a", text(name))+hexLength("12", value))
	}
	in := func(name, typ, shape, places string) string {
		return hexLength("2a", hexLength("0a", text(name))+hexLength("12", text(typ))+hexLength("1a", shape)+places)
	}
	want := "0a016d" + "120132" +
		in("IN", "INT32", "0102",
			entry("22", "shared_memory_region", "1a02"+text("in"))+entry("22", "shared_memory_byte_size", "1008")) +
		in(`t"é`, "BYTES", "02",
			entry("22", "shared_memory_region",
				"1a02"+text("in"))+entry("22", "shared_memory_offset", "1040")+entry("22",
				"shared_memory_byte_size", "100a"))
	got := hex.EncodeToString(bytes.Join(call.Body, nil))
	if diff := cmp.Diff(strings.Replace(want, "120132", "", 1),
		strings.Replace(got, "120132", "", 1)); diff != "" {
		t.Error(diff)
	}
	head := hexLength("1a", text(idHole)) +
		hexLength("32",
			hexLength("0a", text("A"))+entry("12", "shared_memory_byte_size", "1010")+entry("12",
				"shared_memory_region", "1a08"+text("o-000000")))
	if diff := cmp.Diff(head, hex.EncodeToString(call.Head)); diff != "" {
		t.Error(diff)
	}
	if h := call.Holes[1]; len(call.Holes) != 2 || h.Field != backends.FieldRegion ||
		string(call.Head[h.At:int(h.At)+int(h.Width)]) != regionHole {
		t.Errorf("holes %+v", call.Holes)
	}
}
