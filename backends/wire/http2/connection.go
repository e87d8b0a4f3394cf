package http2

import (
	"encoding/binary"

	h2 "golang.org/x/net/http2"
)

// connection is the state of the connection.
type connection struct {
	gotSettings      bool // the server's first SETTINGS were received
	goingAway        bool // GOAWAY: the server accepts no calls after lastAccepted
	lastAccepted     uint32
	goAwayReason     string // "" if it gave none
	broken           string // how the server broke the protocol; "" if it did not
	connWindow       int64  // bytes that the server accepts on the connection
	streamWindow     int64  // … on the call's stream
	initialWindow    int64  // … and on a new stream
	maxFrame         int    // the longest frame that it accepts
	tableHead        *Head  // held by the server's table
	tableSize        int    // bytes of its table that are used: 0 if it is smaller than the default
	tableDisableSent bool   // … and the server was notified
	unreturned       int64  // content bytes received and not returned to the window …
	// … and of the call's stream
	unreturnedOfStream int64
	pendingFrames      []byte // frames to be sent
	stream             uint32 // number of the call's stream, or of the one before
	maxStreams         uint32 // concurrent streams that the server allows
	// Bytes of a call's header fields that the server allows, as RFC 9113 section 6.5.2 counts them
	maxHeaderList uint32
}

// noTable tells a server that its table is not used (RFC 7541 section 6.3).
const noTable = 0x20

// appendFields appends the header block of the call: one frame, and CONTINUATION frames if that is
// too short.
func (c *connection) appendFields(dst, block []byte) []byte {
	if c.tableSize == 0 && !c.tableDisableSent {
		c.tableDisableSent = true
		block = append([]byte{noTable}, block...)
	}
	for kind := h2.FrameHeaders; ; kind = h2.FrameContinuation {
		n := min(len(block), c.maxFrame)
		flags := h2.Flags(0)
		if n == len(block) {
			flags = h2.FlagHeadersEndHeaders
		}
		dst = append(appendHead(dst, n, kind, flags, c.stream), block[:n]...)
		if block = block[n:]; flags != 0 {
			return dst
		}
	}
}

// usable reports whether the connection can carry another call. A connection without a call so far
// may still get a stream limit above 0.
func (c *connection) usable() bool {
	return c.broken == "" && !c.goingAway && c.stream+2 <= maxStreamID && (c.maxStreams > 0 || c.stream == 0)
}

// CloseReason implements backends.ConnWire.
func (c *connection) CloseReason() string {
	switch {
	case c.broken != "":
		return c.broken
	case c.goAwayReason == "" && c.maxStreams == 0:
		return noStreams
	}
	return c.goAwayReason
}

const noStreams = "the server takes 0 streams at once on a connection (MAX_CONCURRENT_STREAMS): raise " +
	"its limit"

// isIdleStream reports whether the frame is about a stream that has carried no call (RFC 9113
// section 5.1). Unknown types are skipped, and priorities are ignored.
func (c *connection) isIdleStream(in *incoming) bool {
	k := in.kind
	return in.stream != 0 && (in.stream > c.stream || in.stream&1 == 0) &&
		(k == h2.FrameData || k == h2.FrameHeaders || k == h2.FrameRSTStream || k == h2.FrameWindowUpdate)
}

// returnWindow gives the server window for n more received bytes of a stream, in large batches. The
// window of a stream is larger than any message, but not than all of a streamed reply.
func (c *connection) returnWindow(n int, stream uint32) {
	if c.unreturned += int64(n); c.unreturned >= windowRefill {
		c.pendingFrames = appendWindow(c.pendingFrames, 0, uint32(c.unreturned))
		c.unreturned = 0
	}
	if stream != c.stream {
		return
	}
	if c.unreturnedOfStream += int64(n); c.unreturnedOfStream >= windowRefill {
		c.pendingFrames = appendWindow(c.pendingFrames, stream, uint32(c.unreturnedOfStream))
		c.unreturnedOfStream = 0
	}
}

func (c *connection) settings(in *incoming, p []byte) {
	if in.stream != 0 || len(p)%6 != 0 || in.flags&h2.FlagSettingsAck != 0 && len(p) > 0 {
		c.broken = "the server sent a SETTINGS frame that cannot be read"
		return
	}
	if in.flags&h2.FlagSettingsAck != 0 {
		return
	}
	for ; len(p) > 0; p = p[6:] {
		switch v := binary.BigEndian.Uint32(p[2:]); h2.SettingID(binary.BigEndian.Uint16(p)) {
		case h2.SettingMaxConcurrentStreams:
			c.maxStreams = v
		case h2.SettingMaxHeaderListSize:
			c.maxHeaderList = v
		case h2.SettingInitialWindowSize:
			if v > maxWindow {
				c.broken = "the server set a window that is too large"
				return
			}
			c.streamWindow += int64(v) - c.initialWindow
			c.initialWindow = int64(v)
		case h2.SettingMaxFrameSize:
			if v < minFrameLimit || v > maxFrameLimit {
				c.broken = "the server set a length of frames that is not allowed"
				return
			}
			c.maxFrame = int(v)
		case h2.SettingHeaderTableSize:
			if v < defaultTable {
				c.tableSize, c.tableHead = 0, nil
			}
		case h2.SettingEnablePush, h2.SettingEnableConnectProtocol, h2.SettingNoRFC7540Priorities:
			// of no use to a client
		}
	}
	c.gotSettings = true
	c.pendingFrames = appendHead(c.pendingFrames, 0, h2.FrameSettings, h2.FlagSettingsAck, 0)
}

func (c *connection) ping(in *incoming, p []byte) {
	switch {
	case len(p) != 8 || in.stream != 0:
		c.broken = "the server sent a PING frame that cannot be read"
	case in.flags&h2.FlagSettingsAck == 0:
		c.pendingFrames = append(appendHead(c.pendingFrames, 8, h2.FramePing, h2.FlagSettingsAck, 0), p...)
	}
}
