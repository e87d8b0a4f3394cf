//go:build unix

package observe

import "syscall"

// cpuTime returns the CPU time of this process so far, ns.
func cpuTime() int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return -1
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}
