package executor

import (
	"slices"

	"github.com/sluice-bench/sluice/executor/drive"
)

// stayAwake keeps Go's scheduler awake while a unit plays closed loops. The pacer of an open loop does so by itself.
func stayAwake(u *Unit) (asleep func()) {
	closed := slices.ContainsFunc(u.Members, func(m *Member) bool {
		return slices.ContainsFunc(m.Plays, func(p Play) bool { return !p.Node.Open })
	})
	if !closed {
		return func() {}
	}
	return drive.StayAwake()
}
