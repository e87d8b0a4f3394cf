package delay

import (
	"sync"
	"testing"
)

// TestTimeline checks the delay of requests after late sends, an idle client and a pause.
func TestTimeline(t *testing.T) {
	var line Timeline
	at := func(n int64) int64 { return n * ms }
	line.Late(at(110), at(5))
	line.Late(at(130), at(3))
	line.Late(at(140), at(7))
	line.Idle(at(200))
	line.Late(at(420), at(2))
	line.Pause(at(600), at(650))
	slice := SliceLength(at(10))
	for _, row := range []struct {
		send, end int64
		want      Delay
	}{
		{100, 105, Delay{}},
		{105, 115, Delay{E: at(5), Recent: at(7)}},
		{100, 139, Delay{E: at(5), Recent: at(7)}},
		{135, 160, Delay{E: at(7), Recent: at(7)}},
		{290, 300, Delay{}},
		{300, 310, Delay{}},
		{310, 500, Delay{E: at(2)}},
		{550, 590, Delay{E: at(2), Recent: at(2)}},
		{550, 620, Delay{E: at(2), Recent: at(2), R: at(20)}},
		{590, 700, Delay{E: at(2), Recent: at(2), R: at(50)}},
		{640, 700, Delay{E: at(2), R: at(10)}},
		{650, 700, Delay{E: at(2)}},
	} {
		if got := line.Of(at(row.send), at(row.end), slice, false); got != row.want {
			t.Errorf("sent at %d, ended at %d: %+v, want %+v", row.send, row.end, got, row.want)
		}
	}
	closed := map[int64]int64{590: 2, 651: 50, 795: 50, 810: 0} // E′ by send
	for send, want := range closed {
		if got := line.Of(at(send), at(send+1), slice, true).Recent; got != at(want) {
			t.Errorf("closed, sent at %d: %d, want %d ms", send, got/ms, want)
		}
	}
	if n, within := line.Paused(at(500), at(620)); n != 1 || within != at(20) {
		t.Errorf("%d pauses of %d", n, within)
	}
}

// TestRanMeanwhile: a late heartbeat is no pause of a client that sent and got an answer meanwhile.
func TestRanMeanwhile(t *testing.T) {
	var line Timeline
	line.Pause(100*ms, 150*ms)
	if d := line.Of(110*ms, 120*ms, SliceLength(0), false); !d.IsZero() {
		t.Errorf("%+v", d)
	}
	line.Of(130*ms, 140*ms, SliceLength(0), false)
	if n, _ := line.Paused(0, 1000*ms); n != 0 {
		t.Errorf("%d pauses", n)
	}
	if d := line.Of(90*ms, 160*ms, SliceLength(0), false); d.R != 50*ms {
		t.Errorf("%+v for one that may have waited", d)
	}
}

// TestStoppedMeanwhile: a reply is often read before the heartbeat beats again. That shows nothing of the
// time between the send and the reply, nor of a stop before the send.
func TestStoppedMeanwhile(t *testing.T) {
	var line Timeline
	line.Pause(100*ms, 430*ms)
	if d := line.Of(102*ms, 405*ms, SliceLength(0), false); d.R != 303*ms {
		t.Errorf("%+v", d)
	}
	line.Of(101*ms, 102*ms, SliceLength(0), false) // before it was stopped, when no beat was missing
	line.Of(410*ms, 420*ms, SliceLength(0), false) // after it
	if n, within := line.Paused(0, 1000*ms); n != 1 || within != 320*ms {
		t.Errorf("%d pauses of %d", n, within)
	}
}

// TestOutOfOrder: events of several goroutines may come in any order.
func TestOutOfOrder(t *testing.T) {
	var line Timeline
	line.Late(20*ms, 3*ms)
	line.Late(10*ms, 5*ms)
	line.Pause(300*ms, 340*ms)
	line.Pause(100*ms, 150*ms)
	line.Pause(120*ms, 160*ms)
	slice := SliceLength(0)
	if got := line.Of(0, 30*ms, slice, false); got != (Delay{E: 5 * ms, Recent: 5 * ms}) {
		t.Errorf("%+v", got)
	}
	if n, within := line.Paused(0, 400*ms); n != 2 || within != 100*ms {
		t.Errorf("%d pauses of %d", n, within)
	}
}

// TestCoarsen: with more steps than are kept E is never smaller than it was.
func TestCoarsen(t *testing.T) {
	var line Timeline
	for i := range int64(3 * maxSteps) {
		line.Late(i*10*ms, 2*ms+i%3)
		line.Idle(i*10*ms + 5*ms)
	}
	if n := len(line.steps); n > maxSteps {
		t.Errorf("%d steps are kept", n)
	}
	for i := range int64(3 * maxSteps) {
		if got, want := line.Of(i*10*ms, i*10*ms+ms, SliceLength(0), false).E, 2*ms+i%3; got < want {
			t.Fatalf("E of send %d is %d, it was %d", i, got, want)
		}
	}
}

// TestLog: many goroutines write while one reads, and nothing is lost that has room.
func TestLog(t *testing.T) {
	var c Client
	l := c.Join(Limits{})
	var group sync.WaitGroup
	for k := range int64(4) {
		group.Go(func() {
			for i := range int64(1000) {
				l.Late(i*ms+k, 2*ms)
			}
		})
	}
	for range 100 {
		c.Update(1)
	}
	group.Wait()
	c.Update(1)
	if got := c.Of(0, 1000*ms, SliceLength(0), false); got.E != 2*ms || c.Lost() != 0 {
		t.Errorf("%+v, %d lost", got, c.Lost())
	}
	for range logRoom + 10 {
		l.Late(ms, 2*ms)
	}
	if c.Update(1); c.Lost() != 10 {
		t.Errorf("%d lost, want 10", c.Lost())
	}
}

// TestOngoingPause: a pause counts while it goes on.
func TestOngoingPause(t *testing.T) {
	var c Client
	l := c.Join(Limits{})
	l.Beat(100 * ms)
	c.Update(120 * ms)
	if d := c.Of(90*ms, 110*ms, SliceLength(0), false); !d.IsZero() {
		t.Errorf("%+v before a beat is missed", d)
	}
	c.Update(160 * ms)
	l.Beat(200 * ms)
	c.Update(201 * ms)
	l.Rest()
	c.Update(900 * ms)
	if n, within := c.Paused(0, 1000*ms); n != 1 || within != 100*ms {
		t.Errorf("%d pauses of %d", n, within)
	}
}

// TestSeveral: while several players run it is unknown when all are idle.
func TestSeveral(t *testing.T) {
	var c Client
	a, b := c.Join(Limits{}), c.Join(Limits{})
	a.Late(10*ms, 5*ms)
	a.Idle(20 * ms)
	c.Update(30 * ms)
	if d := c.Of(40*ms, 50*ms, SliceLength(0), false); d.E != 5*ms {
		t.Errorf("%+v", d)
	}
	c.Leave(a, 60*ms)
	c.Leave(b, 60*ms)
	if d := c.Of(70*ms, 80*ms, SliceLength(0), false); d.E != 0 {
		t.Errorf("%+v after all have ended", d)
	}
}

// TestIdleComesLate: the idle time of one goroutine may be recorded after a later late send of another.
func TestIdleComesLate(t *testing.T) {
	const ms = int64(1e6)
	var line Timeline
	line.Late(10*ms, 5*ms)
	line.Late(30*ms, 3*ms)
	line.Idle(20 * ms)
	if d := line.Of(30*ms, 40*ms, 100*ms, false); d.E < 3*ms {
		t.Errorf("a send that was 3 ms late counts as %d ns", d.E)
	}
}

// TestLateBySample: a late send that only its sample tells of is forgotten when the client is idle, as any other.
func TestLateBySample(t *testing.T) {
	const ms = int64(1e6)
	var c Client
	log := c.Join(Limits{})
	c.Late(10*ms, 5*ms)
	if !log.WasLate() {
		t.Fatal("the log says that nothing was late")
	}
	log.Idle(20 * ms)
	c.Update(30 * ms)
	if d := c.Of(300*ms, 310*ms, 100*ms, false); !d.IsZero() {
		t.Errorf("%+v after the client was idle", d)
	}
}
