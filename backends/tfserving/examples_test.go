package tfserving

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// TestExamples: the bytes of Example messages, and what is no example.
func TestExamples(t *testing.T) {
	feature := func(name, list string) string {
		b, err := hex.DecodeString(list)
		if err != nil {
			t.Fatal(err)
		}
		return string(protow.AppendString(protow.AppendString(nil, 1, name), 2, b))
	}
	example := func(features ...string) []byte {
		var all []byte
		for _, f := range features {
			all = protow.AppendString(all, 1, f)
		}
		return protow.AppendString(nil, 1, all)
	}
	list := func(examples ...[]byte) []byte {
		var all []byte
		for _, e := range examples {
			all = protow.AppendString(all, 1, e)
		}
		return all
	}
	for _, c := range []struct {
		body string
		want []byte // nil: the error
		err  string
	}{
		{`{"a": 1.5}`, protow.AppendString(nil, 1, list(example(feature("a", "12060a040000c03f")))), ""},
		{
			`{"b": [1, true, -1], "a": ["x", {"b64": "/w=="}]}`,
			protow.AppendString(nil, 1, list(example(feature("a", "0a060a01780a01ff"), feature("b", "1a0e0a0c0101ffffffffffffffffff01")))), "",
		},
		{`{"a": []}`, protow.AppendString(nil, 1, list(example(feature("a", "")))), ""},
		{
			`{"examples": [{"a": 1e0}, {"a": 2}], "context": {"c": "d"}}`,
			protow.AppendString(nil, 2, protow.AppendString(
				list(example(feature("a", "12060a040000803f")), example(feature("a", "1a030a0102"))), 2,
				example(feature("c", "0a030a0164")))), "",
		},
		{``, nil, "the request has no example: say with `data` what is sent"},
		{`[1]`, nil, "the body is not a JSON object"},
		{`{"examples": []}`, nil, "`examples` must be a list with at least one example"},
		{`{"examples": [1]}`, nil, "example 0: it is not a JSON object with features by name"},
		{`{"examples": [{}], "signature_name": "s"}`, nil, `the request has "signature_name" beside`},
		{`{"a": [1, 2.5]}`, nil, "example 0: feature a: 2.5 is of another kind than the values before it"},
		{`{"a": {"b": 1}}`, nil, `example 0: feature a: {"b": 1} is no number, text, true or false`},
		{`{"a": null}`, nil, `feature a: null is no number`},
		{`{"a": 9223372036854775808}`, nil, "value out of range"},
	} {
		e, err := examplesOf([]byte(c.body))
		var got []byte
		if err == nil {
			got, err = e.input()
		}
		switch {
		case c.want == nil && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: %v, want %s", c.body, err, c.err)
		case c.want != nil && (err != nil || string(got) != string(c.want)):
			t.Errorf("%s: %v\ngot  %x\nwant %x", c.body, err, got, c.want)
		}
	}
}

// TestResults: replies to requests of examples, with fields by the paths of the REST API's JSON.
func TestResults(t *testing.T) {
	class := protow.AppendString(nil, 1, "cat")
	class = append(class, "\x15\x00\x00\x00\x3f"...) // score 0.5
	classes := protow.AppendString(nil, 1, protow.AppendString(nil, 1, protow.AppendString(nil, 1, class)))
	value := protow.AppendString(nil, 1, protow.AppendString(nil, 1, "\x0d\x00\x00\x00\x40"))
	for name, c := range map[string]struct {
		endpoint string
		reply    []byte
		fields   []backends.Field
		want     string
	}{
		"classes":   {classify, classes, []backends.Field{{Path: "results.0.0.0", Want: "cat"}, {Path: "results.0.0.1", Want: 0.5}}, "ok"},
		"value":     {regress, value, []backends.Field{{Path: "results.0", Want: int64(2)}}, "ok"},
		"another":   {regress, value, []backends.Field{{Path: "results.0", Want: int64(3)}}, "mismatch field results.0 is 2, want 3"},
		"unchecked": {regress, value, nil, "ok"},
		"too few":   {classify, protow.AppendString(nil, 1, ""), nil, "decode the reply has 0 results, the request has 1 examples"},
		"nothing":   {regress, nil, nil, "decode the reply is not a RegressionResponse"},
		"garbage":   {classify, []byte("\x0a\x05a"), nil, "decode the reply is not a ClassificationResponse"},
	} {
		t.Run(name, func(t *testing.T) {
			c0 := connect(t, backends.Target{URL: "grpc://h:1", Model: "m", Endpoint: c.endpoint})
			call, err := c0.Prepare(backends.Request{Body: []byte(`{"a": 1}`), Expect: &backends.Expect{Fields: c.fields}})
			if err != nil {
				t.Fatal(err)
			}
			s := &backends.Sample{}
			(&judge{}).Reply(call, [][]byte{c.reply}, s)
			if got := strings.TrimSpace(s.Class.String() + " " + string(s.Note)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func FuzzExamples(f *testing.F) {
	f.Add([]byte(`{"examples": [{"a": [1, 2]}, {"a": {"b64": "YQ=="}}], "context": {}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := examplesOf(body)
		if err != nil {
			return
		}
		if b, err := e.input(); err == nil && len(b) == 0 {
			t.Errorf("%q is nothing", body)
		}
	})
}
