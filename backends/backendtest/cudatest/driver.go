// Package cudatest is a stand-in for NVIDIA's driver in tests of shared memory on machines without
// a GPU: a C library with the driver's name that logs every call and can fail any.
//
// It is not: a GPU, a driver that computes anything, a loader of libraries (the test does that, in
// this process or another).
package cudatest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

//go:embed testdata/libcuda.c
var source string

// Driver is a library that was compiled for one test process, in a directory of its own.
type Driver struct{ dir string }

// Compile builds the library with gcc.
func Compile(t testing.TB) *Driver {
	t.Helper()
	d := &Driver{dir: t.TempDir()}
	cmd := exec.Command("gcc", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1",
		"-o", d.Library(), "-x", "c", "-", "-lpthread", "-lrt", "-ldl")
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return d
}

// Library returns the library's path. Once it is loaded the loader finds it by the driver's name
// too.
func (d *Driver) Library() string { return filepath.Join(d.dir, "libcuda.so.1") }

// Reset clears the log of calls, and makes calls fail as fail says in lines of FUNCTION NTH CODE:
// "*" is any function, 0 every call. From then on there are devices GPUs.
func (d *Driver) Reset(t testing.TB, fail string, devices int) {
	t.Helper()
	d.write(t, "calls", "")
	d.write(t, "fail", fail)
	d.write(t, "devices", strconv.Itoa(devices))
}

func (d *Driver) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Note adds a line to the log of calls: an event other than a call of the driver.
func (d *Driver) Note(t testing.TB, line string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(d.dir, "calls"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, line)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// Calls returns the calls since Reset, one per line.
func (d *Driver) Calls(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Left returns what this process has not released: memory by its names, contexts, and threads with
// a current context.
func (d *Driver) Left(t testing.TB) string {
	t.Helper()
	names, err := filepath.Glob(fmt.Sprintf("/dev/shm/sluice-gpu-%d-*", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	contexts, current := 0, 0
	for line := range strings.Lines(d.Calls(t)) {
		if strings.Contains(line, "CUDA_ERROR") {
			continue
		}
		switch function, _, _ := strings.Cut(line, "("); function {
		case "cuDevicePrimaryCtxRetain":
			contexts++
		case "cuDevicePrimaryCtxRelease_v2":
			contexts--
		case "cuCtxPushCurrent_v2":
			current++
		case "cuCtxPopCurrent_v2":
			current--
		}
	}
	if len(names) == 0 && contexts == 0 && current == 0 {
		return ""
	}
	return fmt.Sprintf("memory %v, contexts %d, current %d", names, contexts, current)
}

// Regions returns the number of registered GPU regions of the server at an HTTP URL, by GPU.
func Regions(t testing.TB, url string) map[int]int {
	t.Helper()
	reply, err := http.Get(url + "/v2/cudasharedmemory/status")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var list []struct {
		Device int `json:"device_id"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	regions := map[int]int{}
	for _, r := range list {
		regions[r.Device]++
	}
	return regions
}
