package kserve_test

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// newCanned is a server that answers every read that ends a small request with the same bytes,
// without allocating.
func newCanned(t testing.TB, reply string) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	answer := []byte(reply)
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				b := make([]byte, 16<<10)
				for {
					n, err := c.Read(b)
					if err != nil {
						return
					}
					if bytes.HasPrefix(b[:n], []byte("POST ")) {
						if _, err := c.Write(answer); err != nil {
							return
						}
					}
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().String()
}
