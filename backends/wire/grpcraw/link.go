package grpcraw

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"os"
	"sync/atomic"

	"github.com/sluice-bench/sluice/backends/wire/netlane"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// link is one transport: a connection after its handshake. It notes what grpc-go does not report to
// a call about its transport, before grpc-go itself handles it, so that a failed call can look it
// up.
type link struct {
	net.Conn
	connectedAt int64 // end of its handshake
	replaces    bool  // its ClientConn had another transport before
	connectTime int64 // ns from its dial to the end of its handshake
	requests    atomic.Uint32
	reads       atomic.Uint32
	answered    atomic.Bool           // the first frame of some reply was read
	sawTrailers atomic.Bool           // some reply ended with header fields, as one with a status does
	notHTTP2    atomic.Bool           // the server sent bytes that are not HTTP/2
	closed      atomic.Bool           // by grpc-go
	broken      atomic.Bool           // ended by the peer or the network, or announced by GOAWAY
	end         chan struct{}         // closed when broken is set
	err         atomic.Pointer[error] // why it is broken; nil: the server announced it
	streamLimit atomic.Int64          // concurrent streams that the server allows; unlimited: no limit

	// The frame being read, by the single reading goroutine.
	head        [frameHeadSize]byte
	headLen     int
	payloadLeft int // bytes of its payload still to come

	settings   bool // the frame holds the server's settings …
	setting    [settingSize]byte
	settingLen int // bytes of the setting read so far
}

// unlimited is the streamLimit of a server that sets no limit.
const unlimited = math.MaxInt64

const (
	frameHeadSize = 9
	maxFrame      = 16 << 10 // a longer frame needs a setting that grpc-go does not send
	frameHeaders  = 1
	frameSettings = 4
	flagEndStream = 1 // END_STREAM
	frameGoAway   = 7

	settingSize    = 6
	settingStreams = 3
)

// linkInfo gives calls access to their link: grpc-go passes each call the AuthInfo of its
// transport.
type linkInfo struct {
	credentials.AuthInfo
	link *link
}

// ValidateAuthority implements credentials.AuthorityValidator: TLS checks the server's name,
// whatever the authority of a call.
func (linkInfo) ValidateAuthority(string) error { return nil }

// linkOf returns the transport that a call is or was on; nil if it never got one. The lookup
// commits the call to that transport, so that grpc-go does not repeat it on another: it is for
// finished calls only.
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

// noteError marks the link as broken unless this side caused err.
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

// watchFrames reads the headers of the frames in b.
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

// readSettings reads a part of the server's settings.
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

// proven reports whether the link has been used successfully or has lasted for a while: losing it
// then is no sign of a server that accepts no requests.
func (l *link) proven(now int64) bool {
	return l.answered.Load() || l.requests.Load() > 1 || now-l.connectedAt >= netlane.SettledAge
}
