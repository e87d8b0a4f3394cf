package executor

import (
	"math"
	"runtime"
	"slices"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/scenario"
)

// awakeTogether keeps Go's scheduler awake while members of a unit play side by side, some of them in closed loops. The pacer
// of an open loop does so by itself.
func (r *runner) awakeTogether(u *program.Unit) (asleep func()) {
	closed := slices.ContainsFunc(u.Members, func(m *program.Member) bool {
		return slices.ContainsFunc(m.Plays, func(p program.Play) bool { return !p.Node.Open })
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

// mayHold is how many goroutines of the trial may keep their processors while they wait for the server: if it is alone, with one
// target, those of half of the machine. The others are for what else the client does, and for the server. Where there are more
// slots, each of these goroutines serves several, so nothing but replies may let them wait.
func (t *trial) mayHold() int {
	n := runtime.GOMAXPROCS(0) / 2
	if !t.alone() || len(t.in.pools) != 1 || t.course.slots > n && !t.onlyReplies() {
		return 0
	}
	return min(n, t.course.slots)
}

// onlyReplies reports whether what the slots wait for is replies, and nothing else.
func (t *trial) onlyReplies() bool {
	_, steps := t.course.profile.(*drive.Steps)
	c, closed := t.node.Stage.Load.(scenario.Concurrency)
	pauses := slices.ContainsFunc(t.in.entries, func(e *entry) bool { return e.delays != nil })
	return t.course.sequences == nil && !steps && closed && c.Think == nil && !pauses
}

// largest is the size of the trial's largest call, bytes.
func (t *trial) largest() (size int) {
	for _, calls := range t.calls {
		for _, c := range calls {
			size = max(size, c.Size)
		}
	}
	return size
}

// threads is how many the trial, which is alone, can make use of at most, but for what it does beside sending.
func (t *trial) threads() int {
	if t.holds {
		return len(t.pools[0].Lanes)
	}
	return t.course.slots
}

// inProcess reports whether the server of the trial, or of one beside it, runs in this process.
func (t *trial) inProcess() bool {
	return slices.ContainsFunc(t.m.group.members, func(m *member) bool {
		return slices.ContainsFunc(m.plays, func(p program.Play) bool { return p.Node.InProcess() })
	})
}

// cpus returns the number of CPUs that the client may use in the trial; 0 where it is unknown which of this process's CPU time is
// its own.
func (t *trial) cpus() float64 {
	switch {
	case !t.r.env.Alone || t.inProcess():
		return 0
	case t.alone():
		return min(t.r.cpus, float64(t.threads()))
	}
	return t.r.cpus
}
