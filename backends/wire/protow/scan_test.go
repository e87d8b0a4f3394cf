package protow

import (
	"encoding/hex"
	"fmt"
	"testing"
)

// cutAt gives message in pieces of size bytes.
func cutAt(message []byte, size int) (pieces [][]byte) {
	for ; len(message) > size; message = message[size:] {
		pieces = append(pieces, message[:size])
	}
	return append(pieces, message)
}

// fields lists what a Scanner finds, fields 2 and 4 entered.
func fields(pieces [][]byte) (list []string, err error) {
	var s Scanner
	var walk func()
	depth := 0
	walk = func() {
		for s.Next() {
			if (s.Is(2) || s.Is(4)) && depth < maxDepth-1 {
				list = append(list, fmt.Sprintf("%d{", s.Field))
				depth++
				s.EnterMessage()
				walk()
				s.LeaveMessage()
				depth--
				list = append(list, "}")
				continue
			}
			if s.Type == BytesType {
				list = append(list, fmt.Sprintf("%d=%x", s.Field, s.Append(nil)))
			} else {
				list = append(list, fmt.Sprintf("%d:%x", s.Field, s.Varint))
			}
		}
	}
	s.Begin(pieces)
	walk()
	return list, s.Err()
}

func TestScan(t *testing.T) {
	inner := AppendString(AppendString(nil, 3, "7"), 4, AppendString(AppendString(nil, 1, "k"), 2, []byte{8, 1}))
	message := AppendFixed64(AppendString(AppendString(nil, 1, "no"), 2, inner), 5, 1)
	want := "[1=6e6f 2{ 3=37 4{ 1=6b 2{ 1:1 } } } 5:0]"
	for size := 1; size <= len(message); size++ {
		if list, err := fields(cutAt(message, size)); err != nil || fmt.Sprint(list) != want {
			t.Errorf("in pieces of %d: %v, %v", size, list, err)
		}
	}
}

func TestScanMalformed(t *testing.T) {
	for _, text := range []string{
		"0a", "0a0561", "08", "08ffffffffffffffffff7f", "0d0101", "090101", "00", "0f", "0c",
		"3affffffffffffffffff01", "12021a05",
	} {
		message, _ := hex.DecodeString(text)
		for size := 1; size <= len(message); size++ {
			if _, err := fields(cutAt(message, size)); err == nil {
				t.Errorf("%s in pieces of %d is taken", text, size)
			}
		}
	}
}

// FuzzScan: a Scanner finds the same whatever the pieces, and what Walk finds at the top.
func FuzzScan(f *testing.F) {
	f.Add([]byte{0x0a, 1, 'x', 0x12, 3, 0x1a, 1, '7'}, 2)
	f.Add([]byte{0x22, 4, 0x12, 2, 8, 1}, 1)
	f.Fuzz(func(t *testing.T, message []byte, size int) {
		whole, err := fields([][]byte{message})
		cut, cutErr := fields(cutAt(message, max(size, 1)))
		if fmt.Sprint(whole) != fmt.Sprint(cut) || (err == nil) != (cutErr == nil) {
			t.Errorf("whole %v %v, cut %v %v", whole, err, cut, cutErr)
		}
		w := Walk(message)
		for w.Next() {
		}
		if w.Err() != nil && err == nil {
			t.Errorf("taken, though Walk refuses it")
		}
	})
}
