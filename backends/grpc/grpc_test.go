package grpc

import (
	"errors"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

const everyField = `{"text": "a", "number": "-5", "list": [1, -2, 3], "named": {"k": 7}, "raw": "AQI=",
	"color": "RED", "weight": 1.5, "point": {"x": -1, "y": 9}}`

// TestReplies: requests of every form and kind of method are answered, whatever describes the method,
// and fields of the replies are compared.
func TestReplies(t *testing.T) {
	all := []backends.Field{
		{Path: "text", Want: "a"},
		{Path: "number", Want: int64(-5)},
		{Path: "list.1", Want: int64(-2)},
		{Path: "named.k", Want: int64(7)},
		{Path: "raw", Want: "AQI="},
		{Path: "color", Want: "RED"},
		{Path: "color", Want: int64(1)},
		{Path: "weight", Want: 1.5},
		{Path: "flag", Want: nil},
		{Path: "point.x", Want: int64(-1)},
		{Path: "point.y", Want: int64(9)},
		{Path: "ratio", Want: int64(0)},
		{Path: "signed", Want: 0.0},
	}
	for _, c := range []struct {
		name, method string
		body         string
		form         string
		fields       []backends.Field
		status       []int // expected; none: 0
		responses    uint32
		class        backends.ErrorClass
		note         string
	}{
		{name: "JSON", method: "Say", body: everyField, form: mediaJSON, fields: all, responses: 1},
		{
			name: "textproto", method: "Say", body: `text: "a" point { x: 3 }`, form: backends.TextProto,
			fields: []backends.Field{{Path: "point.x", Want: int64(3)}}, responses: 1,
		},
		{
			name: "encoded", method: "Say", body: "\x0a\x01a", form: "",
			fields: []backends.Field{{Path: "text", Want: "a"}}, responses: 1,
		},
		{name: "nothing", method: "Say", body: "{}", form: mediaJSON, responses: 1},
		{
			name: "another text", method: "Say", body: `{"text": "a"}`, form: mediaJSON,
			fields: []backends.Field{{Path: "text", Want: "b"}}, responses: 1,
			class: backends.Mismatch, note: `field text is "a", want "b"`,
		},
		{
			name: "a short list", method: "Say", body: `{"list": [1]}`, form: mediaJSON,
			fields: []backends.Field{{Path: "list.1", Want: int64(1)}}, responses: 1,
			class: backends.Mismatch, note: `field list.1 is missing, want 1`,
		},
		{
			name: "present", method: "Say", body: `{"flag": false}`, form: mediaJSON,
			fields: []backends.Field{{Path: "flag", Want: nil}}, responses: 1,
			class: backends.Mismatch, note: `field flag is false, want none`,
		},
		{
			name: "the server's error", method: "Say", body: `{"text": "fail"}`, form: mediaJSON,
			class: backends.Status, note: "InvalidArgument: ",
		},
		{name: "replies", method: "List", body: `{"number": 1000}`, form: mediaJSON, responses: 1000},
		{name: "no replies", method: "List", body: `{}`, form: mediaJSON},
		{
			name: "no replies to compare", method: "List", body: `{}`, form: mediaJSON,
			fields: []backends.Field{{Path: "number", Want: int64(0)}},
			class:  backends.Mismatch, note: "the stream has no response",
		},
		{
			name: "no replies, not expected", method: "List", body: `{}`, form: mediaJSON, status: []int{5},
			class: backends.Status, note: "the server answered OK, which is not expected",
		},
		{
			name: "replies, then an expected code", method: "Chat", body: `[{"text": "a"}, {"text": "fail"}]`,
			form: mediaJSON, status: []int{3}, responses: 1,
		},
		{
			name: "replies, not the expected code", method: "List", body: `{"number": 2}`, form: mediaJSON,
			status: []int{3}, responses: 2,
			class: backends.Status, note: "the server answered OK, which is not expected",
		},
		{
			name: "requests", method: "Sum", body: `[{}, {"text": "b"}, {}]`, form: mediaJSON, responses: 1,
			fields: []backends.Field{{Path: "number", Want: int64(3)}},
		},
		{
			name: "frames", method: "Sum", body: "\x00\x00\x00\x00\x03\x00\x00\x00\x0a\x01a", form: backends.Frames,
			fields: []backends.Field{{Path: "number", Want: int64(2)}}, responses: 1,
		},
		{name: "both", method: "Chat", body: `[{"number": 1}, {"number": 2}]`, form: mediaJSON, responses: 2},
		{
			name: "the second differs", method: "Chat", body: `[{"number": 1}, {"number": 2}]`, form: mediaJSON,
			responses: 2, fields: []backends.Field{{Path: "number", Want: int64(1)}},
			class: backends.Mismatch, note: "field number is 2, want 1",
		},
		{
			name: "an error after a reply", method: "Chat", body: `[{"number": 1}, {"text": "fail"}]`,
			form: mediaJSON, responses: 1, class: backends.Status, note: "InvalidArgument: ",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, target := range map[string]backends.Target{
				"files":   {Protos: protos},
				"v1":      {},
				"v1alpha": {},
				"gzip":    {Protos: protos, Compression: "gzip"},
			} {
				address, _ := serve(t, name)
				target.URL, target.Method = "grpc://"+address, "test.echo.Echo/"+c.method
				target.Streaming = c.method != "Say"
				conn, err := connect(t, target)
				if err != nil {
					t.Fatal(err)
				}
				if err := conn.Ready(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
				events := 0
				if target.Streaming {
					events = 16
				}
				s, err := ask(t, conn, backends.Request{
					Body: []byte(c.body), BodyType: c.form,
					Expect: &backends.Expect{Status: c.status, Fields: c.fields},
				}, events)
				if err != nil {
					t.Fatal(err)
				}
				if s.Class != c.class || s.Responses != c.responses || !strings.HasPrefix(string(s.Note), c.note) {
					t.Errorf("%s: class %v, %d responses, note %q", name, s.Class, s.Responses, s.Note)
				}
			}
		})
	}
}

// TestReflectionErrors: what is wrong with the server or the method is said with what there is.
func TestReflectionErrors(t *testing.T) {
	off, _ := serve(t)
	on, _ := serve(t, "v1")
	for _, c := range []struct{ address, method, want string }{
		{off, "test.echo.Echo/Say", "the server has no reflection (grpc.reflection.v1, v1alpha): name the files"},
		{on, "test.echo.Nothing/Say", `the server has no service "test.echo.Nothing"; it has grpc.reflection.v1.` +
			`ServerReflection, test.echo.Echo`},
		{on, "test.echo.Echo/Speak", `service test.echo.Echo has no method "Speak"; it has Say, List, Sum, Chat`},
		{on, "test.echo.Echo/List", "method test.echo.Echo/List streams: write `streaming: true`"},
	} {
		conn, err := connect(t, backends.Target{URL: "grpc://" + c.address, Method: c.method})
		if err != nil {
			t.Fatal(err)
		}
		var refusal *backends.RefusalError
		if err := conn.Ready(t.Context(), ""); !errors.As(err, &refusal) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.method, err, c.want)
		}
	}
}

// TestRequestErrors: a request that is no message of the method says what the method takes.
func TestRequestErrors(t *testing.T) {
	conn, err := connect(t, backends.Target{URL: "grpc://h:1", Method: "test.echo.Echo/Say", Protos: protos})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body, form, path string
		value            any
		want             string
	}{
		{body: `{"txt": "a"}`, form: mediaJSON, want: `unknown field "txt"; test.echo.Request has text, number, list`},
		{body: `[{}, {}]`, form: mediaJSON, want: "the request has 2 messages, and test.echo.Echo/Say takes one"},
		{body: `[]`, form: mediaJSON, want: "the request has no message"},
		{body: "\x0a\x05a", want: "the body is not an encoded test.echo.Request: cannot parse"},
		{path: "txt", value: "a", want: `expected field txt: test.echo.Reply has no field "txt"; it has text, number`},
		{path: "list", value: int64(1), want: "expected field list: list is a list: go on with an index, from 0"},
		{path: "named", value: int64(1), want: "expected field named: named is a map: go on with a key"},
		{path: "text.a", value: "a", want: `expected field text.a: there is nothing inside a scalar: remove "a"`},
		{path: "point", value: "a", want: "expected field point: it is a message: name a field of it"},
		{path: "number", value: "a", want: `expected field number: it is of type int64, and "a" is a text`},
		{path: "color", value: "BLUE", want: `expected field color: test.echo.Color has no value "BLUE"; it has NONE, RED`},
	} {
		r := backends.Request{Body: []byte(c.body), BodyType: c.form}
		if c.path != "" {
			r.Expect = &backends.Expect{Fields: []backends.Field{{Path: c.path, Want: c.value}}}
		}
		if _, err := conn.Prepare(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%s: %v, want %q", c.body, c.path, err, c.want)
		}
	}
	for want, r := range map[string]backends.Request{
		"the request is a form":        {Parts: []backends.Part{{Name: "a"}}},
		"parameters cannot be added":   {Parameters: []backends.Parameter{{Name: "a"}}},
		"outputs cannot be requested":  {Outputs: []backends.Output{{Name: "a"}}},
		"cannot be made part of a seq": {Sequence: &backends.Sequence{}},
	} {
		if _, err := conn.Prepare(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestExplain: refusals of every request say what to do, in front of the server's own words.
func TestExplain(t *testing.T) {
	for name, c := range map[string]struct {
		status int32
		note   string
		protos *backends.Protos
		want   string
	}{
		"no method": { // grpc-go's server
			12, "Unimplemented: unknown method Say for service test.echo.Echo", nil,
			"the server does not have method test.echo.Echo/Say, so check `method`; the server says: Unimplemented: " +
				"unknown method Say for service test.echo.Echo",
		},
		"no service": { // Python's server
			12, "Unimplemented: Method not found!", protos,
			"the server does not have method test.echo.Echo/Say, so check `method`: `protos` says what it could have; " +
				"the server says: Unimplemented: Method not found!",
		},
		"no token": { // TorchServe
			7, "PermissionDenied: Token Authorization failed.", nil,
			"the server wants a token, or another one, such as headers: {authorization: \"Bearer ${token}\"} with a " +
				"secret variable: PermissionDenied: Token Authorization failed.",
		},
		"the model fails": {13, "Internal: x", nil, ""},
		"queue full":      {8, "ResourceExhausted (server side): Concurrent RPC limit exceeded!", nil, ""},
	} {
		conn, err := connect(t, backends.Target{URL: "grpc://h:1", Method: "test.echo.Echo/Say", Protos: c.protos})
		if err != nil {
			t.Fatal(err)
		}
		s := &backends.Sample{Class: backends.Status, Status: c.status}
		s.SetNote([]byte(c.note))
		var refused *backends.RefusalError
		if err := conn.Explain(s); errors.As(err, &refused) != (c.want != "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
		if err := conn.Explain(&backends.Sample{}); err != nil {
			t.Errorf("a success is explained as %v", err)
		}
	}
}
