//go:build unix

package main

import "syscall"

// disableCoreFile keeps this process and its children from writing core files. The hard limit stays.
func disableCoreFile() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit) // lowering the soft limit is always allowed
	}
}
