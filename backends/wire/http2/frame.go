package http2

import (
	"encoding/binary"

	h2 "golang.org/x/net/http2"
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
)

// appendHead appends the header of a frame.
func appendHead(dst []byte, size int, kind h2.FrameType, flags h2.Flags, stream uint32) []byte {
	dst = append(dst, byte(size>>16), byte(size>>8), byte(size), byte(kind), byte(flags))
	return binary.BigEndian.AppendUint32(dst, stream)
}

// appendWindow appends a WINDOW_UPDATE.
func appendWindow(dst []byte, stream, more uint32) []byte {
	return binary.BigEndian.AppendUint32(appendHead(dst, 4, h2.FrameWindowUpdate, 0, stream), more)
}

// appendSetting appends one setting of a SETTINGS frame.
func appendSetting(dst []byte, name h2.SettingID, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(dst, uint16(name)), value)
}
