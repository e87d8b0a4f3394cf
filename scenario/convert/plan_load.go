package convert

import (
	"cmp"
	"fmt"
	"math"
)

// stage writes the one stage of the plan.
func (s *settings) stage(p *page) {
	p.add("stages:", "")
	id := map[loadMode]string{
		modeConcurrency: "concurrency", modeOld: "concurrency", modeRate: "rate",
		modeIntervals: "intervals", modeSchedule: "schedule",
		modePeriodic: "periodic", modeSessions: "sessions",
	}[s.load()]
	if s.searching() {
		id = "find"
	}
	p.add("  - id: "+id, "")
	s.loadLines(p)
	s.extent(p)
	s.request(p)
	if s.limit() != "" && !s.steered() {
		p.add("    assert: ["+s.limit()+"]", s.because("--latency-threshold", "--percentile"))
	}
}

// searching reports whether the load is searched between two values.
func (s *settings) searching() bool { return s.binary && s.many() }

// steered reports whether the latency threshold decides the next level, instead of judging the only
// one.
func (s *settings) steered() bool { return s.searching() || s.many() }

// limit returns the latency threshold as a condition; "": there is none.
func (s *settings) limit() string {
	if s.threshold == 0 {
		return ""
	}
	return s.latency() + " < " + milliseconds(s.threshold)
}

// latency returns the statistic that decides: the mean, or a percentile.
func (s *settings) latency() string {
	if s.percentile > 0 {
		return fmt.Sprintf("latency.p%d", s.percentile)
	}
	return "latency.mean"
}

func (s *settings) loadLines(p *page) {
	switch s.load() {
	case modeRate:
		r := s.rate
		per := func(v float64) string { return decimal(v) + "/s" }
		s.quantity(p, "rate", string(modeRate), per(r.from), per(r.to), per(r.step), r.to == 0)
		if s.arrivals != "constant" {
			p.add("      arrivals: "+s.arrivals, "--request-distribution")
		}
		s.pool(p)
	case modeIntervals:
		p.add("    load:", "")
		p.add("      intervals: "+flow("file: "+s.path(s.intervals), "unit: us", "at_end: repeat"),
			"--request-intervals")
		s.pool(p)
	case modeSchedule:
		p.add("    load: {schedule: {}}", "--fixed-schedule: each row at its timestamp")
	case modePeriodic:
		r := s.periodic
		if r.from == r.to {
			p.add(fmt.Sprintf("    load: {concurrency: %d}", r.from),
				string(modePeriodic)+": N requests at once, and no step")
			s.idle("--request-period", "there is no step")
			return
		}
		p.add("    load:", "")
		const form = "      concurrency: {periodic: {from: %d, to: %d, step: %d, responses: %d}}"
		p.add(fmt.Sprintf(form, r.from, r.to, r.step, s.period),
			s.because(string(modePeriodic), "--request-period"))
	case modeSessions:
		p.add(fmt.Sprintf("    load: {concurrency: %d}", s.sessions), "--session-concurrency")
	default:
		r := s.concurrency
		s.quantity(p, "concurrency", s.because(string(modeConcurrency), "-t", "-c", "-d"),
			count(r.from), count(r.to), count(r.step), r.to == 0)
	}
}

// quantity writes a level, levels or a search. open: only the latency threshold ends the levels.
func (s *settings) quantity(p *page, key, option, from, to, step string, open bool) {
	p.add("    load:", "")
	switch {
	case s.searching():
		const form = "      %s: {search: {from: %s, to: %s, precision: %s, while: %q}}"
		p.add(fmt.Sprintf(form, key, from, to, step, s.limit()),
			option+", --binary-search, --latency-threshold")
	case !s.many():
		p.add("      "+key+": "+from, option)
	default:
		members := []string{"from: " + from}
		if !open {
			members = append(members, "to: "+to)
		}
		members = append(members, "step: "+step)
		if s.limit() != "" {
			members = append(members, fmt.Sprintf("while: %q", s.limit()))
			option += ", --latency-threshold"
		}
		p.add("      "+key+": {levels: "+flow(members...)+"}", option)
	}
}

// heldBack reports whether --max-threads kept requests from being sent: synchronous calls that are
// due by a clock.
func (s *settings) heldBack() bool {
	m := s.load()
	return s.has("--max-threads") && !s.async && !s.streaming && (m == modeRate || m == modeIntervals)
}

func (s *settings) pool(p *page) {
	if s.heldBack() {
		p.add("      max_in_flight: "+count(s.threads), "--max-threads: each thread has one request open")
	}
}

// extent writes the length of the measurement and the warm-up.
func (s *settings) extent(p *page) {
	if s.warmup > 0 {
		p.add("    warmup: "+count(s.warmup)+" requests", "--warmup-request-count")
	}
	switch {
	case s.requests > 0:
		p.add("    for: "+count(s.requests)+" requests", "--request-count")
		s.noWindows("N requests are measured")
	case s.load() == modePeriodic && s.periodic.from == s.periodic.to:
		p.add("    for: "+count(s.periodic.from)+" requests", "each once")
		s.noWindows("each is sent once")
	case s.load() == modeSchedule, s.load() == modePeriodic:
		s.noWindows("the load ends by itself")
	case s.load() == modeSessions:
		p.add("    for: 1 pass", "every session once")
		s.noWindows("every session is played once")
	case s.trials == 1:
		why := s.because("--max-trials", "--measurement-mode", s.windowOption())
		p.add("    for: "+s.window(), why+": one window, shown whether stable or not")
	default:
		s.stable(p)
	}
}

// window returns the length of one window.
func (s *settings) window() string {
	if s.counting {
		return count(s.windowCount) + " requests"
	}
	return milliseconds(s.interval)
}

// windowOption returns the option that sets the length of one window.
func (s *settings) windowOption() string {
	if s.counting {
		return "--measurement-request-count"
	}
	return "--measurement-interval"
}

func (s *settings) stable(p *page) {
	p.add("    until:", "")
	p.add("      stable:", "")
	if s.counting {
		p.add("        window: "+s.window(), s.because("--measurement-mode", "--measurement-request-count"))
	} else {
		p.add("        window: "+s.window(),
			"--measurement-interval; perf_analyzer measures for 1.2 times as long")
	}
	windows := min(3, s.trials)
	if windows != 3 {
		p.add("        windows: "+count(windows), "--max-trials")
	}
	if s.stability > 0 {
		p.add("        within: "+decimal(s.stability)+"%", s.because("--stability-percentage"))
	} else {
		p.add("        within: 0.0001%", "--stability-percentage 0, which no two windows reach")
	}
	p.add("        max_windows: "+count(s.trials), s.because("--max-trials"))
	p.add("        metrics: [throughput, "+s.latency()+"]", s.because("--percentile"))
}

// noWindows names the options of windows where there are none.
func (s *settings) noWindows(why string) {
	for _, o := range []string{
		"--measurement-mode", "--measurement-interval", "--measurement-request-count",
		"--stability-percentage", "--max-trials",
	} {
		s.idle(o, why)
	}
}

// request writes the keys of one request of the stage.
func (s *settings) request(p *page) {
	if s.batch > 1 {
		p.add("    batch: "+count(s.batch), "-b")
	}
	if len(s.shapes) > 0 {
		p.add("    shapes:", "--shape")
		for _, x := range s.shapes {
			p.add("      "+scalar(x.input)+": ["+x.dims+"]", "")
		}
	}
	s.sequenced(p)
	switch {
	case s.memory == "none":
		s.idle("--output-shared-memory-size", "there is no shared memory")
	case s.inProcess():
		if s.memory == "cuda" {
			s.no("--shared-memory",
				"in process, tensors lie where the server reads them, in the memory of the CPU")
		} else {
			s.idle("--shared-memory", "in process, tensors lie where the server reads them")
		}
		s.idle("--output-shared-memory-size", "the server is given as much memory as its outputs take")
	case s.has("--output-shared-memory-size") && s.outputSize > 0:
		p.add("    shared_memory: "+flow("kind: "+s.memory, "output_size: "+count(s.outputSize)+"B"),
			"--shared-memory, --output-shared-memory-size")
	default:
		p.add("    shared_memory: "+s.memory, "--shared-memory")
		s.idle("--output-shared-memory-size", "outputs of a known size have their room anyway")
	}
}

// sequenced writes the stage's sequences, where the command line or the model has them.
func (s *settings) sequenced(p *page) {
	if why := s.alone(); why != "" {
		for _, o := range []string{
			"--num-of-sequences", "--sequence-length", "--sequence-length-variation",
			"--sequence-id-range", "--serial-sequences",
		} {
			s.idle(o, why)
		}
		return
	}
	var members []string
	open := !s.closed() && s.load() != modePeriodic && s.load() != modeSessions
	if s.has("--num-of-sequences") && open {
		members = append(members, "live: "+count(s.sequences))
	} else {
		s.idle("--num-of-sequences", "as many sequences are live as there are requests in flight")
	}
	if s.has("--sequence-id-range") {
		if s.ids.to > 0 {
			members = append(members, fmt.Sprintf("ids: {from: %d, to: %d}", s.ids.from, s.ids.to-1))
		} else {
			const usual = 1<<32 - 1 // the number of ids, and the plan's last one
			if s.ids.from <= usual/2 {
				members = append(members, fmt.Sprintf("ids: {from: %d}", s.ids.from))
			} else {
				to := min(uint64(s.ids.from)+usual-1, math.MaxInt64)
				members = append(members, fmt.Sprintf("ids: {from: %d, to: %d}", s.ids.from, to))
			}
		}
	}
	if s.serial && open {
		members = append(members, "serial: true")
	} else {
		s.idle("--serial-sequences", "a closed loop has one request of a sequence in flight")
	}
	formed := len(members) > 0 || s.o.Model != nil && s.o.Model.Sequences
	if s.lengthSaid || (len(s.paths) == 0 || s.dirs > 0) && (formed || s.has("--sequence-length-variation")) {
		members = append(members, "length: "+s.lengths()) // perf_analyzer's own, where none is given
	} else {
		s.idle("--sequence-length-variation", "the sequences of the data are as long as they are")
		if rows := s.oneStream(formed); rows > 0 {
			// all rows are one sequence, sent again and again
			members = append(members, "length: "+count(rows))
		}
	}
	if formed || len(members) > 0 {
		why := s.because("--num-of-sequences", "--sequence-length", "--sequence-length-variation",
			"--sequence-id-range", "--serial-sequences")
		p.add("    sequences: "+flow(members...), cmp.Or(why, "the model keeps them"))
	}
}

// alone says why requests can form no sequences, whatever the model is; "": they may.
func (s *settings) alone() string {
	switch {
	case s.batch > 1:
		return "with -b above 1, requests stand alone: models that keep sequences take no batches"
	case s.o.Model != nil && s.o.Model.Alone:
		return "the model keeps no sequences"
	case s.load() == modeSchedule:
		return "each row of the data is sent at its timestamp"
	}
	return ""
}

// lengths returns the length of sequences: one, or the range of a variation.
func (s *settings) lengths() string {
	off := int64(math.Trunc(s.variation / 100 * float64(s.length)))
	if off == 0 {
		return count(s.length)
	}
	return fmt.Sprintf("{min: %d, max: %d}", max(1, s.length-off), s.length+off)
}
