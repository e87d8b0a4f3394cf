package executor

import (
	"math"
	"runtime"
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
	if !t.alone() || t.holds {
		return func() {}
	}
	return drive.StayAwake(t.course.slots)
}

// mayHold reports whether the requests of the trial may keep their processors while they wait for the server: it is alone, with
// one target, and needs no more of them than half of the machine. The others are for what else the client does, and for the server.
func (t *trial) mayHold() bool {
	return t.alone() && len(t.in.pools) == 1 && 2*t.course.slots <= runtime.GOMAXPROCS(0)
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
