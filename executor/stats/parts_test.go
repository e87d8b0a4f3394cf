package stats

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// drawParts returns n exponential values in each of the parts.
func drawParts(seed uint64, parts, n int) *Parts {
	r, p := rand.New(rand.NewPCG(seed, 1)), new(Parts)
	for i := range parts {
		for range n {
			p.Add(i, int64(r.ExpFloat64()*5e6))
		}
	}
	return p
}

func TestBucketsAreContinuousAndNarrow(t *testing.T) {
	last := -1
	for v := int64(0); v < hdrHigh; v += 1 + v/1000 {
		b := bucketOf(v)
		if b < last || v > bucketEnd(b) || b > 0 && v <= bucketEnd(b-1) {
			t.Fatalf("%d is in bucket %d, up to %d, after %d", v, b, bucketEnd(b), last)
		}
		if width := bucketEnd(b) - bucketEnd(max(0, b-1)); b > 256 && float64(width) > float64(v)/127 {
			t.Fatalf("the bucket of %d is %d wide", v, width)
		}
		last = b
	}
}

// However values are split and merged, what is kept of them is the same.
func TestPartsMerge(t *testing.T) {
	whole, a, b := new(Parts), new(Parts), new(Parts)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 20000 {
		part, v := r.IntN(MaxParts), int64(r.ExpFloat64()*5e6)
		whole.Add(part, v)
		[]*Parts{a, b}[i%2].Add(part, v)
	}
	a.Merge(b)
	a.Merge(nil)
	if !reflect.DeepEqual(a.Table(0, MaxParts), whole.Table(0, MaxParts)) {
		t.Error("two halves merge to another table")
	}
	whole.Halve()
	halved := whole.Table(0, MaxParts)
	for i, n := range a.Table(0, MaxParts).Counts() {
		if halved.rows[i/2].n -= n; i%2 == 1 && halved.rows[i/2].n != 0 {
			t.Errorf("part %d has other values than the two that it joins", i/2)
		}
	}
}

func TestTableJSON(t *testing.T) {
	for name, table := range map[string]*Table{
		"none":     new(Parts).Table(0, 0),
		"empty":    new(Parts).Table(0, MaxParts),
		"one":      drawParts(1, 1, 1).Table(0, 1),
		"few":      drawParts(2, 10, 3).Table(0, 10),
		"many":     drawParts(3, MaxParts, 3000).Table(0, MaxParts),
		"extremes": func() *Table { p := new(Parts); p.Add(0, -1); p.Add(59, 1<<62); return p.Table(0, 60) }(),
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(table)
			if err != nil {
				t.Fatal(err)
			}
			var back Table
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(&back, table) {
				t.Errorf("read %v, want %v", back, *table)
			}
			if len(text) > 6000 {
				t.Errorf("%d bytes", len(text))
			}
			t.Logf("%d edges, %d bytes", len(table.edges), len(text))
		})
	}
}

func TestTableRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"many parts": `{"parts":61,"values":""}`,
		"negative":   `{"parts":-1,"values":""}`,
		"no base64":  `{"parts":1,"values":"*"}`,
		"no deflate": `{"parts":1,"values":"AAAA"}`,
		"cut short":  `{"parts":1,"values":"AwA="}`,
		"no object":  `[]`,
	} {
		if err := json.Unmarshal([]byte(text), new(Table)); err == nil {
			t.Errorf("%s: %s was read", name, text)
		}
	}
}

// Whatever is accepted is written as it was read, and every question about it is answered.
func FuzzTable(f *testing.F) {
	for _, p := range []*Parts{new(Parts), drawParts(1, 12, 40)} {
		text, err := json.Marshal(p.Table(0, 12))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var a, b Table
		if json.Unmarshal(text, &a) != nil {
			return
		}
		again, err := json.Marshal(&a)
		if err != nil || json.Unmarshal(again, &b) != nil || a.Parts() != b.Parts() {
			t.Fatalf("read %s, wrote %s: %v", text, again, err)
		}
		if a.total() > 1e6 {
			return // exact bounds of a share take time that grows with the number
		}
		h := Hold{Seconds: 10, Beside: &a}
		whole := distOf(1, 2, 3, 4)
		h.Percentile(whole, 1, &a, 90, 0.95)
		h.Mean(whole, &a, 0.95)
		h.Ratio(a.Counts(), a.Counts(), 0.95)
		h.Rate(a.Counts(), 0.95)
	})
}

func TestAddToPartsDoesNotAllocate(t *testing.T) {
	p, v := drawParts(1, MaxParts, 1000), int64(0)
	if n := testing.AllocsPerRun(1000, func() { p.Add(int(v)%MaxParts, 1e6+v*977); v++ }); n > 0.01 {
		t.Errorf("%v allocations a value", n)
	}
}

func BenchmarkPartsAdd(b *testing.B) {
	p, values := drawParts(1, MaxParts, 1000), exponential(5, 1<<16, 5e6)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Add(i%MaxParts, values[i&(1<<16-1)])
	}
}
