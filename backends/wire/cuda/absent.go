//go:build !cuda || !linux

package cuda

import (
	"errors"
	"runtime"
)

// MissingReason says why this binary shares no memory of a GPU, and how to get one that does.
func MissingReason() string {
	if runtime.GOOS != "linux" {
		return "memory of a GPU can be shared on Linux only, not on " + runtime.GOOS
	}
	return "it loads NVIDIA's driver, which a static binary cannot: build with `go build -tags cuda ./cmd/sluice`"
}

// Device is a GPU. There is none in this binary.
type Device struct{}

// Open says why there is none.
func Open(int) (*Device, error) { return nil, errors.New("shared memory of a GPU: " + MissingReason()) }

// CheckFree is of no use here.
func (d *Device) CheckFree(int64) error { return errors.New(MissingReason()) }

// New is of no use here.
func (d *Device) New(int64) (*Region, error) { return nil, errors.New(MissingReason()) }

// Close is of no use here.
func (d *Device) Close() error { return nil }

// Region is memory of a GPU. There is none in this binary.
type Region struct{}

// Size is of no use here.
func (r *Region) Size() int64 { return 0 }

// Handle is of no use here.
func (r *Region) Handle() []byte { return nil }

// Write is of no use here.
func (r *Region) Write(int64, []byte) error { return errors.New(MissingReason()) }

// Read is of no use here.
func (r *Region) Read(int64, []byte) error { return errors.New(MissingReason()) }

// Close is of no use here.
func (r *Region) Close() error { return nil }
