package trial

import (
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// newHealth gathers what is known about the client of a trial. longest is the longest time in which
// this process did nothing, ns.
func newHealth(h *Host, in *Input, p *program.Load, m *measured, r *Readings, longest int64) *health {
	all, metrics := r.total.Aggregate, in.Result.Metrics
	offered := p.Pace // at most: the average of a ramp is due at no time
	if offered == 0 {
		offered, _ = metrics[metric.OfferedRate].Stat(metric.Stat{})
	}
	use := r.use
	if !h.Alone { // others use the CPU time of this process too
		use.Share = -1
	}
	own := metric.ClientTurnaround
	if in.Node.Open {
		own = metric.SendDelayClient
	}
	return &health{
		open:      in.Node.Open,
		transport: in.Result.Load.Transport,
		offered:   offered,
		slots:     int64(p.Slots),
		steps:     p.Sequences != nil && !p.Sequences.ArrivalBegins && p.Sequences.PipelineDepth == 1,
		inProcess: h.InProcess,
		own:       dist(metrics, own),
		service:   dist(metrics, metric.ServiceTime),
		limit:     all.LateLimit(),
		use:       use,
		sockets:   all.Class[backends.Client],
		played:    m.played,
		still:     time.Duration(longest),
		cut:       m.end.early() || p.Stored.Periodic != nil,
		machine:   h.Machine,
	}
}

// dist returns a measured distribution, empty when there is none.
func dist(metrics map[string]*result.Metric, name string) *stats.Dist {
	if m := metrics[name]; m != nil && m.Dist != nil {
		return m.Dist
	}
	return new(stats.Dist)
}

// lostSamples demands that every request that was sent has come back as a sample.
func lostSamples(sent, folded int64) (list findings) {
	if lost := sent - folded; lost != 0 {
		list.invalid(result.LostSamples, "%d of %d requests left no sample: they are in no number", lost,
			sent)
	}
	return list
}

// notesOnTrial says what a reader should know about the server and the run, without doubt about the
// numbers.
func notesOnTrial(in *Input, s *session, lanes lanePools, m *measured, r *Readings) (list findings) {
	stage, played := in.Node.Stage, m.played
	if stage.Memory != nil {
		list = noteRoom(in.Result.Errors)
	}
	if err := s.folder.SinkErr(); err != nil {
		list.note("samples", "the samples file is incomplete: %s", err)
	}
	list.count("dropped-at-stop", played.DroppedStop, "request", "due and not sent when the node ended")
	if n := r.stopped; n > 0 {
		when := "after the drain of " + source.Duration(stage.Drain)
		if m.end.cutOff {
			when = "when the run was cut off"
		}
		list.note("incomplete", "%s still open %s and cancelled: in no latency and no error count, and in "+
			"assertions slower than all others and possibly failed", were("request", n), when)
	}
	list = append(list, notesOnServers(in.Requests.Targets)...)
	list = append(list, notesOnReplies(r.total.Aggregate)...)
	list.count(result.LeftOpen, played.LeftOpen, "sequence", "left open: the request that ends one was not "+
		"answered. The server keeps them until it forgets them by itself")
	list.count(result.StepsDropped, r.total.Aggregate.StepsDropped, "request",
		"never sent, because one before them in their sequence failed")
	if s.observer.from == beforeClock && !stage.Warmup.IsZero() && in.Requests.Counters != nil {
		list.note("statistics",
			"hold was too short to be told from the warm-up: the server statistics cover both")
	}
	list = append(list, notesOnWaits(in, s.plan, lanes, played.Waits)...)
	if in.Requests.Note != "" {
		list.note("no-statistics", "no server statistics: %s", in.Requests.Note)
	}
	return list
}

// notesOnServers say which embedded servers ended while the node ran, or before: its requests were
// refused for that.
func notesOnServers(targets []*Target) (list findings) {
	for _, p := range targets {
		if p.Ended == nil {
			continue
		}
		if how := p.Ended(); how != "" {
			list.note(result.ServerEnded, "the embedded server of target %q ended: %s", p.Plan.Name, how)
		}
	}
	return list
}

// notesOnReplies say what is odd about the replies that were inspected and is no error.
func notesOnReplies(all *measure.Aggregate) (list findings) {
	list.count(result.UnknownBatch, all.Unsized, "request",
		"answered whose batch is not known: there is no throughput")
	// After a request that failed, of a timeout for instance, the client itself may have closed the
	// connection.
	if n := all.Ahead; n-all.Failed() > 1 && 2*(n-all.Failed()) >= all.Sent {
		list.note(result.ClosesConnections,
			"the server closes connections after replies: of %d requests %d went "+
				"out on a new one; it was made before they were due, so that `connect` is not in latency",
			all.Sent, n)
	}
	list.count(result.OtherIDs, all.OtherIDs, "request",
		"answered with another id than the request's, of those that were looked at")
	list.count(result.UnnamedModel, all.Unnamed, "request",
		"answered without the name of a model, of those that were looked at")
	return list
}

// notesOnWaits say which of several targets made arrivals wait: those to the others that were due
// meanwhile waited as well, as arrivals are sent in their order. waits counts those of each pool.
func notesOnWaits(in *Input, p *program.Load, lanes lanePools, waits []int64) (list findings) {
	targets := in.Requests.Targets
	if len(targets) < 2 {
		return nil
	}
	for i, n := range waits {
		if most := lanes[i].MaxSlots; n > 0 && most < maxInFlight(p, lanes) {
			list.note(result.PoolFull,
				"%s kept waiting for one of the %d connections to target %q; what was due to "+
					"other targets meanwhile waited too: allow it more `connections`",
				were("request", n), most, targets[i].Plan.Name)
		}
	}
	return list
}

// notesOnReadings says what a reader must know of the numbers.
func notesOnReadings(m *Readings) (list findings) {
	for _, r := range m.growth() {
		if r.Reason != "" {
			list.note("statistics", "%s: %s", r.Row.Name, r.Reason)
			break // one cause, many rows
		}
	}
	for i, w := range m.parts.Series {
		if s := m.total.Series[i]; s.Missing > 0 {
			list.note("windows",
				"%d windows of %s are more than the %d that are kept: an assertion on them cannot "+
					"pass; use a longer `every`",
				s.Missing+len(s.Windows), source.Duration(time.Duration(w.Every)), measure.MaxWindows)
		}
	}
	return list
}
