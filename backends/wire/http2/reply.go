package http2

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/buffer"
	"github.com/sluice-bench/sluice/backends/wire/coding"
	h2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/codes"
)

// reply is the call in flight and the received part of its reply.
//
//	phase    frames of the call's stream                       then
//	head     HEADERS (1xx: again)                              content; the end, with END_STREAM
//	content  DATA                                              content; the end, with END_STREAM
//	         HEADERS with END_STREAM: the trailers             the end
//	any      RST_STREAM                                        the end
//
// Frames after the end belong to no call.
type reply struct {
	judge     Judge
	streaming bool // the reply has any number of messages
	slot      int
	call      *backends.Call // nil: none
	sample    *backends.Sample
	maxReply  int64 // limit of a message in bytes, compressed and decoded

	readAt   int64         // time of the read
	verdict  backends.Next // NextMore until the end
	gotFrame bool          // a frame was received
	gotHead  bool          // the head was received
	encoding string        // of the message
	view     []byte        // content in the buffer of the read …
	body     []byte        // … or, from several reads, here
	full     bool          // the sample's events are full
	eventAt  int64         // time of the read of the last message of a stream
	single   [1][]byte     // the message, for the judge
	decoder  coding.Reader
	parsed   blockFields
}

// clear prepares for the next call.
func (r *reply) clear() {
	r.verdict, r.gotFrame, r.gotHead = backends.NextMore, false, false
	r.encoding, r.view, r.body = "", nil, r.body[:0]
	r.full, r.eventAt = false, 0
	if cap(r.body) > maxKeptBody {
		r.body = nil
	}
}

// maxKeptBody is the largest buffer in bytes that is kept for the next call.
const maxKeptBody = 64 << 20

// blockFields holds the parsed fields of one block.
type blockFields struct {
	status, contentType, encoding, code, message, details string

	hasStatus  bool // there is a grpc-status
	sawRegular bool // there is a field that is not a pseudo-header
	malformed  bool // pseudo-headers violate RFC 9113 section 8.3
}

// field takes a field of the block being read.
func (r *reply) field(f hpack.HeaderField) {
	if f.IsPseudo() {
		r.parsed.malformed = r.parsed.malformed || r.parsed.sawRegular || r.parsed.status != "" ||
			f.Name != ":status"
	} else {
		r.parsed.sawRegular = true
	}
	switch f.Name {
	case ":status":
		r.parsed.status = f.Value
	case "content-type":
		r.parsed.contentType = f.Value
	case "grpc-encoding":
		r.parsed.encoding = f.Value
	case "grpc-status":
		r.parsed.code, r.parsed.hasStatus = f.Value, true
	case "grpc-message":
		r.parsed.message = f.Value
	case "grpc-status-details-bin":
		r.parsed.details = f.Value
	}
}

// handleFields handles a block of the call's reply: its head, its trailers, or both in one; ends: the
// stream ends with it.
func (r *reply) handleFields(ends bool) {
	f := &r.parsed
	switch {
	case r.verdict != backends.NextMore:
	case f.malformed, !r.gotHead && f.status == "", r.gotHead && ends && f.status != "":
		r.fail("the server sent fields without one :status in front, or trailers with one")
	case ends && (r.gotHead || f.hasStatus):
		r.trailers()
	case r.gotHead:
		r.fail("the server sent trailers that do not end the reply")
	case len(f.status) == 3 && f.status[0] == '1' && !ends:
	case f.status != "200":
		r.failHTTP(f.status)
	case !strings.HasPrefix(f.contentType, "application/grpc"):
		r.fail("the reply is not gRPC: its content-type is " + strconv.Quote(f.contentType))
	case ends:
		r.fail("the server ended the call without a status")
	default:
		r.gotHead, r.encoding = true, f.encoding
	}
}

// trailers ends the call with the server's status.
func (r *reply) trailers() {
	code, err := strconv.ParseInt(r.parsed.code, 10, 32)
	switch {
	case !r.parsed.hasStatus:
		r.fail("the server ended the call without a status")
	case err != nil || code < 0:
		r.fail(
			"the server ended the call with a status that is not a number: " + strconv.Quote(r.parsed.code))
	case code != 0:
		r.finishStatus(codes.Code(code), unescape(r.parsed.message)+details(r.parsed.details))
	default:
		r.finishOK()
	}
}

// failHTTP ends a call that was answered by plain HTTP, by a proxy for example. The codes follow
// gRPC's mapping (http-grpc-status-mapping.md of the gRPC project).
func (r *reply) failHTTP(status string) {
	code := codes.Unknown
	switch status {
	case "400":
		code = codes.Internal
	case "401":
		code = codes.Unauthenticated
	case "403":
		code = codes.PermissionDenied
	case "404":
		code = codes.Unimplemented
	case "429", "502", "503", "504":
		code = codes.Unavailable
	}
	r.finishStatus(code, "the reply is not gRPC: HTTP status "+status)
	if r.verdict == backends.NextKeep {
		r.verdict = backends.NextClose // its content, if any, is unused
	}
}

// content takes a part of the message, or of a stream of messages; it returns the number of bytes that
// are left because the events are full.
func (r *reply) content(p []byte) (left int) {
	switch {
	case r.verdict != backends.NextMore:
		return 0
	case !r.gotHead:
		r.fail("the server sent content before the head of the reply")
		return 0
	case r.streaming:
		return r.messages(p)
	case r.view == nil && len(r.body) == 0:
		r.view = p
	default:
		r.keepView()
		r.body = buffer.Append(r.body, p, r.maxReply+prefixSize)
	}
	have := r.message()
	if len(have) < prefixSize {
		return 0
	}
	switch size := int64(binary.BigEndian.Uint32(have[1:])); {
	case size > r.maxReply:
		r.tooLarge("has " + strconv.FormatInt(size, 10) + " bytes")
	case size < int64(len(have)-prefixSize): // fails at once: what arrives without an end is not to be kept
		r.fail("the server sent more than one message")
	}
	return 0
}

// message returns the received part of the message, with its prefix.
func (r *reply) message() []byte {
	if len(r.body) > 0 {
		return r.body
	}
	return r.view
}

// keepView copies content from the buffer of a finished read.
func (r *reply) keepView() {
	if len(r.view) == 0 {
		return
	}
	n := len(r.view)
	if n >= prefixSize {
		n = max(n, prefixSize+int(binary.BigEndian.Uint32(r.view[1:])))
	}
	r.body = append(buffer.Grow(r.body, min(n, maxGrow), r.maxReply+prefixSize), r.view...)
	r.view = nil
}

// maxGrow is the most bytes that are allocated at once for an announced message: more only after
// bytes of it have arrived.
const maxGrow = 1 << 20

// finishOK ends a call whose status is OK.
func (r *reply) finishOK() {
	s, have := r.sample, r.message()
	switch {
	case r.streaming && len(have) > 0:
		r.fail("the server answered OK, but the last message is incomplete")
		return
	case r.streaming:
		s.LastByte, s.Status, r.verdict = r.readAt, 0, backends.NextKeep
		r.judge.Reply(r.call, nil, s)
		return
	case len(have) < prefixSize:
		r.fail("the server answered OK without a whole message")
		return
	}
	if int(binary.BigEndian.Uint32(have[1:])) > len(have)-prefixSize {
		r.fail("the server answered OK, but the message is incomplete")
		return
	}
	if plain, ok := r.unpack(have); ok {
		s.LastByte, s.Responses, s.Status, r.verdict = r.readAt, 1, 0, backends.NextKeep
		r.judgeMessage(plain)
	}
}

// judgeMessage passes a message to the judge.
func (r *reply) judgeMessage(plain []byte) {
	r.single[0] = plain
	r.judge.Reply(r.call, r.single[:], r.sample)
	r.single[0] = nil
}

// unpack returns a message without its prefix, decoded; ok is false on an error, which ends the call.
func (r *reply) unpack(have []byte) (plain []byte, ok bool) {
	packed, have := have[0], have[prefixSize:]
	switch {
	case packed == 0:
		return have, true
	case packed > 1:
		r.fail("the message has a prefix that cannot be read")
	case r.encoding != coding.Gzip && r.encoding != coding.Deflate:
		r.fail(
			"the message is compressed with a coding that was not requested: " + strconv.Quote(r.encoding))
	default:
		return r.decompress(have)
	}
	return nil, false
}

// decompress decodes the message; ok is false on an error, which ends the call.
func (r *reply) decompress(packed []byte) (plain []byte, ok bool) {
	plain, err := r.decoder.Read(r.encoding, packed, r.maxReply+1)
	switch {
	case err != nil:
		r.fail("the message cannot be decompressed: " + err.Error())
	case int64(len(plain)) > r.maxReply:
		r.tooLarge("has more bytes when it is decompressed")
	default:
		return plain, true
	}
	return nil, false
}

// tooLarge ends a call whose reply is over the client's limit.
func (r *reply) tooLarge(what string) {
	r.failStatus(codes.ResourceExhausted, " (client side, max_message)",
		"the reply "+what+", the limit is "+strconv.FormatInt(r.maxReply, 10))
	r.verdict = backends.NextBroken
}

// finishStatus ends a call with a status of the server's that is not OK.
func (r *reply) finishStatus(code codes.Code, message string) {
	if code != codes.Canceled && r.judge.Accepts(r.call, int32(code)) {
		s := r.sample
		s.LastByte, s.Status, r.verdict = r.readAt, int32(code), backends.NextKeep
		if !r.streaming {
			s.Responses = 1
		}
		return
	}
	side := ""
	if code == codes.ResourceExhausted {
		side = " (server side)"
	}
	r.failStatus(code, side, message)
}

// failStatus ends a call with a status that is not OK, and its message.
func (r *reply) failStatus(code codes.Code, side, message string) {
	r.fail(code.String() + side + ": " + message)
	r.sample.Class, r.sample.Status, r.verdict = backends.Status, int32(code), backends.NextKeep
	if code == codes.Canceled {
		r.sample.Class = backends.Cancelled
	}
}

// failReset ends a call that the server cut off with RST_STREAM.
func (r *reply) failReset(code h2.ErrCode) {
	switch {
	case code == h2.ErrCodeRefusedStream && !r.gotHead:
		r.verdict = backends.NextStale
	case code == h2.ErrCodeCancel:
		r.failStatus(codes.Canceled, "", "the server sent RST_STREAM with "+code.String())
	default:
		r.fail("the server cut the call off: RST_STREAM with " + code.String())
		r.sample.Status, r.verdict = int32(codes.Internal), backends.NextKeep
	}
}

// fail ends a call whose reply breaks the protocol; the connection is closed.
func (r *reply) fail(note string) {
	s := r.sample
	s.LastByte, s.Class = r.readAt, backends.Protocol
	if s.Responses > 0 {
		s.Flags |= backends.NoFinal
	}
	s.SetNote([]byte(note))
	r.verdict = backends.NextBroken
}

// unescape decodes the percent-encoding of grpc-message. Invalid escapes are left unchanged.
func unescape(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if v, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	return string(b)
}
