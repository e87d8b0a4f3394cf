package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
)

// profiled runs f and writes what it spent its CPU time on to a file; "" is no profile. Not on standard output, which is
// the result's.
func profiled(file string, f func() error) (err error) {
	if file == "" {
		return f()
	}
	w, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("nothing was sent: %w", err)
	}
	if err := pprof.StartCPUProfile(w); err != nil {
		return errors.Join(err, w.Close())
	}
	defer func() {
		pprof.StopCPUProfile()
		if e := w.Close(); e != nil && err == nil {
			err = fmt.Errorf("the CPU profile is not whole: %w", e)
		}
	}()
	return f()
}
