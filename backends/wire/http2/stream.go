package http2

import (
	"encoding/binary"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/buffer"
)

// messages takes a part of a stream of messages, and passes each whole one to the judge. It stops when
// the sample's events are full, and returns the number of bytes left.
func (r *reply) messages(p []byte) (left int) {
	for len(p) > 0 && r.verdict == backends.NextMore && !r.full {
		have := p // the message in place, if all of it is there
		if len(r.body) > 0 || len(p) < prefixSize || int64(len(p)) < prefixSize+sizeOf(p) {
			have = nil
		}
		if have == nil {
			p = r.keepPart(p)
			have = r.body
		}
		if len(have) < prefixSize {
			continue
		}
		size := sizeOf(have)
		switch {
		case size > r.maxReply:
			r.tooLarge("has " + strconv.FormatInt(size, 10) + " bytes")
		case int64(len(have)) < prefixSize+size:
		default:
			have = have[:prefixSize+size]
			r.deliver(have)
			if len(r.body) > 0 {
				r.body = buffer.Reuse(r.body)
			} else {
				p = p[len(have):]
			}
		}
	}
	return len(p)
}

// sizeOf returns the length in the prefix of a message.
func sizeOf(message []byte) int64 { return int64(binary.BigEndian.Uint32(message[1:])) }

// keepPart keeps the bytes of p that belong to the first message, or to its prefix, and returns the rest.
func (r *reply) keepPart(p []byte) []byte {
	want := int64(prefixSize)
	if len(r.body) >= prefixSize {
		want += sizeOf(r.body)
	}
	n := min(want-int64(len(r.body)), int64(len(p)))
	r.body = buffer.Append(r.body, p[:n], r.maxReply+prefixSize)
	return p[n:]
}

// deliver counts and judges a whole message of a stream.
func (r *reply) deliver(message []byte) {
	plain, ok := r.unpack(message)
	if !ok {
		return
	}
	s := r.sample
	s.Responses++
	flags := uint16(0)
	if r.eventAt == r.readAt {
		flags = backends.EventCoalesced
		s.Flags |= backends.Coalesced
	}
	r.eventAt = r.readAt
	if cap(s.Events) > 0 {
		s.Events = append(s.Events, backends.Event{At: r.readAt, Flags: flags})
		r.full = len(s.Events) == cap(s.Events)
	}
	r.judgeMessage(plain)
}
