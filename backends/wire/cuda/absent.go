//go:build !cuda || !linux

package cuda

import (
	"errors"
	"runtime"
)

// MissingReason says why this binary cannot share GPU memory, and how to get one that can.
func MissingReason() string {
	if runtime.GOOS != "linux" {
		return "memory of a GPU can be shared on Linux only, not on " + runtime.GOOS
	}
	return "it loads NVIDIA's driver, which a static binary cannot: build with `go build -tags cuda " +
		"./cmd/sluice`"
}

// Device is a GPU. This binary has none.
type Device struct{}

// Open returns the reason as an error.
func Open(int) (*Device, error) { return nil, errors.New("shared memory of a GPU: " + MissingReason()) }

// CheckFree is unsupported in this binary.
func (d *Device) CheckFree(int64) error { return errors.New(MissingReason()) }

// New is unsupported in this binary.
func (d *Device) New(int64) (*Region, error) { return nil, errors.New(MissingReason()) }

// Close does nothing in this binary.
func (d *Device) Close() error { return nil }

// Region is a piece of GPU memory. This binary has none.
type Region struct{}

// Size returns 0 in this binary.
func (r *Region) Size() int64 { return 0 }

// Handle returns nil in this binary.
func (r *Region) Handle() []byte { return nil }

// Write is unsupported in this binary.
func (r *Region) Write(int64, []byte) error { return errors.New(MissingReason()) }

// Read is unsupported in this binary.
func (r *Region) Read(int64, []byte) error { return errors.New(MissingReason()) }

// Close does nothing in this binary.
func (r *Region) Close() error { return nil }
