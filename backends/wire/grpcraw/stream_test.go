package grpcraw

import (
	"context"
	"runtime"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// noReply is a judge that is never asked.
type noReply struct{}

func (noReply) Accepts(*backends.Call, int32) bool                     { return false }
func (noReply) Read([][]byte) Message                                  { return Message{} }
func (noReply) Whole(*backends.Call, *backends.Sample) bool            { return false }
func (noReply) Reply(_ *backends.Call, _ [][]byte, _ *backends.Sample) {}

// TestStreamCloseInFlight: the stream that Close ends can be seen to have ended before Close has
// come to the request that is in flight on it. The request was stopped on this side all the same,
// not cancelled by the server.
func TestStreamCloseInFlight(t *testing.T) {
	for _, depth := range []int{1, 4} {
		l := listen(t)
		started := make(chan struct{}, 1)
		serve(t, l, func(ctx context.Context, _ []byte) ([]byte, error) {
			started <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		})
		f := open(t, Options{Address: l.Addr().String()})
		lanes, _, err := f.pool.Streams(t.Context(), 1, depth, method, func() StreamJudge { return noReply{} })
		if err != nil {
			t.Fatal(err)
		}
		lane := lanes[0].(*streamLane)
		s := &backends.Sample{Gen: 1}
		lane.Send(0, f.call(t, "x"), backends.Fields{ID: 1}, s)
		<-started
		for len(lane.opened) > 0 { // the receiver has the stream
			runtime.Gosched()
		}
		lane.closeCancel() // as Close begins
		if slot, done := lane.Recv(); slot != 0 || !done || s.Class != backends.Stopped ||
			s.Flags&backends.Incomplete == 0 {
			t.Errorf("depth %d: slot %d, done %v, class %v, flags %b, note %q",
				depth, slot, done, s.Class, s.Flags, s.Note)
		}
		if err := lane.Close(); err != nil {
			t.Error(err)
		}
	}
}
