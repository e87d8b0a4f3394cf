package executor

import (
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/scenario"
)

// A gRPC request allocates some 5 KiB inside the library whatever we do, so the collector's work is a visible part of its
// cost. HTTP allocates nothing and leaves the collector idle.
const (
	lessOften = 400       // GOGC while a gRPC node runs; twice that made one request in flight dearer, as memory left the cache
	heldMost  = 256 << 20 // bytes of encoded requests above which memory is dearer than time
)

// collectLess lets the collector run less often while a unit with a gRPC node is played, and says so in the result.
// restore undoes it.
func (r *runner) collectLess(u *Unit) (restore func()) {
	held, grpc := 0, false
	for _, m := range u.Members {
		for _, s := range m.stages() {
			held += r.inputs[s].held()
			grpc = grpc || s.Request.Target.GRPC()
		}
	}
	if !grpc || held > heldMost {
		return func() {}
	}
	before := debug.SetGCPercent(lessOften)
	if before < 0 || before > lessOften {
		debug.SetGCPercent(before) // the user asked for even less
		return func() {}
	}
	r.result.Environment.Settings["gogc.grpc"] = strconv.Itoa(lessOften)
	return func() { debug.SetGCPercent(before) }
}

// stages are the points of a member, each once.
func (m *Member) stages() (list []*scenario.Stage) {
	for _, p := range m.Plays {
		if !slices.Contains(list, p.Node.Stage) {
			list = append(list, p.Node.Stage)
		}
	}
	return list
}
