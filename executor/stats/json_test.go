package stats

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONRoundTrip(t *testing.T) {
	tests := map[string]*Dist{
		"empty":    {},
		"one":      distOf(42),
		"extremes": distOf(-1<<63, 0, 1<<63-1),
		"equal":    distOf(7, 7, 7, 7),
		"full":     distOf(exponential(1, exactMax, 1e6)...),
		"hdr":      distOf(exponential(2, 100_000, 1e6)...),
		"outside":  distOf(append(exponential(3, 5000, 1e6), -1, -2, 1<<60, 1<<61)...),
	}
	for name, d := range tests {
		t.Run(name, func(t *testing.T) {
			text := encoded(t, d)
			var back Dist
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(encoded(t, &back), text) {
				t.Error("other bytes the second time")
			}
			if back.form() != d.form() || back.N() != d.N() || back.Min() != d.Min() ||
				back.Max() != d.Max() || back.sum != d.sum {
				t.Errorf("got %s n %d, want %s n %d", back.form(), back.N(), d.form(), d.N())
			}
			for _, p := range []float64{1, 50, 99, 99.9, 100} {
				a, oka := d.Rank(p)
				b, okb := back.Rank(p)
				if a != b || oka != okb {
					t.Errorf("p%v %d, was %d", p, b, a)
				}
			}
			// What was read goes on as before.
			again := d.Clone()
			again.Add(99)
			back.Add(99)
			if !bytes.Equal(encoded(t, &back), encoded(t, again)) {
				t.Error("adding after reading gives other bytes")
			}
		})
	}
}

func TestJSONSize(t *testing.T) {
	exact := len(encoded(t, distOf(exponential(1, exactMax, 1e8)...)))
	hdr := len(encoded(t, distOf(exponential(1, 1_000_000, 1e8)...)))
	if exact > 10_000 || hdr > 25_000 {
		t.Errorf("2,048 values take %d bytes, a million %d", exact, hdr)
	}
}

func TestJSONRefuses(t *testing.T) {
	good := string(encoded(t, distOf(1, 2, 3)))
	big := string(encoded(t, distOf(exponential(2, 3000, 1e6)...)))
	tests := []struct{ name, text, want string }{
		{"no object", `[1]`, "read distribution"},
		{"other form", strings.Replace(good, `"exact"`, `"tdigest"`, 1), `unknown form "tdigest"`},
		{
			"wrong count", strings.Replace(good, `"count":3`, `"count":4`, 1),
			"count is 4 but there are 3 values",
		},
		{"wrong max", strings.Replace(good, `"max":3`, `"max":2`, 1), "min or max"},
		{"no min", strings.Replace(good, `"min":1`, `"min":null`, 1), "min or max"},
		{"wrong sum", strings.Replace(good, `"sum":"6"`, `"sum":"7"`, 1), "sum or squares"},
		{"not base64", strings.Replace(good, `"values":"`, `"values":"*`, 1), "values: illegal base64"},
		{"cut varint", strings.Replace(good, `"values":"AgEB"`, `"values":"AgGB"`, 1), "cut short"},
		{"few in a histogram", strings.Replace(big, `"count":3000`, `"count":30`, 1), "count is 30"},
		{"histogram as exact", strings.Replace(big, `"hdr"`, `"exact"`, 1), "read distribution"},
		{
			"huge sum", strings.Replace(big, `"sum":"`, `"sum":"99999999999999999999999999999999999999`, 1),
			"128-bit",
		},
		{"crossed", strings.Replace(big, `"min":`, `"min":99999999999`, 1), "crossed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d Dist
			err := json.Unmarshal([]byte(tt.text), &d)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// Whatever is accepted writes the bytes that it reads again, and answers every question.
func FuzzUnmarshal(f *testing.F) {
	f.Add(encoded(f, &Dist{}))
	f.Add(encoded(f, distOf(1, 2, 3)))
	f.Add(encoded(f, distOf(-1<<63, 1<<63-1)))
	f.Add(encoded(f, distOf(exponential(2, 3000, 1e6)...)))
	f.Add([]byte(`{"form":"hdr","count":5000,"min":0,"max":1,"sum":"0","squares":"0","values":"HISTFAAAAA"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d Dist
		if json.Unmarshal(text, &d) != nil {
			return
		}
		var again Dist
		first := encoded(t, &d)
		if err := json.Unmarshal(first, &again); err != nil || !bytes.Equal(first, encoded(t, &again)) {
			t.Fatalf("not stable: %v\n%s", err, first)
		}
		for _, p := range []float64{0.1, 50, 100} {
			d.Rank(p)
			d.Bounds(p, 0.95, 1)
		}
		d.Above(d.Min())
		d.Std()
		d.Merge(&again)
	})
}
