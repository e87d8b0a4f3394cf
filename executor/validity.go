package executor

import (
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// validity says whether the numbers are the server's or the client's.
func (t *trial) validity() {
	h := t.health()
	v := h.judge()
	t.out.Validity.OK = t.out.Validity.OK && v.OK
	t.out.Validity.Findings = append(v.Findings, t.out.Validity.Findings...)
	t.out.Validity.Summary = v.Summary
	t.complete()
	t.notes()
}

// complete demands that every request that was sent has come back as a sample.
func (t *trial) complete() {
	if lost := t.control.Sent.Load() - t.folded; lost != 0 {
		t.invalid(result.LostSamples, "%d of %d requests left no sample: they are in no number", lost, t.control.Sent.Load())
	}
}

// health gathers what the judgement rests on.
func (t *trial) health() *health {
	all := t.read.total.Aggregate
	offered := t.course.pace // at most: a ramp's average is asked for at no time
	if offered == 0 {
		offered, _ = t.out.Metrics[metric.OfferedRate].Stat(metric.Stat{})
	}
	use := t.read.use
	if !t.r.env.Alone { // others use the CPU time of this process too
		use.Share = -1
	}
	return &health{
		open: t.node.Open, transport: t.out.Load.Transport, offered: offered, slots: int64(t.course.slots),
		steps: t.course.sequences != nil && !t.course.sequences.ArrivalBegins && t.course.sequences.PipelineDepth == 1,
		delay: t.dist(metric.SendDelayClient), inProcess: t.inProcess(), turn: t.dist(metric.ClientTurnaround), service: t.dist(metric.ServiceTime), limit: all.LateLimit(),
		use: use, sockets: all.Class[backends.Client], played: t.played, still: time.Duration(t.watch.gaps.Longest),
		cut: t.steer.stopped != "" || t.short.that != "" || grows(t.node), machine: t.r.env.Machine,
	}
}

// dist is a measured distribution of the node, empty when there is none.
func (t *trial) dist(name string) *stats.Dist {
	if m := t.out.Metrics[name]; m != nil && m.Dist != nil {
		return m.Dist
	}
	return new(stats.Dist)
}

// notes are what a reader should know about the server and the run, without doubt about the numbers.
func (t *trial) notes() {
	t.tooSmall()
	if err := t.folder.SinkErr(); err != nil {
		t.note("samples", "the samples file is incomplete: %s", err)
	}
	if n := t.played.DroppedStop; n > 0 {
		t.note("dropped_at_stop", "%s due and not sent when the node ended", were("request", n))
	}
	if n := t.read.stopped; n > 0 {
		when := "after the drain of " + source.Duration(t.node.Stage.Drain)
		if t.steer.cutOff {
			when = "when the run was cut off"
		}
		t.note("incomplete", "%s still open %s and cancelled: in no latency and no error count, and in assertions slower than all others and possibly failed",
			were("request", n), when)
	}
	t.notesOnServers()
	t.notesOnReplies()
	t.notesOnSequences()
	if t.watch.from == beforeClock && !t.node.Stage.Warmup.IsZero() && t.in.stats != nil {
		t.note("statistics", "hold was too short to be told from the warm-up: the server statistics cover both")
	}
	t.blocked()
	if t.in.note != "" {
		t.note("no_statistics", "no server statistics: %s", t.in.note)
	}
}

// notesOnServers say which embedded servers ended while the node ran, or before: its requests were refused for that.
func (t *trial) notesOnServers() {
	for _, p := range t.in.pools {
		if p.ended == nil {
			continue
		}
		if how := p.ended(); how != "" {
			t.note(result.ServerEnded, "the embedded server of target %q ended: %s", p.plan.Name, how)
		}
	}
}

// notesOnReplies say what is odd about the replies that were looked at and is no error.
func (t *trial) notesOnReplies() {
	all := t.read.total.Aggregate
	if n := all.Unsized; n > 0 {
		t.note(result.UnknownBatch, "%s answered whose batch is not known: there is no throughput", were("request", n))
	}
	// After a request that failed, of a timeout for instance, the client itself may have closed the connection.
	if n := all.Ahead; n-all.Failed() > 1 && 2*(n-all.Failed()) >= all.Sent {
		t.note(result.ClosesConnections, "the server closes connections after replies: of %d requests %d went out on a new one; it was made before they were due, "+
			"so that `connect` is not in latency", all.Sent, n)
	}
	if n := all.OtherIDs; n > 0 {
		t.note(result.OtherIDs, "%s answered with another id than the request's, of those that were looked at", were("request", n))
	}
	if n := all.Unnamed; n > 0 {
		t.note(result.UnnamedModel, "%s answered without the name of a model, of those that were looked at", were("request", n))
	}
}

// blocked says which of several targets made arrivals wait: those to the others that were due meanwhile waited as well, as
// arrivals are sent in their order.
func (t *trial) blocked() {
	if len(t.in.pools) < 2 {
		return
	}
	for i, n := range t.played.Waits {
		if p := t.pools[i]; n > 0 && p.MaxSlots < t.most() {
			t.note(result.PoolFull, "%s kept waiting for one of the %d connections to target %q; what was due to other targets meanwhile waited too: allow it more `connections`",
				were("request", n), p.MaxSlots, t.in.pools[i].plan.Name)
		}
	}
}
