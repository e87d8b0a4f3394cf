package kserve

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestNumber: decimals of all lengths are read as strconv reads them, and nothing else is.
func TestNumber(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		v := r.Uint64() >> r.UintN(64)
		text := fmt.Appendf(nil, "%0*d", r.IntN(21), v)
		if got, ok := number(text); got != v || !ok {
			t.Fatalf("number(%q) = %d, %t", text, got, ok)
		}
		at := r.IntN(len(text))
		text[at] = byte(r.UintN(256))
		want, err := strconv.ParseUint(string(text), 10, 64)
		if got, ok := number(text); ok == errors.Is(err, strconv.ErrSyntax) || err == nil && got != want {
			t.Fatalf("number(%q) = %d, %t, want %d, %v", text, got, ok, want, err)
		}
	}
	if v, ok := number(strconv.AppendUint(nil, math.MaxUint64, 10)); v != math.MaxUint64 || !ok {
		t.Error(v, ok)
	}
	if _, ok := number(nil); ok {
		t.Error("nothing is a number")
	}
}

func BenchmarkNumber(b *testing.B) {
	text := fmt.Appendf(nil, "%020d", uint64(1)<<63)
	for b.Loop() {
		number(text)
	}
}
