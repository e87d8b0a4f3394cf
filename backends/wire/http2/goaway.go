package http2

import (
	"encoding/binary"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	h2 "golang.org/x/net/http2"
)

const maxDebugText = 120 // of the server's debug text of GOAWAY in a note

// goAway reads that the server ends the connection: it answers no stream above lastAccepted.
func (w *Wire) goAway(p []byte) {
	if len(p) < 8 || w.in.stream != 0 {
		w.broken = "the server sent a GOAWAY frame that cannot be read"
		return
	}
	w.goingAway, w.lastAccepted = true, binary.BigEndian.Uint32(p)&^(1<<31)
	w.goAwayReason = goAwayText(h2.ErrCode(binary.BigEndian.Uint32(p[4:])), p[8:])
	switch {
	case w.call == nil || w.verdict != backends.NextMore || w.stream <= w.lastAccepted:
	case w.gotFrame:
		w.fail("the server sent GOAWAY for the call after the start of its reply" + w.withGoAwayReason())
	default:
		w.verdict = backends.NextStale
	}
}

// goAwayText describes the reason in a GOAWAY frame; "" if the server just closes.
func goAwayText(code h2.ErrCode, debug []byte) string {
	if code == h2.ErrCodeNo && len(debug) == 0 {
		return ""
	}
	text := "the server sent GOAWAY with " + code.String()
	if len(debug) > 0 {
		text += " " + strconv.Quote(string(debug[:min(len(debug), maxDebugText)]))
	}
	return text
}

// withGoAwayReason returns the end of a note: the reason that the server gave in GOAWAY, or "".
func (c *connection) withGoAwayReason() string {
	if c.goAwayReason == "" {
		return ""
	}
	return ": " + c.goAwayReason
}
