package grpcraw

import (
	"context"
	"io"
	"net"
	"os"
	"testing"

	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
)

func newLink() *link { return &link{end: make(chan struct{})} }

// seen is what a link knows of its peer.
type seen struct{ answered, broken, foreign bool }

func (l *link) seen() seen {
	return seen{l.answered.Load(), l.broken.Load(), l.notHTTP2.Load()}
}

func TestWatch(t *testing.T) {
	settings := "\x00\x00\x06\x04\x00\x00\x00\x00\x00" + "\x00\x03\x00\x00\x00\x64"
	headers := "\x00\x00\x01\x01\x05\x00\x00\x00\x01" + "\x88"
	goAway := "\x00\x00\x08\x07\x00\x00\x00\x00\x00" + "\x00\x00\x00\x01\x00\x00\x00\x00"
	inside := "\x00\x00\x09\x00\x00\x00\x00\x00\x01" + goAway[:9] // the head of another frame within data
	for text, want := range map[string]seen{
		"":                                 {},
		settings:                           {},
		settings + headers[:8]:             {},
		settings + headers:                 {answered: true},
		settings + inside:                  {},
		settings + inside + goAway:         {broken: true},
		headers + goAway:                   {answered: true, broken: true},
		"HTTP/1.1 400 Bad Request\r\n\r\n": {foreign: true},
		settings + "\x00\x40\x01\x01\x00\x00\x00\x00\x01" + goAway: {foreign: true},
		settings + "\x00\x40\x00\x00\x00\x00\x00\x00\x01":          {},
	} {
		l := newLink()
		l.watchFrames([]byte(text))
		if l.seen() != want {
			t.Errorf("%q: %+v, want %+v", text, l.seen(), want)
		}
	}
}

// However the bytes are cut, the same is seen.
func FuzzWatch(f *testing.F) {
	f.Add([]byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"+
		"\x00\x00\x01\x01\x05\x00\x00\x00\x01\x88"), uint8(3))
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n"), uint8(1))
	f.Add([]byte("\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"), uint8(8))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		whole, cut := newLink(), newLink()
		whole.watchFrames(b)
		for n := int(step) + 1; len(b) > 0; b = b[min(n, len(b)):] {
			cut.watchFrames(b[:min(n, len(b))])
		}
		if whole.seen() != cut.seen() {
			t.Errorf("%+v at once, %+v in pieces of %d", whole.seen(), cut.seen(), int(step)+1)
		}
	})
}

func TestNote(t *testing.T) {
	for err, want := range map[error]bool{
		io.EOF: true, io.ErrUnexpectedEOF: true, net.ErrClosed: false, os.ErrDeadlineExceeded: false,
	} {
		l := newLink()
		l.noteError(err)
		l.noteError(err)
		if l.broken.Load() != want {
			t.Errorf("%v: broken %v", err, !want)
		}
	}
}

func TestLinkIn(t *testing.T) {
	if linkIn(context.Background()) != nil ||
		linkIn(peer.NewContext(context.Background(), &peer.Peer{})) != nil {
		t.Error("a link out of nothing")
	}
	l := newLink()
	_, info, _ := insecure.NewCredentials().ClientHandshake(context.Background(), "", nil)
	if linkIn(peer.NewContext(context.Background(), &peer.Peer{AuthInfo: linkInfo{info, l}})) != l {
		t.Error("the link is lost")
	}
}
