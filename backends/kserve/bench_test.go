package kserve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// numbered is the HTTP reply n to a request for two outputs, as Triton writes it.
func numbered(n int, json bool) []byte {
	content := `"parameters":{"binary_data_size":64}`
	if json {
		content = fmt.Sprintf(`"data":[%d,1,2,3,4,5,6,7,8,9,10,11,12,13,14,-15]`, n)
	}
	output := func(name string) string {
		return `{"name":"` + name + `","datatype":"INT32","shape":[1,16],` + content + "}"
	}
	head := fmt.Sprintf(`{"id":"%020d","model_name":"simple","model_version":"1","outputs":[%s,%s]}`, n,
		output("OUTPUT0"), output("OUTPUT1"))
	if json {
		return []byte(jsonReply(200, head))
	}
	return []byte(binaryReply(head, strings.Repeat("x", 128), len(head)))
}

// short is the HTTP reply n with one output in JSON, short enough to be read each time.
func short(n int) []byte {
	return []byte(jsonReply(200, fmt.Sprintf(`{"id":"%020d","model_name":"simple","model_version":"1",`+
		`"outputs":[{"name":"OUTPUT0","datatype":"INT32","shape":[1,16],"data":[%d,1,2,3,4,5,6,7,8,9,10,11,12,`+
		`13,14,-15]}]}`, n, n)))
}

// BenchmarkHTTPReply: what reading and judging a reply costs of which nothing is expected.
func BenchmarkHTTPReply(b *testing.B) {
	for name, reply := range map[string]func(n int) []byte{
		"raw":  func(n int) []byte { return numbered(n, false) },
		"json": func(n int) []byte { return numbered(n, true) }, "short json": short,
	} {
		b.Run(name, func(b *testing.B) {
			var replies [16][]byte
			for i := range replies {
				replies[i] = reply(i)
			}
			w := http1.New(&httpJudge{})
			call := &backends.Call{Head: []byte("POST / HTTP/1.1\r\n\r\n"), Impl: expect(&backends.Request{}, nil)}
			s := &backends.Sample{}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.Reset()
				s.N = uint64(i)
				w.Begin(0, call, backends.Fields{}, s)
				if slot, _, _ := w.Feed(replies[i%len(replies)], 5); slot != 0 || s.Class != backends.OK {
					b.Fatalf("%s %s", s.Class, s.Note)
				}
			}
		})
	}
}

// grpcReply is a reply with two outputs, as Triton writes it.
func grpcReply() []byte {
	m := protow.AppendString(protow.AppendString([]byte(nil), 1, "simple"), 2, "1")
	m = protow.AppendString(m, 3, "00000000000000000007")
	for _, name := range []string{"OUTPUT0", "OUTPUT1"} {
		m = protow.AppendString(m, 5, outputMessage(name, "INT32", []int64{1, 16}, nil))
	}
	for range 2 {
		m = protow.AppendString(m, 6, make([]byte, 64))
	}
	return m
}

// BenchmarkGRPCReply: what judging a reply costs of which nothing is expected.
func BenchmarkGRPCReply(b *testing.B) {
	call, err := openFor(b, backends.Target{URL: "grpc://h:1", Model: "m"}).Prepare(backends.Request{})
	if err != nil {
		b.Fatal(err)
	}
	message := grpcReply()
	for name, pieces := range map[string][][]byte{
		"one piece": {message}, "two pieces": {message[:100], message[100:]},
	} {
		b.Run(name, func(b *testing.B) {
			j, s := &grpcJudge{}, &backends.Sample{}
			b.ReportAllocs()
			for b.Loop() {
				if j.Reply(call, pieces, s); s.Class != backends.OK {
					b.Fatalf("%s %s", s.Class, s.Note)
				}
			}
		})
	}
}
