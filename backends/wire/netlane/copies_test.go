package netlane

import (
	"net"
	"testing"
	"unsafe"
)

// counted is a connection that tells bytes of the request's own pieces from copies of them.
type counted struct {
	net.Conn
	own             [][]byte
	written, copied int
}

func (c *counted) Write(b []byte) (int, error) {
	c.written += len(b)
	for _, p := range c.own {
		at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
		start := uintptr(unsafe.Pointer(unsafe.SliceData(p)))
		if at >= start && at < start+uintptr(len(p)) {
			return len(b), nil
		}
	}
	c.copied += len(b)
	return len(b), nil
}

// TestCopies: of a large tensor no more is copied in user space than the first page, or TLS record, which goes out with the
// head.
func TestCopies(t *testing.T) {
	for _, size := range []int{64 << 10, 1 << 20, 4 << 20} {
		if copied := copies(t, size); copied > record {
			t.Errorf("%d of %d bytes were copied", copied, size)
		}
	}
}

func copies(t testing.TB, size int) int {
	body := [][]byte{make([]byte, 200), make([]byte, size)}
	c := &counted{own: body[1:]}
	k := &link{conn: c, raw: c}
	var o output
	n, err := o.write(k, make([]byte, 300), body)
	if err != nil || int(n) != c.written || c.written != size+500 {
		t.Fatalf("%d of %d bytes: %v", n, c.written, err)
	}
	return c.copied
}

// BenchmarkCopies shows how many bytes of a request of 4 MiB are copied in user space.
func BenchmarkCopies(b *testing.B) {
	body := [][]byte{make([]byte, 200), make([]byte, 4<<20)}
	c := &counted{own: body[1:]}
	k, head := &link{conn: c, raw: c}, make([]byte, 300)
	var o output
	b.ReportAllocs()
	for b.Loop() {
		if _, err := o.write(k, head, body); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(c.copied)/float64(b.N), "copied-B/op")
}
