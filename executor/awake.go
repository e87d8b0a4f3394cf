package executor

import (
	"math"
	"slices"

	"github.com/sluice-bench/sluice/executor/drive"
)

// awakeTogether keeps Go's scheduler awake while members of a unit play side by side, some of them in closed loops. The pacer
// of an open loop does so by itself.
func (r *runner) awakeTogether(u *Unit) (asleep func()) {
	closed := slices.ContainsFunc(u.Members, func(m *Member) bool {
		return slices.ContainsFunc(m.Plays, func(p Play) bool { return !p.Node.Open })
	})
	if !r.env.Alone || len(u.Members) == 1 || !closed {
		return func() {}
	}
	return drive.StayAwake(math.MaxInt)
}

// alone reports whether the trial is of a closed loop that nothing is played beside.
func (t *trial) alone() bool {
	return t.r.env.Alone && t.course.profile != nil && len(t.m.group.members) == 1
}

// stayAwake does so for a trial that is alone. It has no more processors than requests that can be in flight: another would
// only take over goroutines that are as soon done where they are.
func (t *trial) stayAwake() (asleep func()) {
	if !t.alone() {
		return func() {}
	}
	return drive.StayAwake(t.course.slots)
}

// cpus are how many CPUs the client may use in the trial; 0 where it is not known which of this process's CPU time is its own.
func (t *trial) cpus() float64 {
	switch {
	case !t.r.env.Alone:
		return 0
	case t.alone():
		return min(t.r.cpus, float64(t.course.slots))
	}
	return t.r.cpus
}
