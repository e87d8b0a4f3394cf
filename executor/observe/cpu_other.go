//go:build !unix

package observe

// cpuTime is unknown on this platform.
func cpuTime() (user, system int64) { return -1, -1 }
