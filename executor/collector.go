package executor

import (
	"runtime/debug"

	"github.com/sluice-bench/sluice/executor/program"
)

const (
	collectOften = 100       // GOGC where memory is dearer than time
	heldMost     = 256 << 20 // bytes of encoded requests above which it is
)

// collectOften lets the collector run as often as Go's own default asks for while a unit holds many
// bytes of requests: a program may be started with less (cmd/sluice is), and a multiple of what is
// held would be too much memory. restore undoes it.
func (su *setup) collectOften(u *program.Unit) (restore func()) {
	held := 0
	for _, m := range u.Members {
		for _, s := range m.Stages() {
			held += su.inputs[s].held()
		}
	}
	if held <= heldMost {
		return func() {}
	}
	before := debug.SetGCPercent(collectOften)
	if before >= 0 && before < collectOften {
		debug.SetGCPercent(before) // the user asked for even more
	}
	return func() { debug.SetGCPercent(before) }
}
