package protow

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"google.golang.org/protobuf/encoding/protowire"
)

// TestFill reads what was filled in with the protobuf module's own parser.
func TestFill(t *testing.T) {
	call := backends.Call{Counters: []backends.Counter{{}, {From: 1, Form: backends.CounterVarint}}}
	for _, id := range []uint64{0, 1, 127, 128, 1 << 32, 1<<63 + 5, 1<<64 - 1} {
		f := backends.Fields{ID: 42, Sequence: id, Region: 7, End: true}
		wide := make([]byte, 10)
		Fill(wide, backends.FieldSequence, &call, &f)
		if v, n := protowire.ConsumeVarint(wide); v != id || n != len(wide) {
			t.Errorf("%d: %x reads as %d, %d bytes", id, wide, v, n)
		}
	}
	f := backends.Fields{ID: 42, Sequence: 9, Region: 7, Start: true}
	for field, want := range map[uint8]string{
		backends.FieldID: "0042", backends.FieldSequenceText: "0009", backends.FieldRegion: "0007",
		backends.FieldCounter + 1: "\xab\x80\x80\x00",
		backends.FieldStart:       "\x81\x80\x80\x00", backends.FieldEnd: "\x80\x80\x80\x00",
	} {
		got := []byte("xxxx")
		if Fill(got, field, &call, &f); string(got) != want {
			t.Errorf("field %d: %q, want %q", field, got, want)
		}
	}
}
