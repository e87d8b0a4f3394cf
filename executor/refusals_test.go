package executor

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sluice-bench/sluice/backends/backendtest"
)

// TestCausesOfServers: refusals in the shapes that servers have, and tracebacks by themselves and in each shape,
// leave one example of each cause in the result, whatever numbers and ids are in them.
func TestCausesOfServers(t *testing.T) {
	t.Parallel()
	frames := `Traceback (most recent call last):\n` + strings.Repeat(`  File \"a.py\", line 3, in f\n    raise x\n`, 400)
	for name, c := range map[string]struct{ bodies, want []string }{
		"words": { // KServe, FastAPI with a text and with a list, TorchServe, OpenAI's interface, a traceback
			[]string{
				`{"error":"ValueError : cannot reshape array of size %d into shape (1,5)"}`,
				`{"detail":[{"type":"less_than","loc":["body","inputs",0],"msg":"Input should be less than %d","input":{}}]}`,
				"{\n  \"code\": 500,\n  \"type\": \"InternalServerException\",\n  \"message\": \"worker %d died\"\n}\n",
				`{"error":{"message":"request req-%d is too long","type":"BadRequest","param":null,"code":400}}`,
				"Traceback (most recent call last):\n  File \"a.py\", line %[1]d, in f\n    raise x\nKeyError: 'k%[1]d'\n",
			},
			[]string{
				"ValueError : cannot reshape array of size 100 into shape (1,5)", "Input should be less than 101: inputs",
				"InternalServerException: worker 102 died", "request req-103 is too long", "KeyError: 'k104'",
			},
		},
		"tracebacks": { // FastAPI and Starlette that debug, KServe, TorchServe, OpenAI's interface
			[]string{
				`{"detail":"` + frames + `TypeError: detail %d\n"}`,
				"Internal Server Error\n" + strings.NewReplacer(`\n`, "\n", `\"`, `"`).Replace(frames) + "TypeError: page %d\n",
				`{"error":"` + frames + `TypeError: error %d\n"}`,
				`{"code":503,"type":"InternalServerException","message":"` + frames + `TypeError: type %d\n"}`,
				`{"error":{"message":"` + frames + `TypeError: message %d"}}`,
			},
			[]string{
				"TypeError: detail 100", "TypeError: page 101", "TypeError: error 102",
				"InternalServerException: TypeError: type 103", "TypeError: message 104",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := causes(t, c.bodies); !slices.Equal(got, c.want) {
				t.Errorf("causes %q, want %q", got, c.want)
			}
		})
	}
}

// causes returns the examples that 50 refusals leave, each with the next of the bodies and a number from 100.
func causes(t *testing.T, bodies []string) []string {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i := int(n.Add(1)) - 1
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprintf(w, bodies[i%len(bodies)], 100+i)
	}))
	t.Cleanup(s.Close)
	r := play(t, `
version: 1
`+noLimits+`
target: {backend: http, url: URL, method: GET, probe: false}
stages: [{id: s, load: {concurrency: 1}, for: 50 requests}]
`, s.URL, Env{})
	node := node(t, r, "s")
	if r.ExitCode != 1 || len(node.Errors) != 1 || node.Errors[0].Count != 50 {
		t.Fatalf("exit %d: %+v", r.ExitCode, node.Errors)
	}
	return append([]string{node.Errors[0].Example}, node.Errors[0].More...)
}

// TestRefusedWithoutToken: a server that refuses whoever asks whether it is ready, as one behind a gateway does, is
// not waited for, with each kind over each protocol; the reason says what to write.
func TestRefusedWithoutToken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ backend, more string }{
		{"kserve", ""},
		{"kserve", ", endpoint: predict"},
		{"triton", ""},
		{"tfserving", ""},
		{"torchserve", ""},
		{"http", ", method: GET"},
	} {
		for _, code := range []int{http.StatusUnauthorized, http.StatusForbidden} {
			t.Run(fmt.Sprintf("%s%s %d", c.backend, c.more, code), func(t *testing.T) {
				t.Parallel()
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(code)
					_, _ = w.Write([]byte("no entry"))
				}))
				t.Cleanup(s.Close)
				refusedAtOnce(t, c.backend, c.more, s.URL)
			})
		}
	}
	for _, backend := range []string{"kserve", "triton", "tfserving", "torchserve"} {
		for _, code := range []codes.Code{codes.Unauthenticated, codes.PermissionDenied} {
			t.Run(fmt.Sprintf("%s %v", backend, code), func(t *testing.T) {
				t.Parallel()
				refuse := func(any, grpc.ServerStream) error { return status.Error(code, "no entry") }
				s := grpc.NewServer(grpc.UnknownServiceHandler(refuse))
				l, err := net.Listen("tcp", backendtest.Loopback())
				if err != nil {
					t.Fatal(err)
				}
				var serving sync.WaitGroup
				serving.Go(func() { _ = s.Serve(l) })
				t.Cleanup(func() { s.Stop(); serving.Wait() })
				refusedAtOnce(t, backend, "", "grpc://"+l.Addr().String())
			})
		}
	}
}

// refusedAtOnce runs a plan whose server wants a token.
func refusedAtOnce(t *testing.T, backend, more, url string) {
	t.Helper()
	model := ", model: m"
	if backend == "http" {
		model = ""
	}
	start := time.Now()
	r := play(t, `
version: 1
`+noLimits+`
target: {backend: `+backend+`, url: URL, ready: 60s`+model+more+`}
data: {rows: [{instances: [1]}]}
stages: [{id: s, load: {concurrency: 1}, for: 5 requests}]
`, url, Env{})
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("the wait took %v", took)
	}
	reason := node(t, r, "s").Reason
	for _, want := range []string{"the server wants a token", "headers: {Authorization: \"Bearer "} {
		if r.ExitCode != 4 || !strings.Contains(reason, want) {
			t.Errorf("exit %d: %s, want %s", r.ExitCode, reason, want)
		}
	}
}
