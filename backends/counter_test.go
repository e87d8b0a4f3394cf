package backends

import (
	"math"
	"testing"
)

// TestCounter: the numbers of requests in the forms that holes have, from the first and around the end.
func TestCounter(t *testing.T) {
	const trial = 7 << 40 // ids count on from here
	for _, c := range []struct {
		name    string
		counter Counter
		n       uint64
		width   int
		want    string
	}{
		{"digits", Counter{From: 5}, 0, 4, "0005"},
		{"digits on", Counter{From: 5}, 37, 4, "0042"},
		{"the last", Counter{From: 5, To: 7}, 2, 2, "07"},
		{"again", Counter{From: 5, To: 7}, 3, 2, "05"},
		{"one number", Counter{From: 5, To: 5}, 9, 1, "5"},
		{"JSON", Counter{Form: CounterNumber}, 0, 4, "   0"},
		{"JSON on", Counter{Form: CounterNumber}, 120, 4, " 120"},
		{"varint", Counter{Form: CounterVarint}, 300, 3, "\xac\x82\x00"},
		{"zigzag", Counter{Form: CounterZigzag}, 150, 3, "\xac\x82\x00"},
		{"fixed32", Counter{Form: CounterFixed}, 258, 4, "\x02\x01\x00\x00"},
		{"fixed64", Counter{Form: CounterFixed}, 258, 8, "\x02\x01\x00\x00\x00\x00\x00\x00"},
		{"float", Counter{Form: CounterFloat, From: 1}, 0, 4, "\x00\x00\x80\x3f"},
		{"double", Counter{Form: CounterFloat, From: 1}, 1, 8, "\x00\x00\x00\x00\x00\x00\x00\x40"},
	} {
		to := make([]byte, c.width)
		c.counter.Put(to, trial|c.n)
		if string(to) != c.want {
			t.Errorf("%s: %q, want %q", c.name, to, c.want)
		}
	}
	for _, c := range []struct {
		counter Counter
		most    uint64
		ok      bool
		to      uint64
		digits  int
	}{
		{Counter{From: 1}, math.MaxInt32, true, math.MaxInt32, 10},
		{Counter{From: 1}, math.MaxInt64, true, 0, 13},
		{Counter{From: 1, To: 500}, math.MaxInt32, true, 500, 3},
		{Counter{From: 1, To: 1 << 40}, math.MaxInt32, false, 1 << 40, 13},
		{Counter{From: 1 << 40}, math.MaxInt32, false, math.MaxInt32, 10},
		{Counter{From: math.MaxInt64}, math.MaxInt64, true, math.MaxInt64, 19},
	} {
		if ok := c.counter.Limit(c.most); ok != c.ok || c.counter.To != c.to || c.counter.Digits() != c.digits {
			t.Errorf("%+v up to %d: %v %+v, %d digits", c.counter, c.most, ok, c.counter, c.counter.Digits())
		}
	}
}
