package grpcraw

import (
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/grpc"
)

// eagerStream is a call on which the server runs before SendMsg returns.
type eagerStream struct {
	grpc.ClientStream
	run func()
}

func (e *eagerStream) SendMsg(any) error {
	e.run()
	return nil
}

// TestSendEnd: a server that runs while a message is given to the transport is not in the time of
// sending, unless the message is one that waits for the transport.
func TestSendEnd(t *testing.T) {
	const serving = 20 * time.Millisecond
	clock := backends.Clock{Origin: time.Now().Add(-time.Second)}
	for size, waits := range map[int]bool{100: false, maxInlineRequest: false, maxInlineRequest + 1: true} {
		s := &backends.Sample{SendStart: clock.Now()}
		o := outgoing{call: &backends.Call{Size: size}}
		stream := &eagerStream{run: func() { time.Sleep(serving) }} //nolint:forbidigo // the server's own time
		if err := o.send(stream, &clock, s); err != nil {
			t.Fatal(err)
		}
		if took := time.Duration(s.SendEnd - s.SendStart); took < 0 || waits != (took >= serving) {
			t.Errorf("%d bytes: sending took %v, the server ran for %v", size, took, serving)
		}
	}
}
