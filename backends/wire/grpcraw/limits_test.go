package grpcraw

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// limited is a server that echoes messages and says how many streams and how many bytes of fields
// it takes.
type limited struct {
	t        *testing.T
	address  string
	listener net.Listener
	group    sync.WaitGroup
	gen      uint32

	mu       sync.Mutex
	settings []http2.Setting
	peers    []*limitedPeer
	opened   int // streams
	over     int // streams beyond the limit, or with too many fields
}

// limitedPeer is a connection of it.
type limitedPeer struct {
	*http2.Framer
	conn net.Conn
	open map[uint32]bool
}

func newLimited(t *testing.T, settings ...http2.Setting) *limited {
	t.Helper()
	l := listen(t)
	s := &limited{t: t, address: l.Addr().String(), listener: l, settings: settings}
	s.group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.group.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		for _, p := range s.peers {
			_ = p.conn.Close()
		}
		s.mu.Unlock()
		s.group.Wait()
	})
	return s
}

func streamsLimit(n uint32) http2.Setting {
	return http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: n}
}

// set changes the settings, on all connections.
func (s *limited) set(settings ...http2.Setting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings
	for _, p := range s.peers {
		_ = p.WriteSettings(settings...)
	}
}

// count gives the connections that have come and what was sent on them beyond the limits.
func (s *limited) count() (connections, streams, over int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.peers), s.opened, s.over
}

func (s *limited) serve(c net.Conn) {
	defer c.Close()
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	p := &limitedPeer{Framer: http2.NewFramer(c, c), conn: c, open: map[uint32]bool{}}
	p.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	s.mu.Lock()
	s.peers = append(s.peers, p)
	err := p.WriteSettings(s.settings...)
	s.mu.Unlock()
	for err == nil {
		var f http2.Frame
		if f, err = p.ReadFrame(); err == nil {
			s.mu.Lock()
			s.take(p, f)
			s.mu.Unlock()
		}
	}
}

// take answers a frame.
func (s *limited) take(p *limitedPeer, f http2.Frame) {
	id := f.Header().StreamID
	switch f := f.(type) {
	case *http2.SettingsFrame:
		if !f.IsAck() {
			_ = p.WriteSettingsAck()
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			_ = p.WritePing(true, f.Data)
		}
	case *http2.MetaHeadersFrame:
		p.open[id] = true
		s.opened++
		for _, set := range s.settings {
			size := 0
			for _, field := range f.Fields {
				size += int(field.Size())
			}
			if set.ID == http2.SettingMaxConcurrentStreams && len(p.open) > int(set.Val) ||
				set.ID == http2.SettingMaxHeaderListSize && size > int(set.Val) {
				s.over++
			}
		}
		p.fields(id, false, ":status", "200", "content-type", "application/grpc")
	case *http2.DataFrame:
		if data := f.Data(); len(data) > 0 {
			_ = p.WriteData(id, false, data)
		}
		if f.StreamEnded() {
			p.fields(id, true, "grpc-status", "0")
			delete(p.open, id)
		}
	case *http2.RSTStreamFrame:
		delete(p.open, id)
	}
}

func (p *limitedPeer) fields(stream uint32, end bool, pairs ...string) {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for i := 0; i < len(pairs); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	_ = p.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: block.Bytes(), EndStream: end, EndHeaders: true,
	})
}

// echoed is a judge of streams whose messages end with the id of their request.
type echoed struct{ recorder }

func (*echoed) Read(pieces [][]byte) Message {
	all := bytes.Join(pieces, nil)
	id, err := strconv.ParseUint(string(all[max(len(all)-4, 0):]), 10, 64)
	return Message{ID: id, Named: err == nil, Broken: err != nil, Final: true}
}

// pool is a pool of connections to the server.
func (s *limited) pool(connections int, headers ...backends.Header) *Pool {
	s.t.Helper()
	p, err := New(Options{
		Network: "tcp", Address: s.address, Authority: "localhost", Clock: backends.Clock{Origin: time.Now()},
		Connections:    connections,
		ConnectTimeout: time.Second, Judge: func() Judge { return &recorder{accept: -1} }, Headers: headers,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = p.Close() })
	return p
}

// lanes opens n lanes of a pool, which end with the test.
func (s *limited) lanes(p *Pool, streams bool, n int) (lanes []backends.Lane, err error) {
	s.t.Helper()
	began := time.Now()
	if streams {
		lanes, _, err = p.Streams(s.t.Context(), n, 1, method, func() StreamJudge { return &echoed{} })
	} else {
		lanes, _, err = p.Lanes(s.t.Context(), n, backends.LaneOptions{})
	}
	if took := time.Since(began); took > 30*time.Second {
		s.t.Errorf("set-up took %v", took)
	}
	s.t.Cleanup(func() {
		for _, l := range lanes {
			_ = l.Close()
		}
	})
	return lanes, err
}

// ask sends one request on a lane, and gives up on it after a while.
func (s *limited) ask(p *Pool, l backends.Lane, patience time.Duration) *backends.Sample {
	s.t.Helper()
	f := fixture{pool: p}
	s.gen++
	x := &backends.Sample{Gen: s.gen}
	stop := time.AfterFunc(patience, func() { l.Cancel(0, x.Gen, backends.CauseTimeout) })
	defer stop.Stop()
	l.Send(0, f.call(s.t, "x"), backends.Fields{ID: uint64(s.gen)}, x)
	if slot, done := l.Recv(); slot != 0 || !done {
		s.t.Fatalf("Recv gave slot %d, done %v", slot, done)
	}
	return x
}

// TestStreamLimit: no lane opens more streams on a connection than the server takes. Other
// connections are opened, or set-up fails within the connect timeout and says what the limit is.
func TestStreamLimit(t *testing.T) {
	for _, c := range []struct {
		limit       uint32
		streams     bool
		connections int
		lanes       int
		want        int    // connections
		err         string // of set-up
	}{
		{limit: 1, streams: true, lanes: 4, want: 4},
		{limit: 2, streams: true, lanes: 4, want: 2},
		{limit: 2, streams: true, lanes: 5, want: 3},
		{limit: 100, streams: true, lanes: 5, want: 1},
		{
			limit: 0, streams: true, lanes: 1,
			err: "the server takes 0 streams at once on a connection (MAX_CONCURRENT_STREAMS): raise its limit",
		},
		{limit: 1, streams: true, connections: 4, lanes: 4, want: 4},
		{
			limit: 1, streams: true, connections: 1, lanes: 4,
			err: "takes 1 stream at once on a connection (MAX_CONCURRENT_STREAMS), and `connections: 1` puts 4 on " +
				"one: write `connections: 4` or leave it out",
		},
		{limit: 2, connections: 2, lanes: 4, want: 2},
		{limit: 2, connections: 1, lanes: 4, err: "and `connections: 1` puts 4 on one: write `connections: 2`"},
		{limit: 0, connections: 1, lanes: 1, err: "takes 0 streams at once"},
		{limit: 1, lanes: 4, want: 4},
		{limit: 0, lanes: 4, err: "takes 0 streams at once"},
	} {
		t.Run(fmt.Sprintf("limit %d, streams %v, connections %d, lanes %d",
			c.limit, c.streams, c.connections, c.lanes), func(t *testing.T) {
			t.Parallel() // most wait for a timeout
			s := newLimited(t, streamsLimit(c.limit))
			p := s.pool(c.connections)
			lanes, err := s.lanes(p, c.streams, c.lanes)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("%v, want %q", err, c.err)
			}
			for range 3 {
				for i, l := range lanes {
					if x := s.ask(p, l, 20*time.Second); x.Class != backends.OK {
						t.Errorf("lane %d: %v %s", i, x.Class, x.Note)
					}
				}
			}
			if connections, _, over := s.count(); err == nil && connections != c.want || over > 0 {
				t.Errorf("%d connections, want %d; %d streams beyond the limit", connections, c.want, over)
			}
		})
	}
}

// TestStreamLimitRaised: a server that takes no stream at first, as some do while they start, has
// the connect timeout for it.
func TestStreamLimitRaised(t *testing.T) {
	for _, c := range []struct {
		streams     bool
		connections int
	}{{true, 0}, {true, 2}, {false, 2}, {false, 0}} {
		s := newLimited(t, streamsLimit(0))
		timer := time.AfterFunc(50*time.Millisecond, func() { s.set(streamsLimit(3)) })
		p := s.pool(c.connections)
		lanes, err := s.lanes(p, c.streams, 3)
		timer.Stop()
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		for _, l := range lanes {
			if x := s.ask(p, l, 20*time.Second); x.Class != backends.OK {
				t.Errorf("%+v: %v %s", c, x.Class, x.Note)
			}
		}
	}
}

// TestStreamLimitLowered: streams that are opened in mid-run heed the limit of that time, on other
// connections. Where the server takes none any more each request ends, and says why.
func TestStreamLimitLowered(t *testing.T) {
	for _, streams := range []bool{true, false} {
		t.Run(fmt.Sprintf("streams %v", streams), func(t *testing.T) {
			t.Parallel() // most of it waits for a timeout
			s := newLimited(t, streamsLimit(100))
			p := s.pool(0)
			lanes, err := s.lanes(p, streams, 3)
			if err != nil {
				t.Fatal(err)
			}
			s.set(streamsLimit(1))
			for round := range 3 {
				for i, l := range lanes {
					if streams { // ends its stream, so that it opens another
						s.ask(p, l, 0)
					}
					if x := s.ask(p, l, 20*time.Second); x.Class != backends.OK {
						t.Errorf("round %d, lane %d: %v %s", round, i, x.Class, x.Note)
					}
				}
			}
			s.set(streamsLimit(0))
			for i, l := range lanes {
				var x *backends.Sample
				for range 10 { // the first may be on its way when the limit comes
					if streams {
						s.ask(p, l, 0)
					}
					if x = s.ask(p, l, 20*time.Second); x.Class != backends.OK {
						break
					}
				}
				if x.Class != backends.Dial || !strings.Contains(string(x.Note), "takes 0 streams at once") {
					t.Errorf("none taken, lane %d: %v %s", i, x.Class, x.Note)
				}
			}
			s.set(streamsLimit(1))
			for i, l := range lanes {
				var x *backends.Sample
				for range 100 { // a connection that was closed is dialled when it is needed
					if x = s.ask(p, l, 20*time.Second); x.Class == backends.OK {
						break
					}
				}
				if x.Class != backends.OK {
					t.Errorf("raised again, lane %d: %v %s", i, x.Class, x.Note)
				}
			}
		})
	}
}

// TestStreamLimitLoweredWhileOpening: a stream whose connection was chosen before the lower limit came
// is opened on another one, at the end of the connect timeout.
func TestStreamLimitLoweredWhileOpening(t *testing.T) {
	s := newLimited(t, streamsLimit(100))
	p := s.pool(0)
	lanes, err := s.lanes(p, true, 2)
	if err != nil {
		t.Fatal(err)
	}
	limit := &p.shared[0].latest.Load().streamLimit
	s.set(streamsLimit(1))
	for limit.Load() != 1 {
		time.Sleep(time.Millisecond) //nolint:forbidigo // until the setting comes
	}
	limit.Store(100) // as if it came after the next choice of a connection
	timer := time.AfterFunc(300*time.Millisecond, func() { limit.Store(1) })
	defer timer.Stop()
	for ended := false; !ended; { // its stream, so that it opens another
		ended = s.ask(p, lanes[0], 0).Class != backends.OK
	}
	if x := s.ask(p, lanes[0], 20*time.Second); x.Class != backends.OK {
		t.Errorf("%v %s", x.Class, x.Note)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.shared) != 2 || p.shared[0].users != 1 || p.shared[1].users != 1 {
		t.Errorf("%d connections, want 2 with a lane each", len(p.shared))
	}
}

// TestHeaderListLimit: a request whose fields have more bytes than the server takes is not sent,
// and says so.
func TestHeaderListLimit(t *testing.T) {
	const note = "(MAX_HEADER_LIST_SIZE): shorten `headers`"
	long := backends.Header{Name: "x-long", Value: strings.Repeat("x", 1000)}
	setting := http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 1000}
	for _, connections := range []int{0, 1} {
		s := newLimited(t, setting)
		p := s.pool(connections, long)
		lanes, err := s.lanes(p, false, 1)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if x := s.ask(p, lanes[0], 20*time.Second); x.Class != backends.Write ||
				!strings.Contains(string(x.Note), note) || x.BytesSent != 0 {
				t.Errorf("connections %d: %v %s, %d bytes sent", connections, x.Class, x.Note, x.BytesSent)
			}
		}
		s.set(http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 2000})
		var x *backends.Sample
		for range 100 {
			if x = s.ask(p, lanes[0], 20*time.Second); x.Class == backends.OK {
				break
			}
			time.Sleep(time.Millisecond) //nolint:forbidigo // between two tries
		}
		if x.Class != backends.OK {
			t.Errorf("connections %d, limit raised: %v %s", connections, x.Class, x.Note)
		}
		if _, _, over := s.count(); over > 0 {
			t.Errorf("connections %d: %d requests beyond the limit", connections, over)
		}
		if _, err := s.lanes(newLimited(t, setting).pool(connections, long), true, 1); err == nil ||
			!strings.Contains(err.Error(), note) {
			t.Errorf("connections %d: streams: %v", connections, err)
		}
	}
}
