//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package artifact

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFolder locks dir until the file is closed or the process ends. It returns nil if the file
// system has no locks.
func lockFolder(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open result folder: %w", err)
	}
	err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return d, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("another run writes into %s: wait for its end, or choose another folder", dir)
	} else {
		err = nil
	}
	return nil, errors.Join(err, d.Close())
}
