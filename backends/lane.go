package backends

// Lane is one serial path to the server: an HTTP/1.1 connection, a unary gRPC caller, a bidirectional gRPC stream. It
// carries at most Depth requests at once, each in a slot 0 … Depth-1.
//
// Concurrency: one goroutine in Send and one in Recv at the same time, never two in either. Cancel and Close from
// anywhere. After warm-up nothing here allocates, locks across a system call, logs or formats.
//
// Law: every Send is answered by exactly one Recv with done set for that slot, whatever happens (reply, error,
// timeout, cancel, closed lane). backendtest checks this law under every fault.
type Lane interface {
	// Send puts c on the wire for slot and returns when the transport has it. It fills SendStart, SendEnd (see Sample), BytesSent.
	// Errors are not returned: they surface at Recv, which owns redialling. s belongs to the lane until Recv reports
	// done; the caller has set Due, N, ID, Row, Lane, Slot and Gen and cleared the rest (Sample.Reset).
	// If c.Size <= Limits.Inline and the slot is idle, Send does not block: the pacer itself may call it. On a lane whose
	// Limits.Depth is above 1 it never blocks, so that one goroutine may keep all slots in flight: the requests go out in
	// the order of the Sends.
	Send(slot int, c *Call, f Fields, s *Sample)
	// Recv blocks until a slot finishes (done) or its sample's Events are full, and returns that slot. When it is not done
	// the caller takes the events away, sets their length to 0 or puts other ones of the same capacity there, and calls
	// Recv again: until then nothing more of that request is read. None with done set is a reply that belongs to no
	// request (a fault of the server's, which no sample can show); None without it means, after Close, the end of the lane.
	// While no request is in flight it is parked so that a silent close by the server is seen and redialled before
	// the next Send. All stamps are taken at the read, before parsing.
	// A stale connection (reused, no reply byte yet, call not stateful) is redialled and resent once, in here, where no
	// other request can be on it.
	Recv() (slot int, done bool)
	// Cancel ends the request of slot if generation gen is still the one in flight; the sample then gets the class
	// that fits why. Never blocks. Safe against reuse of the slot by a later request.
	Cancel(slot int, gen uint32, why Cause)
	// Activity is when slot last sent something or received a byte, run clock; 0: this lane does not tell, as its replies
	// come in one piece. From any goroutine.
	Activity(slot int) int64
	// Close ends the lane; a parked Recv returns None. A request still in flight is first answered as cancelled.
	// None is not final for a Send that comes after Close or at the same moment: its answer (Stopped) is what the next
	// Recv gives. So whoever may still send calls Recv until it has as many answers as Sends, or closes lanes only when
	// nothing is sent any more, as the executor does. Who has called Recv of a lane with several slots calls it until None.
	Close() error
}

// None is the slot of what belongs to no request.
const None = -1

// Limits says how a lane may be driven.
type Limits struct {
	Depth        int  // requests in flight on one lane
	Inline       int  // largest Call.Size that Send passes without blocking on an idle slot; 0: always hand over
	BlocksThread bool // the lanes keep their goroutine's processor while they wait, as LaneOptions.MaxBlocked allows
}

// LaneOptions are the executor's wishes for the lanes of one node.
type LaneOptions struct {
	Depth int // wanted depth; the lane may give less
	// MaxBlocked is how many goroutines may keep their processors while they wait for the server; 0: none may. One drives each lane,
	// Send and then Recv. Where they are fewer than the lanes wanted, these may be put together: lane i of Hold is then those
	// that are i modulo Hold, a slot each.
	MaxBlocked  int
	LargestCall int // size of the largest call, bytes, where Hold is not 0: one that blocks would hold up all of a lane's slots
}

// Call is an encoded request. Immutable. Holes are fixed-width places in Head that Send fills per request.
// A lane patches its own copy of the head (tens of bytes); bodies are shared by all lanes.
type Call struct {
	Size     int    // bytes on the wire
	Row      uint32 // data row, to match expected outputs afterwards
	Items    uint32 // inferences in it (batch), for throughput; 0: unknown, of a whole body
	Entry    uint16 // which kind of request of the stage's mix; 0 without one. Set by the executor before lanes see the call
	Stateful bool   // part of a sequence: never resent
	// MaxReply bounds the content of a reply in bytes, also once it is decompressed; 0: ReplyLimit.
	MaxReply int64
	Head     []byte
	Holes    []Hole
	Body     [][]byte
	Seal     Seal // what follows Body and depends on the values in Head; nil: nothing does
	Impl     any  // the backend's own form; set by Prepare only
}

// ReplyLimit is the largest reply that is taken where neither the plan nor the metadata of the model ask for more.
const ReplyLimit = 64 << 20

// Seal ends a content with what depends on all of it: a checksum. Immutable.
type Seal interface {
	// AppendTrailer appends the end of the content that begins in head, whose holes are filled. It allocates nothing.
	AppendTrailer(dst, head []byte) []byte
}

// Hole is a fixed-width place in Call.Head for one of Fields' values.
type Hole struct {
	At    uint32
	Width uint8
	Field uint8 // FieldID …
}

// Fields that a Hole can hold. Digits are zero-padded decimals, the same in every protocol. Numbers and truths take the
// form that the protocol has for a fixed width: JSON has spaces beside them, protobuf a varint with as many bytes.
const (
	FieldID           uint8 = iota + 1 // request id, digits
	FieldSequence                      // sequence id, a number
	FieldSequenceText                  // sequence id, digits
	FieldRegion                        // output region, digits
	FieldStart                         // first request of its sequence, a truth
	FieldEnd                           // last request of its sequence, a truth
)

// Fields are the values of one request's holes; by value, 24 bytes.
type Fields struct {
	ID         uint64 // unique in the run: node<<40 | n
	Sequence   uint64 // 0: the request belongs to none
	Region     uint32 // of the slot that the request goes out on
	Start, End bool
}

// Value is the value of a field as a number: a truth is 1 or 0.
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

// PutDigits writes v into to as zero-padded digits; those that do not fit are lost at the front.
func PutDigits(to []byte, v uint64) {
	for i := len(to) - 1; i >= 0; i-- {
		to[i] = byte('0' + v%10)
		v /= 10
	}
}
