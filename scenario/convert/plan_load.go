package convert

import (
	"cmp"
	"fmt"
	"math"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
)

// writeStage writes the one stage of the plan.
func writeStage(d *draft) {
	l, m := &d.load, &d.measure
	id := map[loadMode]string{
		modeConcurrency: "concurrency", modeOld: "concurrency", modeRate: "rate",
		modeIntervals: "intervals", modeSchedule: "schedule",
		modePeriodic: "periodic", modeSessions: "sessions",
	}[l.mode()]
	if l.searching() {
		id = "find"
	}
	d.Add("stages:", "")
	d.Add("  - id: "+id, "")
	writeLoad(d)
	writeExtent(d)
	if d.data.batch > 1 {
		d.Add("    batch: "+plantext.Count(d.data.batch), "-b")
	}
	if len(d.data.shapes) > 0 {
		d.Add("    shapes:", "--shape")
		for _, s := range d.data.shapes {
			d.Add("      "+plantext.Scalar(s.name)+": ["+s.value+"]", "")
		}
	}
	writeSequences(d)
	writeMemory(d)
	if m.limit() != "" && !l.many() { // of many levels, it decides the next one
		d.Add("    assert: ["+m.limit()+"]", d.because("--latency-threshold", "--percentile"))
	}
}

func writeLoad(d *draft) {
	switch l := &d.load; l.mode() {
	case modeRate:
		per := func(v float64) string { return plantext.Decimal(v) + "/s" }
		writeLevels(d, "rate", string(modeRate), per(l.rate.from), per(l.rate.to), per(l.rate.step))
		if l.arrivals != "constant" {
			d.Add("      arrivals: "+l.arrivals, "--request-distribution")
		}
	case modeIntervals:
		d.Add("    load:", "")
		d.Add("      intervals: "+plantext.Flow("file: "+d.path(l.intervals), "unit: us", "at_end: repeat"),
			"--request-intervals")
	case modeSchedule:
		d.Add("    load: {schedule: {}}", "--fixed-schedule: each row at its timestamp")
	case modePeriodic:
		r := l.periodic
		if r.from == r.to {
			d.Add(fmt.Sprintf("    load: {concurrency: %d}", r.from),
				string(modePeriodic)+": N requests at once, and no step")
			d.idle("there is no step", "--request-period")
			return
		}
		d.Add("    load:", "")
		const form = "      concurrency: {periodic: {from: %d, to: %d, step: %d, responses: %d}}"
		d.Add(fmt.Sprintf(form, r.from, r.to, r.step, l.period),
			d.because(string(modePeriodic), "--request-period"))
	case modeSessions:
		d.Add(fmt.Sprintf("    load: {concurrency: %d}", l.sessions), "--session-concurrency")
	default:
		r := l.concurrency
		writeLevels(d, "concurrency", d.because(string(modeConcurrency), "-t", "-c", "-d"),
			plantext.Count(r.from), plantext.Count(r.to), plantext.Count(r.step))
	}
	if heldBack(d) {
		d.Add("      max_in_flight: "+plantext.Count(d.load.threads),
			"--max-threads: each thread has one request open")
	}
}

// writeLevels writes a level, levels or a search.
func writeLevels(d *draft, key, option, from, to, step string) {
	limit := d.measure.limit()
	d.Add("    load:", "")
	switch {
	case d.load.searching():
		const form = "      %s: {search: {from: %s, to: %s, precision: %s, while: %q}}"
		d.Add(fmt.Sprintf(form, key, from, to, step, limit), option+", --binary-search, --latency-threshold")
	case !d.load.many():
		d.Add("      "+key+": "+from, option)
	default:
		members := []string{"from: " + from}
		if _, r, _ := d.load.ranged(); r.to != 0 { // else only the latency threshold ends the levels
			members = append(members, "to: "+to)
		}
		members = append(members, "step: "+step)
		if limit != "" {
			members = append(members, fmt.Sprintf("while: %q", limit))
			option += ", --latency-threshold"
		}
		d.Add("      "+key+": {levels: "+plantext.Flow(members...)+"}", option)
	}
}

// heldBack reports whether --max-threads kept requests from being sent: synchronous calls that are
// due by a clock.
func heldBack(d *draft) bool {
	mode := d.load.mode()
	return d.has("--max-threads") && !d.load.async && !d.request.streaming &&
		(mode == modeRate || mode == modeIntervals)
}

// writeExtent writes the length of the measurement and the warm-up.
func writeExtent(d *draft) {
	m, mode, r := &d.measure, d.load.mode(), d.load.periodic
	if m.warmup > 0 {
		d.Add("    warmup: "+plantext.Count(m.warmup)+" requests", "--warmup-request-count")
	}
	noWindows := ""
	switch {
	case m.requests > 0:
		d.Add("    for: "+plantext.Count(m.requests)+" requests", "--request-count")
		noWindows = "N requests are measured"
	case mode == modePeriodic && r.from == r.to:
		d.Add("    for: "+plantext.Count(r.from)+" requests", "each once")
		noWindows = "each is sent once"
	case mode == modeSchedule, mode == modePeriodic:
		noWindows = "the load ends by itself"
	case mode == modeSessions:
		d.Add("    for: 1 pass", "every session once")
		noWindows = "every session is played once"
	case m.trials == 1:
		window, option := m.window()
		why := d.because("--max-trials", "--measurement-mode", option)
		d.Add("    for: "+window, why+": one window, shown whether stable or not")
	default:
		writeStable(d)
	}
	if noWindows != "" {
		d.idle(noWindows, "--measurement-mode", "--measurement-interval", "--measurement-request-count",
			"--stability-percentage", "--max-trials")
	}
}

func writeStable(d *draft) {
	m := &d.measure
	d.Add("    until:", "")
	d.Add("      stable:", "")
	window, option := m.window()
	why := d.because("--measurement-mode", option)
	if m.mode != "count_windows" {
		why = option + "; perf_analyzer measures for 1.2 times as long"
	}
	d.Add("        window: "+window, why)
	if m.trials < 3 {
		d.Add("        windows: "+plantext.Count(m.trials), "--max-trials")
	}
	if m.stability > 0 {
		d.Add("        within: "+plantext.Decimal(m.stability)+"%", d.because("--stability-percentage"))
	} else {
		d.Add("        within: 0.0001%", "--stability-percentage 0, which no two windows reach")
	}
	d.Add("        max_windows: "+plantext.Count(m.trials), d.because("--max-trials"))
	d.Add("        metrics: [throughput, "+m.latency()+"]", d.because("--percentile"))
}

func writeMemory(d *draft) {
	const outputSize = "--output-shared-memory-size"
	switch memory := d.data.memory; {
	case memory == "none":
		d.idle("there is no shared memory", outputSize)
	case d.target.inProcess():
		if memory == "cuda" {
			d.no("--shared-memory",
				"in process, tensors lie where the server reads them, in the memory of the CPU")
		} else {
			d.idle("in process, tensors lie where the server reads them", "--shared-memory")
		}
		d.idle("the server is given as much memory as its outputs take", outputSize)
	case d.has(outputSize) && d.data.outputSize > 0:
		d.Add("    shared_memory: "+plantext.Flow("kind: "+memory,
			"output_size: "+plantext.Count(d.data.outputSize)+"B"),
			"--shared-memory, --output-shared-memory-size")
	default:
		d.Add("    shared_memory: "+memory, "--shared-memory")
		d.idle("outputs of a known size have their room anyway", outputSize)
	}
}

// writeSequences writes the stage's sequences, where the command line or the model has them.
func writeSequences(d *draft) {
	options := []string{
		"--num-of-sequences", "--sequence-length", "--sequence-length-variation",
		"--sequence-id-range", "--serial-sequences",
	}
	if why := alone(d.command); why != "" {
		d.idle(why, options...)
		return
	}
	s, mode := &d.sequences, d.load.mode()
	var members []string
	open := !d.load.closed() && mode != modePeriodic && mode != modeSessions
	if d.has("--num-of-sequences") && open {
		members = append(members, "live: "+plantext.Count(s.live))
	} else {
		d.idle("as many sequences are live as there are requests in flight", "--num-of-sequences")
	}
	const usual = 1<<32 - 1 // the number of ids, and the plan's last one
	switch from, to := s.ids.from, s.ids.to-1; {
	case !d.has("--sequence-id-range"):
	case to < 0 && from <= usual/2:
		members = append(members, fmt.Sprintf("ids: {from: %d}", from))
	default:
		if to < 0 {
			to = int64(min(uint64(from)+usual-1, math.MaxInt64))
		}
		members = append(members, fmt.Sprintf("ids: {from: %d, to: %d}", from, to))
	}
	if s.serial && open {
		members = append(members, "serial: true")
	} else {
		d.idle("a closed loop has one request of a sequence in flight", "--serial-sequences")
	}
	formed := len(members) > 0 || d.o.Model != nil && d.o.Model.Sequences
	files := len(d.data.paths) > 0 && d.data.dir == ""
	if d.has("--sequence-length") || !files && (formed || d.has("--sequence-length-variation")) {
		members = append(members, "length: "+s.lengths()) // perf_analyzer's own, where none is given
	} else {
		d.idle("the sequences of the data are as long as they are", "--sequence-length-variation")
		if rows := oneStream(d.command, formed); rows > 0 {
			// all rows are one sequence, sent again and again
			members = append(members, "length: "+plantext.Count(rows))
		}
	}
	if formed || len(members) > 0 {
		d.Add("    sequences: "+plantext.Flow(members...), cmp.Or(d.because(options...), "the model keeps them"))
	}
}

// alone says why requests can form no sequences, whatever the model is; "": they may.
func alone(c *command) string {
	switch {
	case c.data.batch > 1:
		return "with -b above 1, requests form no sequences: models that keep sequences take no batches"
	case c.o.Model != nil && c.o.Model.Alone:
		return "the model keeps no sequences"
	case c.load.mode() == modeSchedule:
		return "each row of the data is sent at its timestamp"
	}
	return ""
}
