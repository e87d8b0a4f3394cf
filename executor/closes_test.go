package executor

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/result"
)

// TestClosingServer: a server that closes in good order after each reply has no request sent twice.
// The connects that this costs are in `connect`, and a note says that they are not in latency.
func TestClosingServer(t *testing.T) {
	t.Parallel()
	to, err := url.Parse(serve(t, builtin.Config{}).HTTPURL())
	if err != nil {
		t.Fatal(err)
	}
	for _, closes := range []bool{true, false} {
		s := httptest.NewUnstartedServer(&httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		})
		s.Config.SetKeepAlivesEnabled(!closes)
		s.Start()
		n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: simple}
stages: [{id: s, load: {concurrency: 1}, for: 50 requests}]
`, s.URL, Env{}), "s")
		s.Close()
		noted := false
		for _, f := range n.Validity.Findings {
			noted = noted || f.Code == result.ClosesConnections
		}
		connects := int64(0)
		if m := n.Metrics["connect"]; m != nil && m.Dist != nil {
			connects = m.Dist.N()
		}
		want := map[bool]string{
			true: "0 reconnects, 49 connects, noted true", false: "0 reconnects, 0 connects, noted false",
		}[closes]
		if got := fmt.Sprintf("%d reconnects, %d connects, noted %v",
			count(n, "reconnects.count"), connects, noted); got != want {
			t.Errorf("closes %v: %s, want %s", closes, got, want)
		}
	}
}

// TestTimeoutsAreNoClosingServer: the connections of requests that timed out are closed by the
// client, and the server is not said to close them.
func TestTimeoutsAreNoClosingServer(t *testing.T) {
	t.Parallel()
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 0.5}})
	n := node(t, play(t, `
version: 1
target: {backend: kserve, url: URL, model: slow, timeout: 20ms, probe: false}
stages: [{id: s, load: {concurrency: 1}, for: 20 requests}]
`, s.HTTPURL(), Env{}), "s")
	m := n.Metrics["connect"]
	if failed := count(n, "errors.count"); failed != 20 || m == nil || m.Dist == nil || m.Dist.N() < 10 {
		t.Fatalf("%d of 20 requests failed; connect: %+v; %s", failed, m, n.Reason)
	}
	for _, f := range n.Validity.Findings {
		if f.Code == result.ClosesConnections {
			t.Errorf("after timeouts: %s", f.Text)
		}
	}
}
