package http2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// peer is the server's side of a wire, by another implementation of HTTP/2: it reads what the wire
// sends and encodes replies.
type peer struct {
	t      testing.TB
	out    bytes.Buffer // what the peer has said
	framer *http2.Framer
	fields *hpack.Encoder
	block  bytes.Buffer
	in     bytes.Buffer // what the wire has said
	reader *http2.Framer
	known  *hpack.Decoder
}

func newPeer(t testing.TB) *peer {
	p := &peer{t: t}
	p.framer = http2.NewFramer(&p.out, nil)
	p.framer.AllowIllegalWrites = true
	p.fields = hpack.NewEncoder(&p.block)
	p.reader = http2.NewFramer(nil, &p.in)
	p.known = hpack.NewDecoder(defaultTable, nil)
	return p
}

// says gives what the peer has said since.
func (p *peer) says() []byte {
	b := bytes.Clone(p.out.Bytes())
	p.out.Reset()
	return b
}

func (p *peer) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// sayFields says the fields "name: value" of a stream.
func (p *peer) sayFields(stream uint32, end bool, fields ...string) {
	p.t.Helper()
	p.must(p.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: p.encode(fields), EndStream: end, EndHeaders: true,
	}))
}

func (p *peer) encode(fields []string) []byte {
	p.block.Reset()
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		p.must(p.fields.WriteField(hpack.HeaderField{Name: name, Value: value}))
	}
	return p.block.Bytes()
}

// message is one with its prefix.
func message(text string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...)
}

// sayReply says a good reply.
func (p *peer) sayReply(stream uint32, text string) {
	p.sayFields(stream, false, ":status: 200", "content-type: application/grpc")
	p.must(p.framer.WriteData(stream, false, message(text)))
	p.sayFields(stream, true, "grpc-status: 0")
}

// hears takes what the wire sends.
func (p *peer) hears(head []byte, body [][]byte) {
	p.in.Write(head)
	for _, b := range body {
		p.in.Write(b)
	}
}

// request is what the wire has said of one call.
type request struct {
	stream uint32
	fields []string
	data   []byte
	frames []int
	ended  bool
	other  []http2.Frame // of the connection
}

// reads reads all frames there are.
func (p *peer) reads() (r request) {
	p.t.Helper()
	var block []byte
	for {
		f, err := p.reader.ReadFrame()
		if errors.Is(err, io.EOF) {
			return r
		}
		p.must(err)
		switch f := f.(type) {
		case *http2.HeadersFrame:
			r.stream, block = f.StreamID, bytes.Clone(f.HeaderBlockFragment())
			if f.HeadersEnded() {
				r.fields = p.decode(block)
			}
		case *http2.ContinuationFrame:
			block = append(block, f.HeaderBlockFragment()...)
			if f.HeadersEnded() {
				r.fields = p.decode(block)
			}
		case *http2.DataFrame:
			r.data = append(r.data, f.Data()...)
			r.frames = append(r.frames, len(f.Data()))
			r.ended = r.ended || f.StreamEnded()
		default:
			r.other = append(r.other, f)
		}
	}
}

func (p *peer) decode(block []byte) (fields []string) {
	p.t.Helper()
	list, err := p.known.DecodeFull(block)
	p.must(err)
	for _, f := range list {
		fields = append(fields, f.Name+": "+f.Value)
	}
	return fields
}

// recorder is a judge.
type recorder struct {
	accept int32
	reply  []byte
	calls  int
}

func (r *recorder) Accepts(_ *backends.Call, code int32) bool { return code == r.accept }
func (r *recorder) Reply(_ *backends.Call, pieces [][]byte, _ *backends.Sample) {
	r.calls++
	r.reply = r.reply[:0]
	for _, p := range pieces {
		r.reply = append(r.reply, p...)
	}
}

var plainFields = []Field{
	{":method", "POST"},
	{":scheme", "http"},
	{":path", "/p.S/M"},
	{":authority", "host:1"},
	{"te", "trailers"},
	{"x-key", "v"},
}

// call is one of a body, with an id of four digits at its end.
func call(body string) *backends.Call {
	return &backends.Call{
		Body: [][]byte{[]byte(body)}, Head: []byte("0000"),
		Holes: []backends.Hole{{Width: 4, Field: backends.FieldID}},
	}
}

// pair is a wire and its peer, which have greeted each other.
type pair struct {
	*Wire
	*peer
	judge *recorder
}

func newPair(t testing.TB, settings ...http2.Setting) *pair {
	return newPairOf(t, Options{}, settings...)
}

func newPairOf(t testing.TB, o Options, settings ...http2.Setting) *pair {
	t.Helper()
	judge := &recorder{accept: -1}
	o.Judge = judge
	if o.Head == nil {
		head := NewHead(plainFields)
		o.Head = func(*backends.Call) *Head { return head }
	}
	p := &pair{Wire: New(o), peer: newPeer(t), judge: judge}
	p.must(p.framer.WriteSettings(settings...))
	if next := p.FeedIdle(p.says()); next != backends.NextKeep {
		t.Fatalf("after SETTINGS: %v", next)
	}
	hello, ok := strings.CutPrefix(string(p.Preface()), http2.ClientPreface)
	if !ok {
		t.Fatal("no preface")
	}
	p.hears([]byte(hello), nil)
	p.passAnswers()
	if r := p.reads(); len(r.other) != 3 || r.other[0].Header().Type != http2.FrameSettings ||
		!r.other[2].Header().Flags.Has(http2.FlagSettingsAck) {
		t.Fatalf("hello: %v", r.other)
	}
	return p
}

// answers passes on what the wire owes.
func (p *pair) passAnswers() {
	if p.WantsWrite() {
		head, body, _ := p.PendingWrite()
		p.hears(head, body)
	}
}

// begins starts a call and gives what was sent of it.
func (p *pair) begins(c *backends.Call) (request, *backends.Sample) {
	s := &backends.Sample{}
	p.hears(p.Begin(0, c, backends.Fields{ID: 7}, s))
	return p.reads(), s
}
