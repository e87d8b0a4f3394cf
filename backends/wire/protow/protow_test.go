package protow

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The bytes are written by hand from the encoding's documentation: tag = number<<3 | wire type.
func TestAppend(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"string", AppendString(nil, 1, "testing"), "0a0774657374696e67"},
		{"bytes, number 16", AppendString(nil, 16, []byte{0xff}), "820101ff"},
		{"varint 150", AppendUint(nil, 1, 150), "089601"},
		{"negative", AppendUint(nil, 2, ^uint64(0)), "10ffffffffffffffffff01"},
		{"double 1.0", AppendFixed64(nil, 4, 0x3ff0000000000000), "21000000000000f03f"},
		{"packed", AppendInts(nil, 3, []int64{1, -1, 300}), "1a0d01ffffffffffffffffff01ac02"},
		{"packed, none", AppendInts(nil, 3, nil), ""},
		{"head", AppendHead(nil, 7, 300), "3aac02"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestWalk(t *testing.T) {
	message, _ := hex.DecodeString("0a026162" + "089601" + "21000000000000f03f" + "2d01000000" + "1b08011c" +
		"1a0301ac02")
	w := Walk(message)
	var fields []protowire.Number
	var ints []int64
	for w.Next() {
		fields = append(fields, w.Field)
		switch {
		case w.Is(1) && string(w.Bytes) != "ab", w.Field == 4 && w.Varint != 0x3ff0000000000000,
			w.Field == 5 && w.Varint != 1:
			t.Errorf("field %d: %x %x", w.Field, w.Varint, w.Bytes)
		case w.Is(3):
			ints, _ = w.Ints(ints)
		case w.Field == 1 && w.Type == protowire.VarintType:
			ints, _ = w.Ints(ints)
		}
	}
	if w.Err() != nil || !slices.Equal(fields, []protowire.Number{1, 1, 4, 5, 3, 3}) ||
		!slices.Equal(ints, []int64{150, 1, 300}) {
		t.Errorf("fields %v, ints %v, error %v", fields, ints, w.Err())
	}
}

func TestMalformed(t *testing.T) {
	for _, text := range []string{
		"0a", "0a0561", "08", "08ffffffffffffffffff7f", "0d0101", "090101", "00", "0f", "0c",
		"3affffffffffffffffff01",
	} {
		message, _ := hex.DecodeString(text)
		w := Walk(message)
		for w.Next() {
		}
		if !errors.Is(w.Err(), errMalformed) {
			t.Errorf("%s: walked", text)
		}
		if scanned([][]byte{message}) == nil || scanned(split(message, 1)) == nil {
			t.Errorf("%s: checked", text)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	message := AppendInts(AppendString(AppendUint(nil, 1, 5), 2, "name"), 3, []int64{1, 2, 3})
	pieces := split(message, 3)
	ints := make([]int64, 0, 8)
	if n := testing.AllocsPerRun(100, func() {
		w := Walk(message)
		for w.Next() {
			if w.Is(3) {
				ints, _ = w.Ints(ints[:0])
			}
		}
		_ = scanned(pieces)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// scanned steps through the fields of a message that lies in pieces, and says whether it is malformed.
func scanned(pieces [][]byte) error {
	var s Scanner
	for s.Begin(pieces); s.Next(); {
	}
	return s.Err()
}

// split cuts b into pieces of n bytes, with an empty one between.
func split(b []byte, n int) (pieces [][]byte) {
	for c := range slices.Chunk(b, n) {
		pieces = append(pieces, c, nil)
	}
	return pieces
}

// FuzzWalk holds the walker against the library's own field consumer, and the walk over pieces
// against the one over the whole.
func FuzzWalk(f *testing.F) {
	f.Add([]byte("\n\x07testing"), uint8(1))
	f.Add(AppendInts(AppendFixed64(nil, 4, 1), 3, []int64{1, -1}), uint8(3))
	f.Add([]byte{0x1b, 0x08, 0x01, 0x1c}, uint8(2))
	f.Add([]byte{0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, uint8(4))
	// a field number that is too large, which the library takes
	f.Add([]byte("\xd5\xb3\xa5\xf4\x3000000"), uint8(5))
	f.Fuzz(func(t *testing.T, message []byte, cut uint8) {
		w := Walk(message)
		total, groups := 0, false
		for w.Next() {
			total++
			groups = groups || w.Type == protowire.StartGroupType
			if w.Is(3) {
				_, _ = w.Ints(nil)
			}
		}
		want := 0
		rest, bad := bytes.Clone(message), false
		for len(rest) > 0 {
			_, _, n := protowire.ConsumeField(rest)
			if bad = n < 0; bad {
				break
			}
			rest = rest[n:]
			want++
		}
		if total != want || (w.Err() != nil) != bad {
			t.Errorf("%x: %d fields, error %v; the library finds %d, bad %v", message, total, w.Err(), want, bad)
		}
		pieces := scanned(append(split(message, int(cut%7)+1), nil))
		if !groups && len(message) > 0 && (pieces != nil) != bad {
			t.Errorf("%x in pieces: %v; whole: bad %v", message, pieces, bad)
		}
	})
}

func BenchmarkWalk(b *testing.B) {
	message := AppendString(AppendString(AppendString(nil, 1, "model"), 2, "1"), 3, "00000000000000000042")
	message = AppendString(AppendString(message, 5, make([]byte, 40)), 6, make([]byte, 1024))
	b.ReportAllocs()
	for b.Loop() {
		w := Walk(message)
		for w.Next() {
		}
		if w.Err() != nil {
			b.Fatal(w.Err())
		}
	}
}
