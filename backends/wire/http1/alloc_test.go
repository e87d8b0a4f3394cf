package http1

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

var exchanges = map[string][][]byte{
	"length": {[]byte("HTTP/1.1 200 OK\r\nServer: x\r\nConnection: keep-alive\r\nContent-Length: 256\r\n\r\n" +
		strings.Repeat("x", 256))},
	"chunked": {[]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100\r\n" + strings.Repeat("x",
		256) + "\r\n0\r\n\r\n")},
	"in two": {
		[]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r"), []byte("\n\r\nab"),
		[]byte("cd"),
	},
	"status":   {[]byte("HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy")},
	"protocol": {[]byte("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n")},
}

func exchange(t testing.TB) (*Wire, func([][]byte)) {
	c := encodeCall(t,
		Request{
			Method: "POST", Host: "localhost:8000", Path: "/v2/models/m/infer", Prefix: []byte(`{"id":"00000000"}`),
			Holes: []backends.Hole{{At: 7, Width: 8, Field: backends.FieldID}}, Body: [][]byte{make([]byte, 1024)},
		})
	w := New(&recorder{keep: 1 << 10})
	s := &backends.Sample{}
	return w, func(reads [][]byte) {
		s.Reset()
		w.Begin(0, c, backends.Fields{ID: 42}, s)
		for _, b := range reads {
			w.Feed(b, 1)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for name, reads := range exchanges {
		_, do := exchange(t)
		do(reads)
		if n := testing.AllocsPerRun(100, func() { do(reads) }); n != 0 {
			t.Errorf("%s: %v allocations a request", name, n)
		}
	}
}

func BenchmarkExchange(b *testing.B) {
	for name, reads := range exchanges {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			_, do := exchange(b)
			b.ReportAllocs()
			for b.Loop() {
				do(reads)
			}
		})
	}
}
