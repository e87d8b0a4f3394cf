package executor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends/backendtest/cases"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// silentAt is the embedded server, over HTTP and gRPC on one port, but for requests whose path has
// a part: these are taken, and never answered.
func silentAt(t *testing.T, part string) (address string) {
	t.Helper()
	s := serve(t, builtin.Config{})
	proxy := func(target string) *httputil.ReverseProxy {
		to, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(to.Scheme == "grpc")
		transport.Protocols.SetHTTP1(to.Scheme == "http")
		t.Cleanup(transport.CloseIdleConnections)
		to.Scheme = "http"
		return &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: transport, FlushInterval: -1,
			ErrorLog: quietLog(),
		}
	}
	overHTTP, overGRPC := proxy(s.HTTPURL()), proxy(s.GRPCURL())
	end := make(chan struct{})
	front := &http.Server{Protocols: new(http.Protocols), ErrorLog: quietLog(), ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.Method + " " + r.URL.Path + "$"; {
		case strings.Contains(path, part):
			select {
			case <-end:
			case <-r.Context().Done():
			}
		case r.ProtoMajor == 2:
			overGRPC.ServeHTTP(w, r)
		default:
			overHTTP.ServeHTTP(w, r)
		}
	})}
	front.Protocols.SetHTTP1(true)
	front.Protocols.SetUnencryptedHTTP2(true)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = front.Serve(l) }()
	t.Cleanup(func() {
		close(end)
		_ = front.Close()
	})
	return l.Addr().String()
}

// TestSilentServer: whatever a server does not answer, the run ends, and says what was asked and
// that there was no answer.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	const (
		plain  = "model: simple"
		shared = ", shared_memory: system"
		trace  = "model: simple, trace: {rate: 1}"
		logged = "model: simple, log: {info: true}"
		load   = ", before: [{load_model: simple}]"
		unload = ", after: [{unload_model: simple}]"
		call   = ", before: [{call: GET /v2/health/live}]"
	)
	for i, c := range []struct {
		name, scheme, part string // of what is not answered
		target, stage      string
		code               int
		want               string // in what the run says
	}{
		{"live", "http", "/v2/health/live", plain, "", 4, "not ready within 600ms"},
		{"model ready", "http", "/simple/ready", plain, "", 4, "not ready within 600ms"},
		{"server metadata", "http", " /v2$", plain, "", 4, "/v2: no answer within"},
		{"model metadata", "http", "/v2/models/simple$", plain, "", 4, "/v2/models/simple: no answer within"},
		{"configuration", "http", "/config$", plain, "", 4, "/config: no answer within"},
		{"first request", "http", "/infer", plain, "", 4, "no request was answered within 600ms"},
		{"statistics", "http", "/stats", plain, "", 0, "no answer within"},
		{"statistics, required", "http", "/stats", "model: simple, statistics: require", "", 4, "no answer within"},
		{"trace settings", "http", "/trace/setting", trace, "", 4, "/v2/trace/setting: no answer within"},
		{"log settings", "http", "/logging", logged, "", 4, "/v2/logging: no answer within"},
		{"memory", "http", "/register", plain, shared, 4, "/register: no answer within"},
		{"memory given back", "http", "/unregister", plain, shared, 4, "no answer within"},
		{"load", "http", "/load", plain, load, 4, "/load: no answer within"},
		{"unload", "http", "/unload", plain, unload, 4, "/unload: no answer within"},
		{
			"a call", "http", "GET /v2/health/live", "model: simple, ready: 0s", call, 4,
			"/v2/health/live: no answer within",
		},
		{
			"metrics", "http", "/metrics", `model: simple, metrics: {url: "http://ADDRESS/metrics"}`, "", 4,
			"/metrics: no answer within 5s",
		},

		{"live", "grpc", "/ServerLive", plain, "", 4, "not ready within 600ms"},
		{"server metadata", "grpc", "/ServerMetadata", plain, "", 4, "ServerMetadata: no answer within"},
		{"model metadata", "grpc", "/ModelMetadata", plain, "", 4, "ModelMetadata: no answer within"},
		{"configuration", "grpc", "/ModelConfig", plain, "", 4, "ModelConfig: no answer within"},
		{"first request", "grpc", "/ModelInfer", plain, "", 4, "no request was answered within 600ms"},
		{
			"first request, shared connection", "grpc", "/ModelInfer", "model: simple, connections: 1", "", 4,
			"no request was answered within 600ms",
		},
		{
			"first stream", "grpc", "/ModelStreamInfer", "model: simple, streaming: true", "", 4,
			"no request was answered within 600ms",
		},
		{"statistics", "grpc", "/ModelStatistics", "model: simple, statistics: require", "", 4, "no answer within"},
		{"trace settings", "grpc", "/TraceSetting", trace, "", 4, "TraceSetting: no answer within"},
		{"log settings", "grpc", "/LogSettings", logged, "", 4, "LogSettings: no answer within"},
		{
			"memory", "grpc", "/SystemSharedMemoryRegister", plain, shared, 4,
			"SystemSharedMemoryRegister: no answer within",
		},
		{"load", "grpc", "/RepositoryModelLoad", plain, load, 4, "RepositoryModelLoad: no answer within"},
	} {
		if (testing.Short() || !cases.All()) && i%4 != 0 {
			continue
		}
		t.Run(c.scheme+" "+c.name, func(t *testing.T) {
			t.Parallel()
			address := silentAt(t, c.part)
			target := c.target
			if !strings.Contains(target, "ready:") {
				target += ", ready: 600ms"
			}
			text := fmt.Sprintf("version: 1\ntarget: {backend: triton, url: URL, timeout: 400ms, connect_timeout: "+
				"2s, %s}\n"+
				"stages: [{id: s, load: {concurrency: 1}, for: 3 requests, drain: 1s%s}]\n", strings.ReplaceAll(target,
				"ADDRESS", address), c.stage)
			ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errors.New("the run did not end"))
			defer cancel()
			r, diags := Run(ctx, compile(t, text, c.scheme+"://"+address), Env{})
			if ctx.Err() != nil {
				t.Error(context.Cause(ctx))
			}
			said := heard(r) + fmt.Sprint(diags)
			if r.ExitCode != c.code || !strings.Contains(said, c.want) {
				t.Errorf("exit %d, want %d and %q:\n%s", r.ExitCode, c.code, c.want, said)
			}
		})
	}
}

// heard is all that a result says of what went wrong.
func heard(r *result.Result) string {
	lines := []string{r.Reason}
	for _, n := range r.Nodes {
		lines = append(lines, n.Reason)
		for _, f := range n.Validity.Findings {
			lines = append(lines, f.Text)
		}
		for _, e := range n.Errors {
			lines = append(lines, e.Class+": "+e.Example)
		}
	}
	return strings.Join(lines, "\n")
}
