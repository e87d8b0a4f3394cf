package executor

import (
	"runtime/debug"
	"strconv"
)

// A gRPC request allocates some 5 KiB inside the library whatever we do, so the collector's work is a visible part of its
// cost. HTTP allocates nothing and leaves the collector idle.
const (
	lessOften = 800       // GOGC while a gRPC node runs
	heldMost  = 256 << 20 // bytes of encoded requests above which memory is dearer than time
)

// collectLess lets the collector run less often while a gRPC node is played, and says so in the result. restore undoes it.
func (t *trial) collectLess() (restore func()) {
	held := 0
	for _, c := range t.in.calls {
		held += c.Size
	}
	if t.out.Load.Transport != "grpc" || held > heldMost {
		return func() {}
	}
	before := debug.SetGCPercent(lessOften)
	if before < 0 || before > lessOften {
		debug.SetGCPercent(before) // the user asked for even less
		return func() {}
	}
	t.r.result.Environment.Settings["gogc.grpc"] = strconv.Itoa(lessOften)
	return func() { debug.SetGCPercent(before) }
}
