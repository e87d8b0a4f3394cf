package shm

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// dir is the directory of shared memory names, as in shm_open(3).
const dir = "/dev/shm"

// New allocates a region of size bytes, all zero. Its key must be new and start with a slash, its
// only one. It returns a NoMemoryError if there is not enough memory.
func New(key string, size int64) (*Region, error) {
	name, ok := strings.CutPrefix(key, "/")
	if !ok || name == "" || strings.ContainsAny(name, "/\x00") || size <= 0 {
		return nil, fmt.Errorf("shared memory: key %q of %d bytes", key, size)
	}
	if err := CheckFree(size); err != nil { // an allocation would take all free pages before it fails
		return nil, err
	}
	file, err := os.OpenFile(dir+key, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	defer func() { _ = file.Close() }() // the mapping stays
	r := &Region{key: key, linked: true}
	if err := unix.Fallocate(int(file.Fd()), 0, 0, size); err != nil {
		return nil, errors.Join(allocationError(err, size), r.Close())
	}
	r.bytes, err = unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("shared memory: map %s: %w", sizeText(size), err), r.Close())
	}
	return r, nil
}

// allocationError explains why pages could not be allocated.
func allocationError(err error, size int64) error {
	if errors.Is(err, unix.ENOSPC) {
		if free, have := available(); have == nil {
			return &NoMemoryError{Want: size, Free: free, Where: dir}
		}
	}
	return fmt.Errorf("shared memory: %s in %s: %w", sizeText(size), dir, err)
}

// Unlink removes the region's name. Processes that have mapped it keep it.
func (r *Region) Unlink() error {
	if !r.linked {
		return nil
	}
	r.linked = false
	if err := unix.Unlink(dir + r.key); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("shared memory: remove %s: %w", dir+r.key, err)
	}
	return nil
}

// Close unmaps the region and removes its name.
func (r *Region) Close() error {
	err := r.Unlink()
	if r.bytes != nil {
		err = errors.Join(err, unix.Munmap(r.bytes))
		r.bytes = nil
	}
	return err
}

// available returns the free bytes of shared memory.
func available() (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, fmt.Errorf("shared memory: %s: %w", dir, err)
	}
	return int64(fs.Bavail) * fs.Bsize, nil
}

// CheckFree returns a NoMemoryError if fewer than size bytes of shared memory are free.
func CheckFree(size int64) error {
	free, err := available()
	if err == nil && free < size {
		return &NoMemoryError{Want: size, Free: free, Where: dir}
	}
	return err
}
