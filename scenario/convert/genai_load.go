package convert

import (
	"strconv"
	"strings"
)

// loads finds the load and the length of the measurement.
func (c *genai) loads() {
	l, e, p := &c.load, &c.extent, &c.prompts
	if l.schedule && !c.has("--fixed-schedule") {
		l.schedule = false
	}
	c.clash(len(l.concurrency) > 0 && c.has("--concurrency") && len(l.rates) > 0, "--concurrency", "--request-rate", "")
	c.clash(l.schedule && c.has("--concurrency"), "--fixed-schedule", "--concurrency", "")
	c.clash(l.schedule && len(l.rates) > 0, "--fixed-schedule", "--request-rate", "")
	c.clash(c.has("--measurement-interval") && c.has("--request-count"), "--measurement-interval", "--request-count", "")
	row := firstRow(p.file)
	l.sessions = p.turns.mean > 1 || row["session_id"] != nil
	if c.sessionRate > 0 {
		l.rates, l.ofSessions = []float64{c.sessionRate}, l.sessions
	}
	if e.sessions > 0 {
		p.count = int64(e.sessions)
	}
	p.delay.mean, p.delay.std = p.delay.mean*c.delayRatio, p.delay.std*c.delayRatio
	c.needs(c.has("--session-concurrency") && e.sessions == 0 && p.file == "", "--session-concurrency", "--num-sessions", "")
	switch {
	case l.sessions && e.sessions == 0:
		p.once = p.once || p.file != ""
		e.sessions = float64(p.count)
	case e.sessions > 0 && e.requests == 0: // each is one request
		e.requests = e.sessions
	}
	if len(l.concurrency) == 0 && len(l.rates) == 0 && !l.schedule {
		l.concurrency = []float64{1}
	}
	old := c.service != "" || c.has("--input-dataset") // which had no --request-count
	switch {
	case l.sessions || l.schedule:
		c.needless("--measurement-interval", "every session is played once")
		c.needless("--stability-percentage", "every session is played once")
	case c.has("--measurement-interval") || old && !c.has("--request-count"):
		e.window = c.interval
		p.once = false
	case e.requests == 0:
		e.requests = max(10, 2*most(l.concurrency))
	default:
		p.once = false
	}
	if e.window == 0 {
		c.needless("--stability-percentage", "a number of requests is measured, without windows")
	}
	c.needs(l.schedule && p.file == "", "--fixed-schedule", "--input-file payload:FILE", "its rows have the times")
	c.streamed()
}

// streamed drops what the plan asks for itself.
func (c *genai) streamed() {
	if c.sent("stream") == "true" {
		c.drop("stream")
		c.server.streaming = true
	}
}

// swept applies the options of analyze.
func (c *genai) swept() {
	if !c.has("--sweep-type") && !c.has("--sweep-range") && !c.has("--sweep-list") {
		return
	}
	values := c.sweepList
	if c.sweepRange != "" {
		values = c.rangeOf()
	}
	if len(values) == 0 {
		return
	}
	axis := c.seen[c.firstOf("--sweep-range", "--sweep-list")]
	if c.has("--sweep-type") {
		axis.as = "--sweep-type, " + axis.String()
	}
	for _, fixed := range []string{"--concurrency", "--request-rate"} {
		c.needless(fixed, "the sweep says what the load is")
	}
	switch c.sweep {
	case "concurrency":
		c.seen["--concurrency"] = axis
		c.load.concurrency, c.load.rates = values, nil
	case "request_rate":
		c.load.rates, c.load.concurrency = values, nil
		c.seen["--request-rate"] = axis
	case "input_sequence_length":
		c.prompts.inputs = values
		c.seen["--synthetic-input-tokens-mean"] = axis
	default:
		c.remark("--sweep-type", "the number of prompts and the batch are fixed: the first value is taken")
		if c.sweep == "batch_size" {
			c.prompts.batch = int64(values[0])
		} else {
			c.prompts.count = int64(values[0])
		}
	}
	if !c.has("--request-count") && c.extent.window == 0 {
		c.extent.requests = max(10, 2*most(c.load.concurrency))
	}
}

// rangeOf returns the values of --sweep-range: powers of two without a step.
func (c *genai) rangeOf() (values []float64) {
	const option = "--sweep-range"
	var n [3]float64
	parts := strings.Split(c.sweepRange, ":")
	for i, text := range parts[:min(len(parts), 3)] {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v < 1 || v > 1e9 {
			c.wrongValue(option, "write MIN:MAX or MIN:MAX:STEP, numbers above 0")
			return nil
		}
		n[i] = v
	}
	switch {
	case len(parts) < 2 || len(parts) > 3 || n[0] >= n[1]:
		c.wrongValue(option, "write MIN:MAX or MIN:MAX:STEP, with MIN below MAX")
	case len(parts) == 3 && c.sweep == "concurrency":
		c.wrongValue(option, "concurrency takes no step: it doubles")
	case len(parts) == 3 && (n[1]-n[0])/n[2] > 1000:
		c.wrongValue(option, "there are more than 1000 values")
	case len(parts) == 3:
		for v := n[0]; v <= n[1]; v += n[2] {
			values = append(values, v)
		}
	default:
		for v := n[0]; v <= n[1]; v *= 2 {
			values = append(values, v)
		}
	}
	return values
}

// stimulus returns the load as the names of folders have it.
func (l *llmLoad) stimulus() string {
	switch {
	case l.schedule:
		return "-fixed_schedule"
	case l.sessions && len(l.rates) == 0 && len(l.concurrency) > 0:
		return "-session_concurrency" + decimal(l.concurrency[0])
	case l.userRate > 0:
		return "-request_rate" + decimal(l.userRate)
	case len(l.rates) > 0:
		text := strconv.FormatFloat(l.rates[0], 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return "-request_rate" + text
	}
	return "-concurrency" + decimal(l.concurrency[0])
}
