package trial

import (
	"runtime"

	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/program"
)

// stayAwake keeps Go's scheduler awake for a closed loop that is alone, unless its lanes keep their
// processors. It has no more processors than requests that can be in flight: another would only
// take over goroutines that are as soon done where they are.
func stayAwake(h *Host, p *program.Load, c lanePools) (asleep func()) {
	if !aloneClosed(h, p) || c.blocking() {
		return func() {}
	}
	return drive.StayAwake(p.Slots)
}

// blockingLanes counts the goroutines of a trial that may keep their processors while they wait for
// the server: half of the processors, if the trial is alone and has one target. The other half is
// for the server and the rest of the client. With more slots than that, each of these goroutines
// serves several, so they may wait for nothing but replies.
func blockingLanes(h *Host, in *Input, p *program.Load) int {
	n := runtime.GOMAXPROCS(0) / 2
	if !aloneClosed(h, p) || len(in.Requests.Targets) != 1 || p.Slots > n && !onlyReplies(in, p) {
		return 0
	}
	return min(n, p.Slots)
}

// onlyReplies reports whether the slots wait for replies and for nothing else.
func onlyReplies(in *Input, p *program.Load) bool {
	return p.Sequences == nil && p.Stored.Periodic == nil && p.Every == 0 && pauses(in) == nil
}

// clientCPUs returns the number of CPUs that the client may use in a trial; 0 where it is unknown
// which of this process's CPU time is its own.
func clientCPUs(h *Host, p *program.Load, c lanePools) float64 {
	threads := p.Slots // that a trial can make use of when it is alone, but for what it does beside sending
	if c.blocking() {
		threads = len(c[0].Lanes)
	}
	switch {
	case !h.Alone || h.InProcess:
		return 0
	case aloneClosed(h, p):
		return min(h.CPUs, float64(threads))
	}
	return h.CPUs
}

// aloneClosed reports whether the trial is of a closed loop that nothing is played beside.
func aloneClosed(h *Host, p *program.Load) bool {
	return h.Alone && !p.Open && !h.Beside
}
