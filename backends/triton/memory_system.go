package triton

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends/wire/protow"
	"github.com/sluice-bench/sluice/backends/wire/shm"
)

// systemMemory returns the shared memory of the system.
func systemMemory() *memory {
	return &memory{
		source: systemSource{}, path: "systemsharedmemory", method: "SystemSharedMemory",
		howToGetMore: "give the container more with --shm-size",
		refusals: append([]refusal{{
			"Unable to open shared memory region",
			"it does not see the shared memory of this machine: run both on one machine, and a server in a " +
				"container with --ipc=host, or with /dev/shm mounted from here",
		}}, commonRefusals()...),
	}
}

type systemSource struct{}

// CheckFree implements source.
func (systemSource) CheckFree(size int64) error { return shm.CheckFree(size) }

// Make implements source.
func (systemSource) Make(name string, size int64) (region, error) {
	r, err := shm.New("/"+name, size)
	if err != nil {
		return nil, err
	}
	return systemRegion{r}, nil
}

type systemRegion struct{ *shm.Region }

// Write implements region.
func (r systemRegion) Write(at int64, data []byte) error {
	copy(r.Bytes()[at:], data)
	return nil
}

// Read implements region. It copies nothing.
func (r systemRegion) Read(at, size int64) ([]byte, error) {
	if b := r.Bytes(); at >= 0 && at+size <= int64(len(b)) {
		return b[at : at+size], nil
	}
	return nil, fmt.Errorf("%d bytes at %d of a region of %d", size, at, len(r.Bytes()))
}

// JSON implements region.
func (r systemRegion) JSON() any {
	return struct {
		Key    string `json:"key"`
		Offset int64  `json:"offset"`
		Size   int    `json:"byte_size"`
	}{r.Key(), 0, len(r.Bytes())}
}

// Message implements region. SystemSharedMemoryRegisterRequest: name 1, key 2, offset 3, byte_size 4.
func (r systemRegion) Message(dst []byte) []byte {
	return protow.AppendUint(protow.AppendString(dst, 2, r.Key()), 4, uint64(len(r.Bytes())))
}

// Registered implements region.
func (r systemRegion) Registered() error { return r.Unlink() }
