package executor

import (
	"strconv"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
)

// Limits of a valid measurement (design, section 4).
const (
	lateFloor    = time.Millisecond // the client's own send delay: this, or 1 % of the median service time if longer
	lateShare    = 0.01
	cpuLimit     = 0.85                   // of what this process may use, during hold
	cpuWindow    = 250 * time.Millisecond // a shorter hold says nothing about CPU time: set-up and ticks outweigh it
	stillLimit   = time.Second            // this process did nothing at all for so long
	starvedShare = 0.2                    // of hold, in which some task of this machine waited for a CPU: worth a note
	lateFew      = 299                    // below so many arrivals the third-largest delay is judged, not p99
	lateFewIndex = 3
)

// validity says whether the numbers are the server's or the client's.
func (t *trial) validity() {
	t.lateness()
	t.resources()
	t.notes()
}

// lateness compares the client's own part of the send delay with its limit.
func (t *trial) lateness() {
	if !t.node.Open {
		return
	}
	delay, service := t.dist(metric.SendDelayClient), t.dist(metric.ServiceTime)
	limit := int64(lateFloor)
	if median, ok := service.Rank(50); ok {
		limit = max(limit, int64(lateShare*float64(median)))
	}
	what := "p99"
	late, ok := delay.Rank(99)
	if n := delay.N(); n > 0 && n < lateFew {
		what = "third-largest"
		late, ok = delay.Rank(100 * float64(max(n-lateFewIndex+1, 1)) / float64(n))
	}
	if ok && late > limit {
		t.invalid("client_late",
			"this client sent late by itself: the %s of its own send delay is %v, more than %v is not valid; lower the rate or use a faster or quieter machine",
			what, time.Duration(late).Round(time.Microsecond), time.Duration(limit).Round(time.Microsecond))
	}
}

// dist is a measured distribution of the node, empty when there is none.
func (t *trial) dist(name string) *stats.Dist {
	if m := t.out.Metrics[name]; m != nil && m.Dist != nil {
		return m.Dist
	}
	return new(stats.Dist)
}

func (t *trial) value(name string) float64 {
	v, _ := t.out.Metrics[name].Stat(metric.Stat{})
	return v
}

// resources looks for a client that had too little of something.
func (t *trial) resources() {
	if share := t.value(metric.ClientCPU); share > cpuLimit && t.watch.use().Wall >= int64(cpuWindow) {
		t.invalid("client_cpu",
			"this client used %.0f %% of the CPU time that it may use, more than %.0f %% is not valid: the numbers may be its own; lower the load or use more cores",
			100*share, 100*cpuLimit)
	}
	if n := t.value(metric.ErrorsOf(backends.Client.String())); n > 0 {
		t.invalid("sockets",
			"%.0f requests failed because this machine ran out of descriptors, ports or memory: raise `ulimit -n` or lower max_in_flight", n)
	}
	if n := t.played.Paused; n > 0 {
		t.invalid("paused", "sending paused %d times because the client could not process its own samples fast enough", n)
	}
	if still := time.Duration(t.watch.gaps.Longest); still > stillLimit {
		t.invalid("paused", "this process stood still for %v: stopped, swapped out, or its machine suspended", still.Round(time.Millisecond))
	}
	if err := t.folder.SinkErr(); err != nil {
		t.note("samples", "the samples file is incomplete: %s", err)
	}
}

// notes are what a reader should know, without doubt about the numbers.
func (t *trial) notes() {
	p := t.played
	if n := p.WaitedPool; n > 0 {
		t.note("pool_full",
			"%s busy when %s due, which waited for one; the wait is in latency (raise max_in_flight if the server should see them)",
			were("slot", int64(t.course.slots)), were("request", n))
	}
	if n := p.DroppedPool; n > 0 {
		t.note("pool_full", "%s busy when %s due: dropped and counted", were("slot", int64(t.course.slots)), were("request", n))
	}
	if n := p.DroppedStop; n > 0 {
		t.note("dropped_at_stop", "%s due and not sent when the node ended", were("request", n))
	}
	if want := int64(t.course.slots); !t.node.Open && p.PeakInFlight < want && t.steer.stopped == "" {
		t.note("never_reached_concurrency", "at most %d of %d were in flight at the same time", p.PeakInFlight, want)
	}
	if n := t.read.stopped; n > 0 {
		t.note("incomplete", "%s still open after the drain of %v and cancelled: in no latency and no error count",
			were("request", n), t.node.Stage.Drain)
	}
	if use := t.watch.use(); use.Wall > 0 && float64(use.Starved) > starvedShare*float64(use.Wall) {
		t.note("busy_machine", "programs on this machine waited for a CPU during %.0f %% of the hold: other load may be in these numbers",
			100*float64(use.Starved)/float64(use.Wall))
	}
	if t.watch.from == beforeClock && !t.node.Stage.Warmup.IsZero() && t.in.stats != nil {
		t.note("statistics", "hold was too short to be told from the warm-up: the server statistics cover both")
	}
	if t.in.note != "" {
		t.note("no_statistics", "no server statistics: %s", t.in.note)
	}
}

// were is "1 slot was", "2 slots were".
func were(what string, n int64) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return strconv.FormatInt(n, 10) + " " + what + "s were"
}
