//go:build cuda && linux

package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends/backendtest/cudatest"
	"github.com/sluice-bench/sluice/backends/wire/native"
	"github.com/sluice-bench/sluice/backends/wire/shm"
)

// use does all there is: a region of a GPU that is written, read and given back, with what came of
// every step.
func use(number int) (err error) {
	g, err := Open(number)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close(), g.Close()) }()
	if err := g.CheckFree(100); err != nil {
		return err
	}
	r, err := g.New(100)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(), r.Close()) }()
	if err := r.Write(90, []byte("0123456789")); err != nil {
		return err
	}
	back := make([]byte, 12)
	if err := r.Read(88, back); err != nil {
		return err
	}
	if string(back) != "\x00\x000123456789" {
		return fmt.Errorf("reads %q", back)
	}
	// Another process finds the memory by the handle.
	name, _, _ := bytes.Cut(r.Handle(), []byte{0})
	seen, err := os.ReadFile("/dev/shm" + string(name))
	if err != nil || len(r.Handle()) != 64 || r.Size() != 100 || string(seen[90:]) != "0123456789" {
		return fmt.Errorf("a handle of %d bytes finds %q: %w", len(r.Handle()), seen, err)
	}
	return nil
}

const calls = `cuInit(0)
cuDeviceGetCount() 2
cuDeviceGet(1)
cuDevicePrimaryCtxRetain(1)
cuCtxPushCurrent_v2(gpu1)
cuMemGetInfo_v2()
cuCtxPopCurrent_v2()
cuCtxPushCurrent_v2(gpu1)
cuMemAlloc_v2(100) r1
cuMemsetD8_v2(r1+0, 0, 100)
cuCtxSynchronize()
cuIpcGetMemHandle(r1)
cuCtxPopCurrent_v2()
cuCtxPushCurrent_v2(gpu1)
cuMemcpyHtoD_v2(r1+90, 10)
cuCtxSynchronize()
cuCtxPopCurrent_v2()
cuCtxPushCurrent_v2(gpu1)
cuMemcpyDtoH_v2(r1+88, 12)
cuCtxPopCurrent_v2()
cuCtxPushCurrent_v2(gpu1)
cuMemFree_v2(r1)
cuCtxPopCurrent_v2()
cuDevicePrimaryCtxRelease_v2(1)
`

// TestDriver is all of one process, as the driver can be loaded but once.
func TestDriver(t *testing.T) {
	d := cudatest.Compile(t)
	if _, err := Open(0); err == nil || !strings.Contains(err.Error(), "libcuda.so.1") ||
		!strings.Contains(err.Error(), "install it") {
		t.Fatalf("without a driver: %v", err)
	}
	if _, err := native.Open(d.Library()); err != nil {
		t.Fatal(err)
	}
	t.Run("calls", func(t *testing.T) {
		d.Reset(t, "", 2)
		if err := use(1); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(calls, d.Calls(t)); diff != "" {
			t.Error(diff)
		}
		if left := d.Left(t); left != "" {
			t.Error("left: ", left)
		}
	})
	t.Run("failures", func(t *testing.T) { failures(t, d) })
	t.Run("refused", func(t *testing.T) { refused(t, d) })
	t.Run("threads", func(t *testing.T) { threads(t, d) })
}

// failures lets each of the calls fail in turn: the error has the driver's own words, and nothing
// stays but what the failing call was to give back.
func failures(t *testing.T, d *cudatest.Driver) {
	for i, line := range strings.Split(strings.TrimSpace(calls), "\n") {
		d.Reset(t, fmt.Sprintf("* %d 700", i+1), 2)
		function, _, _ := strings.Cut(line, "(")
		err := use(1)
		if want := function + ": CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access"; err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%d %s: %v", i, function, err)
		}
		want := ""
		switch function {
		case "cuCtxPopCurrent_v2":
			want = "memory [], contexts 0, current 1"
		case "cuDevicePrimaryCtxRelease_v2":
			want = "memory [], contexts 1, current 0"
		}
		if left := d.Left(t); left != want {
			t.Errorf("%d %s: left: %s\n%s", i, function, left, d.Calls(t))
		}
	}
}

// refused are the ways in which there is no memory, each with what to do.
func refused(t *testing.T, d *cudatest.Driver) {
	for _, c := range []struct {
		fail            string
		devices, number int
		visible         string
		want            string
	}{
		{
			"cuInit 1 100", 2, 0, "",
			"cuInit: CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected; no GPU is seen",
		},
		{"cuInit 1 803", 2, 0, "", "restart the machine"},
		{"cuInit 1 34", 2, 0, "", "CUDA_ERROR_STUB_LIBRARY (34): CUDA driver is a stub library; a stub was found"},
		{"cuInit 1 999", 2, 0, "", "CUDA_ERROR_UNKNOWN (999)"},
		{"cuInit 1 4711", 2, 0, "", "cuInit: error 4711"},
		{"", 0, 0, "", "there is no GPU 0: the driver shows none"},
		{"", 1, 1, "", "there is no GPU 1: the driver shows one, 0"},
		{"", 2, 2, "", "there is no GPU 2: the driver shows 2, 0 to 1"},
		{"", 1, 1, "3", `there is no GPU 1: the driver shows one, 0, as CUDA_VISIBLE_DEVICES="3" lets it`},
		{
			"cuDevicePrimaryCtxRetain 1 46", 2, 1, "",
			"GPU 1: cuDevicePrimaryCtxRetain: CUDA_ERROR_DEVICE_UNAVAILABLE (46): CUDA-capable device(s) is/are " +
				"busy or unavailable; another process has the GPU for itself",
		},
		{
			"cuMemAlloc_v2 1 2", 2, 0, "",
			"GPU 0: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; the GPU's memory is taken",
		},
		{
			"cuIpcGetMemHandle 1 801", 2, 0, "",
			"GPU 0: cuIpcGetMemHandle: CUDA_ERROR_NOT_SUPPORTED (801): operation not supported; memory of this " +
				"GPU cannot be shared",
		},
	} {
		d.Reset(t, c.fail, c.devices)
		if c.visible != "" {
			t.Setenv("CUDA_VISIBLE_DEVICES", c.visible)
		}
		if err := use(c.number); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, GPU %d of %d: %v\nwant %s", c.fail, c.number, c.devices, err, c.want)
		}
		if left := d.Left(t); left != "" {
			t.Errorf("%s: left: %s", c.fail, left)
		}
	}
	d.Reset(t, "", 1)
	g, err := Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var none *shm.NoMemoryError
	if err := g.CheckFree(1 << 40); !errors.As(err, &none) || none.Where != "GPU 0" || none.Free != 64<<20 {
		t.Errorf("room for all and more: %v", err)
	}
	r, err := g.New(10)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	into := make([]byte, 10)
	if n := testing.AllocsPerRun(20, func() { err = r.Read(0, into) }); n > 0 || err != nil {
		t.Errorf("%v allocations for what is read: %v", n, err)
	}
	for name, err := range map[string]error{
		"no size": second(g.New(0)), "behind": r.Write(10, []byte{1}), "before": r.Read(-1, []byte{1}),
		"too long": r.Read(0, make([]byte, 11)),
	} {
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func second(_ *Region, err error) error { return err }

// threads: what is done at once on many goroutines has the context on each one's thread.
func threads(t *testing.T, d *cudatest.Driver) {
	d.Reset(t, "", 2)
	var all sync.WaitGroup
	errs := make(chan error, 40)
	for i := range cap(errs) {
		all.Go(func() { errs <- use(i % 2) })
	}
	all.Wait()
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if left := d.Left(t); left != "" {
		t.Error("left: ", left)
	}
}
