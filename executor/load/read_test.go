package load

import (
	"math"
	"slices"
	"strings"
	"testing"
)

const (
	micro = int64(1e3)
	milli = int64(1e6)
)

func TestReadGaps(t *testing.T) {
	for _, c := range []struct {
		name, text string
		unit       int64
		want       []int64
		err        string
	}{
		{"perf_analyzer's", "100000\n200000\n500000\n", micro, []int64{1e8, 2e8, 5e8}, ""},
		{"fractions, blanks, CRLF", " 1.5\r\n\r\n0\n2e-3", second, []int64{15e8, 0, 2e6}, ""},
		{"all digits", "9007199254740993", 1, []int64{9007199254740993}, ""},
		{"empty", "", micro, nil, "line 1: there are no gaps in this file"},
		{"blank lines", "\n \n", micro, nil, "line 1: there are no gaps in this file"},
		{"zeros", "0\n0\n", micro, nil, "line 1: every gap in this file is 0"},
		{"negative", "1\n-5\n", micro, nil, "line 2: -5 is negative"},
		{"words", "1\n\nten\n", micro, nil, `line 3: not a number`},
		{"NaN", "1\nNaN\n", micro, nil, `line 2: not a number`},
		{"infinite", "Inf\n", micro, nil, `line 1: "Inf" is more than 292 years`},
		{"hexadecimal", "0x10\n", micro, nil, `line 1: "0x10" is not a number`},
		{"two on a line", "1 2\n", micro, nil, `line 1: "1 2" is not a number`},
		{"overflow", "1\n1e30\n", micro, nil, `line 2: "1e30" is more than 292 years`},
		{
			"overflow of the sum", "9000000000\n9000000000\n", second, nil,
			"line 2: the gaps up to here add up to more than 292 years",
		},
		{"a long line", strings.Repeat("7", 100), second, nil, `line 1: "` + strings.Repeat("7", 40) +
			`…" is more than 292 years`},
	} {
		got, err := ReadGaps(strings.NewReader(c.text), c.unit)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil &&
			err.Error() != c.err {
			t.Errorf("%s: %v %v, want %v %q", c.name, got, err, c.want, c.err)
		}
	}
}

func TestReadTimes(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		unit             int64
		want             []int64
		err              string
	}{
		{"numbers", "t.txt", "0\n0.5\n0.5\n2\n", second, []int64{0, 5e8, 5e8, 2e9}, ""},
		{
			"JSON lines", "t.jsonl", `{"timestamp": 0, "x": [1]}` + "\n\n" + `{"timestamp":[1500]}`, milli,
			[]int64{0, 15e8},
			"",
		},
		{
			"a mooncake trace", "t.jsonl",
			`{"timestamp": 0, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}` + "\n" +
				`{"timestamp": 3052, "input_length": 6472, "output_length": 26, "hash_ids": [46]}`, milli,
			[]int64{0, 3_052_000_000},
			"",
		},
		{"JSON by content", "trace", ` {"timestamp": 7}`, milli, []int64{7e6}, ""},
		{"CSV with a header", "t.csv", "id,Timestamp\na,1\nb,2.5\n", second, []int64{1e9, 25e8}, ""},
		{"CSV without a header", "t.csv", "1,a\n2,b\n", second, []int64{1e9, 2e9}, ""},
		{"CSV with one column", "t.csv", "at\n1\n2\n", second, []int64{1e9, 2e9}, ""},
		{"CSV by content", "trace", "timestamp,id\n1,a\n", second, []int64{1e9}, ""},
		{"empty", "t.txt", "", second, nil, "line 1: there are no times in this file"},
		{"only a header", "t.csv", "timestamp\n", second, nil, "line 1: there are no times in this file"},
		{
			"unsorted", "t.txt", "1\n3\n2\n", second, nil,
			"line 3: 2 is before the time in front of it; times must ascend",
		},
		{
			"unsorted CSV", "t.csv", "timestamp,x\n2,1\n1,1\n", second, nil,
			"line 3: 1 is before the time in front of it; times must ascend",
		},
		{
			"no column", "t.csv", "a,b\n2,1\n", second, nil,
			`line 1: there is no column "timestamp" among a, b`,
		},
		{
			"short row", "t.csv", "a,timestamp\n2,1\n3\n", second, nil,
			`line 3: there is no column 2 in this row`,
		},
		{
			"a broken quote", "t.csv", "timestamp\n\"1\n", second, nil,
			`line 2: extraneous or missing " in quoted-field`,
		},
		{"negative", "t.jsonl", `{"timestamp": -1}`, milli, nil, "line 1: -1 is negative"},
		{
			"no timestamp", "t.jsonl", `{"timestamp": 1}` + "\n" + `{"at": 2}`, milli, nil,
			`line 2: there is no "timestamp" in this row`,
		},
		{"null", "t.jsonl", `{"timestamp": null}`, milli, nil, `line 1: not a number`},
		{"a list of two", "t.jsonl", `{"timestamp": [1,2]}`, milli, nil, `line 1: "1,2" is not a number`},
		{"a text", "t.jsonl", `{"timestamp": "1"}`, milli, nil, `line 1: "\"1\"" is not a number`},
		{"no JSON", "t.jsonl", "1\n", milli, nil, "line 1: this is no JSON map: "},
	} {
		got, err := ReadTimes(strings.NewReader(c.text), c.file, c.unit)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil &&
			!strings.HasPrefix(err.Error(), c.err) {
			t.Errorf("%s: %v %v, want %v %q", c.name, got, err, c.want, c.err)
		}
	}
}

// Whatever bytes a file holds, it is an error that names a line, or times that ascend and play to
// their end.
func FuzzReadTimes(f *testing.F) {
	for _, seed := range []string{
		"1\n2\n", `{"timestamp":[1]}`, "timestamp,a\n1,2\n", "\"", "{",
		"1e308\n", "-0\n", "0x1p4\n", "1,\n\n2,\n",
	} {
		for _, name := range []string{"a.txt", "a.csv", "a.jsonl", ""} {
			f.Add([]byte(seed), name)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		times, err := ReadTimes(strings.NewReader(string(data)), name, milli)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("no line: %v", err)
			}
			return
		}
		if len(times) == 0 || !slices.IsSorted(times) || times[0] < 0 {
			t.Errorf("%v", times)
		}
		if n := len(all(Times(times, 3, 0, 0))); n != len(times) {
			t.Errorf("%d arrivals of %d times", n, len(times))
		}
	})
}

func FuzzReadGaps(f *testing.F) {
	for _, seed := range []string{"1\n2\n", "", "1e18\n1e18\n", "NaN", "0\n0\n", "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		gaps, err := ReadGaps(strings.NewReader(string(data)), micro)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("no line: %v", err)
			}
			return
		}
		if dues := take(Gaps(gaps, false, true), 3*len(gaps)); !slices.IsSorted(dues) || len(dues) == 0 ||
			dues[0] < 0 {
			t.Errorf("%v gives %v", gaps, dues)
		}
	})
}

func TestGaps(t *testing.T) {
	file := []int64{100 * milli, 200 * milli, 500 * milli}
	for _, c := range []struct {
		name         string
		gaps         []int64
		zero, repeat bool
		take         int
		want         []float64 // s
	}{
		{"the first gap comes first", file, false, true, 6, []float64{.1, .3, .8, .9, 1.1, 1.6}},
		{"the first request at once", file, true, true, 6, []float64{0, .1, .3, .8, .9, 1.1}},
		{"stops", file, false, false, 9, []float64{.1, .3, .8}},
		{"stops, the first at once", file, true, false, 9, []float64{0, .1, .3, .8}},
		{
			"row 79: 100, 110, 130 ms",
			[]int64{100 * milli, 110 * milli, 130 * milli},
			false, true, 7,
			[]float64{.1, .21, .34, .44, .55, .68, .78},
		},
		{"row 79: 150 ms", []int64{150 * milli}, false, true, 3, []float64{.15, .3, .45}},
		{
			"row 79: five gaps",
			[]int64{100 * milli, 110 * milli, 120 * milli, 130 * milli, 140 * milli},
			false, true, 6,
			[]float64{.1, .21, .33, .46, .6, .7},
		},
		{
			"gaps of 0 are bursts",
			[]int64{0, 0, 100 * milli},
			false, true, 7,
			[]float64{0, 0, .1, .1, .1, .2, .2},
		},
		{"only zeros do not go on for ever", []int64{0, 0}, false, true, 9, []float64{0, 0}},
		{"none", nil, false, true, 9, nil},
	} {
		dues := take(Gaps(c.gaps, c.zero, c.repeat), c.take)
		if len(dues) != len(c.want) {
			t.Errorf("%s: %v", c.name, dues)
			continue
		}
		for i, want := range c.want {
			if dues[i] != secs(want) {
				t.Errorf("%s: arrival %d at %d, want %v s", c.name, i, dues[i], want)
			}
		}
	}
	// perf_analyzer's row 80: 100 + 110 + 130 ms are 8 a second, five gaps of 125 ms together are 40.
	if n := Count(Gaps([]int64{100 * milli, 110 * milli, 130 * milli}, false, true), 0, second); n != 8 {
		t.Errorf("%d in the first second, want 8", n)
	}
	if n := Count(Gaps([]int64{30 * milli, 10 * milli, 40 * milli, 20 * milli, 25 * milli}, false, true),
		0, second+1); n != 40 {
		t.Errorf("%d in the first second, want 40", n)
	}
	// The end of time is an end.
	if dues := all(Gaps([]int64{math.MaxInt64 / 3}, false, true)); len(dues) != 3 {
		t.Errorf("%v", dues)
	}
}

func TestTimes(t *testing.T) {
	recorded := []int64{1 * second, 2 * second, 2 * second, 3 * second, 5 * second}
	for _, c := range []struct {
		name     string
		speed    float64
		from, to int64
		want     []float64
	}{
		{"as recorded", 1, 0, 0, []float64{1, 2, 2, 3, 5}},
		{"twice as fast", 2, 0, 0, []float64{.5, 1, 1, 1.5, 2.5}},
		{"a third as fast", 1.0 / 3, 0, 0, []float64{3, 6, 6, 9, 15}},
		{"clipped", 1, 2 * second, 5 * second, []float64{0, 0, 1}},
		{"clipped and faster", 4, 2 * second, 0, []float64{0, 0, .25, .75}},
		{"nothing left", 1, 6 * second, 0, nil},
		{"an empty window", 1, 3 * second, 2 * second, nil},
		{"no speed is that of the record", 0, 0, 0, []float64{1, 2, 2, 3, 5}},
	} {
		dues := all(Times(recorded, c.speed, c.from, c.to))
		if len(dues) != len(c.want) {
			t.Errorf("%s: %v", c.name, dues)
			continue
		}
		for i, want := range c.want {
			if dues[i] != secs(want) {
				t.Errorf("%s: arrival %d at %d, want %v s", c.name, i, dues[i], want)
			}
		}
	}
	// perf_analyzer's row 81: the recorded times are the sends.
	for _, ms := range [][]int64{
		{1000, 2000, 3000, 4000, 5000},
		{500, 2000, 3500},
		{100, 300, 800, 1500},
		{0, 5000, 10000},
		{1000},
	} {
		if got := all(Times(ms, 1, 0, 0)); !slices.Equal(got, ms) {
			t.Errorf("%v play as %v", ms, got)
		}
	}
}
