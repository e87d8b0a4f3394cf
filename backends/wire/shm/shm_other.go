//go:build !linux

package shm

import (
	"errors"
	"runtime"
)

var errSystem = errors.New("shared memory is only to be had on Linux, not on " + runtime.GOOS)

// New is for Linux only.
func New(string, int64) (*Region, error) { return nil, errSystem }

// Unlink is for Linux only.
func (r *Region) Unlink() error { return nil }

// Close is for Linux only.
func (r *Region) Close() error { return nil }

// CheckFree is for Linux only.
func CheckFree(int64) error { return errSystem }
