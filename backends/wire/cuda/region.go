//go:build cuda && linux

package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/sluice-bench/sluice/backends/wire/native"
	"github.com/sluice-bench/sluice/backends/wire/shm"
)

// CheckFree returns a shm.NoMemoryError if the GPU has fewer than size bytes left.
func (g *Device) CheckFree(size int64) error {
	out := make([]uintptr, 2) // free, total
	err := g.withContext(new(scratch), func() error {
		return g.driver.call("cuMemGetInfo_v2", native.Address(out), native.Address(out[1:]))
	})
	if free := int64(out[0]); err == nil && free < size {
		return &shm.NoMemoryError{Want: size, Free: free, Where: fmt.Sprintf("GPU %d", g.number)}
	}
	return err
}

// handleSize is the size in bytes of the handle by which another process opens a region.
const handleSize = 64

// Region is one allocation of GPU memory, used by one goroutine at a time.
type Region struct {
	device *Device
	at     uintptr // CUdeviceptr; 0: released
	size   int64
	handle []byte
	scratch
}

// New allocates a region of size bytes, all zero.
func (g *Device) New(size int64) (*Region, error) {
	if size <= 0 {
		return nil, fmt.Errorf("a region of %d bytes", size)
	}
	r := &Region{device: g, size: size, handle: make([]byte, handleSize)}
	err := g.withContext(&r.scratch, func() error {
		d, out := g.driver, make([]uintptr, 1)
		if err := d.call("cuMemAlloc_v2", native.Address(out), uintptr(size)); err != nil {
			return err
		}
		r.at = out[0]
		if err := d.call("cuMemsetD8_v2", r.at, 0, uintptr(size)); err != nil {
			return err
		}
		if err := d.call("cuCtxSynchronize"); err != nil {
			return err
		}
		return d.call("cuIpcGetMemHandle", native.Address(r.handle), r.at)
	})
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Size returns the size of the region in bytes.
func (r *Region) Size() int64 { return r.size }

// Handle returns the handle by which another process opens the region. This process cannot.
func (r *Region) Handle() []byte { return r.handle }

// Write copies data to the region at offset at.
func (r *Region) Write(at int64, data []byte) error {
	if err := rangeError(at, int64(len(data)), r.size); err != nil || len(data) == 0 {
		return err
	}
	defer runtime.KeepAlive(data)
	return r.device.withContext(&r.scratch, func() error {
		if err := r.device.driver.call("cuMemcpyHtoD_v2", r.at+uintptr(at), native.Address(data),
			uintptr(len(data))); err != nil {
			return err
		}
		return r.device.driver.call("cuCtxSynchronize") // the driver may only have queued the copy
	})
}

// Read copies from the region at offset at. It allocates nothing.
func (r *Region) Read(at int64, into []byte) error {
	if err := rangeError(at, int64(len(into)), r.size); err != nil || len(into) == 0 {
		return err
	}
	defer runtime.KeepAlive(into)
	return r.device.withContext(&r.scratch, func() error {
		args := r.scratch[2:5]
		args[0], args[1], args[2] = native.Address(into), r.at+uintptr(at), uintptr(len(into))
		return r.device.driver.call("cuMemcpyDtoH_v2", args...)
	})
}

// Close frees the region. Processes that opened it must have closed it before.
func (r *Region) Close() error {
	if r.at == 0 {
		return nil
	}
	at := r.at
	r.at = 0
	return r.device.withContext(&r.scratch, func() error { return r.device.driver.call("cuMemFree_v2", at) })
}

// rangeError returns an error unless size bytes at offset at lie in a region of whole bytes.
func rangeError(at, size, whole int64) error {
	if at < 0 || size < 0 || at > whole || size > whole-at {
		return fmt.Errorf("%d bytes at %d of a region of %d", size, at, whole)
	}
	return nil
}
