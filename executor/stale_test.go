package executor

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
)

// leaver is a front of the embedded server that closes every connection after its first reply, of
// set-up calls too, without a word. It gives its address.
func leaver(t *testing.T, serve func(client net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", backendtest.Loopback())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	open, down := map[net.Conn]bool{}, false
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			if down {
				_ = c.Close()
			}
			mu.Unlock()
			wg.Go(func() {
				serve(c)
				_ = c.Close()
				mu.Lock()
				delete(open, c)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		down = true
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// leaveHTTP passes one request on to the server at url. The reply says that the connection is kept.
func leaveHTTP(url string, transport http.RoundTripper) func(net.Conn) {
	return func(c net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		req.URL.Scheme, req.URL.Host, req.RequestURI = "http", strings.TrimPrefix(url, "http://"), ""
		reply, err := transport.RoundTrip(req)
		if err != nil {
			return
		}
		reply.Header.Set("Connection", "keep-alive")
		_ = reply.Write(c)
		_ = reply.Body.Close()
	}
}

// leaveGRPC passes frames on to the server at url until a call has ended.
func leaveGRPC(url string) func(net.Conn) {
	return func(c net.Conn) {
		server, err := net.Dial("tcp", strings.TrimPrefix(url, "grpc://"))
		if err != nil {
			return
		}
		defer server.Close()
		go func() {
			_, _ = io.Copy(server, c) // ends with c
			_ = server.Close()
		}()
		const head, kindHeaders, flagEndStream = 9, 1, 1
		in := bufio.NewReader(server)
		for {
			b := make([]byte, head, 1<<10)
			if _, err := io.ReadFull(in, b); err != nil {
				return
			}
			b = append(b, make([]byte, binary.BigEndian.Uint32(b)>>8)...)
			if _, err := io.ReadFull(in, b[head:]); err != nil {
				return
			}
			if _, err := c.Write(b); err != nil || b[3] == kindHeaders && b[4]&flagEndStream != 0 {
				return
			}
		}
	}
}

// TestStale: a server that closes after each reply without having said so costs a connect for
// nearly each request, and no errors; where the close is seen before the next request is sent,
// nothing is sent again.
func TestStale(t *testing.T) {
	t.Parallel()
	for _, load := range []string{"{concurrency: 1}", "{concurrency: 4}", "{rate: 200/s, max_in_flight: 32}"} {
		for _, protocol := range []string{"http", "grpc"} {
			t.Run(protocol+" "+load, func(t *testing.T) {
				s := serve(t, builtin.Config{})
				var address string
				if protocol == "http" {
					transport := &http.Transport{}
					t.Cleanup(transport.CloseIdleConnections)
					address = leaver(t, leaveHTTP(s.HTTPURL(), transport))
				} else {
					address = leaver(t, leaveGRPC(s.GRPCURL()))
				}
				r := play(t, fmt.Sprintf(`
version: 1
target: {backend: kserve, url: URL, model: simple, connections: 32}
stages:
  - {id: s, load: %s, for: 400 requests}
`, load), protocol+"://"+address, Env{})
				n := node(t, r, "s")
				sent, failed, again := count(n, "requests.count"), count(n, "errors.count"), count(n, "reconnects.count")
				var connects int64
				if d := n.Metrics["connect"]; d.Count != nil {
					connects = *d.Count
				}
				t.Logf("%d sent, %d failed, %d connects, %d sent again", sent, failed, connects, again)
				if sent != 400 || failed != 0 || connects < sent*9/10 || again > connects {
					t.Errorf("%d sent, %d failed, %d connects, %d sent again: %+v", sent, failed, connects, again, n.Errors)
				}
			})
		}
	}
}
