package executor

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	testpb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/reflection"

	"github.com/sluice-bench/sluice/backends/backendtest"
)

// received collects what a server got.
type received struct {
	testpb.UnimplementedTestServiceServer
	mu   sync.Mutex
	list []string
}

func (r *received) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, fmt.Sprintf(format, args...))
}

// UnaryCall implements the test service.
func (r *received) UnaryCall(_ context.Context, m *testpb.SimpleRequest) (*testpb.SimpleResponse, error) {
	r.add("%d %s %t", m.ResponseSize, m.Payload.GetBody(), m.FillUsername)
	return &testpb.SimpleResponse{}, nil
}

// FullDuplexCall implements the test service.
func (r *received) FullDuplexCall(s testpb.TestService_FullDuplexCallServer) error {
	for {
		m, err := s.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		r.add("%s %d", m.Payload.GetBody(), m.Payload.GetType())
		if err := s.Send(&testpb.StreamingOutputCallResponse{}); err != nil {
			return err
		}
	}
}

// ServeHTTP answers any JSON.
func (r *received) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	var m struct {
		ID   int
		User string
		Kept []int
	}
	body := io.Reader(q.Body)
	if q.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(q.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	if err := json.NewDecoder(body).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.add("%d %s %v", m.ID, m.User, m.Kept)
}

// TestCountersArrive: the requests of a plan arrive with their numbers, each once, over gRPC, in both directions
// of a stream, and over HTTP, warm-up included; a counter with an end starts again.
func TestCountersArrive(t *testing.T) {
	t.Parallel()
	const requests, warmup = 120, 20
	for _, c := range []struct {
		name, target, data string
		want               func(n int) []string // what arrives for a request
	}{
		{
			"unary", "backend: grpc, url: GRPC, method: grpc.testing.TestService/UnaryCall, probe: false",
			`rows: [{payload: {body: "dXNlci0="}, fill_username: true}], counters: {response_size: 1, payload.body: {from: 5, to: 54}}`,
			func(n int) []string { return []string{fmt.Sprintf("%d user-%02d true", n+1, 5+n%50)} },
		},
		{
			"stream", "backend: grpc, url: GRPC, method: grpc.testing.TestService/FullDuplexCall, streaming: true, probe: false",
			`file: FILE, counters: {payload.body: {to: 999}}`,
			func(n int) []string { return []string{fmt.Sprintf("a%03d 0", n), fmt.Sprintf("b%03d 0", n)} },
		},
		{
			"HTTP", "backend: http, url: HTTP, probe: false",
			`rows: [{id: 0, user: u, kept: [1, 2]}], counters: {id: 1000, user: {from: 1, to: 9}}`,
			func(n int) []string { return []string{fmt.Sprintf("%d u%d [1 2]", 1000+n, 1+n%9)} },
		},
		{
			"HTTP, compressed", "backend: http, url: HTTP, probe: false, compression: gzip",
			`rows: [{id: 0, user: u, kept: [1, 2]}], counters: {id: 1000}`,
			func(n int) []string { return []string{fmt.Sprintf("%d u [1 2]", 1000+n)} },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := &received{}
			l, err := net.Listen("tcp", backendtest.Loopback())
			if err != nil {
				t.Fatal(err)
			}
			s := grpc.NewServer()
			testpb.RegisterTestServiceServer(s, r)
			reflection.Register(s)
			var serving sync.WaitGroup
			serving.Go(func() { _ = s.Serve(l) })
			t.Cleanup(func() { s.Stop(); serving.Wait() })
			web := httptest.NewServer(r)
			t.Cleanup(web.Close)
			file := filepath.Join(t.TempDir(), "rows.jsonl")
			writeFile(t, file, `[{"payload": {"body": "YQ=="}}, {"payload": {"body": "Yg=="}}]`)
			replaced := strings.NewReplacer("GRPC", `"grpc://`+l.Addr().String()+`"`, "HTTP", `"`+web.URL+`"`, "FILE", file)
			result := play(t, "version: 1\n"+noLimits+replaced.Replace(fmt.Sprintf(`
target: {%s}
data: {%s}
stages:
  - {id: s, load: {concurrency: 4}, warmup: %d requests, for: %d requests}
`, c.target, c.data, warmup, requests-warmup)), "", Env{})
			if result.ExitCode != 0 {
				t.Fatalf("exit %d: %s", result.ExitCode, result.Reason)
			}
			var want []string
			for n := range requests {
				want = append(want, c.want(n)...)
			}
			slices.Sort(want)
			slices.Sort(r.list)
			if !slices.Equal(want, r.list) {
				t.Errorf("%d arrived: %v\nwant %v", len(r.list), r.list, want)
			}
		})
	}
}
