package http2

import (
	"encoding/binary"
	"strconv"
)

// Types of frames (RFC 9113 section 6).
const (
	typeData byte = iota
	typeHeaders
	typePriority
	typeReset
	typeSettings
	typePush
	typePing
	typeGoAway
	typeWindow
	typeContinuation
)

// Flags of frames.
const (
	flagEndStream  byte = 0x1
	flagAck        byte = 0x1
	flagEndHeaders byte = 0x4
	flagPadded     byte = 0x8
	flagPriority   byte = 0x20
)

// Settings that a peer can send (section 6.5.2); the client ignores others.
const (
	settingTable      = 0x1 // bytes of its header table
	settingPush       = 0x2
	settingStreams    = 0x3 // concurrent streams
	settingWindow     = 0x4 // of a new stream
	settingFrame      = 0x5 // the longest frame
	settingHeaderList = 0x6 // bytes of a request's header fields
)

// Error codes (section 7) that are handled specially.
const (
	errorNone    = 0x0
	errorRefused = 0x7 // REFUSED_STREAM: the server has not processed the request
	errorCancel  = 0x8
)

const (
	headSize      = 9         // of a frame
	minFrameLimit = 16 << 10  // every peer accepts frames of this length
	maxFrameLimit = 1<<24 - 1 // no peer may allow more
	maxWindow     = 1<<31 - 1 // of a stream, and of the connection
	defaultWindow = 1<<16 - 1 // of both, until the peer sets another
	defaultTable  = 4 << 10   // of the header table
	maxStreamID   = maxWindow // the highest stream number
	windowRefill  = 1 << 30   // bytes of the connection's window that are returned at a time
	maxBlock      = 256 << 10 // header fields of one reply, compressed
	maxFieldValue = 64 << 10  // of one field
	maxDebugText  = 120       // of the server's debug text of GOAWAY in a note
)

const clientMagic = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// codeNames are the names of error codes (section 7).
var codeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
	"FRAME_SIZE_ERROR",
	"REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY",
	"HTTP_1_1_REQUIRED",
}

// codeName returns the name of an error code.
func codeName(code uint32) string {
	if int(code) < len(codeNames) {
		return codeNames[code]
	}
	return "an unknown error"
}

// goAwayText describes the reason in a GOAWAY frame; "" if the server just closes.
func goAwayText(code uint32, debug []byte) string {
	if code == errorNone && len(debug) == 0 {
		return ""
	}
	text := "the server sent GOAWAY with " + codeName(code)
	if len(debug) > 0 {
		text += " " + strconv.Quote(string(debug[:min(len(debug), maxDebugText)]))
	}
	return text
}

// appendHead appends the header of a frame.
func appendHead(dst []byte, size int, kind, flags byte, stream uint32) []byte {
	dst = append(dst, byte(size>>16), byte(size>>8), byte(size), kind, flags)
	return binary.BigEndian.AppendUint32(dst, stream)
}

// appendWindow appends a WINDOW_UPDATE.
func appendWindow(dst []byte, stream, more uint32) []byte {
	return binary.BigEndian.AppendUint32(appendHead(dst, 4, typeWindow, 0, stream), more)
}

// appendSetting appends one setting of a SETTINGS frame.
func appendSetting(dst []byte, name uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(dst, name), value)
}

// clientPreface returns the client's connection preface: no push, and windows that no reply fills.
func clientPreface() []byte {
	settings := appendSetting(appendSetting(appendSetting(nil, settingPush, 0), settingWindow, maxWindow),
		settingHeaderList, maxBlock)
	b := append(appendHead([]byte(clientMagic), len(settings), typeSettings, 0, 0), settings...)
	return appendWindow(b, 0, maxWindow-defaultWindow)
}
