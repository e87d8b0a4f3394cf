//go:build inprocess || cuda

package native_test

import (
	"testing"

	"github.com/sluice-bench/sluice/backends/wire/native"
)

// TestAddress: what C is told the address of is not on a stack, which moves when it grows.
func TestAddress(t *testing.T) {
	var sum uintptr
	n := testing.AllocsPerRun(100, func() {
		var one [1]uintptr
		sum += native.Address(one[:])
	})
	if n != 1 || sum == 0 {
		t.Errorf("%v allocations of an array whose address is taken", n)
	}
	if at := native.Address([]byte{}); at != 0 {
		t.Errorf("the address of nothing is %#x", at)
	}
}

// TestViews: what lies at an address, through each of its forms.
func TestViews(t *testing.T) {
	text := native.Text("words")
	at := native.Address(text)
	if got := string(native.String(at)); got != "words" {
		t.Errorf("text %q", got)
	}
	if got := native.Slice[byte](at, 3); string(got) != "wor" || native.Slice[byte](0, 3) != nil ||
		native.Slice[byte](at, 0) != nil || native.String(0) != nil {
		t.Errorf("slice %q", got)
	}
	*native.At[byte](at) = 'W'
	if string(text) != "Words\x00" {
		t.Errorf("%q after a write through its address", text)
	}
}
