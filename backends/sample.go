package backends

import (
	"encoding/binary"
	"math"
	"strconv"
)

// Sample is a buffer that changes hands: executor → lane (Send … Recv done) → measure → executor.
// Never copied, never shared. Times are ns since the run's origin; 0 means that the event did not
// happen.
//
// SendStart is before the request is encoded. SendEnd is before the write of a request that the
// transport takes without waiting (up to 32 KiB on a dedicated connection), and after the last
// write of a longer one: on a loopback connection the kernel may give the CPU to the server before
// a write returns, and the server's time is not the client's. It is never after FirstByte.
//
// The fields are ordered by the lines of a cache, 64 bytes each: a line that was written comes back
// from the processor of the folder, at some 50 ns. Requests without sequence, generated text, kept replies
// and error need the first two lines only.
type Sample struct {
	Due, SendStart, SendEnd, FirstByte, LastByte int64
	// Free is when a slot was free for this request (open loop): Free-Due is the pool's share of the
	// send delay, SendStart-max(Due, Free) the client's. Closed loop: Free = Due, or with Followed the
	// LastByte of the slot's previous request.
	Free int64
	N    uint64 // number of the arrival in its schedule
	ID   uint64 // Fields.ID

	Connect   int64 // ns of dialling and handshakes for this request, or before it (Ahead); 0: none
	BytesSent int64
	// BytesReceived counts reply bytes, head included.
	BytesReceived int64
	Row, Items    uint32
	Responses     uint32 // without messages that only mark the end
	Status        int32  // HTTP or gRPC code
	Gen           uint32
	Lane          uint32
	Region        uint32 // Fields.Region: the place of shared outputs
	Dropped       uint32 // requests of its sequence that were never sent because this one failed
	Slot          uint16
	Entry         uint16 // Call.Entry
	Flags         Flags
	Class         ErrorClass
	_             [1]byte

	// one for each response and sign of progress, if the target streams; the caller sets the capacity;
	// 0: not wanted
	Events []Event
	// the replies as received, if they are kept (Target.KeepReplies): see Replies; or what Call.KeepAnswer keeps
	Text        []byte
	Sequence    uint64 // id of its sequence; 0: none
	SequenceDue int64  // in the last request of a sequence: due time of the first one

	Tokens
	_    [8]byte
	Note []byte // first NoteSize bytes of the server's error text; nil buffer until first used
	_    [40]byte
}

// Tokens holds the times of generated text (Ability TokenEvents), and the numbers of tokens that
// the server reports (TokenCounts). A content event is a response with text, reasoning or a part of
// a tool call; only these are Responses. The times are those of the reads.
type Tokens struct {
	// of the first, second and last content event; 0 if the reply came in one piece
	FirstToken, SecondToken, LastToken int64
	FirstAnswer                        int64  // of the first content event with EventAnswer
	Progress                           uint32 // events with EventProgress
	// tokens of the first content event by the usage that it carries; unknown if it carries none
	FirstTokens Count
	// of the last usage in the reply; those that it does not name are unknown
	InputTokens, OutputTokens, CachedTokens, ReasoningTokens Count
}

// Count is a number that may be unknown: it holds one more, so that the zero Count is unknown.
type Count int32

// CountOf returns the Count of n, unknown below 0.
func CountOf(n int64) Count { return Count(min(max(n, -1), math.MaxInt32-1) + 1) }

// Get returns the number; ok is false if it is unknown.
func (c Count) Get() (n int64, ok bool) { return int64(c) - 1, c > 0 }

// MarkToken enters the time of a content event, with the flags of AddToken.
func (s *Sample) MarkToken(at int64, flags uint16, tokens Count) {
	switch {
	case s.FirstToken == 0:
		s.FirstToken, s.FirstTokens = at, tokens
	case s.SecondToken == 0:
		s.SecondToken = at
	}
	if flags&EventAnswer != 0 && s.FirstAnswer == 0 {
		s.FirstAnswer = at
	}
	s.LastToken = at
}

// AddToken enters a content event that was read at time at, as a response. Its flags are EventReasoning
// or EventAnswer; tokens is Event.Tokens.
func (s *Sample) AddToken(at int64, flags uint16, tokens Count) {
	if s.Responses++; s.Responses == 1 {
		s.FirstByte = at
	}
	if at == s.LastToken {
		flags |= EventCoalesced
		s.Flags |= Coalesced
	}
	s.MarkToken(at, flags, tokens)
	if cap(s.Events) > 0 {
		s.Events = append(s.Events, Event{At: at, Flags: flags, Tokens: tokens})
	}
}

// AddProgress enters a sign of progress.
func (s *Sample) AddProgress(at int64, tokens Count) {
	s.Progress++
	if cap(s.Events) > 0 {
		s.Events = append(s.Events, Event{At: at, Flags: EventProgress, Tokens: tokens})
	}
}

// NoteSize is the number of bytes that a sample keeps of a server's error text.
const NoteSize = 256

// Reset clears all but the buffers that the sample owns. Beyond the first two lines of the cache it
// writes only what is not empty.
func (s *Sample) Reset() {
	s.Due, s.SendStart, s.SendEnd, s.FirstByte, s.LastByte, s.Free, s.N, s.ID = 0, 0, 0, 0, 0, 0, 0, 0
	s.Connect, s.BytesSent, s.BytesReceived = 0, 0, 0
	s.Row, s.Items, s.Responses, s.Status, s.Gen, s.Lane, s.Region, s.Dropped = 0, 0, 0, 0, 0, 0, 0, 0
	s.Slot, s.Entry, s.Flags, s.Class = 0, 0, 0, 0
	if len(s.Events) > 0 {
		s.Events = s.Events[:0]
	}
	if len(s.Text) > 0 {
		s.Text = s.Text[:0]
	}
	if s.Sequence != 0 || s.SequenceDue != 0 {
		s.Sequence, s.SequenceDue = 0, 0
	}
	if s.Tokens != (Tokens{}) {
		s.Tokens = Tokens{}
	}
	if len(s.Note) > 0 {
		s.Note = s.Note[:0]
	}
}

// MaxText bounds the bytes of replies that a sample keeps of a request. A reply that would exceed
// it is kept as empty.
const MaxText = 1 << 20

// AddText keeps a reply that arrives in pieces.
func (s *Sample) AddText(pieces ...[]byte) {
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	if len(s.Text)+size > MaxText {
		size, pieces = 0, nil
	}
	s.Text = binary.LittleEndian.AppendUint32(s.Text, uint32(size))
	for _, p := range pieces {
		s.Text = append(s.Text, p...)
	}
}

// Replies returns the kept replies in the order of arrival; one that was too long is empty.
func (s *Sample) Replies() (list [][]byte) {
	for rest := s.Text; len(rest) >= 4; {
		n := 4 + int(binary.LittleEndian.Uint32(rest))
		if n > len(rest) {
			return list
		}
		list, rest = append(list, rest[4:n]), rest[n:]
	}
	return list
}

// SetNote keeps the first NoteSize bytes of text. It allocates at most once per buffer.
func (s *Sample) SetNote(text []byte) {
	if cap(s.Note) == 0 {
		s.Note = make([]byte, 0, NoteSize)
	}
	s.Note = append(s.Note[:0], text[:min(len(text), NoteSize)]...)
}

// BoundSend keeps SendEnd from being after FirstByte. A sender stamps the end of a request when the
// transport has taken it, and the transport may have run the server before it returned.
func (s *Sample) BoundSend() {
	if s.FirstByte != 0 && s.SendEnd > s.FirstByte {
		s.SendEnd = s.FirstByte
	}
}

// SetCancelled sets class, flags and note of a request that was cancelled at time at because of
// why. The caller knows whether it was sent: Send may still be writing SendEnd.
func (s *Sample) SetCancelled(why Cause, at int64, sent bool) {
	s.LastByte, s.Class, s.Note = at, Stopped, s.Note[:0]
	if s.Flags |= Incomplete; why == CauseClosed {
		s.Class = Closed
		s.Flags &^= Incomplete
	}
	if why == CauseTimeout || why == CauseInactivity {
		s.Class = TimedOut
		s.Flags = s.Flags&^Incomplete | Timeout
	}
	if s.Responses > 0 {
		s.Flags |= NoFinal
	}
	if s.Class == TimedOut {
		var text [NoteSize]byte
		s.SetNote(s.appendOverdue(text[:0], why, sent))
	}
}

// appendOverdue appends how far a request had come when its timeout ended it.
func (s *Sample) appendOverdue(text []byte, why Cause, sent bool) []byte {
	counted := func(n int64, what string) { text = append(strconv.AppendInt(text, n, 10), what...) }
	n := int64(s.Responses)
	switch {
	case why == CauseInactivity && n == 0:
		return append(text, "nothing came within the inactivity_timeout"...)
	case why == CauseInactivity:
		text = append(text, "no final flag came: after "...)
		counted(n, " responses nothing came within the inactivity_timeout")
		return text
	case !sent:
		return append(text, "the request could not be sent within the timeout"...)
	case s.BytesReceived == 0:
		return append(text, "no byte of a reply came within the timeout"...)
	}
	text = append(text, "the reply did not end within the timeout, of which "...)
	if counted(s.BytesReceived, " bytes came"); len(s.Events) > 0 || n > 1 {
		text = append(text, ", with responses: "...)
		counted(n, "")
	}
	return text
}

// Event is one response of a request that may have several, or a sign of progress (EventProgress):
// 16 bytes.
type Event struct {
	At     int64
	Flags  uint16
	Tokens Count // output tokens so far, by the usage that the event carries
}

// Responds reports whether e is a response.
func (e Event) Responds() bool { return e.Flags&EventProgress == 0 }

// Event.Flags.
const (
	// EventCoalesced: the response was already there when the previous one was read, so that the time
	// between the two is the transport's and not the server's.
	EventCoalesced uint16 = 1 << iota
	EventReasoning        // reasoning of a model and no part of its answer
	EventAnswer           // text or a part of a tool call
	// EventProgress: no content, but the reported output tokens have grown: the server holds text back.
	// It is no response.
	EventProgress
)

// Flags of a Sample.
type Flags uint16

// The flags.
const (
	Reused        Flags = 1 << iota // sent on a connection that had carried a request before
	Redialled                       // the first on a connection that replaced another
	Warmup                          // due before the hold phase
	Timeout                         // ended by our own timeout
	Incomplete                      // still in flight when the drain ended
	Coalesced                       // some of its events carry EventCoalesced
	NoFinal                         // responses arrived, and it ended without the final one
	Partial                         // not finished: the events of a request that continues (Lane.Recv)
	SequenceStart                   // the first request of its sequence
	SequenceEnd                     // the last request of its sequence
	// Not part of the load: it ended a sequence that could not continue, and is in no number
	Closing
	// closed loop: sent at once after the slot's previous request, whose reply the server stamped
	// (SharesProcess)
	Followed
	OtherID // a checked reply has another id than its request
	Unnamed // a checked reply does not name its model
	Resent  // its connection had been closed silently, and it was sent once more
	Ahead   // its connection was made before it was to be sent: Connect is not part of its latency
)

// ErrorClass is the kind of failure that ended a request (design: time and measurement).
type ErrorClass uint8

// The error classes. Cancelled is a request that the server cancelled; requests cancelled by this
// side have the class Stopped, or Closed if the plan wants it, which are outside every error count.
const (
	OK ErrorClass = iota
	Dial
	TLS
	Write
	TimedOut
	ResetByPeer
	Status
	Protocol
	Decode
	Mismatch
	Cancelled
	Server
	Client
	Stopped
	Closed
	classCount
)

// ClassNames are the words of the classes in plans and artifacts, by ErrorClass. "ok", "stopped" and
// "closed" are not failures.
var ClassNames = [classCount]string{
	"ok", "dial", "tls", "write", "timeout", "reset", "status", "protocol", "decode", "mismatch", "cancelled",
	"server", "client", "stopped", "closed",
}

func (c ErrorClass) String() string { return ClassNames[c] }

// Failed reports whether c counts as an error.
func (c ErrorClass) Failed() bool { return c != OK && c != Stopped && c != Closed }

// Cause is the reason for which a request is cancelled.
type Cause uint8

// Causes of a cancellation and the class of the sample.
const (
	CauseTimeout    Cause = iota + 1 // TimedOut, flag Timeout
	CauseDrain                       // Stopped, flag Incomplete: in flight when the drain time was over
	CauseStop                        // Stopped, flag Incomplete: the run was interrupted
	CauseInactivity                  // TimedOut, flag Timeout: no byte arrived for too long; the note says so
	CauseClosed                      // Closed: the plan closes a share of the requests
)
