package executor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
)

// TestCausesOfServers: refusals in the four shapes that servers have, and tracebacks, leave one example of each
// cause in the result, whatever numbers and ids are in them.
func TestCausesOfServers(t *testing.T) {
	t.Parallel()
	bodies := []string{ // KServe, FastAPI with a text and with a list, TorchServe, OpenAI's interface, a traceback
		`{"error":"ValueError : cannot reshape array of size %d into shape (1,5)"}`,
		`{"detail":[{"type":"less_than","loc":["body","inputs",0],"msg":"Input should be less than %d","input":{}}]}`,
		"{\n  \"code\": 500,\n  \"type\": \"InternalServerException\",\n  \"message\": \"worker %d died\"\n}\n",
		`{"error":{"message":"request req-%d is too long","type":"BadRequest","param":null,"code":400}}`,
		"Traceback (most recent call last):\n  File \"a.py\", line %[1]d, in f\n    raise x\nKeyError: 'k%[1]d'\n",
	}
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
	e := node.Errors[0]
	want := []string{
		"ValueError : cannot reshape array of size 100 into shape (1,5)", "Input should be less than 101: inputs",
		"InternalServerException: worker 102 died", "request req-103 is too long", "KeyError: 'k104'",
	}
	if got := append([]string{e.Example}, e.More...); !slices.Equal(got, want) {
		t.Errorf("causes %q, want %q", got, want)
	}
}
