package grpc

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// inferReply is the reply of BenchmarkGRPCReply of backends/kserve: a ModelInferResponse with two outputs.
func inferReply() []byte {
	m := protow.AppendString(protow.AppendString([]byte(nil), 1, "simple"), 2, "1")
	m = protow.AppendString(m, 3, "00000000000000000007")
	for _, name := range []string{"OUTPUT0", "OUTPUT1"} {
		output := protow.AppendString(protow.AppendString(nil, 1, name), 2, "INT32")
		m = protow.AppendString(m, 5, protow.AppendInts(output, 3, []int64{1, 16}))
	}
	for range 2 {
		m = protow.AppendString(m, 6, make([]byte, 64))
	}
	return m
}

// BenchmarkReply: what judging a reply costs of which nothing is expected, and a field.
func BenchmarkReply(b *testing.B) {
	conn, err := connect(b, backends.Target{URL: "grpc://h:1", Method: "test.echo.Echo/Say", Protos: protos})
	if err != nil {
		b.Fatal(err)
	}
	for name, fields := range map[string][]backends.Field{
		"readable": nil, "a field": {{Path: "text", Want: "simple"}},
	} {
		b.Run(name, func(b *testing.B) {
			call, err := conn.Prepare(backends.Request{Expect: &backends.Expect{Fields: fields}})
			if err != nil {
				b.Fatal(err)
			}
			j, s, pieces := &judge{}, &backends.Sample{}, [][]byte{inferReply()}
			b.ReportAllocs()
			for b.Loop() {
				if j.Reply(call, pieces, s); s.Class != backends.OK {
					b.Fatalf("%s %s", s.Class, s.Note)
				}
			}
		})
	}
}

// TestReplyAllocations: judging a good reply allocates nothing.
func TestReplyAllocations(t *testing.T) {
	conn, err := connect(t, backends.Target{URL: "grpc://h:1", Method: "test.echo.Echo/Say", Protos: protos})
	if err != nil {
		t.Fatal(err)
	}
	call, err := conn.Prepare(backends.Request{Expect: &backends.Expect{
		Fields: []backends.Field{{Path: "text", Want: "simple"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	j, s, pieces := &judge{}, &backends.Sample{}, [][]byte{inferReply()}
	if n := testing.AllocsPerRun(100, func() { j.Reply(call, pieces, s) }); n != 0 || s.Class != backends.OK {
		t.Errorf("%v allocations, class %v", n, s.Class)
	}
}

// TestLongStream: a reply of a million messages takes no more memory than a short one.
func TestLongStream(t *testing.T) {
	messages := 20_000
	if cases.All() {
		messages = 1_000_000
	}
	address, _ := serve(t)
	conn, err := connect(t, backends.Target{
		URL: "grpc://" + address, Method: "test.echo.Echo/List", Protos: protos, Streaming: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	heap := func(n int) int64 {
		s, err := ask(t, conn, backends.Request{
			Body: fmt.Appendf(nil, `{"number": %d, "text": "some hundred bytes or a few less than that"}`, n), BodyType: mediaJSON,
		}, 256)
		if err != nil || s.Class != backends.OK || s.Responses != uint32(n) {
			t.Fatalf("%v: class %v, %d responses, note %q", err, s.Class, s.Responses, s.Note)
		}
		if s.LastByte < s.FirstByte || s.BytesReceived < int64(n)*40 {
			t.Errorf("%d bytes from %d to %d", s.BytesReceived, s.FirstByte, s.LastByte)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap(messages / 100)
	if grown := heap(messages) - before; grown > 4<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}
