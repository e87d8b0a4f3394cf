package trial

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/delay"
	"github.com/sluice-bench/sluice/executor/drive"
	"github.com/sluice-bench/sluice/executor/measure"
	"github.com/sluice-bench/sluice/executor/observe"
	"github.com/sluice-bench/sluice/executor/program"
	"github.com/sluice-bench/sluice/executor/result"
	"github.com/sluice-bench/sluice/executor/stats"
	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Limits of a valid measurement (design, section 4) that no plan changes.
const (
	cpuLimit     = 0.85                   // of what this process may use, during hold
	cpuNear      = 0.6                    // from here on the client may be part of the numbers
	cpuWindow    = 250 * time.Millisecond // in a shorter hold set-up and ticks outweigh CPU time
	stillLimit   = time.Second            // in which this process did nothing at all
	pausedLeast  = 250 * time.Millisecond // of pauses: a short hold has intervals for a single one
	starvedShare = 0.2                    // of hold, in which a task waited for a CPU: noted
	stolenShare  = 0.02                   // of the time of the machine's CPUs, given to other machines: noted
	lateFew      = 299                    // arrivals below which the third-largest delay is judged, not p99
	lateFewIndex = 3
	emptyShare   = 0.15 // of the time of its slots, that a closed loop's client itself kept empty: noted
)

// health holds what is known about the client of one trial: whether it, its pool or the server was
// slow is judged from this alone.
type health struct {
	open      bool
	inProcess bool    // the server runs in this process
	transport string  // http grpc
	offered   float64 // open loop: requests due a second, at most where that changes
	slots     int64   // requests in flight at most
	paced     bool    // slots have a pace of their own
	steps     bool    // they are open sequences
	begins    bool    // an arrival begins a sequence, which then goes on by itself
	waits     bool    // requests have due times of their own, see waits
	// delays of the client itself: the send delays of requests with due times, or in a closed loop with the
	// server in this process the times from a reply to the next send; else empty, as they are unknown
	own     *stats.Dist
	service *stats.Dist
	limit   int64 // ns, of the client's own delays, by validity.send_delay
	use     observe.Use
	sockets int64 // requests that failed for want of descriptors, ports or memory
	drive.Played
	still   time.Duration // longest time in which this process did nothing
	pauses  standstills
	paused  float64 // share of hold that pauses may take, by validity.paused
	shared  bool    // other work in this process may delay the heartbeat as well
	lost    int64   // delays that were not recorded
	cut     bool    // the node ended early, or its load grew, so that it may not have reached the most
	machine *program.Machine
}

// standstills holds the times in hold in which the client stood still.
type standstills struct {
	n            int64
	within, hold int64 // ns
}

func (p standstills) share() float64 {
	if p.hold <= 0 {
		return 0
	}
	return float64(p.within) / float64(p.hold)
}

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
	own, due := dist(metrics, metric.ClientTurnaround), waits(in, p)
	if due {
		own = all.SendDelays()
	}
	return &health{
		open:      in.Node.Open,
		transport: in.Result.Load.Transport,
		offered:   offered,
		slots:     int64(p.Slots),
		paced:     p.Every > 0,
		steps:     p.Sequences != nil && !p.Sequences.ArrivalBegins && p.Sequences.PipelineDepth == 1,
		begins:    p.Sequences != nil && p.Sequences.ArrivalBegins,
		inProcess: h.InProcess,
		waits:     due,
		own:       own,
		service:   dist(metrics, metric.ServiceTime),
		limit:     all.LateLimit(in.Node.Stage.Validity.SendDelay),
		use:       use,
		sockets:   all.Class[backends.Client],
		Played:    m.played,
		still:     time.Duration(longest),
		shared:    !h.Alone,
		paused:    in.Node.Stage.Validity.Paused,
		pauses:    pausesOf(h.Client, &r.total),
		lost:      h.Client.Lost(),
		cut:       m.end.early() || p.Stored.Periodic != nil,
		machine:   h.Machine,
	}
}

// pausesOf returns the pauses of a client within hold.
func pausesOf(c *delay.Client, t *measure.Total) (p standstills) {
	p.hold = t.To - t.From
	p.n, p.within = c.Paused(t.From, t.To)
	return p
}

// dist returns a measured distribution, empty when there is none.
func dist(metrics map[string]*result.Metric, name string) *stats.Dist {
	if m := metrics[name]; m != nil && m.Dist != nil {
		return m.Dist
	}
	return new(stats.Dist)
}

// breach is a limit that the client went over, so that the numbers may be its own.
type breach struct {
	code, text     string // of the finding
	reason, change string // in the summary
}

// judge puts the findings about the client before those of a trial, those that make the measurement
// invalid first, and sums them up in a paragraph.
func (h *health) judge(v *result.Validity) {
	broken, late, near := h.breaches(), h.delays(), ""
	if len(broken)+len(late) == 0 {
		near = h.near()
	}
	var list findings
	for _, b := range broken {
		list.invalid(b.code, "%s", b.text)
	}
	for _, b := range late {
		list.bounded(b.code, "%s", b.text)
	}
	v.OK = v.OK && len(broken) == 0
	v.Findings = slices.Concat(list, h.notes(near), v.Findings)
	v.Summary = h.summary(broken, late, near)
}

// lateness is the delay of the client itself that is judged.
type lateness struct {
	delay int64  // ns
	rank  string // among all delays: p99, of few the third-largest
	name  string
}

// delays returns what makes numbers intervals: late sends, and a client that stood still.
func (h *health) delays() (list []breach) {
	const intervals = "so numbers have bounds, between which a client on time would have measured them"
	why, change := h.cause()
	if n := h.own.Above(h.limit); h.waits && n > 0 {
		most := ns(h.own.Max())
		list = append(list, breach{
			result.ClientLate,
			fmt.Sprintf("this client sent %d of %d requests late by itself, over %s and by at most %s: "+
				"%s; %s", n, h.own.N(), ns(h.limit), most, intervals, change),
			fmt.Sprintf("it sent %d of %d requests late by itself, by at most %s, because %s", n, h.own.N(),
				most, why),
			change,
		})
	}
	if p := h.pauses; p.n > 0 {
		times := "once"
		if p.n > 1 {
			times = fmt.Sprintf("%d times", p.n)
		}
		list = append(list, breach{
			result.ClientPaused,
			fmt.Sprintf("this client stood still %s, %s in all: %s; %s", times, ns(p.within), intervals,
				quietMachine),
			fmt.Sprintf("it stood still %s, %s in all", times, ns(p.within)), quietMachine,
		})
	}
	return list
}

// breaches returns the limits that make the numbers the client's own.
func (h *health) breaches() (list []breach) {
	if l, ok := h.late(); ok && l.delay > h.limit && !h.waits && h.harmed() {
		why, change := h.cause()
		late, limit := ns(l.delay), ns(h.limit)
		list = append(list, breach{
			result.SlotsEmpty,
			fmt.Sprintf("this client kept its slots empty: the %s of its %s is %s, more than %s "+
				"is not valid; %s", l.rank, l.name, late, limit, change),
			fmt.Sprintf("it kept its slots empty (%s %s, allowed %s), because %s", l.rank, late, limit, why),
			change,
		})
	}
	if share := h.pauses.share(); share > h.paused && h.pauses.within > int64(pausedLeast) && !h.shared {
		list = append(list, breach{
			result.PausedShare,
			fmt.Sprintf("this client stood still for %.0f %% of hold, more than %.0f %% is not valid: %s",
				100*share, 100*h.paused, quietMachine),
			fmt.Sprintf("it stood still for %.0f %% of hold (allowed %.0f %%)", 100*share, 100*h.paused),
			quietMachine,
		})
	}
	if h.lost > 0 {
		list = append(list, breach{
			result.LostDelays,
			fmt.Sprintf("%d late sends were too many to be recorded, so that nothing bounds the numbers: %s",
				h.lost, moreCores),
			fmt.Sprintf("it sent so late that %d late sends were not recorded", h.lost), moreCores,
		})
	}
	if share, ok := h.cpu(); ok && share > cpuLimit {
		list = append(list, breach{
			result.ClientCPU,
			fmt.Sprintf("this client used %.0f %% of the CPU time that it may use, more than %.0f %% is "+
				"not valid: the numbers may be its own; %s", 100*share, 100*cpuLimit, moreCores),
			fmt.Sprintf("it used %.0f %% of its CPU time (allowed %.0f %%)", 100*share, 100*cpuLimit),
			moreCores,
		})
	}
	if h.sockets > 0 {
		const change = "raise `ulimit -n` or lower max_in_flight"
		list = append(list, breach{
			result.Sockets,
			fmt.Sprintf("%d requests failed because this machine ran out of descriptors, ports or memory: %s",
				h.sockets, change),
			fmt.Sprintf("it ran out of descriptors, ports or memory for %d requests", h.sockets), change,
		})
	}
	if n := h.Paused; n > 0 {
		list = append(list, breach{
			result.Paused,
			fmt.Sprintf("sending paused %d times because the client could not process its own samples "+
				"fast enough", n),
			fmt.Sprintf("it paused sending %d times to process its own samples", n), moreCores,
		})
	}
	if h.still > stillLimit {
		still := source.About(h.still)
		list = append(list, breach{
			result.StoodStill,
			fmt.Sprintf("this process stood still for %s: stopped, swapped out, or its machine suspended",
				still),
			fmt.Sprintf("it stood still for %s", still), quietMachine,
		})
	}
	return list
}

// cause says why the client sent late, as far as is known, and what to change.
func (h *health) cause() (why, remedy string) {
	share, known := h.cpu()
	switch {
	case h.still > stillLimit:
		return "the process stood still", quietMachine
	case h.Paused > 0:
		return "it was busy with its own samples", moreCores
	case known && share > cpuLimit:
		return "its CPU time was used up", moreCores
	case h.stolen() > stolenShare:
		return "other virtual machines had the CPU", ownMachine
	case h.starved() > starvedShare:
		return "other programs had the CPU", quietMachine
	}
	if !h.waits {
		return "the server, in the same process, had the CPU", moreCores
	}
	return "it was woken too late", "lower the load or use a faster or quieter machine"
}

// What to change.
const (
	quietMachine = "measure on a machine that does nothing else"
	moreCores    = "lower the load or use more cores"
	ownMachine   = "measure on a machine whose cores are its own"
)

// busyMachine reports whether other load may be in the numbers. In a hold of a few requests a
// single wait is a large share, and says nothing.
func (h *health) busyMachine() bool {
	return h.starved() > starvedShare && h.use.Wall >= int64(cpuWindow)
}

// stolen returns the share of the time of this machine's CPUs that its hypervisor gave to others. In a
// short hold, of few of the kernel's ticks, it says nothing: 0.
func (h *health) stolen() float64 {
	if h.use.Wall < int64(cpuWindow) {
		return 0
	}
	return h.use.Stolen
}

// starved returns the share of hold in which some task of this machine waited for a CPU; 0: unknown.
func (h *health) starved() float64 {
	return float64(max(h.use.Starved, 0)) / float64(max(h.use.Wall, 1))
}

// near names the limit that the client was close to, "" where it was far from all.
func (h *health) near() string {
	if share, ok := h.cpu(); ok && share > cpuNear {
		return fmt.Sprintf("%.0f %% of its CPU time, %.0f %% is not valid", 100*share, 100*cpuLimit)
	}
	if l, ok := h.late(); ok && l.delay > h.limit/2 && h.harmed() {
		over := "is not valid"
		if h.waits {
			over = "makes numbers intervals"
		}
		return fmt.Sprintf("the %s of its %s is %s, more than %s %s", l.rank, l.name, ns(l.delay), ns(h.limit),
			over)
	}
	if share := h.empty(); share > emptyShare {
		return fmt.Sprintf("%.0f %% of the time of its slots passed between a reply and the next send, "+
			"which lowers the throughput and no latency", 100*share)
	}
	return ""
}

// cpu returns the share of its CPU time that the client used; false where that is unknown or says
// nothing.
func (h *health) cpu() (float64, bool) {
	return h.use.Share, h.use.Share >= 0 && h.use.Wall >= int64(cpuWindow)
}

// harmed reports whether late sends change the numbers: those of requests with due times always do. In
// other closed loops they are in no latency, and lower the throughput by the share of time in which slots were
// empty.
func (h *health) harmed() bool { return h.waits || h.empty() > emptyShare }

// empty returns the share of the time of its slots, requests and what lies between them, that a
// closed loop's client itself kept them empty; 0 where that cannot be measured.
func (h *health) empty() float64 {
	if h.waits || h.own.N() == 0 {
		return 0
	}
	return h.own.Mean() / (h.own.Mean() + h.service.Mean())
}

// late returns false if the client's own delays are unknown.
func (h *health) late() (l lateness, ok bool) {
	l.rank, l.name = "p99", "own time from a reply to the next send"
	if h.waits {
		l.name = "own send delay"
	}
	percentile := 99.0
	if n := h.own.N(); n > 0 && n < lateFew {
		l.rank, percentile = "third-largest", 100*float64(max(n-lateFewIndex+1, 1))/float64(n)
	}
	l.delay, ok = h.own.Rank(percentile)
	return l, ok
}

// were returns "1 slot was", "2 slots were".
func were(what string, n int64) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return strconv.FormatInt(n, 10) + " " + what + "s were"
}

// ns formats a time.
func ns(t int64) string { return result.Format("s", seconds(t)) }
