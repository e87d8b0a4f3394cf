package tfserving

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// connect opens a target; "" is no server.
func connect(t testing.TB, target backends.Target) *Conn {
	t.Helper()
	target.ConnectTimeout = 5 * time.Second
	c, err := open(&target, backends.Clock{Origin: time.Now().Add(-time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	return c
}

// TestRequest: the bytes of a request, field by field.
func TestRequest(t *testing.T) {
	r := backends.Request{
		Model: "m", Outputs: []backends.Output{{Name: "y"}},
		Inputs: []backends.Tensor{
			{Name: "x", Type: tensor.Int16, Shape: []int64{2}, Data: []byte{1, 0, 2, 0}},
			{Name: "s", Type: tensor.Bytes, Shape: []int64{1}, Data: []byte("\x02\x00\x00\x00ab")},
		},
	}
	got := hex.EncodeToString(slices.Concat(requestOf(&r, "7", "sig")...))
	want := "0a0c" + "0a016d" + "12020807" + "1a03736967" + // model_spec
		"1a0179" + // output_filter
		"1213" + "0a0178" + "120e" + "0805" + "1204" + "12020802" + "220401000200" +
		"1211" + "0a0173" + "120c" + "0807" + "1204" + "12020801" + "42026162"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if label := hex.EncodeToString(appendSpec(nil, "m", "canary", "")); label != "0a0b0a016d2206"+hex.EncodeToString([]byte("canary")) {
		t.Errorf("a label: %s", label)
	}
}

// TestValues: replies hold values of every datatype in typed fields or as bytes, packed or not; one value
// stands for the rest.
func TestValues(t *testing.T) {
	two := []int64{2}
	typed := func(dtype uint64, values ...string) []byte {
		b := protow.AppendString(protow.AppendUint(nil, 1, dtype), 2, protow.AppendString(nil, 2, "\x08\x02"))
		for _, v := range values {
			text, err := hex.DecodeString(v)
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, text...)
		}
		return protow.AppendString(protow.AppendString(nil, 1, "y"), 2, b)
	}
	huge := protow.AppendString(protow.AppendUint(nil, 1, 1), 2, protow.AppendString(nil, 2,
		string(protow.AppendUint(nil, 1, 1<<40))))
	huge = append(huge, "\x2d\x00\x00\x80\x3f"...)
	large := protow.AppendString(protow.AppendString(nil, 1, "y"), 2, huge)
	for _, c := range []struct {
		name  string
		entry []byte
		want  backends.Tensor
		what  string
	}{
		{"floats", typed(1, "2a080000803f00000040"), backends.Tensor{Type: tensor.FP32, Data: []byte("\x00\x00\x80\x3f\x00\x00\x00\x40")}, ""},
		{"a float for both", typed(1, "2d0000803f"), backends.Tensor{Type: tensor.FP32, Data: []byte("\x00\x00\x80\x3f\x00\x00\x80\x3f")}, ""},
		{"int32", typed(3, "3a0b01ffffffffffffffffff01"), backends.Tensor{Type: tensor.Int32, Data: []byte("\x01\x00\x00\x00\xff\xff\xff\xff")}, ""},
		{"uint8", typed(4, "3801", "38ff01"), backends.Tensor{Type: tensor.Uint8, Data: []byte("\x01\xff")}, ""},
		{"int64", typed(9, "52020102"), backends.Tensor{Type: tensor.Int64, Data: []byte("\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00")}, ""},
		{"bool", typed(10, "5a020100"), backends.Tensor{Type: tensor.Bool, Data: []byte("\x01\x00")}, ""},
		{"bfloat16", typed(14, "6a05807f80ff01"), backends.Tensor{Type: tensor.BF16, Data: []byte("\x80\x3f\x80\x7f")}, ""},
		{"uint32", typed(22, "8201020102"), backends.Tensor{Type: tensor.Uint32, Data: []byte("\x01\x00\x00\x00\x02\x00\x00\x00")}, ""},
		{"uint64", typed(23, "8a01020102"), backends.Tensor{Type: tensor.Uint64, Data: []byte("\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00")}, ""},
		{"strings", typed(7, "420161", "420162"), backends.Tensor{Type: tensor.Bytes, Data: []byte("\x01\x00\x00\x00a\x01\x00\x00\x00b")}, ""},
		{"content", typed(5, "220401000200"), backends.Tensor{Type: tensor.Int16, Data: []byte("\x01\x00\x02\x00")}, ""},
		{"cut floats", typed(1, "2a060000803f0000"), backends.Tensor{}, "output y ends within a value"},
		{"one for many", large, backends.Tensor{}, "output y has a shape that takes more bytes than the limit of a reply"},
		{"short content", typed(5, "22020100"), backends.Tensor{}, "tensor_content of another size"},
		{"nothing", typed(5), backends.Tensor{}, "another number of values"},
		{"too many", typed(9, "5203010203"), backends.Tensor{}, "another number of values"},
		{"complex", typed(8), backends.Tensor{}, "a datatype that Sluice does not know"},
		{"no tensor", protow.AppendString(nil, 1, "y"), backends.Tensor{}, "not a PredictResponse"},
	} {
		list, err := (&Conn{}).Outputs(protow.AppendString(nil, 1, c.entry))
		if c.what != "" {
			if err == nil || !strings.Contains(err.Error(), c.what) {
				t.Errorf("%s: %v, want %q", c.name, err, c.what)
			}
			continue
		}
		c.want.Name, c.want.Shape = "y", two
		if diff := cmp.Diff([]backends.Tensor{c.want}, list); err != nil || diff != "" {
			t.Errorf("%s: %v %s", c.name, err, diff)
		}
	}
}

// TestDescribe: what the embedded server says about models, and the errors that a user meets first.
func TestDescribe(t *testing.T) {
	url := embedded(t).URL
	c := connect(t, backends.Target{URL: url, Model: "simple"})
	got, err := c.Describe(t.Context(), "")
	if err != nil || !got.Batched || len(got.Inputs) != 2 || got.Inputs[0].Name != "INPUT0" ||
		got.Inputs[0].Type != tensor.Int32 || len(got.Outputs) != 2 {
		t.Errorf("%+v %v", got, err)
	}
	if err := c.Ready(t.Context(), "simple"); err != nil {
		t.Error(err)
	}
	var unknown *backends.UnknownModelError
	if err := c.Ready(t.Context(), "nothing"); !errors.As(err, &unknown) || unknown.Model != "nothing" {
		t.Errorf("an unknown model: %v", err)
	}
	if err := c.Ready(t.Context(), ""); err != nil {
		t.Errorf("a server: %v", err)
	}
	_, err = connect(t, backends.Target{URL: url, Model: "simple", Signature: "other"}).Describe(t.Context(), "")
	if err == nil || !strings.Contains(err.Error(), `no signature "other": name one with `+"`signature`"+`; it has serving_default`) {
		t.Errorf("another signature: %v", err)
	}
	for text, r := range map[string]backends.Request{
		"takes no parameters": {Parameters: []backends.Parameter{{Name: "a", Value: int64(1)}}},
		"whole bodies":        {Body: []byte("x")},
		"keeps no sequences":  {Sequence: &backends.Sequence{}},
	} {
		if _, err := c.Prepare(r); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}

// TestExplain: a server without the status of models refuses an unknown one with the first request.
func TestExplain(t *testing.T) {
	c := connect(t, backends.Target{URL: "grpc://h:1", Model: "m", ModelVersion: "3"})
	for note, status := range map[string]int32{
		"NotFound: Servable not found for request: Specific(m, 3)": 5,
		"InvalidArgument: Unrecognized servable version label: 3":  3,
		"Unknown: Exception calling application: Unknown model: m. This pythie-serving instance can only serve one " +
			"of the following: tbl": 2,
	} {
		s := &backends.Sample{Class: backends.Status, Status: status}
		s.SetNote([]byte(note))
		want := `the server does not know version 3 of model "m": ` + note
		if err := c.Explain(s); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, s := range []backends.Sample{{}, {Class: backends.Status, Status: 3}} {
		if err := c.Explain(&s); err != nil {
			t.Error(err)
		}
	}
}

// TestUnknownVersion: a version or a label that a model does not have is an error at once, with the versions that it
// has, over gRPC and REST.
func TestUnknownVersion(t *testing.T) {
	url := embedded(t).URL
	s, err := builtin.Start(t.Context(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for version, words := range map[string]string{
		"canary": "Unrecognized servable version label: canary", "9": "",
	} {
		over := overREST(t, backends.Target{URL: s.HTTPURL(), Model: "simple", ModelVersion: version})
		grpc := connect(t, backends.Target{URL: url, Model: "simple", ModelVersion: version})
		for name, c := range map[string]interface {
			backends.Describer
			backends.Prober
		}{"REST": over, "gRPC": grpc} {
			_, err := c.Describe(t.Context(), "")
			for _, err := range []error{err, c.Ready(t.Context(), "simple")} {
				var unknown *backends.UnknownModelError
				if !errors.As(err, &unknown) || unknown.Version != version || !strings.Contains(unknown.ServerText, words) ||
					!slices.Equal(unknown.Known, []string{"1"}) {
					t.Errorf("version %s over %s: %v", version, name, err)
				}
			}
		}
	}
}

// TestReplyAllocations: judging a reply allocates nothing.
func TestReplyAllocations(t *testing.T) {
	output := backends.Tensor{Name: "y", Type: tensor.Int32, Shape: []int64{1, 1}, Data: []byte("MARK")}
	c := connect(t, backends.Target{URL: "grpc://h:1", Model: "m"})
	call, err := c.Prepare(backends.Request{Expect: &backends.Expect{Outputs: []backends.Tensor{output}}})
	if err != nil {
		t.Fatal(err)
	}
	j, s, pieces := &judge{}, &backends.Sample{}, [][]byte{predictReply(&output)}
	if n := testing.AllocsPerRun(100, func() { j.Reply(call, pieces, s) }); n != 0 || s.Class != backends.OK {
		t.Errorf("%v allocations, class %v, note %q", n, s.Class, s.Note)
	}
}

// TestSignatureMethods: a signature that a model lacks, and one that has another method than the target's endpoint.
func TestSignatureMethods(t *testing.T) {
	def := func(name, method string) namedDef {
		return namedDef{Name: name, Def: signatureDef{Inputs: make([]tensorEntry, 1), Method: methodPrefix + method}}
	}
	all := signatureMap{Signatures: []namedDef{
		def("serving_default", predict), def("kind", classify), def("amount", regress), def("other", classify),
		{Name: "__saved_model_init_op"},
	}}
	alone := signatureMap{Signatures: all.Signatures[:1]}
	for _, c := range []struct {
		m                        *signatureMap
		endpoint, signature, err string
	}{
		{&all, "", "kind", ""},
		{&all, classify, "kind", ""},
		{&all, "", "x", "model m has no signature \"x\": name one with `signature`; it has amount, kind, other, serving_default"},
		{&all, classify, "x", "model m has no signature \"x\": name one with `signature`; it has kind, other"},
		{
			&all, classify, "", "signature serving_default of model m is for predict: remove `endpoint`, or name one for " +
				"classify with `signature`: kind, other",
		},
		{
			&all, regress, "kind", "signature kind of model m is for classify: write endpoint: classify, or name one for " +
				"regress with `signature`: amount",
		},
		{&alone, regress, "", "signature serving_default of model m is for predict: remove `endpoint`"},
		{
			&alone, regress, "x", "model m has no signature \"x\", and none for regress: name one with `signature`, and its " +
				"method with `endpoint` unless that is predict; it has serving_default (for predict)",
		},
	} {
		_, err := c.m.describe(&backends.Target{Endpoint: c.endpoint, Signature: c.signature}, backends.Signature{Model: "m"})
		if got := fmt.Sprint(err); got != c.err && (c.err != "" || err != nil) {
			t.Errorf("%s %s: %s\nwant %s", c.endpoint, c.signature, got, c.err)
		}
	}
}
