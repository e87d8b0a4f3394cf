package backends

// Lane is one serial path to the server: an HTTP/1.1 connection, a unary gRPC caller, a
// bidirectional gRPC stream. It carries at most Depth requests at once, each in a slot 0 … Depth-1.
//
// Concurrency: one goroutine in Send and one in Recv at the same time, never two in either. Cancel
// and Close from any goroutine. After warm-up no method allocates, locks across a system call, logs
// or formats.
//
// Law: every Send is answered by exactly one Recv with done set for that slot, whatever happens
// (reply, error, timeout, cancel, closed lane). backendtest checks this law under every fault.
type Lane interface {
	// Send puts c on the wire for slot and returns when the transport has it. It fills SendStart,
	// SendEnd (see Sample), BytesSent. It returns no error: errors surface at Recv, which redials. s
	// belongs to the lane until Recv reports done; the caller has set Due, N, ID, Row, Lane, Slot and
	// Gen and cleared the rest (Sample.Reset). If c.Size <= Limits.Inline and the slot is idle, Send
	// does not block: the pacer itself may call it. On a lane whose Limits.Depth is above 1 it never
	// blocks, so that one goroutine may keep all slots in flight: the requests go out in the order of
	// the Sends.
	Send(slot int, c *Call, f Fields, s *Sample)
	// Recv blocks until a slot finishes (done) or its sample's Events are full, and returns that slot.
	// If it is not done the caller takes the events, sets their length to 0 or replaces them by others
	// of the same capacity, and calls Recv again: until then nothing more of that request is read.
	// None with done set is a reply that belongs to no request (a fault of the server that no sample
	// can show); None without done means, after Close, the end of the lane. While no request is in
	// flight Recv is parked so that a silent close by the server is seen and redialled before the next
	// Send. All stamps are taken at the read, before parsing. A stale connection (reused, no reply
	// byte yet, call not stateful) is redialled and the request resent once, in here, where no other
	// request can be on it.
	Recv() (slot int, done bool)
	// Cancel ends the request of slot if generation gen is still the one in flight; the sample then
	// gets the class of why. Never blocks. A later request of the slot is never affected.
	Cancel(slot int, gen uint32, why Cause)
	// Activity returns the time at which slot last sent something or received a byte, run clock; 0:
	// unknown, as this lane's replies arrive in one piece. From any goroutine.
	Activity(slot int) int64
	// Close ends the lane; a parked Recv returns None. A request still in flight is first answered as
	// cancelled. None is not final for a Send that comes after Close or at the same moment: its answer
	// (Stopped) is the result of the next Recv. So a caller that may still send calls Recv until it
	// has as many answers as Sends, or closes lanes only when nothing is sent any more, as the
	// executor does. A caller of Recv on a lane with several slots repeats it until None.
	Close() error
}

// None is the slot of a result that belongs to no request.
const None = -1

// Limits says how a lane may be driven.
type Limits struct {
	Depth int // requests in flight on one lane
	// largest Call.Size in bytes that Send passes without blocking on an idle slot; 0: always hand
	// over to another goroutine
	Inline       int
	BlocksThread bool // Send and Recv block their thread while they wait, as LaneOptions.MaxBlocked allows
}

// LaneOptions are the executor's wishes for the lanes of one node.
type LaneOptions struct {
	Depth int // wanted depth; the lane may have less
	// MaxBlocked is the number of goroutines that may block their threads while they wait for the
	// server; 0: none. One goroutine drives each lane, Send and then Recv. If there are fewer of them
	// than wanted lanes, lanes may be joined: lane i of MaxBlocked then consists of the lanes that are
	// i modulo MaxBlocked, a slot each.
	MaxBlocked int
	// bytes of the largest call, if MaxBlocked is not 0: a call that blocks would delay all slots of a
	// lane
	LargestCall int
}

// Call is an encoded request. Immutable. Holes are fixed-width places in Head that Send fills per
// request. A lane patches its own copy of the head (tens of bytes, but for prompts that vary); bodies are shared by all
// lanes.
type Call struct {
	Size     int    // bytes on the wire
	Row      uint32 // data row, to match expected outputs afterwards
	Items    uint32 // inferences in it (batch), for throughput; 0: unknown, of a whole body
	Entry    uint16 // index in the stage's mix; 0 without one. The executor sets it before lanes see the call
	Stateful bool   // part of a sequence: never resent
	// KeepAnswer: the lane keeps the answer in Sample.Text, in a form that Continuer and Texter read; or the whole
	// replies, with Target.KeepReplies. The executor sets it before lanes see the call.
	KeepAnswer bool
	// MaxReply bounds the content of a reply in bytes, compressed and decoded; 0: ReplyLimit.
	MaxReply int64
	Head     []byte
	Holes    []Hole
	Vary     *Vary // the words of Holes of its fields; nil: it has none
	Counters []Counter
	Body     [][]byte
	Seal     Seal // follows Body and depends on the values in Head; nil: none
	Impl     any  // the backend's own form; set by Prepare only
}

// ReplyLimit is the largest accepted reply in bytes unless the plan or the model's metadata allow
// more.
const ReplyLimit = 64 << 20

// Seal ends a content with bytes that depend on all of it: a checksum. Immutable.
type Seal interface {
	// AppendTrailer appends the end of the content that begins in head, whose holes are filled. It
	// allocates nothing.
	AppendTrailer(dst, head []byte) []byte
}

// Hole is a fixed-width place in Call.Head for one of Fields' values.
type Hole struct {
	At    uint32
	Width uint8
	Field uint8 // FieldID …
}

// Fields of a Hole. Digits are zero-padded decimals, the same in every protocol. Numbers and
// booleans have the protocol's form of a fixed width: JSON is padded with spaces, protobuf uses a
// varint of as many bytes.
const (
	FieldID           uint8 = iota + 1 // request id, digits
	FieldSequence                      // sequence id, a number
	FieldSequenceText                  // sequence id, digits
	FieldRegion                        // output region, digits
	FieldStart                         // first request of its sequence, a boolean
	FieldEnd                           // last request of its sequence, a boolean
)

// Fields are the values of one request's holes; by value, 24 bytes.
type Fields struct {
	ID         uint64 // unique in the run: node<<50 | trial<<40 | n
	Sequence   uint64 // 0: the request belongs to none
	Region     uint32 // of the slot that carries the request
	Start, End bool
}

// Value returns a field as a number: a boolean is 1 or 0.
func (f *Fields) Value(field uint8) uint64 {
	truth := false
	switch field {
	case FieldID:
		return f.ID
	case FieldSequence, FieldSequenceText:
		return f.Sequence
	case FieldRegion:
		return uint64(f.Region)
	case FieldStart:
		truth = f.Start
	case FieldEnd:
		truth = f.End
	}
	if truth {
		return 1
	}
	return 0
}

// PutDigits writes v into to as zero-padded digits; leading digits that do not fit are dropped.
func PutDigits(to []byte, v uint64) {
	for i := len(to) - 1; i >= 0; i-- {
		to[i] = byte('0' + v%10)
		v /= 10
	}
}
