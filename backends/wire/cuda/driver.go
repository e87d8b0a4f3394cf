//go:build cuda && linux

package cuda

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/sluice-bench/sluice/backends/wire/native"
)

// MissingReason returns "": this binary can share GPU memory.
func MissingReason() string { return "" }

// library is the name by which the system's loader finds the driver.
const library = "libcuda.so.1"

// functions names what is called of the driver. Those with the suffix _v2 are the functions that cuda.h
// calls by the name without it.
var functions = []string{
	"cuInit", "cuDeviceGetCount", "cuDeviceGet", "cuDevicePrimaryCtxRetain",
	"cuDevicePrimaryCtxRelease_v2", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2", "cuCtxSynchronize",
	"cuMemGetInfo_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemsetD8_v2", "cuMemcpyHtoD_v2",
	"cuMemcpyDtoH_v2", "cuIpcGetMemHandle", "cuGetErrorName", "cuGetErrorString",
}

// driver is the loaded driver of NVIDIA: the addresses of its functions.
type driver map[string]uintptr

// load loads the driver and its functions, and initializes it. The driver stays in the process, so
// that further loads cost nothing.
func load() (driver, error) {
	n, err := native.Open(library)
	if err != nil {
		return nil, fmt.Errorf("NVIDIA's driver: %w; install it on this machine, "+
			"or give the container its GPUs with --gpus", err)
	}
	d := driver{}
	for _, f := range functions {
		if d[f], err = n.Function(f); err != nil {
			return nil, fmt.Errorf("NVIDIA's driver: %w: one for CUDA 11 or later is needed", err)
		}
	}
	return d, d.call("cuInit", 0)
}

// call calls a function that returns a CUresult. What args point to is on the heap, and kept alive
// by the caller.
func (d driver) call(f string, args ...uintptr) error {
	code := int32(native.Call(d[f], args...))
	if code == 0 {
		return nil
	}
	return &failure{
		call: f, code: int(code),
		name: d.text("cuGetErrorName", code), text: d.text("cuGetErrorString", code),
	}
}

// text returns the driver's name or description of a code.
func (d driver) text(f string, code int32) string {
	out := make([]uintptr, 1)
	if native.Call(d[f], uintptr(code), native.Address(out)) != 0 {
		return ""
	}
	return string(native.String(out[0]))
}

// Device is a GPU whose primary context is retained: the context that the whole process shares.
type Device struct {
	driver  driver
	number  int
	handle  uintptr // CUdevice
	context uintptr // CUcontext; 0: released
}

// Open retains the context of a GPU, by its number in the driver. It creates the context if there
// is none yet, which takes about 100 ms and 100 MB of the GPU.
func Open(number int) (*Device, error) {
	d, err := load()
	if err != nil {
		return nil, err
	}
	out := make([]int32, 1)
	if err := d.call("cuDeviceGetCount", native.Address(out)); err != nil {
		return nil, err
	}
	if n := int(out[0]); number < 0 || number >= n {
		return nil, noSuchGPU(number, n)
	}
	if err := d.call("cuDeviceGet", native.Address(out), uintptr(number)); err != nil {
		return nil, fmt.Errorf("GPU %d: %w", number, err)
	}
	g := &Device{driver: d, number: number, handle: uintptr(out[0])}
	context := make([]uintptr, 1)
	if err := d.call("cuDevicePrimaryCtxRetain", native.Address(context), g.handle); err != nil {
		return nil, fmt.Errorf("GPU %d: %w", number, err)
	}
	g.context = context[0]
	return g, nil
}

// noSuchGPU returns the error of a GPU number that does not exist among n GPUs.
func noSuchGPU(number, n int) error {
	text := fmt.Sprintf("there is no GPU %d: the driver shows %d, 0 to %d", number, n, n-1)
	switch n {
	case 0:
		text = fmt.Sprintf("there is no GPU %d: the driver shows none", number)
	case 1:
		text = fmt.Sprintf("there is no GPU %d: the driver shows one, 0", number)
	}
	if seen, ok := os.LookupEnv("CUDA_VISIBLE_DEVICES"); ok {
		text += fmt.Sprintf(", as CUDA_VISIBLE_DEVICES=%q lets it", seen)
	}
	return errors.New(text)
}

// Close releases the context. Its regions must be closed.
func (g *Device) Close() error {
	if g.context == 0 {
		return nil
	}
	g.context = 0
	return g.wrapError(g.driver.call("cuDevicePrimaryCtxRelease_v2", g.handle))
}

func (g *Device) wrapError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("GPU %d: %w", g.number, err)
}

// scratch holds the arguments of the calls of one goroutine at a time, on the heap.
type scratch [6]uintptr

// withContext calls do with the context, which belongs to an OS thread, and detaches it afterwards.
// It uses the first two words of the scratch.
func (g *Device) withContext(s *scratch, do func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s[0] = g.context
	if err := g.driver.call("cuCtxPushCurrent_v2", s[:1]...); err != nil {
		return g.wrapError(err)
	}
	err := do()
	s[0] = native.Address(s[1:2])
	if popped := g.driver.call("cuCtxPopCurrent_v2", s[:1]...); popped != nil {
		err = errors.Join(err, popped)
	}
	return g.wrapError(err)
}
