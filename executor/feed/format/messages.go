package format

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sluice-bench/sluice/backends"
)

// Formats of files that hold protobuf messages.
const (
	formatTextProto = "textproto"
	Frames          = "frames"
)

// generatorField is the pseudo input by which perf_analyzer names a command whose output is the frames
// of a request.
const generatorField = "message_generator"

var errNoBodies = errors.New("the file holds whole messages, and the target takes tensors")

// readTextProto reads a file that is one message in protobuf's text format.
func (r *reader) readTextProto(data []byte) error {
	if !r.whole {
		return errNoBodies
	}
	r.Records = append(r.Records, Record{From: r.from, Stream: -1, Body: data, Type: backends.TextProto})
	return nil
}

// readFrames reads encoded messages, each after its length:
//
//	file  := frame …
//	frame := 4 bytes, the length of the message, little-endian; message
//
// A frame is a request, or all of the file is one where a request has any number of messages.
func (r *reader) readFrames(data []byte) error {
	if !r.whole {
		return errNoBodies
	}
	const head = 4
	n := 0
	for rest := data; len(rest) > 0; n++ {
		size := int64(-1)
		if len(rest) >= head {
			size, rest = int64(binary.LittleEndian.Uint32(rest)), rest[head:]
		}
		if size < 0 || size > int64(len(rest)) {
			return fmt.Errorf("frame %d is cut: a frame is 4 bytes with the length of the message, "+
				"little-endian, and the message", n)
		}
		if err := r.room(); err != nil {
			return err
		}
		if !r.several {
			r.Records = append(r.Records, Record{From: r.from, Stream: -1, Number: n, Body: rest[:size:size]})
		}
		rest = rest[size:]
	}
	switch {
	case n == 0:
		return errors.New("there are no frames in this file")
	case r.several:
		r.Records = append(r.Records, Record{From: r.from, Stream: -1, Body: data, Type: backends.Frames})
	default:
		r.from.Unit = "frame"
	}
	return nil
}
