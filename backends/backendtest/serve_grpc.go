package backendtest

import (
	"encoding/binary"
	"io"
	"path"
	"strconv"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// serveGRPC answers gRPC calls until the client goes. The handlers for a call of method M are named
//
//	connection   played once, before anything is read: "settings" for a connection of HTTP/2
//	M/open       the head of the call has arrived
//	M/message    one message of it has; without a handler of that name, M waits for the end of the call
//	M            the client has ended it; without any handler the call is UNIMPLEMENTED
//
// and have, in addition to the frames of parseFrame,
//
//	command = "reply" SP CODE [ SP PAYLOAD ]
//	        ; 0: head, one message and trailers; else trailers only, with a message
func (p *connPlayer) serveGRPC() bool {
	if _, err := io.ReadFull(p.in, make([]byte, len(http2.ClientPreface))); err != nil {
		return false
	}
	c := &grpcCalls{
		p: p, conn: window0, initial: window0, windows: map[uint32]int64{}, events: make(chan event, 256),
		over: make(chan struct{}),
	}
	c.moved.L = &c.mu
	p.calls = c
	if goes, _ := p.handle("/connection", pendingRequest{}); !goes {
		return false
	}
	p.r.wg.Go(c.read)
	defer func() {
		_ = p.raw.Close() // unblocks the reader
		for range c.events {
		}
	}()
	for {
		select {
		case e, ok := <-c.events:
			if !ok || !c.play(e) {
				return false
			}
		case <-p.r.ctx.Done():
			return false
		}
	}
}

const window0 = 65_535 // initial size of a window

// grpcCalls holds the calls of one connection.
type grpcCalls struct {
	p       *connPlayer
	events  chan event
	over    chan struct{} // the client has gone
	mu      sync.Mutex
	moved   sync.Cond
	conn    int64 // window of the connection
	initial int64
	windows map[uint32]int64 // by open stream
	gone    bool
}

// event is a received part of a call.
type event struct {
	path string
	pendingRequest
	end bool // of the call
}

// call is the received part of a call.
type call struct {
	path    string
	body    []byte
	gzipped bool
	id      []byte
}

// read handles frames until the connection ends: windows and acknowledgements at once, calls as
// events for the player.
func (c *grpcCalls) read() {
	defer func() {
		c.mu.Lock()
		c.gone = true
		c.mu.Unlock()
		c.moved.Broadcast()
		close(c.over)
		close(c.events)
	}()
	f := http2.NewFramer(io.Discard, c.p.in)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	open := map[uint32]*call{}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			one := &call{path: frame.PseudoValue("path")}
			for _, h := range frame.RegularFields() {
				one.gzipped = one.gzipped || h.Name == "grpc-encoding" && h.Value == "gzip"
			}
			open[frame.StreamID] = one
			c.mu.Lock()
			c.windows[frame.StreamID] = c.initial
			c.mu.Unlock()
			c.events <- event{
				path:           one.path + "/open",
				pendingRequest: pendingRequest{stream: frame.StreamID},
			}
			if frame.StreamEnded() {
				c.end(open, frame.StreamID)
			}
		case *http2.DataFrame:
			if one := open[frame.StreamID]; one != nil {
				c.data(one, frame)
				if frame.StreamEnded() {
					c.end(open, frame.StreamID)
				}
			}
		case *http2.SettingsFrame:
			c.settings(frame)
		case *http2.PingFrame:
			if !frame.IsAck() {
				c.p.write(frameBytes(byte(http2.FramePing), flagEnd, 0, -1, frame.Data[:]))
			}
		case *http2.WindowUpdateFrame:
			c.grow(frame.StreamID, int64(frame.Increment))
		case *http2.RSTStreamFrame:
			delete(open, frame.StreamID)
			c.forget(frame.StreamID)
		}
	}
}

// data takes a part of a call, and returns its bytes to the windows.
func (c *grpcCalls) data(one *call, frame *http2.DataFrame) {
	one.body = append(one.body, frame.Data()...)
	for len(one.body) >= 5 {
		size := 5 + int(binary.BigEndian.Uint32(one.body[1:]))
		if len(one.body) < size {
			break
		}
		one.id = idOf(one.body[5:size], one.gzipped && one.body[0] == 1)
		one.body = one.body[size:]
		c.events <- event{
			path: one.path + "/message", pendingRequest: pendingRequest{stream: frame.StreamID, id: one.id},
		}
	}
	if n := frame.Length; n > 0 {
		increment := binary.BigEndian.AppendUint32(nil, n)
		c.p.write(append(frameBytes(byte(http2.FrameWindowUpdate), 0, 0, -1, increment),
			frameBytes(byte(http2.FrameWindowUpdate), 0, frame.StreamID, -1, increment)...))
	}
}

func (c *grpcCalls) end(open map[uint32]*call, stream uint32) {
	c.events <- event{
		path: open[stream].path, pendingRequest: pendingRequest{stream: stream, id: open[stream].id},
		end: true,
	}
}

func (c *grpcCalls) settings(f *http2.SettingsFrame) {
	if f.IsAck() {
		return
	}
	if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
		c.mu.Lock()
		for id := range c.windows {
			c.windows[id] += int64(v) - c.initial
		}
		c.initial = int64(v)
		c.mu.Unlock()
		c.moved.Broadcast()
	}
	c.p.write(frameBytes(byte(http2.FrameSettings), flagEnd, 0, -1, nil))
}

func (c *grpcCalls) grow(stream uint32, by int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stream == 0 {
		c.conn += by
	} else if _, open := c.windows[stream]; open {
		c.windows[stream] += by
	}
	c.moved.Broadcast()
}

func (c *grpcCalls) forget(stream uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.windows, stream)
	c.moved.Broadcast()
}

// awaitWindow waits until up to most bytes may be sent on a stream. open is false if the stream was
// reset or the client has gone.
func (c *grpcCalls) awaitWindow(stream uint32, most int64) (n int64, open bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		w, open := c.windows[stream]
		if n = min(most, w, c.conn); c.gone || !open || most == 0 || n > 0 {
			if n = max(n, 0); open {
				c.conn, c.windows[stream] = c.conn-n, w-n
			}
			return n, open && !c.gone
		}
		c.moved.Wait()
	}
}

// play answers an event.
func (c *grpcCalls) play(e event) bool {
	goes, found := c.p.handle(e.path, e.pendingRequest)
	if found || !e.end {
		return goes
	}
	for _, h := range c.p.r.script.handlers { // the messages of the call may have been answered
		if method := path.Base(e.path); h.name == method+"/message" || h.name == method+"/open" {
			return true
		}
	}
	outer := c.p.request
	c.p.request = e.pendingRequest
	goes = c.p.replyGRPC(12, payload{{[]byte("no handler for " + e.path), 1}})
	c.p.request = outer
	return goes
}

// maxFrame is the largest payload of a frame, in bytes, that every client accepts.
const maxFrame = 16 << 10

// data sends a payload in several frames, as far as the client's windows allow.
func (p *connPlayer) data(f frameHead, body payload) bool {
	stream := p.streamOf(f)
	left := body.size()
	if left == 0 {
		return p.write(frameBytes(f.kind, f.flags, stream, f.length, nil))
	}
	for _, part := range body {
		b := p.fill(part.bytes)
		for total := int64(len(b)) * part.n; total > 0; {
			n, open := p.calls.awaitWindow(stream, min(total, maxFrame))
			if !open {
				return true // the client does not want it any more
			}
			at := (int64(len(b))*part.n - total) % int64(len(b))
			chunk := cyclic(b, at, n)
			total, left = total-n, left-n
			flags := f.flags
			if left > 0 {
				flags &^= flagEnd
			}
			if !p.write(frameBytes(f.kind, flags, stream, f.length, chunk)) {
				return false
			}
		}
	}
	return true
}

// cyclic returns n bytes of b repeated, from offset at.
func cyclic(b []byte, at, n int64) []byte {
	out := make([]byte, 0, n)
	for int64(len(out)) < n {
		rest := b[at:]
		out = append(out, rest[:min(int64(len(rest)), n-int64(len(out)))]...)
		at = 0
	}
	return out
}

func (p *connPlayer) streamOf(f frameHead) uint32 {
	if f.stream >= 0 {
		return uint32(f.stream)
	}
	return p.request.stream
}

// frame sends one frame, whatever the windows.
func (p *connPlayer) frame(f frameHead, body payload) bool {
	b, err := body.flat()
	return err == nil && p.write(frameBytes(f.kind, f.flags, p.streamOf(f), f.length, p.fill(b)))
}

// frameBytes encodes a frame; length -1 means the length of the payload.
func frameBytes(kind, flags byte, stream uint32, length int64, b []byte) []byte {
	if length < 0 {
		length = int64(len(b))
	}
	head := append(binary.BigEndian.AppendUint32(nil, uint32(length))[1:], kind, flags)
	return append(binary.BigEndian.AppendUint32(head, stream), b...)
}

// replyFields precede a gRPC reply.
var replyFields = []hpack.HeaderField{
	{Name: ":status", Value: "200"}, {Name: "content-type", Value: "application/grpc+proto"},
}

func (p *connPlayer) headers(f frameHead) bool {
	fields := f.fields
	if len(fields) == 0 {
		fields = replyFields
	}
	return p.write(frameBytes(f.kind, f.flags, p.streamOf(f), f.length, p.fill(encodeFields(fields))))
}

// replyGRPC sends a whole reply: with status 0 one message, else the message of the status.
func (p *connPlayer) replyGRPC(code int, body payload) bool {
	head := frameHead{kind: byte(http2.FrameHeaders), flags: flagEndHeaders, length: -1, stream: -1}
	end := head
	end.flags |= flagEnd
	end.fields = []hpack.HeaderField{{Name: "grpc-status", Value: strconv.Itoa(code)}}
	if code != 0 {
		text, err := body.flat()
		end.fields = append(append([]hpack.HeaderField{}, replyFields...),
			append(end.fields, hpack.HeaderField{Name: "grpc-message", Value: string(text)})...)
		return err == nil && p.headers(end)
	}
	message := append(payload{{prefix(0, body.size()), 1}}, body...)
	return p.headers(head) && p.data(frameHead{length: -1, stream: -1}, message) && p.headers(end)
}
