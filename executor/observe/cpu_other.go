//go:build !unix

package observe

// cpuTime is not known here.
func cpuTime() (user, system int64) { return -1, -1 }
