package grpcraw

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"os"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// link is one transport: a connection that has shaken hands. It notes what grpc-go does not tell a call about the
// transport that the call was on, before grpc-go itself knows of it, so that a call that has failed can ask.
type link struct {
	net.Conn
	connectedAt int64 // end of its handshake
	replaces    bool  // its ClientConn had another before
	connectTime int64 // ns from its dial to its handshake's end
	requests    atomic.Uint32
	reads       atomic.Uint32
	answered    atomic.Bool           // some reply has begun
	sawTrailers atomic.Bool           // some reply has ended with fields, as one with a status does
	notHTTP2    atomic.Bool           // the server has sent what is no HTTP/2
	closed      atomic.Bool           // by grpc-go
	broken      atomic.Bool           // the peer or the network ended it, or the server has announced that it will
	end         chan struct{}         // closed with broken
	err         atomic.Pointer[error] // why it is broken; nil: the server has announced it
	streamLimit atomic.Int64          // that the server takes at once; unlimited: it sets no limit

	// Of the frame being read, by the one goroutine that reads.
	head        [frameHeadSize]byte
	headLen     int
	payloadLeft int // bytes of its payload still to come

	settings   bool // the frame has the server's settings …
	setting    [settingSize]byte
	settingLen int // bytes of the setting being read
}

// unlimited is the number of streams that a server takes which does not limit them.
const unlimited = math.MaxInt64

const (
	frameHeadSize = 9
	maxFrame      = 16 << 10 // a longer one needs a setting that grpc-go does not make
	frameHeaders  = 1
	frameSettings = 4
	flagEndStream = 1 // END_STREAM
	frameGoAway   = 7

	settingSize    = 6
	settingStreams = 3
)

// linkInfo carries a link to the calls on it: grpc-go gives each call its transport's AuthInfo.
type linkInfo struct {
	credentials.AuthInfo
	link *link
}

// ValidateAuthority implements credentials.AuthorityValidator: what TLS checks is the server's name, whatever the authority of
// a call.
func (linkInfo) ValidateAuthority(string) error { return nil }

// linkOf is the transport that a call is or was on; nil if it never got one. Asking commits the call to it, so that
// grpc-go repeats it nowhere else: it is for calls that are over.
func linkOf(s grpc.ClientStream) *link {
	if s == nil {
		return nil
	}
	return linkIn(s.Context())
}

func linkIn(ctx context.Context) *link {
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(linkInfo); ok {
			return info.link
		}
	}
	return nil
}

// Read implements net.Conn.
func (l *link) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	l.reads.Add(1)
	l.watchFrames(b[:n])
	if err != nil {
		l.noteError(err)
	}
	return n, err
}

// Write implements net.Conn.
func (l *link) Write(b []byte) (int, error) {
	n, err := l.Conn.Write(b)
	if err != nil {
		l.noteError(err)
	}
	return n, err
}

// Close implements net.Conn.
func (l *link) Close() error {
	l.closed.Store(true)
	return l.Conn.Close()
}

// noteError marks the link as broken, unless err is of our own making.
func (l *link) noteError(err error) {
	if !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
		l.err.CompareAndSwap(nil, &err)
		l.setBroken()
	}
}

func (l *link) setBroken() {
	if !l.broken.Swap(true) {
		close(l.end)
	}
}

// watchFrames looks at the heads of the frames in b.
func (l *link) watchFrames(b []byte) {
	for len(b) > 0 {
		if l.payloadLeft > 0 {
			n := min(l.payloadLeft, len(b))
			if l.settings {
				l.readSettings(b[:n])
			}
			l.payloadLeft -= n
			b = b[n:]
			continue
		}
		n := copy(l.head[l.headLen:], b)
		b = b[n:]
		if l.headLen += n; l.headLen < frameHeadSize {
			return
		}
		l.headLen = 0
		l.payloadLeft = int(binary.BigEndian.Uint32(l.head[:]) >> 8)
		if l.head[3] == frameHeaders && l.head[4]&flagEndStream != 0 && !l.sawTrailers.Load() {
			l.sawTrailers.Store(true)
		}
		l.settings, l.settingLen = l.head[3] == frameSettings && l.payloadLeft <= maxFrame, 0
		switch kind := l.head[3]; {
		case l.payloadLeft > maxFrame:
			l.notHTTP2.Store(true)
			l.payloadLeft = math.MaxInt
		case kind == frameHeaders && !l.answered.Load():
			l.answered.Store(true)
		case kind == frameGoAway:
			l.setBroken()
		}
	}
}

// readSettings takes a part of the server's settings.
func (l *link) readSettings(b []byte) {
	for len(b) > 0 {
		n := copy(l.setting[l.settingLen:], b)
		l.settingLen, b = l.settingLen+n, b[n:]
		if l.settingLen < settingSize {
			return
		}
		l.settingLen = 0
		if binary.BigEndian.Uint16(l.setting[:]) == settingStreams {
			l.streamLimit.Store(int64(binary.BigEndian.Uint32(l.setting[2:])))
		}
	}
}

// protocolBroken reports whether what the server sent made grpc-go give the link up.
func (l *link) protocolBroken() bool { return l.notHTTP2.Load() || l.closed.Load() && !l.broken.Load() }

// proven reports whether the link has been of use, or has stood for a while: losing it then is no sign of a server
// that takes no requests.
func (l *link) proven(now int64) bool {
	return l.answered.Load() || l.requests.Load() > 1 || now-l.connectedAt >= settledAge
}
