package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/all"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario"
)

// left are the names of this process's shared memory that are still there, and the regions that a
// server still has.
func left(t *testing.T, s *builtin.Server) (names, regions []string) {
	t.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/dev/shm/sluice-%d-*", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return names, nil
	}
	reply, err := http.Get(s.HTTPURL() + "/v2/systemsharedmemory/status")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var list []struct {
		Name string `json:"name"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		regions = append(regions, r.Name)
	}
	return names, regions
}

func nothingLeft(t *testing.T, s *builtin.Server) {
	t.Helper()
	if names, regions := left(t, s); len(names)+len(regions) > 0 {
		t.Errorf("left behind: names %v, regions %v", names, regions)
	}
}

// urls of a server by protocol.
func bothURLs(s *builtin.Server) map[string]string {
	return map[string]string{"http": s.HTTPURL(), "grpc": s.GRPCURL()}
}

// wide is a row of the model identity, 4096 floats, with what its output must be.
func wide(t *testing.T, last float64) string {
	t.Helper()
	in := make([]float64, 4096)
	for i := range in {
		in[i] = float64(i) / 2
	}
	out := append([]float64(nil), in...)
	out[len(out)-1] += last
	text, err := json.Marshal(map[string]any{
		"data":            []any{map[string]any{"INPUT0": map[string]any{"content": in, "shape": []int{4096}}}},
		"validation_data": []any{map[string]any{"OUTPUT0": map[string]any{"content": out, "shape": []int{4096}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rows.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSharedMemory: tensors go through memory, in both loops and over both protocols: requests
// carry only names, and what is compared lies in the slot's own region.
func TestSharedMemory(t *testing.T) {
	s := serve(t, builtin.Config{})
	sharedMemory(t, s, "kind: system")
	nothingLeft(t, s)
}

// sharedMemory plays a plan whose tensors are in some memory.
func sharedMemory(t *testing.T, s *builtin.Server, kind string) {
	t.Helper()
	right, wrong := wide(t, 0), wide(t, 1)
	const plan = `
version: 1
target: {backend: triton, url: URL, model: identity}
data: {file: "FILE"}
stages:
  - {id: closed, load: {concurrency: [1, 3]}, shared_memory: SHARED, for: 30 requests}
  - {id: open, load: {rate: 400/s, max_in_flight: 5}, shared_memory: SHARED, for: 20 requests}
`
	for protocol, url := range bothURLs(s) {
		for _, c := range []struct {
			name, file, shared string
			failed             int64
			note               string
		}{
			{"right", right, "{" + kind + ", output_size: 16KiB}", 0, ""},
			{"wrong", wrong, "{" + kind + ", output_size: 16KiB}", 30, "output OUTPUT0 [4095] is 2047.5, want 2048.5"},
			{"more than room", right, "{" + kind + ", output_size: 4KiB}", 30, "raise `output_size`"},
		} {
			t.Run(protocol+"/"+c.name, func(t *testing.T) {
				r := play(t, strings.NewReplacer("FILE", c.file, "SHARED", c.shared).Replace(plan), url, Env{})
				for _, id := range []string{"closed[concurrency=1]", "closed[concurrency=3]"} {
					n := node(t, r, id)
					if n.Outcome != "done" || count(n, "errors.count") != c.failed || count(n, "requests.count") != 30 {
						t.Errorf("%s: %s %s, %d of %d failed: %+v",
							id, n.Outcome, n.Reason, count(n, "errors.count"), count(n, "requests.count"), n.Errors)
					}
					if said := fmt.Sprintf("%+v %+v", n.Errors, n.Validity.Findings); !strings.Contains(said, c.note) {
						t.Errorf("%s: %s, want %q", id, said, c.note)
					}
					each := value(t, n, "bytes.sent.rate") / value(t, n, "requests.rate")
					if c.failed == 0 && each > 1024 {
						t.Errorf("%s: %.0f bytes were sent for each request of 16 KiB", id, each)
					}
				}
				if n := node(t, r, "open"); c.failed == 0 &&
					(count(n, "errors.count") != 0 || count(n, "requests.count") != 20) {
					t.Errorf("open: %+v", n.Errors)
				}
			})
		}
	}
}

// TestSharedRefused: what a server or this machine does not give is said before anything is
// measured, with what to do.
func TestSharedRefused(t *testing.T) {
	s := serve(t, builtin.Config{})
	const plan = `
version: 1
target: {backend: triton, url: URL, model: identity_bytes}
stages: [{id: s, load: {rate: 10/s, max_in_flight: 60000}, shapes: {INPUT0: [4]}, shared_memory: {kind: system, output_size: 900GiB}, for: 5 requests}]
`
	for protocol, at := range bothURLs(s) {
		r := play(t, plan, at, Env{})
		n := node(t, r, "s")
		if n.Outcome != result.Failed || r.ExitCode != 4 || !strings.Contains(n.Reason, "/dev/shm has") ||
			!strings.Contains(n.Reason, "lower `output_size`") {
			t.Errorf("%s: %s, exit %d: %s", protocol, n.Outcome, r.ExitCode, n.Reason)
		}
	}
	nothingLeft(t, s)

	behind, err := url.Parse(s.HTTPURL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	// One without the extension
	without := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v2/systemsharedmemory") {
			http.NotFound(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer without.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	r := play(t, `
version: 1
target: {backend: triton, url: URL, model: simple}
stages: [{id: s, load: {concurrency: 1}, shared_memory: system, for: 5 requests}]
`, without.URL, Env{})
	if n := node(t, r, "s"); n.Outcome != result.Failed ||
		!strings.Contains(n.Reason, "it has no shared memory extension") {
		t.Errorf("%s: %s", n.Outcome, n.Reason)
	}
	nothingLeft(t, nil)
}

// TestSharedElsewhere: a backend that shares no memory is refused at the plan's line.
func TestSharedElsewhere(t *testing.T) {
	plan, diags := scenario.Parse("plan.yaml", []byte(`
version: 1
target: {backend: kserve, url: "http://h", model: m}
stages: [{id: s, load: {concurrency: 1}, shared_memory: system, for: 5 requests}]
`), scenario.Overrides{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	_, diags = program.Compile(plan, all.Kinds())
	if len(diags) != 1 || diags[0].Code != "no-shared-memory" || diags[0].Pos.Line != 4 {
		t.Errorf("%v", diags)
	}
}

// TestSharedMistakes: what cannot be encoded is a mistake of the plan, and no memory is made for it.
func TestSharedMistakes(t *testing.T) {
	s := serve(t, builtin.Config{})
	for keys, want := range map[string]string{
		"parameters: {binary_data_output: true}": `row 0: parameter binary_data_output cannot be set`,
		`headers: {Content-Type: text}`:          `row 0: header Content-Type cannot be set`,
	} {
		_, diags := Run(t.Context(), compile(t, `
version: 1
target: {backend: triton, url: URL, model: simple, ready: 0s}
stages: [{id: s, load: {concurrency: 1}, shared_memory: system, for: 5 requests, `+keys+`}]
`, s.HTTPURL()), Env{})
		if len(diags) != 1 ||
			!strings.HasPrefix(diags[0].Summary,
				`stage "s": the requests cannot be encoded for shared memory: `+want) || diags[0].Pos.Line != 4 {
			t.Errorf("%s: %v", keys, diags)
		}
		if names, regions := left(t, s); len(names)+len(regions) > 0 {
			t.Errorf("%s: left behind %v %v", keys, names, regions)
		}
	}
}

// TestSharedInterrupted: on every way out the server forgets the regions: those that a request
// cancelled here still uses too.
func TestSharedInterrupted(t *testing.T) {
	s := serve(t, builtin.Config{ServiceTime: &builtin.Dist{Mean: 0.1}})
	const plan = `
version: 1
target: {backend: triton, url: URL, model: identity, ready: 0s, timeout: DRAIN}
data: {file: "FILE"}
stages: [{id: s, load: {concurrency: 4}, shared_memory: system, for: 1h, drain: 0s}]
`
	file := wide(t, 0)
	for protocol, url := range bothURLs(s) {
		for name, way := range map[string]func(context.CancelFunc, chan int){
			"signal": func(_ context.CancelFunc, c chan int) { c <- 2 },
			"cut":    func(stop context.CancelFunc, c chan int) { c <- 2; stop() },
		} {
			t.Run(protocol+"/"+name, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				interrupt := make(chan int, 1)
				began := false
				env := Env{Interrupt: interrupt, Events: func(e Event) {
					if e.Phase == PhaseHold && !began {
						began = true
						if _, regions := left(t, s); len(regions) != 5 { // the inputs, and four slots
							t.Errorf("regions %v", regions)
						}
						way(stop, interrupt)
					}
				}}
				text := strings.NewReplacer("FILE", file, "DRAIN", "30s").Replace(plan)
				r, _ := Run(ctx, compile(t, text, url), env)
				if n := node(t, r, "s"); name == "signal" && n.Outcome != result.InterruptedNode {
					t.Errorf("%s: %s", n.Outcome, n.Reason)
				}
				nothingLeft(t, s)
			})
		}
	}
}

// TestSharedServerGone: a server that dies in the middle costs the requests, not the result, and
// leaves no name.
func TestSharedServerGone(t *testing.T) {
	for protocol := range map[string]bool{"http": true, "grpc": true} {
		t.Run(protocol, func(t *testing.T) {
			s := serve(t, builtin.Config{})
			killed := false
			env := Env{Events: func(e Event) {
				if e.Phase == PhaseHold && !killed {
					killed = true
					_ = s.Close()
				}
			}}
			text := strings.ReplaceAll(`
version: 1
target: {backend: triton, url: URL, model: identity, statistics: none}
data: {file: "FILE"}
stages: [{id: s, load: {concurrency: 2}, shared_memory: system, for: 600ms}]
`, "FILE", wide(t, 0))
			r := play(t, text, bothURLs(s)[protocol], env)
			n := node(t, r, "s")
			found := false
			for _, f := range n.Validity.Findings {
				found = found || f.Code == "shared-memory"
			}
			if n.Outcome == result.Failed || count(n, "errors.count") == 0 || !found {
				t.Errorf("%s, %d errors, findings %+v", n.Outcome, count(n, "errors.count"), n.Validity.Findings)
			}
			if names, _ := left(t, nil); len(names) > 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
}
