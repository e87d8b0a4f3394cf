package stats

import (
	"encoding/json"
	"testing"
)

// A packed distribution answers, merges and is stored like any other, in both forms, and is small.
func TestPack(t *testing.T) {
	for name, n := range map[string]int64{"empty": 0, "one": 1, "exact": 500, "histogram": 5000} {
		t.Run(name, func(t *testing.T) {
			plain, packed := new(Dist), new(Dist)
			for i := range n {
				v := (i*7919)%n*1000 + 13
				plain.Add(v)
				packed.Add(v)
			}
			packed.Pack()
			packed.Pack()
			if n > 0 && (packed.exact != nil || packed.h != nil || int64(len(packed.packed)) > 4*n+64) {
				t.Errorf("%d values take %d bytes, %v, %v", n, len(packed.packed), packed.exact != nil,
					packed.h != nil)
			}
			same := func(what string, a, b *Dist) {
				t.Helper()
				x, err := json.Marshal(a)
				y, err2 := json.Marshal(b)
				if err != nil || err2 != nil || string(x) != string(y) {
					t.Errorf("%s: %s\n%s (%v %v)", what, x, y, err, err2)
				}
			}
			for _, p := range []float64{1, 50, 99, 100} {
				want, ok := plain.Rank(p)
				if got, ok2 := packed.Rank(p); got != want || ok != ok2 {
					t.Errorf("p%v = %d %v, want %d %v", p, got, ok2, want, ok)
				}
				lo, hi, ok := plain.Bounds(p, 0.95, 0)
				if lo2, hi2, ok2 := packed.Bounds(p, 0.95, 0); lo != lo2 || hi != hi2 || ok != ok2 {
					t.Errorf("bounds of p%v = %d %d %v, want %d %d %v", p, lo2, hi2, ok2, lo, hi, ok)
				}
			}
			if plain.Above(n*500) != packed.Above(n*500) || plain.Std() != packed.Std() && n > 0 {
				t.Error("above or std differ")
			}
			same("stored", plain, packed)
			same("clone", plain.Clone(), packed.Clone())
			into, into2 := plain.Clone(), packed.Clone()
			into.Merge(plain)
			into2.Merge(packed)
			same("merged", into, into2)
			into.Add(5)
			into2.Add(5)
			into2.Pack()
			into.Add(9)
			into2.Add(9) // a straggler after it was packed
			same("added", into, into2)
			packed.Reset()
			packed.Add(4)
			if v, ok := packed.Rank(50); v != 4 || !ok || packed.N() != 1 {
				t.Errorf("after Reset: %d %v of %d", v, ok, packed.N())
			}
		})
	}
}
