package trial

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/scenario/source"
)

// lostSamples demands a sample of every request that was sent.
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
	if stage.Memory != nil && slices.ContainsFunc(in.Result.Errors, func(e result.ErrorClass) bool {
		return strings.Contains(e.Example, "shared memory size specified")
	}) {
		list.note("shared-memory",
			"an output is larger than its room: raise `output_size` of `shared_memory`")
	}
	if err := s.folder.SinkErr(); err != nil {
		list.note("samples", "the samples file is incomplete: %s", err)
	}
	list = append(list, trends(in)...)
	list.count("dropped-at-stop", played.DroppedStop, "request", "due and not sent when the node ended")
	if n := r.stopped; n > 0 {
		when := "after the drain of " + source.Duration(stage.Drain)
		if m.end.cutOff {
			when = "when the run was cut off"
		}
		list.note("incomplete", "%s still open %s and cancelled: in no latency and no error count, and in "+
			"assertions slower than all others and possibly failed", were("request", n), when)
	}
	list = append(list, usersBehind(s.plan, r.total.Aggregate)...)
	list = append(list, notesOnServers(in.Requests.Targets)...)
	for _, e := range in.Requests.Entries {
		if e.Lengths != "" {
			list.note(result.OutputLength, "answers of target %q are not of the exact lengths: %s",
				in.Requests.Targets[e.Target].Plan.Name, e.Lengths)
		}
	}
	list = append(list, notesOnReplies(r.total.Aggregate)...)
	list = append(list, warmCache(in.Requests, r.total.Aggregate)...)
	list.count(result.LeftOpen, played.LeftOpen, "sequence", "left open: the request that ends one was not "+
		"answered. The server keeps them until it forgets them by itself")
	ended := "failed"
	if r.total.Aggregate.ByUs() > 0 {
		ended = "failed, or was closed as planned (`cancel`)"
	}
	if s.sessions != nil {
		list.count(result.StepsDropped, r.total.Aggregate.StepsDropped, "turn",
			"never sent, because one before them in their session "+ended+because(s.sessions.Broken()))
	} else {
		list.count(result.StepsDropped, r.total.Aggregate.StepsDropped, "request",
			"never sent, because one before them in their sequence "+ended)
	}
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

// usersBehind says that users sent fewer requests than their rate asks for: their load is then what the server
// let them send, as that of any closed loop.
func usersBehind(p *program.Load, a *measure.Aggregate) (list findings) {
	if p.Every == 0 || a.Window == 0 || p.Sequences != nil && p.Sequences.LimitCountsSequences {
		return nil // at the end of a number of sessions some users have none
	}
	wanted := float64(p.Slots) * float64(time.Second) / float64(p.Every)
	seconds := time.Duration(a.Window).Seconds()
	if float64(a.Sent+int64(p.Slots)) < wanted*seconds*(1-maxBehind) { // each may be about to send one
		list.note(result.UsersBehind, "%d users sent %.4g/s of the %.4g/s that their rates make together: a user waits "+
			"for the reply to its request before, so that a rate is kept only where replies take less than %s",
			p.Slots, float64(a.Sent)/seconds, wanted, source.Duration(time.Duration(p.Every)))
	}
	return list
}

// maxBehind is the share of their requests that users may be behind with before a note says so.
const maxBehind = 0.05

// because adds why a session could not go on although its turn was answered.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ", or could not be followed: " + why
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

// hiddenShare is the number of tokens by usage for each that could be seen above which some are hidden.
const hiddenShare = 1.05

// differ reports whether a tokenizer counts over 5 % more or fewer tokens than the usage of some answers has, and
// more than one of each: usage may count the one that ends an answer.
func differ(usage, tokens, answers int64) bool {
	off := max(usage-tokens, tokens-usage)
	return off > answers && float64(off) > (hiddenShare-1)*float64(usage)
}

// notesOnReplies say what is odd about the replies that were inspected and is no error.
func notesOnReplies(all *measure.Aggregate) (list findings) {
	list.count(result.UnknownBatch, all.Unsized, "request",
		"answered whose batch is not known: there is no throughput")
	// After a request that failed, of a timeout for instance, the client itself may have closed the
	// connection.
	if n, ours := all.Ahead, all.Failed()+all.ByUs(); n-ours > 1 && 2*(n-ours) >= all.Sent {
		list.note(result.ClosesConnections,
			"the server closes connections after replies: of %d requests %d went "+
				"out on a new one; it was made before they were due, so that `connect` is not in latency",
			all.Sent, n)
	}
	if used, seen := all.UsedTokens, all.VisibleTokens; float64(used) > hiddenShare*float64(seen) {
		list.note(result.HiddenTokens,
			"the server's usage has %d tokens, and %d could be seen in the events of the streams (%.1f times as "+
				"many): the others are hidden, or an event has several", used, seen, float64(used)/float64(seen))
	}
	if t := &all.Tokenized; t.Used == t.Requests && differ(t.Usage, t.Tokens, t.Requests) {
		why := "it may be another model's"
		if t.Usage > t.Tokens {
			why += ", or tokens are in no text"
		}
		list.note(result.TokenCountsDiffer,
			"the server's usage has %d tokens, and the tokenizer counts %d in the same %d answers: %s; numbers are by usage",
			t.Usage, t.Tokens, t.Requests, why)
	}
	list.count(result.ClosedByUs, all.ByUs(), "request",
		"closed before their replies had ended, as `cancel` says: in no latency, and neither good nor failed")
	list.count(result.TokensFromEvents, all.FromEvents, "request",
		"answered without usage, whose texts no tokenizer counted: the number of events with text is taken for "+
			"that of tokens; name the model's `tokenizer` in the target")
	list.count(result.InOneEvent, all.InOneEvent, "request",
		"answered in one event: the times between their tokens are unknown; see whether a proxy buffers the "+
			"stream")
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
	list = append(list, notesOnCache(m.scrapes, m.total.Aggregate)...)
	for i, w := range m.in.Parts.Series {
		if s := m.total.Series[i]; s.Missing > 0 {
			list.note("windows",
				"%d windows of %s are more than the %d that are kept: an assertion on them cannot "+
					"pass; use a longer `every`",
				s.Missing+len(s.Windows), source.Duration(time.Duration(w.Every)), measure.MaxWindows)
		}
	}
	return list
}

// otherShare is the difference between two shares of cached tokens from which they are worth a note.
const otherShare = 0.1

// notesOnCache compares the tokens of prompts that the engine counts as cached with those that its answers
// name.
func notesOnCache(scrapes []result.Scrape, all *measure.Aggregate) (list findings) {
	counted, known := cachedShare(eachOnce(scrapes))
	if !known || all.CachedOf == 0 {
		return nil
	}
	used := float64(all.CachedTokens) / float64(all.CachedOf)
	if used == 0 && counted > 0.01 || math.Abs(used-counted) > otherShare {
		list.note(result.CachedTokens, "by the server's counters %.1f %% of the tokens of prompts were cached, by the "+
			"usage of its answers %.1f %%", 100*counted, 100*used)
	}
	return list
}

// notes say what a reader should know about client and pool, without doubt about the numbers.
func (h *health) notes(near string) (list findings) {
	if near != "" {
		list.note(result.ClientNear, "this client was near its limits: %s", near)
	}
	if h.inProcess {
		list.note(result.SharedProcess,
			"the server runs in this process, so that the share of CPU time that "+
				"the client used is unknown: it is not judged")
	}
	if h.Strays > 0 {
		list.note(result.StrayReplies,
			"%d replies belonged to no request that was in flight: they are in no number", h.Strays)
	}
	if h.WaitedPool > 0 {
		list.note(result.PoolFull, "%s busy when %s due, which waited for one; the wait is in latency (%s)",
			were("slot", h.slots), were("request", h.WaitedPool), h.pool())
	}
	if h.DroppedPool > 0 {
		list.note(result.PoolFull, "%s busy when %s due: dropped and counted (%s)",
			were("slot", h.slots), were("request", h.DroppedPool), h.pool())
	}
	if !h.open && !h.paced && h.PeakInFlight < h.slots && !h.cut {
		list.note("never-reached-concurrency", "at most %d of %d were in flight at the same time",
			h.PeakInFlight, h.slots)
	}
	if h.busyMachine() {
		list.note(result.BusyMachine,
			"programs on this machine waited for a CPU during %.0f %% of the hold: "+
				"other load may be in these numbers", 100*h.starved())
	}
	if s := h.stolen(); s > stolenShare {
		list.note(result.StolenTime,
			"the hypervisor gave %.1f %% of this machine's CPU time to other virtual machines during the "+
				"hold: their load may be in these numbers", 100*s)
	}
	return list
}
