package netlane

import (
	"net"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
)

// eager is a connection on which the server runs before a write returns, as on a loopback
// connection of one CPU.
type eager struct {
	net.Conn
	run func()
}

func (e *eager) Write(b []byte) (int, error) {
	e.run()
	return len(b), nil
}

// echoWire sends the body of a call, and takes any byte for the reply.
type echoWire struct {
	backends.Wire
	sample *backends.Sample
}

func (w *echoWire) Begin(_ int, c *backends.Call, _ backends.Fields, s *backends.Sample) ([]byte, [][]byte) {
	w.sample = s
	return c.Head, c.Body
}

// TestSendEnd: a server that runs while a request is being written is not in the time of sending.
// The time of a request that fills the socket's buffer is, up to the first byte of the reply.
func TestSendEnd(t *testing.T) {
	const serving = 20 * time.Millisecond
	for _, c := range []struct {
		name  string
		size  int
		reply bool // its first byte comes before the write returns
		waits bool // sending takes as long as the write
	}{
		{name: "small", size: 100},
		{name: "small, answered within the write", size: 100, reply: true},
		{name: "as large as what does not wait", size: inlineLimit},
		{name: "large", size: inlineLimit + 1, waits: true},
		{name: "large, answered within the write", size: inlineLimit + 1, reply: true},
	} {
		clock := backends.Clock{Origin: time.Now().Add(-time.Second)}
		s, wire := &backends.Sample{Gen: 1}, &echoWire{}
		conn := &eager{run: func() {
			if c.reply {
				s.FirstByte = clock.Now()
			}
			time.Sleep(serving) //nolint:forbidigo // the server's own time
		}}
		l := newLane(&Options{Clock: clock})
		l.wire, l.link = wire, &link{conn: conn, raw: conn, connectedAt: clock.Now()}
		l.word.Store(newWord(0, idle))
		l.Send(0, &backends.Call{Size: c.size, Head: make([]byte, c.size)}, backends.Fields{}, s)
		s.BoundSend() // as Recv does
		took := time.Duration(s.SendEnd - s.SendStart)
		if took < 0 || c.waits != (took >= serving) || s.FirstByte != 0 && s.SendEnd > s.FirstByte {
			t.Errorf("%s: sending took %v, first byte %v after its end; the server ran for %v",
				c.name, took, time.Duration(s.FirstByte-s.SendEnd), serving)
		}
	}
}
