package backends

// Wire speaks one protocol on one connection and never touches a socket, a clock or a goroutine:
// received bytes are passed in with the time of their read, bytes to send are returned. An
// implementation can thus be tested from text, fuzzed, put on a net.Conn or, with others, in an
// event loop (wire/netlane).
//
// A Wire is used by one goroutine at a time: Begin, then Feed and EOF until the request has
// finished.
type Wire interface {
	// Begin starts a request and returns the bytes that send c for slot: a head with f's values in its
	// holes, which belongs to the wire and is valid until the next Begin, and the shared body pieces,
	// which must not be changed. s belongs to the wire until Feed or EOF reports the slot as finished.
	// A ConnWire returns a nil head if the server does not accept such a request; CloseReason says
	// why.
	Begin(slot int, c *Call, f Fields, s *Sample) (head []byte, body [][]byte)
	// Feed takes the bytes of one read at time at. It returns the slot that finished (or None), the
	// number of bytes of b that belonged to it, and what the connection may do next. While slot is
	// None all of b has been taken; with NextFull the slot is that of the request in flight. It fills
	// FirstByte, LastByte, BytesReceived, Responses, Status, Class and Note of the sample.
	Feed(b []byte, at int64) (slot, n int, next Next)
	// EOF reports that the peer ended the stream at time at, while a request was in flight. NextClose:
	// the reply is complete (it ended with the connection). NextStale: no byte of a reply had arrived,
	// the sample is untouched. NextBroken: the reply was cut, the sample has its class.
	EOF(at int64) Next
	// Reset prepares the wire for a new connection. Its buffers are kept.
	Reset()
}

// Next says what a connection may do after Feed or EOF.
type Next uint8

// Values of Next. With all but NextMore, NextStale and NextFull the request has finished and its
// sample is complete.
const (
	NextMore   Next = iota // the reply is not complete: read on
	NextKeep               // complete, and the connection can carry another request
	NextClose              // complete, but the connection must not be used again
	NextBroken             // failed with the sample's class; the connection must not be used again
	NextStale              // EOF before any byte of a reply
	NextFull               // the sample's Events are full: Feed the rest of b once they are empty
)

// ConnWire is a Wire of a protocol whose connections carry bytes that belong to no request, such as
// HTTP/2: a preface of both sides, and frames that have to be answered at any time. Feed takes all
// bytes that it is given, as bytes after a reply belong to the connection.
type ConnWire interface {
	Wire
	// Preface returns the first bytes of the client.
	Preface() []byte
	// FeedIdle takes bytes that arrived while no request was in flight. NextKeep: the connection can
	// carry requests. NextMore: not yet. NextClose: no longer. NextBroken: the server does not speak
	// the protocol, or broke it.
	FeedIdle(b []byte) Next
	// CloseReason returns how the server broke the protocol, or the reason that it gave for closing;
	// "" if neither.
	CloseReason() string
	// WantsWrite reports, after FeedIdle and Feed, whether PendingWrite has bytes: answers, or a part
	// of the request in flight that the server did not accept before.
	WantsWrite() bool
	// PendingWrite returns these bytes, in the form of Begin; part: they contain a part of the
	// request. It is called after the previous bytes have been written.
	PendingWrite() (head []byte, body [][]byte, part bool)
}
