package grpcraw

import (
	"bytes"
	"sync"
	"testing"

	"github.com/sluice-bench/sluice/backends/wire/coding"
)

// packed is text in a coding.
func packed(t testing.TB, name string, text []byte) []byte {
	t.Helper()
	s, err := coding.WithSuffix(name, 0, [][]byte{text})
	if err != nil {
		t.Fatal(err)
	}
	return s.AppendTrailer(bytes.Clone(s.Before), nil)
}

// TestUndoing: what undoes a coding is used again, and what it gave before stays as it was. A fresh
// one is a dozen allocations and 40 KiB; what is left is the reader of the test and the reply
// itself.
func TestUndoing(t *testing.T) {
	for _, name := range []string{coding.Gzip, coding.Deflate} {
		d := decompressor{passCompressor(name), 1 << 20, new(decoderPool)}
		small, large := packed(t, name, []byte("small")), packed(t, name, bytes.Repeat([]byte("large "), 10_000))
		undo := func(b []byte) []byte {
			got, err := d.Do(bytes.NewReader(b))
			if err != nil {
				t.Error(err)
			}
			return got
		}
		first, second := undo(large), undo(small)
		if string(second) != "small" || !bytes.Equal(first, bytes.Repeat([]byte("large "), 10_000)) {
			t.Errorf("%s: %q and %d bytes", name, second, len(first))
		}
		if _, err := d.Do(bytes.NewReader(large[:len(large)/2])); err == nil {
			t.Errorf("%s: a reply that is cut is no error", name)
		}
		if got := undo(small); string(got) != "small" {
			t.Errorf("%s: after a reply that is cut: %q", name, got)
		}
		// grpc-go says that it is too large
		if got := undo(packed(t, name, make([]byte, 64<<20))); len(got) != 1<<20+1 {
			t.Errorf("%s: of a reply over the limit of 1 MiB %d bytes were made", name, len(got))
		}
		if n := testing.AllocsPerRun(200, func() { undo(small) }); n > 6 {
			t.Errorf("%s: %v allocations for a reply", name, n)
		}
	}
}

// TestUndoingTogether: the replies of several lanes are undone at the same time.
func TestUndoingTogether(t *testing.T) {
	d := decompressor{passCompressor(coding.Gzip), 1 << 20, new(decoderPool)}
	var all sync.WaitGroup
	for i := range 8 {
		want := bytes.Repeat([]byte{byte(i)}, 5000+i)
		b := packed(t, coding.Gzip, want)
		all.Go(func() {
			for range 50 {
				if got, err := d.Do(bytes.NewReader(b)); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d: %v, %d bytes", i, err, len(got))
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkUndo(b *testing.B) {
	d := decompressor{passCompressor(coding.Gzip), 1 << 20, new(decoderPool)}
	reply := packed(b, coding.Gzip, bytes.Repeat([]byte("reply"), 50))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Do(bytes.NewReader(reply)); err != nil {
			b.Fatal(err)
		}
	}
}
