package grpcraw

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"golang.org/x/net/http2"
)

// TestStarved: a request that waits for the server's windows ends once, whatever becomes of it, and
// the lane goes on. The connection of the first request gives no room beyond the first 64 KiB.
func TestStarved(t *testing.T) {
	body := strings.Repeat("x", 300_000)
	for _, c := range []struct {
		name   string
		script func(c *framed, stream uint32, act func()) // once all that the windows allow has come
		act    func(f *fixture)
		want   backends.ErrorClass
		note   string
	}{
		{
			"timeout", func(c *framed, _ uint32, act func()) { act(); c.request() },
			func(f *fixture) { f.lane.Cancel(0, 1, backends.CauseTimeout) }, backends.TimedOut,
			"no byte of a reply came within the timeout",
		},
		{
			"close", func(c *framed, _ uint32, act func()) { act(); c.request() },
			func(f *fixture) { _ = f.lane.Close() }, backends.Stopped, "",
		},
		{"early status", func(c *framed, stream uint32, _ func()) {
			c.head(stream, true, ":status", "200", "content-type", "application/grpc", "grpc-status", "8",
				"grpc-message", "full")
			c.request()
		}, nil, backends.Status, "ResourceExhausted (server side): full"},
		{
			"early reply", func(c *framed, stream uint32, _ func()) { c.reply(stream, "soon"); c.request() }, nil,
			backends.OK, "",
		},
		{"cut off", func(c *framed, stream uint32, _ func()) {
			_ = c.WriteRSTStream(stream, http2.ErrCodeFlowControl)
			c.request()
		}, nil, backends.Protocol, "the server cut the call off: RST_STREAM with FLOW_CONTROL_ERROR"},
		{"pings", func(c *framed, stream uint32, _ func()) {
			c.ping()
			_ = c.WriteWindowUpdate(0, 1<<20)
			c.ping()
			_ = c.WriteWindowUpdate(stream, 1<<20)
			c.reply(c.request(), "fine")
		}, nil, backends.OK, ""},
		{
			"gone", func(c *framed, _ uint32, _ func()) {
				_ = c.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("too_many_pings"))
			},
			nil, backends.ResetByPeer,
			"the server accepts no more requests on the connection: " +
				`the server sent GOAWAY with ENHANCE_YOUR_CALM "too_many_pings"`,
		},
		{
			"gone and dead", func(c *framed, _ uint32, _ func()) { _ = c.WriteGoAway(1, http2.ErrCodeProtocol, nil) },
			nil, backends.ResetByPeer,
			"the connection was closed before a reply: the server sent GOAWAY with PROTOCOL_ERROR",
		},
		{
			"dead", func(*framed, uint32, func()) {}, nil, backends.ResetByPeer,
			"the connection was closed before a reply",
		},
	} {
		for _, way := range []string{"plain", "held", "parked"} {
			act := make(chan struct{})
			var served atomic.Int32
			f := openHeld(t, Options{Address: frames(t, func(conn *framed) {
				if conn.nth > 1 {
					_ = conn.WriteWindowUpdate(0, 1<<20)
					_ = conn.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 20})
					for stream := conn.request(); stream != 0; stream = conn.request() {
						served.Add(1)
						conn.reply(stream, "fine")
					}
					return
				}
				stream, got := uint32(0), 0
				conn.until(func(f http2.Frame) bool {
					if d, ok := f.(*http2.DataFrame); ok {
						stream, got = d.StreamID, got+len(d.Data())
					}
					return got == 65_535
				})
				c.script(conn, stream, func() { close(act) })
			})}, way == "held")
			do := f.do
			if way == "parked" {
				do = aside(f)
			}
			if c.act != nil {
				go func() { <-act; c.act(f) }()
			}
			s := do(t, f.call(t, body))
			if s.Class != c.want || string(s.Note) != c.note {
				t.Errorf("%s, %s: %v %q", c.name, way, s.Class, s.Note)
			}
			if c.name == "close" {
				continue
			}
			if s := do(t, f.call(t, body)); s.Class != backends.OK {
				t.Errorf("%s, %s, the next: %v %s", c.name, way, s.Class, s.Note)
			}
			if n := served.Load(); n != 1 {
				t.Errorf("%s, %s: %d requests on the other connection", c.name, way, n)
			}
			_ = f.lane.Close()
		}
	}
}

// aside gives a do whose replies another goroutine receives, which is there before the request, as
// in an open loop.
func aside(f *fixture) func(t testing.TB, c *backends.Call) *backends.Sample {
	received := make(chan int, 1)
	go func() {
		for {
			slot, _ := f.lane.Recv()
			if received <- slot; slot == backends.None {
				return
			}
		}
	}()
	return func(t testing.TB, c *backends.Call) *backends.Sample {
		s := f.send(c)
		if slot := <-received; slot != 0 {
			t.Fatalf("Recv: %d", slot)
		}
		return s
	}
}
