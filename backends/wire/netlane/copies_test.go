package netlane

import (
	"bytes"
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

// TestCopies: of a large tensor no more is copied in user space than the first page, or TLS record,
// which goes out with the head.
func TestCopies(t *testing.T) {
	for _, size := range []int{64 << 10, 1 << 20, 4 << 20} {
		if copied := copies(t, size); copied > tlsRecord {
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

// kept is a connection that keeps what is written, and how many times.
type kept struct {
	net.Conn
	got   []byte
	calls int
}

func (k *kept) Write(b []byte) (int, error) {
	k.got, k.calls = append(k.got, b...), k.calls+1
	return len(b), nil
}

// TestRecords: on TLS many pieces, frames of HTTP/2 say, make no record each, and arrive as they are.
func TestRecords(t *testing.T) {
	for _, last := range []int{0, 1, tlsRecord, 3 * tlsRecord} {
		var body [][]byte
		for i := range 200 {
			body = append(body, bytes.Repeat([]byte{byte(i)}, 9), bytes.Repeat([]byte{byte(i)}, tlsRecord), nil)
		}
		body = append(body, make([]byte, last))
		head, c := []byte("head"), &kept{}
		want := append([]byte("head"), bytes.Join(body, nil)...)
		var o output
		n, err := o.write(&link{conn: c, raw: &kept{}}, head, body)
		if err != nil || int(n) != len(want) || !bytes.Equal(c.got, want) {
			t.Errorf("%d: %d of %d bytes, %d arrived: %v", last, n, len(want), len(c.got), err)
		}
		if most := len(want)/tlsRecord + 2; c.calls > most {
			t.Errorf("%d: %d writes, want %d at most", last, c.calls, most)
		}
	}
}
