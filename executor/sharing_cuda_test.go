//go:build cuda && linux

package executor

import (
	"context"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest/cudatest"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/wire/native"
	"github.com/sluice-bench/sluice/executor/result"
)

const onGPU = `
version: 1
target: {backend: triton, url: URL, model: simple}
data: {generate: {INPUT0: 5, INPUT1: 2}, count: 1}
stages: [{id: s, load: {concurrency: 2}, shared_memory: {kind: cuda, device: DEVICE}, for: 20 requests}]
`

// TestCUDASharedMemory is all of one process, as the driver can be loaded but once: tensors lie in
// the memory of a GPU, which the server reads and writes.
func TestCUDASharedMemory(t *testing.T) {
	s := serve(t, builtin.Config{})
	for _, url := range bothURLs(s) {
		notSetUp(t, url, "0", `plan.yaml:5:64: shared memory: NVIDIA's driver: load libcuda.so.1`)
	}
	d := cudatest.Compile(t)
	if _, err := native.Open(d.Library()); err != nil {
		t.Fatal(err)
	}
	t.Run("values", func(t *testing.T) {
		d.Reset(t, "", 2)
		sharedMemory(t, s, "kind: cuda, device: 1")
		if calls := d.Calls(t); strings.Contains(calls, "gpu0") || !strings.Contains(calls, ", 16384)") {
			t.Error("the device of the plan, and copies of what is compared: not in the calls")
		}
		// Three plans, two protocols; four levels and stages each
		if n := strings.Count(d.Calls(t), "cuDevicePrimaryCtxRetain(1)"); n != 6 {
			t.Errorf("a context was made %d times", n)
		}
		nothingOnGPU(t, d, s)
	})
	t.Run("not compared", func(t *testing.T) { // what nobody compares stays where it is
		d.Reset(t, "", 2)
		r := play(t, strings.ReplaceAll(onGPU, "DEVICE", "0"), s.HTTPURL(), Env{})
		if n, calls := node(t, r, "s"), d.Calls(t); count(n, "errors.count") != 0 ||
			strings.Contains(calls, "DtoH") || strings.Count(calls, "HtoD") != 4 {
			// Two inputs for the request that is tried first, and for those that are measured
			t.Errorf("%+v\n%s", n.Errors, calls)
		}
		nothingOnGPU(t, d, s)
	})
	t.Run("two GPUs", func(t *testing.T) { twoGPUs(t, d, s) })
	t.Run("refused", func(t *testing.T) {
		for fail, want := range map[string]string{
			"": `plan.yaml:5:64: shared memory: there is no GPU 3: the driver shows ` +
				`2, 0 to 1`,
			"cuInit 1 100":                   "CUDA_ERROR_NO_DEVICE (100)",
			"cuIpcGetMemHandle 2 801":        "CUDA_ERROR_NOT_SUPPORTED (801)",
			"cuMemcpyHtoD_v2 1 700":          "input INPUT0: GPU 1: cuMemcpyHtoD_v2: CUDA_ERROR_ILLEGAL_ADDRESS (700)",
			"cuDevicePrimaryCtxRetain 1 999": "CUDA_ERROR_UNKNOWN (999)",
		} {
			device := "1"
			if fail == "" {
				device = "3"
			}
			for _, url := range bothURLs(s) {
				d.Reset(t, fail, 2)
				notSetUp(t, url, device, want)
				nothingOnGPU(t, d, s)
			}
		}
	})
	t.Run("interrupted", func(t *testing.T) { onTheWayOut(t, d, s) })
	t.Run("copy fails", func(t *testing.T) { copyFails(t, d, s) })
	t.Run("server gone", func(t *testing.T) { serverGone(t, d) })
}

// notSetUp plays a plan that cannot be set up.
func notSetUp(t *testing.T, url, device, want string) {
	t.Helper()
	r := play(t, strings.ReplaceAll(onGPU, "DEVICE", device), url, Env{})
	if n := node(t, r, "s"); n.Outcome != result.Failed || r.ExitCode != 4 || !strings.Contains(n.Reason, want) {
		t.Errorf("%s: %s, exit %d: %s\nwant %s", url, n.Outcome, r.ExitCode, n.Reason, want)
	}
}

func nothingOnGPU(t *testing.T, d *cudatest.Driver, s *builtin.Server) {
	t.Helper()
	if left := d.Left(t); left != "" {
		t.Errorf("left: %s\n%s", left, d.Calls(t))
	}
	if s != nil {
		if regions := cudatest.Regions(t, s.HTTPURL()); len(regions) > 0 {
			t.Errorf("the server still has regions of GPUs: %v", regions)
		}
	}
}

// twoGPUs: stages that run together have their memory where each says.
func twoGPUs(t *testing.T, d *cudatest.Driver, s *builtin.Server) {
	d.Reset(t, "", 2)
	seen := map[int]int{}
	env := Env{Events: func(e Event) {
		if e.Phase == PhaseHold && len(seen) == 0 {
			seen = cudatest.Regions(t, s.HTTPURL())
		}
	}}
	r := play(t, `
version: 1
target: {backend: triton, url: URL, model: simple}
stages:
  - parallel:
      - {id: a, load: {concurrency: 2}, shared_memory: cuda, for: 300ms}
      - {id: b, load: {concurrency: 3}, shared_memory: {kind: cuda, device: 1}, for: 300ms}
`, s.GRPCURL(), env)
	for _, id := range []string{"a", "b"} {
		if n := node(t, r, id); count(n, "errors.count") != 0 || count(n, "requests.count") == 0 {
			t.Errorf("%s: %s %+v", id, n.Reason, n.Errors)
		}
	}
	if seen[0] != 3 || seen[1] != 4 { // the inputs, and the slots
		t.Errorf("regions by GPU: %v", seen)
	}
	nothingOnGPU(t, d, s)
}

// onTheWayOut: a signal and an end at once both give everything back.
func onTheWayOut(t *testing.T, d *cudatest.Driver, s *builtin.Server) {
	text := strings.NewReplacer("DEVICE", "0", "for: 20 requests", "for: 1h, drain: 0s").Replace(onGPU)
	for protocol, url := range bothURLs(s) {
		for name, cut := range map[string]bool{"signal": false, "cut": true} {
			d.Reset(t, "", 1)
			ctx, stop := context.WithCancel(t.Context())
			interrupt, began := make(chan int, 1), false
			env := Env{Interrupt: interrupt, Events: func(e Event) {
				if e.Phase == PhaseHold && !began {
					began = true
					interrupt <- 2
					if cut {
						stop()
					}
				}
			}}
			if _, diags := Run(ctx, compile(t, text, url), env); diags.HasErrors() || !began {
				t.Errorf("%s %s: began %v, %v", protocol, name, began, diags)
			}
			stop()
			nothingOnGPU(t, d, s)
		}
	}
}

// copyFails: an output that cannot be read back is an error of the client, with the driver's words.
func copyFails(t *testing.T, d *cudatest.Driver, s *builtin.Server) {
	for protocol, url := range bothURLs(s) {
		d.Reset(t, "cuMemcpyDtoH_v2 0 700", 2)
		r := play(t, strings.NewReplacer("FILE", wide(t, 0)).Replace(`
version: 1
target: {backend: triton, url: URL, model: identity, ready: 0s}
data: {file: "FILE"}
stages: [{id: s, load: {concurrency: 1}, shared_memory: {kind: cuda, output_size: 16KiB}, for: 5 requests}]
`), url, Env{})
		n := node(t, r, "s")
		if r.ExitCode == 0 || len(n.Errors) != 1 || n.Errors[0].Class != "client" ||
			!strings.Contains(n.Errors[0].Example, "cuMemcpyDtoH_v2: CUDA_ERROR_ILLEGAL_ADDRESS (700)") {
			t.Errorf("%s: exit %d, %s %s, %+v", protocol, r.ExitCode, n.Outcome, n.Reason, n.Errors)
		}
		nothingOnGPU(t, d, s)
	}
}

// serverGone: a server that dies in the middle costs the requests, and the memory is given back all
// the same.
func serverGone(t *testing.T, d *cudatest.Driver) {
	for _, protocol := range []string{"http", "grpc"} {
		d.Reset(t, "", 2)
		s := serve(t, builtin.Config{})
		killed := false
		env := Env{Events: func(e Event) {
			if e.Phase == PhaseHold && !killed {
				killed = true
				_ = s.Close()
			}
		}}
		text := strings.NewReplacer("DEVICE",
			"1", "for: 20 requests", "for: 300ms", "model: simple", "model: simple, statistics: none").Replace(onGPU)
		n := node(t, play(t, text, bothURLs(s)[protocol], env), "s")
		if n.Outcome == result.Failed || count(n, "errors.count") == 0 {
			t.Errorf("%s: %s, %d errors", protocol, n.Outcome, count(n, "errors.count"))
		}
		nothingOnGPU(t, d, nil)
	}
}
