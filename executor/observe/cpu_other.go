//go:build !unix

package observe

// cpuTime is unknown on this platform.
func cpuTime() int64 { return -1 }
