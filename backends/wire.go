package backends

// Wire speaks one protocol on one connection and never touches a socket, a clock or a goroutine: bytes come in with
// the time of their read, bytes to send go out. One implementation is thus tested from text, fuzzed, put on a
// net.Conn or, with others, in an event loop (wire/netlane).
//
// A Wire is used by one goroutine at a time: Begin, then Feed and EOF until the request has finished.
type Wire interface {
	// Begin starts a request and gives the bytes that send c for slot: a head with f's values in its holes, which is
	// the wire's own and valid until the next Begin, and the shared body pieces, which nobody may change. s belongs to
	// the wire until Feed or EOF reports the slot as finished. A nil head of a ConnWire: the server does not take such a request,
	// as Why says.
	Begin(slot int, c *Call, f Fields, s *Sample) (head []byte, body [][]byte)
	// Feed takes what one read brought at time at. It returns the slot that finished (or None), how many bytes of b
	// belonged to it, and what the connection may do next. While slot is None all of b has been taken; with NextFull the
	// slot is that of the request in flight.
	// It fills FirstByte, LastByte, BytesReceived, Responses, Status, Class and Note of the sample.
	Feed(b []byte, at int64) (slot, n int, next Next)
	// EOF says that the peer ended the stream at time at, while a request was in flight. NextClose: the reply is
	// complete (it ended with the connection). NextStale: no byte of a reply had come, the sample is untouched.
	// NextBroken: the reply was cut, the sample has its class.
	EOF(at int64) Next
	// Reset makes the wire that of a new connection, which has carried nothing yet. Its buffers stay.
	Reset()
}

// Next is what a connection may do after Feed or EOF.
type Next uint8

// The verbs of Next. With all but NextMore, NextStale and NextFull the request has finished and its sample is complete.
const (
	NextMore   Next = iota // the reply is not complete: read on
	NextKeep               // complete, and the connection can carry another request
	NextClose              // complete, but the connection must not be used again
	NextBroken             // failed with the sample's class; the connection must not be used again
	NextStale              // EOF before any byte of a reply
	NextFull               // the sample's Events are full: once they are drained, Feed goes on with the rest of b
)

// ConnWire is a Wire of a protocol whose connections carry bytes that belong to no request: what both sides say at first, and
// what has to be answered at any time. Feed takes all that it is given, as what follows a reply is the connection's.
type ConnWire interface {
	Wire
	// Preface gives what the client says first.
	Preface() []byte
	// FeedIdle takes what came while no request was in flight. NextKeep: the connection can carry requests. NextMore: not yet.
	// NextClose: not any more. NextBroken: the server does not speak the protocol, or broke it.
	FeedIdle(b []byte) Next
	// CloseReason is what the server broke, or what it said when it went; "" where it did neither.
	CloseReason() string
	// WantsWrite reports, after Hear and Feed, whether there is something to be written: answers, or what the server did not take
	// before of the request in flight.
	WantsWrite() bool
	// PendingWrite gives it, in the form of Begin; part says that a part of the request is in it. It is called when what was given
	// before has been written.
	PendingWrite() (head []byte, body [][]byte, part bool)
}
