package convert

import (
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/convert/plantext"
)

// loads finds the load and the length of the measurement.
func (c *genai) loads() {
	l, e, p := &c.load, &c.extent, &c.prompts
	if l.schedule && !c.has("--fixed-schedule") {
		l.schedule = false
	}
	c.clash(len(l.concurrency) > 0 && c.has("--concurrency") && len(l.rates) > 0, "--concurrency",
		"--request-rate", "")
	c.clash(l.schedule && c.has("--concurrency"), "--fixed-schedule", "--concurrency", "")
	c.clash(l.schedule && len(l.rates) > 0, "--fixed-schedule", "--request-rate", "")
	c.clash(c.has("--measurement-interval") && c.has("--request-count"), "--measurement-interval",
		"--request-count", "")
	row := firstRow(p.file)
	l.sessions = p.turns.mean > 1 || row["session_id"] != nil
	if c.sessionRate > 0 {
		l.rates, l.ofSessions = []float64{c.sessionRate}, l.sessions
	}
	if e.sessions > 0 {
		p.count = int64(e.sessions)
	}
	p.delay.mean, p.delay.std = p.delay.mean*c.delayRatio, p.delay.std*c.delayRatio
	c.needs(c.has("--session-concurrency") && e.sessions == 0 && p.file == "", "--session-concurrency",
		"--num-sessions", "")
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
	c.needs(l.schedule && p.file == "", "--fixed-schedule", "--input-file payload:FILE",
		"its rows have the times")
	c.streamed()
}

// streamed drops what the plan asks for itself.
func (c *genai) streamed() {
	if c.sent("stream") == "true" {
		c.drop("stream")
		c.server.streaming = true
	}
}

// stimulus returns the load as the names of folders have it.
func (l *llmLoad) stimulus() string {
	switch {
	case l.schedule:
		return "-fixed_schedule"
	case l.sessions && len(l.rates) == 0 && len(l.concurrency) > 0:
		return "-session_concurrency" + plantext.Decimal(l.concurrency[0])
	case l.userRate > 0:
		return "-request_rate" + plantext.Decimal(l.userRate)
	case len(l.rates) > 0:
		text := strconv.FormatFloat(l.rates[0], 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return "-request_rate" + text
	}
	return "-concurrency" + plantext.Decimal(l.concurrency[0])
}
