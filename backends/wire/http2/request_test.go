package http2

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"golang.org/x/net/http2"
)

func texts(fields []Field) (list []string) {
	for _, f := range fields {
		list = append(list, f.Name+": "+f.Value)
	}
	return list
}

// TestFields: another implementation reads the fields of every call on a connection, whatever is in
// the server's table.
func TestFields(t *testing.T) {
	long := strings.Repeat("v", 5000)
	heads := map[string][]Field{
		"a": plainFields,
		"b": append(slices.Clone(plainFields), Field{"authorization", "Bearer x"},
			Field{"x-empty", ""}),
		"over the table": append(slices.Clone(plainFields), Field{"x-long", long}),
		"over a frame":   append(slices.Clone(plainFields), Field{"x-long", strings.Repeat("w", 40_000)}),
	}
	for _, order := range [][]string{
		{"a", "a", "a"},
		{"a", "b", "a", "b"},
		{"b", "b", "a"},
		{"over the table", "a", "a"},
		{"over a frame", "a", "over a frame"},
	} {
		for _, settings := range [][]http2.Setting{
			nil, {{ID: http2.SettingHeaderTableSize, Val: 100}}, {{ID: http2.SettingHeaderTableSize, Val: 8 << 10}},
		} {
			var now *Head
			p := newPairOf(t, Options{Head: func(*backends.Call) *Head { return now }}, settings...)
			if len(settings) > 0 {
				p.known.SetMaxDynamicTableSize(0)
				p.known.SetAllowedMaxDynamicTableSize(settings[0].Val)
				if settings[0].Val > defaultTable {
					p.known.SetMaxDynamicTableSize(defaultTable)
				}
			}
			made := map[string]*Head{}
			for i, name := range order {
				if made[name] == nil {
					made[name] = NewHead(heads[name])
				}
				now = made[name]
				r, _ := p.begins(call("x"))
				if want := texts(heads[name]); !slices.Equal(r.fields, want) {
					t.Errorf("%v %v, call %d: fields %.200q", order, settings, i, r.fields)
				}
				if want := uint32(2*i + 1); r.stream != want || !r.ended || string(r.data) != string(message("x0007")) {
					t.Errorf("%v, call %d: stream %d, %q, ended %t", order, i, r.stream, r.data, r.ended)
				}
				p.sayReply(r.stream, "fine")
				if slot, _, next := p.Feed(p.says(), 1); slot != 0 || next != backends.NextKeep {
					t.Errorf("call %d: slot %d, %v", i, slot, next)
				}
			}
		}
	}
}

// TestLaterFields: from its second call on a connection a head takes a byte for each field.
func TestLaterFields(t *testing.T) {
	h := NewHead(plainFields)
	if _, now := h.block(nil, defaultTable); now != h {
		t.Error("the first head does not enter the table")
	}
	if block, _ := h.block(h, defaultTable); len(block) != len(plainFields) {
		t.Errorf("%d bytes", len(block))
	}
}

// TestWindows: a message goes out as the server's windows allow, in frames that are no longer than
// it takes, and arrives whole whatever they are.
func TestWindows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		size := random.IntN(400_000)
		window, frame := uint32(random.IntN(100_000)), uint32(minFrameLimit+random.IntN(60_000))
		p := newPair(t, http2.Setting{ID: http2.SettingInitialWindowSize, Val: window},
			http2.Setting{ID: http2.SettingMaxFrameSize, Val: frame})
		p.reader.SetMaxReadFrameSize(frame)
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(random.Uint32())
		}
		r, _ := p.begins(&backends.Call{Body: [][]byte{body[:size/3], nil, body[size/3:]}, Head: []byte("end")})
		stream, room := int64(window), int64(defaultWindow)
		got, frames, ended := r.data, r.frames, r.ended
		if int64(len(got)) > min(stream, room) {
			t.Fatalf("%d: %d bytes at first", i, len(got))
		}
		for !ended {
			grow := int64(1 + random.IntN(70_000))
			switch random.IntN(3) {
			case 0:
				room += grow
				p.must(p.framer.WriteWindowUpdate(0, uint32(grow)))
			case 1:
				stream += grow
				p.must(p.framer.WriteWindowUpdate(r.stream, uint32(grow)))
			case 2:
				stream += grow - int64(window)/2
				window = uint32(int64(window) + grow - int64(window)/2)
				p.must(p.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window}))
			}
			if _, _, next := p.Feed(p.says(), 1); next != backends.NextMore {
				t.Fatalf("%d: %v %s", i, next, p.broken)
			}
			p.passAnswers()
			more := p.reads()
			if n := int64(len(more.data)); n > 0 && int64(len(got))+n > min(stream, room) {
				t.Fatalf("%d: %d bytes of a window of %d", i, int64(len(got))+n, min(stream, room))
			}
			got, frames, ended = append(got, more.data...), append(frames, more.frames...), more.ended
		}
		if want := string(message(string(body) + "end")); string(got) != want {
			t.Fatalf("%d: %d bytes arrived, want %d", i, len(got), len(want))
		}
		if slices.Max(frames) > int(frame) {
			t.Errorf("%d: a frame of %d bytes, %d are allowed", i, slices.Max(frames), frame)
		}
	}
}

// TestEarlyReply: a server may answer before it has the request; the connection is then not used again.
func TestEarlyReply(t *testing.T) {
	p := newPair(t)
	_, s := p.begins(call(strings.Repeat("x", 100_000)))
	p.sayFields(1, true, ":status: 200", "content-type: application/grpc", "grpc-status: 8",
		"grpc-message: too%20long%3a %zz%")
	if _, _, next := p.Feed(p.says(), 5); next != backends.NextClose || s.Class != backends.Status ||
		string(s.Note) != "ResourceExhausted (server side): too long: %zz%" {
		t.Errorf("%v %v %q", next, s.Class, s.Note)
	}
	if p.WantsWrite() {
		t.Error("the rest of the message is still to be sent")
	}
}
