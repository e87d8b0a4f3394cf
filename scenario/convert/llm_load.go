package convert

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
)

func (d *llmDraft) stage() {
	d.Add("stages:", "")
	d.Add("  - id: profile", "")
	d.matrix()
	d.control()
	d.write()
	d.span()
	if d.prompts.batch > 1 && len(d.prompts.rows) == 0 && len(d.prompts.batches) < 2 {
		d.Add("    batch: "+plantext.Count(d.prompts.batch), d.given("--batch-size-text --random-batch-size"))
	}
	d.mix()
	if l := &d.load; l.cancelled > 0 {
		d.Add("    cancel: "+plantext.Flow("ratio: "+plantext.Decimal(l.cancelled)+"%",
			"after: "+plantext.Milliseconds(int64(l.after*1000))),
			d.given("--request-cancellation-rate --request-cancellation-delay"))
	}
	if g := strictest(d.extent.goodput); len(g) > 0 {
		members := make([]string, len(g))
		for i, p := range g {
			members[i] = p.name + ": " + p.value
		}
		d.Add("    goodput: "+plantext.Flow(members...), d.given("--goodput"))
	}
	if f := d.extent.failures; d.has("--failed-request-threshold") {
		d.Add("    assert: [{that: errors.ratio <= "+plantext.Decimal(math.Round(f*1e6)/1e4)+"%, abort: true}]",
			d.given("--failed-request-threshold"))
	}
}

// matrix writes the axes of a sweep that are no levels of the load.
func (d *llmDraft) matrix() {
	var axes []string
	sets, batches, options := d.prompts.sets(), d.prompts.batches, ""
	if len(sets) > 1 {
		options = inputOptions + " " + outputOptions
		if len(d.prompts.counts) > 1 {
			options += " --num-dataset-entries"
		}
		names := make([]string, len(sets))
		for i, s := range sets {
			names[i] = s.name
		}
		axes = append(axes, "data: ["+strings.Join(names, ", ")+"]")
	}
	if len(batches) > 1 {
		axes, options = append(axes, "batch: "+levels(batches, "")), options+" --batch-size-text"
	}
	if len(axes) == 0 {
		return
	}
	d.Add("    matrix: "+plantext.Flow(axes...), d.given(options))
	if len(sets) > 1 {
		d.Add(`    data: "${matrix.data}"`, "")
	}
	if len(batches) > 1 {
		d.Add(`    batch: "${matrix.batch}"`, "")
	}
}

// control writes requests to the server around the stage.
func (d *llmDraft) control() {
	s := &d.server
	var before []string
	if s.reset != "" {
		before = append(before, "{call: "+plantext.Scalar("POST "+s.reset)+"}")
	}
	if s.profiler != "" {
		before = append(before, "{call: "+plantext.Scalar("POST "+s.profiler)+"}")
	}
	if len(before) > 0 {
		d.Add("    before: ["+strings.Join(before, ", ")+"]",
			d.given("--reset-kv-cache --reset-kv-cache-path --server-profiler --server-profiler-start-path --profile"))
	}
	if s.profiler != "" {
		d.Add("    after: [{call: "+plantext.Scalar("POST "+s.profilerStop)+"}]",
			d.given("--server-profiler --profile --server-profiler-stop-path"))
	}
}

// levels writes one value, or a list of several.
func levels(values []float64, unit string) string {
	text := make([]string, len(values))
	for i, v := range values {
		text[i] = plantext.Decimal(v) + unit
	}
	if len(text) == 1 {
		return text[0]
	}
	return "[" + strings.Join(text, ", ") + "]"
}

func (d *llmDraft) write() {
	l := &d.load
	switch {
	case l.schedule:
		d.schedule()
		return
	case l.users > 0:
		d.Add("    load: "+plantext.Flow("rate: "+plantext.Decimal(l.userRate/l.users)+"/s", "of: users"),
			d.given("--user-centric-rate --num-users")+": the rate of each user")
		d.Add("    sequences: {live: "+plantext.Decimal(l.users)+"}", d.given("--num-users"))
		return
	}
	d.Add("    load:", "")
	if len(l.rates) == 0 {
		why := d.given(concurrencyOptions + " " + rateOptions)
		if l.sessions && why != "" {
			why += ": sessions at the same time"
		}
		if l.ramp > 0 {
			d.Add(fmt.Sprintf("      concurrency: {ramp: [{to: %s, over: %s}]}", plantext.Decimal(l.concurrency[0]),
				seconds(l.ramp)),
				d.given(concurrencyOptions+" --concurrency-ramp-duration"))
			return
		}
		d.Add("      concurrency: "+levels(l.concurrency, ""), cmp.Or(why, d.given("--num-prompts")))
		return
	}
	d.rate()
}

func (d *llmDraft) rate() {
	l := &d.load
	switch {
	case len(l.steps) > 0:
		d.Add("      rate:", d.given("--ramp-up-strategy --ramp-up-start-rps --ramp-up-end-rps")+
			": as long as the rate that rises with each request")
		d.Add("        ramp:", "")
		for _, s := range l.steps {
			members := []string{"to: " + plantext.Decimal(s.to) + "/s"}
			if s.over > 0 {
				members = append(members, "over: "+seconds(s.over))
			}
			d.Add("          - "+plantext.Flow(members...), "")
		}
	case l.ramp > 0:
		d.Add(fmt.Sprintf("      rate: {ramp: [{to: %s/s, over: %s}]}", plantext.Decimal(l.rates[0]),
			seconds(l.ramp)),
			d.given(rateOptions+" --request-rate-ramp-duration"))
	default:
		d.Add("      rate: "+levels(l.rates, "/s"), d.given(rateOptions+" --session-request-rate"))
	}
	if l.ofSessions {
		d.Add("      of: sessions", d.given("--session-request-rate"))
	}
	arrivals := "--arrival-pattern --arrival-smoothness --burstiness --request-distribution"
	switch {
	case l.cv > 0:
		d.Add("      arrivals: {cv: "+plantext.Decimal(math.Round(l.cv*1e4)/1e4)+"}",
			d.given(arrivals)+": 1 / √ of it")
	case l.arrivals == "poisson":
		d.Add("      arrivals: poisson", d.given(arrivals))
	}
	if l.inFlight > 0 {
		d.Add("      max_in_flight: "+plantext.Decimal(l.inFlight), d.given(concurrencyOptions))
	}
}

func (d *llmDraft) schedule() {
	l := &d.load
	var members []string
	if l.speed != 1 {
		members = append(members, "speed: "+plantext.Decimal(l.speed))
	}
	if l.from > 0 {
		members = append(members, "from: "+plantext.Milliseconds(int64(l.from)))
	}
	if l.to > 0 {
		members = append(members, "to: "+plantext.Milliseconds(int64(l.to)))
	}
	why := d.given("--fixed-schedule --self-timed --fixed-schedule-start-offset --fixed-schedule-end-offset " +
		"--synthesis-speedup-ratio --replay-speedup")
	if why != "" {
		why += ": "
	}
	text := "schedule: " + plantext.Flow(members...)
	if l.inFlight > 0 {
		text += ", max_in_flight: " + plantext.Decimal(l.inFlight)
		why = strings.TrimPrefix(strings.TrimSuffix(why, ": ")+", "+d.given(concurrencyOptions)+": ", ", ")
	}
	d.Add("    load: "+plantext.Flow(text), why+"each row at its timestamp")
}

// span writes the length of the measurement, of the warm-up, and the repeats.
func (d *llmDraft) span() {
	e := &d.extent
	switch {
	case e.warmupTime > 0:
		d.Add("    warmup: "+seconds(e.warmupTime), d.given("--warmup-duration"))
	case e.warmup > 0:
		d.Add("    warmup: "+plantext.Decimal(e.warmup)+" requests",
			d.given("--warmup-request-count --num-warmups"))
	case e.warmupSessions > 0:
		d.Add("    warmup: "+plantext.Decimal(e.warmupSessions)+" sessions", d.given("--num-warmup-sessions"))
	}
	switch {
	case d.load.schedule:
		d.idle("each row is sent once, at its time", strings.Fields(requestsOptions)...)
	case e.duration > 0:
		d.Add("    for: "+seconds(e.duration), d.given("--benchmark-duration"))
		if e.grace >= 0 {
			d.Add("    drain: "+seconds(min(e.grace, 86400)), d.given("--benchmark-grace-period"))
		}
	case e.window > 0:
		d.Add("    until:", "")
		d.Add("      stable: "+plantext.Flow("window: "+plantext.Milliseconds(int64(e.window)), "windows: 3",
			"within: "+plantext.Decimal(e.stability)+"%"), d.given("--measurement-interval --stability-percentage"))
	case d.load.sessions && e.sessions > 0:
		d.Add("    for: "+plantext.Decimal(e.sessions)+" sessions", d.given("--num-sessions"))
	case d.prompts.once:
		d.Add("    for: 1 pass", "every row once")
	default:
		why := d.given(requestsOptions)
		if why == "" {
			why = "what " + d.program + " sends without a count"
		}
		d.Add("    for: "+plantext.Decimal(e.requests)+" requests", why)
	}
	if e.repeat > 1 {
		d.Add("    repeat: "+plantext.Count(e.repeat), d.given("--num-profile-runs"))
	}
}

// mix writes a kind of request for each of several models, or of several servers.
func (d *llmDraft) mix() {
	s := &d.server
	weight := ""
	if s.drawn {
		weight = ", weight: 1"
	}
	switch {
	case len(s.models) > 1:
		d.Add("    mix:", d.given(modelOptions+" --model-selection-strategy --lora-assignment"))
		for i, name := range mixNames(s.models) {
			d.Add(fmt.Sprintf("      %s: {model: %s%s}", name, plantext.Scalar(s.models[i]), weight), "")
		}
	case len(s.urls) > 1:
		d.Add("    mix:", d.given("--url --url-strategy"))
		for i := range s.urls {
			d.Add(fmt.Sprintf("      server%d: {target: server%d}", i+1, i+1), "")
		}
	}
}

var notOfMixes = regexp.MustCompile(`[^a-z0-9]+`)

// mixNames returns names of the entries of a mix: those of the models in the letters that they may have, or
// numbers where two are the same.
func mixNames(models []string) (names []string) {
	for i, m := range models {
		name := strings.Trim(notOfMixes.ReplaceAllString(strings.ToLower(m), "-"), "-")
		if name == "" || slices.Contains(names, name) || name[0] <= '9' || plantext.Reserved(name) {
			name = fmt.Sprintf("model%d", i+1)
		}
		names = append(names, name)
	}
	return names
}

// most returns the largest of the values, 0 for none.
func most(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Max(values)
}
