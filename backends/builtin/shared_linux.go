package builtin

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// mapShared maps the memory that shm_open(3) finds under key.
func mapShared(key string, offset int64, size int) ([]byte, error) {
	name := strings.TrimPrefix(key, "/")
	if name == "" || strings.ContainsAny(name, "/\x00") {
		return nil, fmt.Errorf("key %q", key)
	}
	file, err := os.OpenFile("/dev/shm/"+name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < offset+int64(size) { // access beyond the end would kill the process
		return nil, fmt.Errorf("%s has %d bytes", key, info.Size())
	}
	return unix.Mmap(int(file.Fd()), offset, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func unmapShared(b []byte) { _ = unix.Munmap(b) } // it is a mapping
