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

// reply is what has come of a call's.
//
//	phase    frames of the call's stream                       then
//	head     HEADERS (1xx: again)                              content; the end, with END_STREAM
//	content  DATA                                              content; the end, with END_STREAM
//	         HEADERS with END_STREAM: the trailers             the end
//	any      RST_STREAM                                        the end
//
// What comes after the end is of no call.
type reply struct {
	now      int64         // of the read
	verdict  backends.Next // NextMore until the end
	got      bool          // a frame has come
	headed   bool          // the head has come
	encoding string        // of the message
	view     []byte        // content that lies where it was read …
	body     []byte        // … or, of several reads, here
	one      [1][]byte     // the message, for the judge
	undo     coding.Reader
	found    found
}

// clear makes ready for the next call.
func (r *reply) clear() {
	r.verdict, r.got, r.headed, r.encoding, r.view, r.body = backends.NextMore, false, false, "", nil, r.body[:0]
	if cap(r.body) > bodyKept {
		r.body = nil
	}
}

// bodyKept is the largest buffer that stays from one call to the next.
const bodyKept = 64 << 20

// found is what the fields of one block say.
type found struct {
	status, contentType, encoding, code, message string
	coded                                        bool // there is a grpc-status
	plain                                        bool // there is a field that is no pseudo-header
	malformed                                    bool // pseudo-headers are not as they must be (RFC 9113 section 8.3)
}

func (f *found) clear() { *f = found{} }

// field takes a field of the block that is being read.
func (w *Wire) field(f hpack.HeaderField) {
	if f.IsPseudo() {
		w.found.malformed = w.found.malformed || w.found.plain || w.found.status != "" || f.Name != ":status"
	} else {
		w.found.plain = true
	}
	switch f.Name {
	case ":status":
		w.found.status = f.Value
	case "content-type":
		w.found.contentType = f.Value
	case "grpc-encoding":
		w.found.encoding = f.Value
	case "grpc-status":
		w.found.code, w.found.coded = f.Value, true
	case "grpc-message":
		w.found.message = f.Value
	}
}

// began stamps the first frame of a reply.
func (w *Wire) began() {
	if !w.got {
		w.got = true
		w.sample.FirstByte = w.now
	}
}

// section takes the fields of the call's reply: its head, its trailers, or both in one.
func (w *Wire) section() {
	f := &w.found
	switch {
	case w.verdict != backends.NextMore:
	case f.malformed, !w.headed && f.status == "", w.headed && w.in.ends && f.status != "":
		w.fail(backends.Protocol, "the server sent fields without one :status in front, or trailers with one")
	case w.in.ends && (w.headed || f.coded):
		w.trailers()
	case w.headed:
		w.fail(backends.Protocol, "the server sent trailers that do not end the reply")
	case len(f.status) == 3 && f.status[0] == '1' && !w.in.ends:
	case f.status != "200":
		w.plainHTTP(f.status)
	case !strings.HasPrefix(f.contentType, "application/grpc"):
		w.fail(backends.Protocol, "the reply is no gRPC: its content-type is "+strconv.Quote(f.contentType))
	case w.in.ends:
		w.fail(backends.Protocol, "the server ended the call without a status")
	default:
		w.headed, w.encoding = true, f.encoding
	}
}

// trailers ends the call with the server's status.
func (w *Wire) trailers() {
	code, err := strconv.ParseInt(w.found.code, 10, 32)
	switch {
	case !w.found.coded:
		w.fail(backends.Protocol, "the server ended the call without a status")
	case err != nil || code < 0:
		w.fail(backends.Protocol, "the server ended the call with a status that is no number: "+strconv.Quote(w.found.code))
	case code != 0:
		w.refused(int32(code), unescape(w.found.message))
	default:
		w.answered()
	}
}

// plainHTTP ends a call that an HTTP server, a proxy say, has answered. The codes are those of gRPC's mapping
// (http-grpc-status-mapping.md of the gRPC project).
func (w *Wire) plainHTTP(status string) {
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
	w.refused(code, "the reply is no gRPC: HTTP status "+status)
	if w.verdict == backends.NextKeep {
		w.verdict = backends.NextClose // its content, if there is any, is of no use
	}
}

// end takes the end of the content, which a call's reply does not have.
func (w *Wire) end() {
	if w.verdict == backends.NextMore {
		w.fail(backends.Protocol, "the server ended the call without a status")
	}
}

// content takes a part of the message.
func (w *Wire) content(p []byte) {
	switch {
	case w.verdict != backends.NextMore:
		return
	case !w.headed:
		w.fail(backends.Protocol, "the server sent content before the head of the reply")
		return
	case w.view == nil && len(w.body) == 0:
		w.view = p
	default:
		w.keep()
		w.body = buffer.Append(w.body, p, w.most+prefixSize)
	}
	have := w.message()
	if len(have) < prefixSize {
		return
	}
	switch size := int64(binary.BigEndian.Uint32(have[1:])); {
	case size > w.most:
		w.tooLarge("has " + strconv.FormatInt(size, 10) + " bytes")
	case size < int64(len(have)-prefixSize): // told now: what comes without an end is not to be kept
		w.fail(backends.Protocol, "the server sent more than one message")
	}
}

// message is what has come of it, with its prefix.
func (w *Wire) message() []byte {
	if len(w.body) > 0 {
		return w.body
	}
	return w.view
}

// keep copies what lies in the buffer of a read that is over.
func (w *Wire) keep() {
	if len(w.view) == 0 {
		return
	}
	n := len(w.view)
	if n >= prefixSize {
		n = max(n, prefixSize+int(binary.BigEndian.Uint32(w.view[1:])))
	}
	w.body = append(buffer.Grow(w.body, min(n, growMost), w.most+prefixSize), w.view...)
	w.view = nil
}

// growMost is the room that is made at once for a message that says it is long: of more it is better to see some first.
const growMost = 1 << 20

// answered ends a call whose status is OK.
func (w *Wire) answered() {
	have := w.message()
	if len(have) < prefixSize {
		w.fail(backends.Protocol, "the server answered OK without a whole message")
		return
	}
	size, packed := int(binary.BigEndian.Uint32(have[1:])), have[0]
	have = have[prefixSize:]
	switch {
	case size > len(have):
		w.fail(backends.Protocol, "the server answered OK, and the message is cut")
		return
	case packed > 1:
		w.fail(backends.Protocol, "the message has a prefix that cannot be read")
		return
	case packed == 1 && w.encoding != coding.Gzip && w.encoding != coding.Deflate:
		w.fail(backends.Protocol, "the message is compressed in a way that nobody asked for: "+strconv.Quote(w.encoding))
		return
	case packed == 1:
		var ok bool
		if have, ok = w.unpacked(have); !ok {
			return
		}
	}
	s := w.sample
	s.LastByte, s.Responses, s.Status, w.verdict = w.now, 1, 0, backends.NextKeep
	w.one[0] = have
	w.o.Judge.Reply(w.call, w.one[:], s)
	w.one[0] = nil
}

// unpacked undoes the message's compression; false where that cannot be, which ends the call.
func (w *Wire) unpacked(packed []byte) (plain []byte, ok bool) {
	plain, err := w.undo.Read(w.encoding, packed, w.most+1)
	switch {
	case err != nil:
		w.fail(backends.Protocol, "the message cannot be decompressed: "+err.Error())
	case int64(len(plain)) > w.most:
		w.tooLarge("has more bytes when it is decompressed")
	default:
		return plain, true
	}
	return nil, false
}

// tooLarge ends a call whose reply is over the client's limit.
func (w *Wire) tooLarge(what string) {
	w.status(resourceExhausted, " (client side, max_message)", "the reply "+what+", the limit is "+strconv.FormatInt(w.most, 10))
	w.verdict = backends.NextBroken
}

// refused ends a call with a status of the server's that is not OK.
func (w *Wire) refused(code int32, message string) {
	if code != cancelled && w.o.Judge.Accepts(w.call, code) {
		s := w.sample
		s.LastByte, s.Responses, s.Status, w.verdict = w.now, 1, code, backends.NextKeep
		return
	}
	side := ""
	if code == resourceExhausted {
		side = " (server side)"
	}
	w.status(code, side, message)
}

// status ends a call with a status that is not OK, and its words.
func (w *Wire) status(code int32, side, message string) {
	w.fail(backends.Status, statusName(code)+side+": "+message)
	w.sample.Status, w.verdict = code, backends.NextKeep
	if code == cancelled {
		w.sample.Class = backends.Cancelled
	}
}

// aborted ends a call that the server cut off.
func (w *Wire) aborted(code uint32) {
	switch {
	case code == errorRefused && !w.headed:
		w.verdict = backends.NextStale
	case code == errorCancel:
		w.status(cancelled, "", "the server sent RST_STREAM with "+codeName(code))
	default:
		w.fail(backends.Protocol, "the server cut the call off: RST_STREAM with "+codeName(code))
		w.sample.Status, w.verdict = internal, backends.NextKeep
	}
}

// fail ends a call; the connection is of no use any more.
func (w *Wire) fail(class backends.ErrorClass, note string) {
	s := w.sample
	s.LastByte, s.Class = w.now, class
	s.SetNote([]byte(note))
	w.verdict = backends.NextBroken
}
