package grpc

import (
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

const countedProto = `syntax = "proto3";
package t;
message Inner { int64 n = 1; string text = 2; Inner next = 3; }
message M {
  int32 i32 = 1; int64 i64 = 2; uint32 u32 = 3; uint64 u64 = 4; sint32 s32 = 5; sint64 s64 = 6;
  fixed32 f32 = 7; fixed64 f64 = 8; sfixed32 sf32 = 9; sfixed64 sf64 = 10; float f = 11; double d = 12;
  string text = 13; bytes raw = 14; bool flag = 15; repeated int32 list = 16; map<string, int32> map = 17;
  Inner inner = 100; repeated Inner inners = 101; oneof one { int32 a = 102; Inner b = 103; }
}`

// countedMethod returns a method that takes messages of countedProto.
func countedMethod(t *testing.T) *method {
	t.Helper()
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"t.proto": countedProto}),
	}}
	files, err := compiler.Compile(t.Context(), "t.proto")
	if err != nil {
		t.Fatal(err)
	}
	return &method{path: "/t.T/M", input: files[0].Messages().ByName("M")}
}

// filled returns a message as a lane sends it, in protobuf's JSON.
func filled(t *testing.T, m *method, body string, counters []backends.Counter, n uint64) string {
	t.Helper()
	c, err := m.count(counters)
	if err != nil {
		return "error: " + err.Error()
	}
	messages, err := m.encode([]byte(body), mediaJSON)
	if err != nil {
		t.Fatal(err)
	}
	whole, head, holes := c.fill(messages, false)
	call, fields := &backends.Call{Counters: c.counters}, &backends.Fields{ID: n}
	for _, h := range holes {
		protow.Fill(head[h.At:int(h.At)+int(h.Width)], h.Field, call, fields)
	}
	made := dynamicpb.NewMessage(m.input)
	if err := proto.Unmarshal(append(whole[0], head...), made); err != nil {
		t.Fatal(err)
	}
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), " ", "")
}

// TestCounters: a field of each type has the number of the request, whatever the row has there, and the rest of
// the message is as it was.
func TestCounters(t *testing.T) {
	m := countedMethod(t)
	const n = 70000
	for _, c := range []struct{ path, body, want string }{
		{"i32", `{"i32": -7, "text": "x"}`, `{"i32":70001,"text":"x"}`},
		{"i64", `{}`, `{"i64":"70001"}`},
		{"u32", `{}`, `{"u32":70001}`},
		{"u64", `{"u64": "18446744073709551615"}`, `{"u64":"70001"}`},
		{"s32", `{}`, `{"s32":70001}`},
		{"s64", `{}`, `{"s64":"70001"}`},
		{"f32", `{}`, `{"f32":70001}`},
		{"f64", `{}`, `{"f64":"70001"}`},
		{"sf32", `{}`, `{"sf32":70001}`},
		{"sf64", `{}`, `{"sf64":"70001"}`},
		{"f", `{}`, `{"f":70001}`},
		{"d", `{"d": 0.5}`, `{"d":70001}`},
		{"text", `{"text": "order-"}`, `{"text":"order-0000000070001"}`},
		{"text", `{}`, `{"text":"0000000070001"}`},
		{"raw", `{}`, `{"raw":"MDAwMDAwMDA3MDAwMQ=="}`},
		{"inner.n", `{"inner": {"text": "t", "n": 3}}`, `{"inner":{"n":"70001","text":"t"}}`},
		{"inner.next.next.n", `{"inner": {"next": {"text": "t"}}}`, `{"inner":{"next":{"text":"t","next":{"n":"70001"}}}}`},
		{"inner.text", `{"inner": {"text": "a", "n": 1}}`, `{"inner":{"n":"1","text":"a0000000070001"}}`},
		{"a", `{"b": {"n": 1}}`, `{"a":70001}`},
		{"b.n", `{"b": {"text": "kept"}}`, `{"b":{"n":"70001","text":"kept"}}`},

		{"flag", `{}`, "error: counter flag: it is of type bool, and a counter is a number or a text"},
		{"inner", `{}`, "error: counter inner: it is of type message, and a counter is a number or a text"},
		{"list.0", `{}`, "error: counter list.0: it is in a list or a map, which have no counters: name a field outside of them"},
		{"inners.0.n", `{}`, "error: counter inners.0.n: it is in a list or a map, which have no counters: name a field outside of them"},
		{"map.k", `{}`, "error: counter map.k: it is in a list or a map, which have no counters: name a field outside of them"},
		{"inner.m", `{}`, `error: counter inner.m: t.Inner has no field "m"; it has n, text, next`},
	} {
		if got := filled(t, m, c.body, []backends.Counter{{Path: c.path, From: 1}}, n); got != c.want {
			t.Errorf("%s in %s: %s\nwant %s", c.path, c.body, got, c.want)
		}
	}
	both := []backends.Counter{{Path: "inner.n", From: 10, To: 12}, {Path: "inner.text", To: 9}, {Path: "i32"}}
	if got, want := filled(t, m, `{"inner": {"text": "a"}}`, both, 5), `{"i32":5,"inner":{"n":"12","text":"a5"}}`; got != want {
		t.Errorf("several: %s, want %s", got, want)
	}
	if got := filled(t, m, `{}`, []backends.Counter{{Path: "i32", From: 1, To: 1 << 31}}, 0); got !=
		"error: counter i32: a field of type int32 takes numbers up to 2147483647" {
		t.Error(got)
	}
}

// TestCountersSent: what a server gets over each transport, of calls that stream or not, compressed or not; the
// server's reply is the request, so that it shows the number.
func TestCountersSent(t *testing.T) {
	address, _ := serve(t, "v1")
	counters := []backends.Counter{{Path: "number", From: 100}, {Path: "text", To: 9}, {Path: "point.x", From: 1}}
	for name, target := range map[string]backends.Target{
		"own connections": {Method: "test.echo.Echo/Say"},
		"shared":          {Method: "test.echo.Echo/Say", Connections: 1},
		"compressed":      {Method: "test.echo.Echo/Say", Compression: "gzip"},
		"both, shared":    {Method: "test.echo.Echo/Say", Compression: "gzip", Connections: 1},
		"streams":         {Method: "test.echo.Echo/Chat", Streaming: true},
	} {
		t.Run(name, func(t *testing.T) {
			target.URL = "grpc://" + address
			c, err := connect(t, target)
			if err != nil {
				t.Fatal(err)
			}
			r := backends.Request{BodyType: mediaJSON, Body: []byte(`{"text": "a", "point": {"y": 7}}`), Counters: counters}
			if target.Streaming {
				r.Body = []byte(`[{"text": "a", "point": {"y": 7}}, {"text": "a", "raw": "AAA=", "point": {"y": 7}}]`)
			}
			lanes, _, err := c.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
			if err != nil {
				t.Fatal(err)
			}
			for n, want := range [][]backends.Field{
				0: {{Path: "number", Want: int64(100)}, {Path: "text", Want: "a0"}, {Path: "point.x", Want: int64(1)}},
				7: {{Path: "number", Want: int64(107)}, {Path: "text", Want: "a7"}, {Path: "point.x", Want: int64(8)}},
			} {
				if want == nil {
					continue
				}
				r.Expect = &backends.Expect{Fields: want}
				call, err := c.Prepare(r)
				if err != nil {
					t.Fatal(err)
				}
				s := &backends.Sample{Gen: uint32(n) + 1}
				lanes[0].Send(0, call, backends.Fields{ID: 3<<40 | uint64(n)}, s)
				for done := false; !done; {
					_, done = lanes[0].Recv()
				}
				if s.Class != backends.OK || target.Streaming && s.Responses != 2 {
					t.Errorf("request %d: %v %q, %d responses", n, s.Class, s.Note, s.Responses)
				}
			}
			if err := lanes[0].Close(); err != nil {
				t.Error(err)
			}
		})
	}
	c, err := connect(t, backends.Target{
		URL: "grpc://" + address, Method: "test.echo.Echo/Chat", Streaming: true, Compression: "gzip",
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Prepare(backends.Request{BodyType: mediaJSON, Body: []byte(`{}`), Counters: counters})
	if err == nil || !strings.Contains(err.Error(), "cannot have counters with `compression`") {
		t.Errorf("a compressed stream: %v", err)
	}
}
