//go:build !linux

package shm

import (
	"errors"
	"runtime"
)

var errSystem = errors.New("shared memory is available on Linux only, not on " + runtime.GOOS)

// New is unsupported: it needs Linux.
func New(string, int64) (*Region, error) { return nil, errSystem }

// Unlink does nothing: there are no regions.
func (r *Region) Unlink() error { return nil }

// Close does nothing: there are no regions.
func (r *Region) Close() error { return nil }

// CheckFree is unsupported: it needs Linux.
func CheckFree(int64) error { return errSystem }
