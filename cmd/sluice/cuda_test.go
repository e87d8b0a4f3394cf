//go:build cuda && linux

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends/backendtest/cudatest"
	"github.com/sluice-bench/sluice/backends/builtin"
)

// TestCUDA: the program itself finds the driver as the system's loader does, and plays the plan for
// machines with a GPU.
func TestCUDA(t *testing.T) {
	const plan = "../../testdata/plans/cuda.yaml"
	s, err := builtin.Start(t.Context(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d := cudatest.Compile(t)
	for _, url := range []string{s.HTTPURL(), s.GRPCURL()} {
		run := func(env []string, more ...string) (int, string) {
			return invoke(t, env, append([]string{
				"run", plan, "--var", "url=" + url, "--out",
				t.TempDir() + "/out",
			}, more...)...)
		}
		if code, out := run(nil); code != 4 ||
			!strings.Contains(out, "cuda.yaml:16:27: shared memory: NVIDIA's driver: load libcuda.so.1") {
			t.Errorf("without a driver: exit %d\n%s", code, out)
		}
		env := []string{"LD_LIBRARY_PATH=" + filepath.Dir(d.Library())}
		for device, want := range map[string]string{
			"1": "",
			"7": "there is no GPU 7: the driver shows 2, 0 to 1",
		} {
			d.Reset(t, "", 2)
			code, out := run(env, "--var", "device="+device)
			// 5: this machine was busy
			if good := code == 0 || code == 5; good != (want == "") || !strings.Contains(out, want) {
				t.Errorf("device %s: exit %d\n%s", device, code, out)
			}
			calls := d.Calls(t)
			if want == "" && (!strings.Contains(calls, "(gpu1)") ||
				!strings.Contains(calls, "cuMemcpyDtoH_v2")) {
				t.Errorf("device %s:\n%s", device, calls)
			}
			if left := d.Left(t); left != "" {
				t.Errorf("device %s: left: %s", device, left)
			}
		}
	}
	if names, _ := filepath.Glob("/dev/shm/sluice-gpu-*"); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}
