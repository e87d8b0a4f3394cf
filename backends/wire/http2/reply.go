package http2

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/buffer"
	"github.com/sluice-bench/sluice/backends/wire/coding"
	"golang.org/x/net/http2/hpack"
)

// reply is the received part of a call's reply.
//
//	phase    frames of the call's stream                       then
//	head     HEADERS (1xx: again)                              content; the end, with END_STREAM
//	content  DATA                                              content; the end, with END_STREAM
//	         HEADERS with END_STREAM: the trailers             the end
//	any      RST_STREAM                                        the end
//
// Frames after the end belong to no call.
type reply struct {
	readAt   int64         // time of the read
	verdict  backends.Next // NextMore until the end
	gotFrame bool          // a frame was received
	gotHead  bool          // the head was received
	encoding string        // of the message
	view     []byte        // content in the buffer of the read …
	body     []byte        // … or, from several reads, here
	single   [1][]byte     // the message, for the judge
	decoder  coding.Reader
	parsed   blockFields
}

// clear prepares for the next call.
func (r *reply) clear() {
	r.verdict, r.gotFrame, r.gotHead = backends.NextMore, false, false
	r.encoding, r.view, r.body = "", nil, r.body[:0]
	if cap(r.body) > maxKeptBody {
		r.body = nil
	}
}

// maxKeptBody is the largest buffer in bytes that is kept for the next call.
const maxKeptBody = 64 << 20

// blockFields holds the parsed fields of one block.
type blockFields struct {
	status, contentType, encoding, code, message string
	hasStatus                                    bool // there is a grpc-status
	sawRegular                                   bool // there is a field that is not a pseudo-header
	malformed                                    bool // pseudo-headers violate RFC 9113 section 8.3
}

func (f *blockFields) clear() { *f = blockFields{} }

// field takes a field of the block being read.
func (w *Wire) field(f hpack.HeaderField) {
	if f.IsPseudo() {
		w.parsed.malformed = w.parsed.malformed || w.parsed.sawRegular || w.parsed.status != "" ||
			f.Name != ":status"
	} else {
		w.parsed.sawRegular = true
	}
	switch f.Name {
	case ":status":
		w.parsed.status = f.Value
	case "content-type":
		w.parsed.contentType = f.Value
	case "grpc-encoding":
		w.parsed.encoding = f.Value
	case "grpc-status":
		w.parsed.code, w.parsed.hasStatus = f.Value, true
	case "grpc-message":
		w.parsed.message = f.Value
	}
}

// stampFirst stamps the first frame of a reply.
func (w *Wire) stampFirst() {
	if !w.gotFrame {
		w.gotFrame = true
		w.sample.FirstByte = w.readAt
	}
}

// handleFields handles a block of the call's reply: its head, its trailers, or both in one.
func (w *Wire) handleFields() {
	f := &w.parsed
	switch {
	case w.verdict != backends.NextMore:
	case f.malformed, !w.gotHead && f.status == "", w.gotHead && w.in.blockEnds && f.status != "":
		w.fail(backends.Protocol, "the server sent fields without one :status in front, or trailers with one")
	case w.in.blockEnds && (w.gotHead || f.hasStatus):
		w.trailers()
	case w.gotHead:
		w.fail(backends.Protocol, "the server sent trailers that do not end the reply")
	case len(f.status) == 3 && f.status[0] == '1' && !w.in.blockEnds:
	case f.status != "200":
		w.failHTTP(f.status)
	case !strings.HasPrefix(f.contentType, "application/grpc"):
		w.fail(backends.Protocol, "the reply is not gRPC: its content-type is "+strconv.Quote(f.contentType))
	case w.in.blockEnds:
		w.fail(backends.Protocol, "the server ended the call without a status")
	default:
		w.gotHead, w.encoding = true, f.encoding
	}
}

// trailers ends the call with the server's status.
func (w *Wire) trailers() {
	code, err := strconv.ParseInt(w.parsed.code, 10, 32)
	switch {
	case !w.parsed.hasStatus:
		w.fail(backends.Protocol, "the server ended the call without a status")
	case err != nil || code < 0:
		w.fail(backends.Protocol,
			"the server ended the call with a status that is not a number: "+strconv.Quote(w.parsed.code))
	case code != 0:
		w.finishStatus(int32(code), unescape(w.parsed.message))
	default:
		w.finishOK()
	}
}

// failHTTP ends a call that was answered by plain HTTP, by a proxy for example. The codes follow
// gRPC's mapping (http-grpc-status-mapping.md of the gRPC project).
func (w *Wire) failHTTP(status string) {
	code := int32(unknown)
	switch status {
	case "400":
		code = internal
	case "401":
		code = unauthenticated
	case "403":
		code = permissionDenied
	case "404":
		code = unimplemented
	case "429", "502", "503", "504":
		code = unavailable
	}
	w.finishStatus(code, "the reply is not gRPC: HTTP status "+status)
	if w.verdict == backends.NextKeep {
		w.verdict = backends.NextClose // its content, if any, is unused
	}
}

// contentEnd handles END_STREAM on content, which a valid reply does not have.
func (w *Wire) contentEnd() {
	if w.verdict == backends.NextMore {
		w.fail(backends.Protocol, "the server ended the call without a status")
	}
}

// content takes a part of the message.
func (w *Wire) content(p []byte) {
	switch {
	case w.verdict != backends.NextMore:
		return
	case !w.gotHead:
		w.fail(backends.Protocol, "the server sent content before the head of the reply")
		return
	case w.view == nil && len(w.body) == 0:
		w.view = p
	default:
		w.keepView()
		w.body = buffer.Append(w.body, p, w.maxReply+prefixSize)
	}
	have := w.message()
	if len(have) < prefixSize {
		return
	}
	switch size := int64(binary.BigEndian.Uint32(have[1:])); {
	case size > w.maxReply:
		w.tooLarge("has " + strconv.FormatInt(size, 10) + " bytes")
	case size < int64(len(have)-prefixSize): // fails at once: what arrives without an end is not to be kept
		w.fail(backends.Protocol, "the server sent more than one message")
	}
}

// message returns the received part of the message, with its prefix.
func (w *Wire) message() []byte {
	if len(w.body) > 0 {
		return w.body
	}
	return w.view
}

// keepView copies content from the buffer of a finished read.
func (w *Wire) keepView() {
	if len(w.view) == 0 {
		return
	}
	n := len(w.view)
	if n >= prefixSize {
		n = max(n, prefixSize+int(binary.BigEndian.Uint32(w.view[1:])))
	}
	w.body = append(buffer.Grow(w.body, min(n, maxGrow), w.maxReply+prefixSize), w.view...)
	w.view = nil
}

// maxGrow is the most bytes that are allocated at once for an announced message: more only after
// bytes of it have arrived.
const maxGrow = 1 << 20

// finishOK ends a call whose status is OK.
func (w *Wire) finishOK() {
	have := w.message()
	if len(have) < prefixSize {
		w.fail(backends.Protocol, "the server answered OK without a whole message")
		return
	}
	size, packed := int(binary.BigEndian.Uint32(have[1:])), have[0]
	have = have[prefixSize:]
	switch {
	case size > len(have):
		w.fail(backends.Protocol, "the server answered OK, but the message is incomplete")
		return
	case packed > 1:
		w.fail(backends.Protocol, "the message has a prefix that cannot be read")
		return
	case packed == 1 && w.encoding != coding.Gzip && w.encoding != coding.Deflate:
		w.fail(backends.Protocol,
			"the message is compressed with a coding that was not requested: "+strconv.Quote(w.encoding))
		return
	case packed == 1:
		var ok bool
		if have, ok = w.decompress(have); !ok {
			return
		}
	}
	s := w.sample
	s.LastByte, s.Responses, s.Status, w.verdict = w.readAt, 1, 0, backends.NextKeep
	w.single[0] = have
	w.o.Judge.Reply(w.call, w.single[:], s)
	w.single[0] = nil
}

// decompress decodes the message; ok is false on an error, which ends the call.
func (w *Wire) decompress(packed []byte) (plain []byte, ok bool) {
	plain, err := w.decoder.Read(w.encoding, packed, w.maxReply+1)
	switch {
	case err != nil:
		w.fail(backends.Protocol, "the message cannot be decompressed: "+err.Error())
	case int64(len(plain)) > w.maxReply:
		w.tooLarge("has more bytes when it is decompressed")
	default:
		return plain, true
	}
	return nil, false
}

// tooLarge ends a call whose reply is over the client's limit.
func (w *Wire) tooLarge(what string) {
	w.failStatus(resourceExhausted, " (client side, max_message)",
		"the reply "+what+", the limit is "+strconv.FormatInt(w.maxReply, 10))
	w.verdict = backends.NextBroken
}

// finishStatus ends a call with a status of the server's that is not OK.
func (w *Wire) finishStatus(code int32, message string) {
	if code != cancelled && w.o.Judge.Accepts(w.call, code) {
		s := w.sample
		s.LastByte, s.Responses, s.Status, w.verdict = w.readAt, 1, code, backends.NextKeep
		return
	}
	side := ""
	if code == resourceExhausted {
		side = " (server side)"
	}
	w.failStatus(code, side, message)
}

// failStatus ends a call with a status that is not OK, and its message.
func (w *Wire) failStatus(code int32, side, message string) {
	w.fail(backends.Status, statusName(code)+side+": "+message)
	w.sample.Status, w.verdict = code, backends.NextKeep
	if code == cancelled {
		w.sample.Class = backends.Cancelled
	}
}

// failReset ends a call that the server cut off with RST_STREAM.
func (w *Wire) failReset(code uint32) {
	switch {
	case code == errorRefused && !w.gotHead:
		w.verdict = backends.NextStale
	case code == errorCancel:
		w.failStatus(cancelled, "", "the server sent RST_STREAM with "+codeName(code))
	default:
		w.fail(backends.Protocol, "the server cut the call off: RST_STREAM with "+codeName(code))
		w.sample.Status, w.verdict = internal, backends.NextKeep
	}
}

// fail ends a call; the connection is closed.
func (w *Wire) fail(class backends.ErrorClass, note string) {
	s := w.sample
	s.LastByte, s.Class = w.readAt, class
	s.SetNote([]byte(note))
	w.verdict = backends.NextBroken
}
