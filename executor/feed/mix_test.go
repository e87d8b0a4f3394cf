package feed

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/scenario"
)

// kinds makes entries with so many calls each; a call knows its entry and its row.
func kinds(rows ...int) []MixEntry {
	entries := make([]MixEntry, len(rows))
	for e, n := range rows {
		list := calls(n)
		for _, c := range list {
			c.Entry = uint16(e)
		}
		entries[e] = MixEntry{Calls: NewCalls(list, Sequential, false, 1, 5<<40), Pool: e}
	}
	return entries
}

func weigh(entries []MixEntry, weights ...float64) []MixEntry {
	for i := range entries {
		entries[i].Weight = weights[i]
	}
	return entries
}

func TestMixInTurn(t *testing.T) {
	m := NewMix(kinds(2, 3), 1)
	var got []string
	var turn Turn
	for n := range uint64(8) {
		if !m.Next(0, n, &turn) || turn.Fields.ID != 5<<40|n || turn.Pool != int(turn.Call.Entry) {
			t.Fatalf("arrival %d: %+v", n, turn)
		}
		got = append(got, fmt.Sprintf("%d.%d", turn.Call.Entry, turn.Call.Row))
	}
	if diff := cmp.Diff([]string{"0.0", "1.0", "0.1", "1.1", "0.0", "1.2", "0.1", "1.0"}, got); diff != "" {
		t.Error(diff)
	}
}

// Drawn entries have their shares, follow each other by chance, and each goes through its own rows
// in order, across the borders of blocks too.
func TestMixDrawn(t *testing.T) {
	const n = 5*blockSize + 777
	weights := []float64{70, 29.9, 0.1}
	sum := 100.0
	m := NewMix(weigh(kinds(10, 7, 3), weights...), 42)
	counts, after := make([]uint64, 3), 0
	last := uint16(9)
	var turn Turn
	for k := range uint64(n) {
		m.Next(0, k, &turn)
		e := turn.Call.Entry
		if rows := uint64([]int{10, 7, 3}[e]); uint64(turn.Call.Row) != counts[e]%rows {
			t.Fatalf("arrival %d is row %d of entry %d, the entry had %d calls before", k, turn.Call.Row, e, counts[e])
		}
		counts[e]++
		if last == 0 && e == 0 {
			after++
		}
		last = e
	}
	for e, w := range weights {
		if got := float64(counts[e]) / n; math.Abs(got-w/sum) > 5*math.Sqrt(w/sum*(1-w/sum)/n) {
			t.Errorf("entry %d: share %v, want %v", e, got, w/sum)
		}
	}
	if got := float64(after) / n; math.Abs(got-0.49) > 0.01 {
		t.Errorf("entry 0 follows itself in %v of all arrivals, want 0.7²", got)
	}
	// Short runs vary as draws do: of 100 windows of 100 arrivals, the number of entry 0 has the
	// variance of a binomial.
	squares := 0.0
	for w := range 400 {
		hits := 0
		for k := range 100 {
			if e, _ := m.drawn.at(uint64(w*100 + k)); e == 0 {
				hits++
			}
		}
		squares += float64(hits-70) * float64(hits-70) / 400
	}
	if math.Abs(squares-21) > 5*21*math.Sqrt(2.0/400) {
		t.Errorf("variance %v of the hits in 100, want about 21", squares)
	}
}

// Which call an arrival is does not depend on who asks, in which order, or what was asked before.
func TestMixIsAFunctionOfTheNumber(t *testing.T) {
	a, b := NewMix(weigh(kinds(5, 5), 3, 1), 7), NewMix(weigh(kinds(5, 5), 3, 1), 7)
	other := NewMix(weigh(kinds(5, 5), 3, 1), 8)
	var x, y, z Turn
	same := 0
	for k := range uint64(2000) {
		n := (k * 977) % (3 * blockSize)
		a.Next(int(k%3), n, &x)
		b.Next(0, n, &y)
		b.Next(0, n+1, &z)
		if x.Call.Entry != y.Call.Entry || x.Call.Row != y.Call.Row || x.Pool != y.Pool {
			t.Fatalf("arrival %d is %d.%d and %d.%d", n, x.Call.Entry, x.Call.Row, y.Call.Entry, y.Call.Row)
		}
		if other.Next(0, n, &z); z.Call.Entry == x.Call.Entry {
			same++
		}
	}
	if same > 1500 {
		t.Errorf("another seed draws the same entry in %d of 2000", same)
	}
}

func TestMixShares(t *testing.T) {
	for _, c := range []struct {
		weights []float64
		want    []int
	}{
		{[]float64{0, 0}, nil},
		{[]float64{1}, []int{blockSize}},
		{[]float64{3, 1}, []int{blockSize / 4 * 3, blockSize / 4}},
		{[]float64{1, 1, 1}, []int{21846, 21845, 21845}},
		{[]float64{1e9, 1}, []int{blockSize - 1, 1}},
		{[]float64{1, 0}, []int{blockSize, 0}},
	} {
		if diff := cmp.Diff(c.want, shares(c.weights)); diff != "" {
			t.Errorf("%v: %s", c.weights, diff)
		}
	}
}

func TestMixEndsWithAnEntry(t *testing.T) {
	entries := kinds(2, 5)
	entries[0].Calls = NewCalls(calls(2), Sequential, true, 1, 0)
	m := NewMix(entries, 1)
	var turn Turn
	for n := range uint64(9) {
		if ok := m.Next(0, n, &turn); ok != (n < 4 || n%2 == 1) {
			t.Errorf("arrival %d: %v", n, ok)
		}
	}
}

// A pass has every row of every entry once at least, and one request less would not.
func TestPasses(t *testing.T) {
	for _, c := range []struct {
		name   string
		passes int64
		of     []Share
		want   int64 // -1: by what is sent
	}{
		{"one kind", 1, []Share{{Rows: 10, Batch: 1}}, 10},
		{"three passes", 3, []Share{{Rows: 10}}, 30},
		{"batches that do not divide", 1, []Share{{Rows: 10, Batch: 4}}, 3},
		{"over two passes they do", 2, []Share{{Rows: 10, Batch: 4}}, 5},
		{"in turn", 1, []Share{{Rows: 2}, {Rows: 5}}, 10},
		{"in turn, the first is longer", 1, []Share{{Rows: 5}, {Rows: 2}}, 9},
		{"drawn", 2, []Share{{Rows: 50, Weight: 1}, {Rows: 20, Weight: 3}}, -1},
		{"drawn, over many blocks", 1, []Share{{Rows: 90_000, Weight: 1}, {Rows: 20, Weight: 3}}, -1},
		{"nothing", 0, []Share{{Rows: 5}}, 0},
		{"more than there is", math.MaxInt64 / 2, []Share{{Rows: 5}}, math.MaxInt64},
	} {
		got := Passes(c.passes, c.of, 9)
		if c.want >= 0 {
			if got != c.want {
				t.Errorf("%s: %d requests, want %d", c.name, got, c.want)
			}
			continue
		}
		rows, weights := []int{}, []float64{}
		for _, s := range c.of {
			rows, weights = append(rows, s.Rows), append(weights, s.Weight)
		}
		m, counts := NewMix(weigh(kinds(rows...), weights...), 9), make([]int64, len(rows))
		var turn Turn
		for n := range uint64(got) {
			if n == uint64(got)-1 && enough(counts, rows, c.passes) {
				t.Errorf("%s: one request less would do", c.name)
			}
			m.Next(0, n, &turn)
			counts[turn.Call.Entry]++
		}
		if !enough(counts, rows, c.passes) {
			t.Errorf("%s: %v calls of %v rows after %d requests", c.name, counts, rows, got)
		}
	}
}

func enough(counts []int64, rows []int, passes int64) bool {
	for i := range counts {
		if counts[i] < passes*int64(rows[i]) {
			return false
		}
	}
	return true
}

func TestThink(t *testing.T) {
	const n = 100_000
	for _, c := range []struct {
		dist      scenario.Dist
		mean, std float64 // s
	}{
		{scenario.Dist{Shape: "constant", Mean: 0.2}, 0.2, 0},
		{scenario.Dist{Shape: "exponential", Mean: 0.5}, 0.5, 0.5},
		{scenario.Dist{Shape: "normal", Mean: 2, Std: 0.5}, 2, 0.5},
		{scenario.Dist{Shape: "uniform", Min: 1, Max: 3}, 2, 2 / math.Sqrt(12)},
		{
			scenario.Dist{Shape: "values", Values: []float64{0, 1}, Weights: []float64{1, 3}},
			0.75,
			math.Sqrt(0.75 * 0.25),
		},
	} {
		src := Think(NewCalls(calls(3), Sequential, false, 1, 0), c.dist, 5)
		again := Think(NewCalls(calls(3), Sequential, false, 1, 0), c.dist, 5)
		var turn, other Turn
		sum, squares := 0.0, 0.0
		for k := range uint64(n) {
			src.Next(int(k%2), k, &turn)
			again.Next(0, k, &other)
			if turn.Think != other.Think || turn.Call.Row != uint32(k%3) {
				t.Fatalf("arrival %d pauses %d and %d", k, turn.Think, other.Think)
			}
			v := float64(turn.Think) / 1e9
			sum, squares = sum+v, squares+v*v
		}
		mean := sum / n
		std := math.Sqrt(max(squares/n-mean*mean, 0))
		if math.Abs(mean-c.mean) > 5*c.std/math.Sqrt(n)+1e-9 || math.Abs(std-c.std) > 0.02*c.std+1e-4 {
			t.Errorf("%s: mean %v deviation %v, want %v and %v", c.dist.Shape, mean, std, c.mean, c.std)
		}
	}
	// No draw is a pause of less than nothing, or for ever.
	for _, d := range []scenario.Dist{
		{Shape: "normal", Mean: 0, Std: 1e12},
		{Shape: "constant", Mean: math.Inf(1)},
		{Shape: "constant", Mean: -5},
	} {
		src := Think(NewCalls(calls(1), Sequential, false, 1, 0), d, 5)
		var turn Turn
		for k := range uint64(100) {
			if src.Next(0, k, &turn); turn.Think < 0 || turn.Think > longest {
				t.Fatalf("%+v pauses %d ns", d, turn.Think)
			}
		}
	}
}

func TestMixAllocatesNothing(t *testing.T) {
	for name, m := range map[string]*Mix{
		"in turn": NewMix(kinds(2, 3), 1), "drawn": NewMix(weigh(kinds(2, 3), 3, 1), 1),
	} {
		src := Think(m, scenario.Dist{Shape: "lognormal", Mean: 0.1, Std: 0.2}, 3)
		var turn Turn
		var n uint64
		if avg := testing.AllocsPerRun(1000, func() { src.Next(0, n, &turn); n += 101 }); avg != 0 {
			t.Errorf("%s: %v allocations a request", name, avg)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for name, src := range map[string]Source{
		"one": NewCalls(calls(10), Sequential, false, 1, 0), "in turn": NewMix(kinds(2, 3), 1),
		"drawn": NewMix(weigh(kinds(2, 3), 3, 1), 1),
		"think": Think(NewCalls(calls(10), Sequential, false, 1, 0), scenario.Dist{Shape: "exponential", Mean: 1},
			1),
	} {
		b.Run(name, func(b *testing.B) {
			var turn Turn
			var n uint64
			for b.Loop() {
				src.Next(0, n, &turn)
				n++
			}
		})
	}
}

func TestTimestamps(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []int64 // ms
		err        string
	}{
		{
			"as perf_analyzer writes them",
			`{"data":[{"a":[1],"timestamp":[0]},{"a":[2],"timestamp":[1500]},{"a":[3],"timestamp":[1500]}]}`,
			[]int64{0, 1500, 1500},
			"",
		},
		{"plain numbers", `{"data":[{"a":[1],"timestamp":3},{"a":[2],"timestamp":4}]}`, []int64{3, 4}, ""},
		{"none", `{"data":[{"a":[1],"timestamp":[0]},{"a":[2]}]}`, nil, `data.json, row 1 has no "timestamp"`},
		{
			"unsorted", `{"data":[{"timestamp":[5]},{"timestamp":[4]}]}`, nil,
			"data.json, row 1 is due before the row in front of it; times must ascend",
		},
		{"negative", `{"data":[{"timestamp":[-5]}]}`, nil, `data.json, row 0: "timestamp" is negative: -5`},
		{"two", `{"data":[{"timestamp":[1,2]}]}`, nil, `data.json, row 0: "timestamp" must be one number: 1,2`},
		{"NaN", `{"data":[{"timestamp":[NaN]}]}`, nil, `data.json, row 0: "timestamp" must be one number: NaN`},
		{
			"huge", `{"data":[{"timestamp":[1e300]}]}`, nil,
			`data.json, row 0: "timestamp" is more than 292 years: 1e300`,
		},
	} {
		got, diags := Times(dataset(t, c.text), false)
		var want []int64
		for _, ms := range c.want {
			want = append(want, ms*1e6)
		}
		if diff := cmp.Diff(want, got); diff != "" || (c.err == "") != (len(diags) == 0) ||
			len(diags) > 0 && diags[0].Summary != c.err {
			t.Errorf("%s: %v %v, want %v %q", c.name, got, diags, want, c.err)
		}
	}
	for unit, want := range map[time.Duration]int64{time.Second: 1_500_000_000, time.Microsecond: 1500} {
		d := dataset(t, `{"data":[{"a":[1],"timestamp":1.5}]}`)
		d.TimeUnit = unit
		if got, diags := Times(d, false); len(diags) > 0 || len(got) != 1 || got[0] != want {
			t.Errorf("1.5 of %v is %v, %v", unit, got, diags)
		}
	}
	if _, diags := Times(&scenario.Dataset{Generate: &scenario.Generate{Default: "random"}}, false); len(diags) != 1 {
		t.Errorf("generated data: %v", diags)
	}
	// What is not sent: the timestamp, unless the model has such an input.
	text := `{"data":[{"a":[1],"timestamp":[7]}]}`
	for _, c := range []struct {
		ports []backends.Port
		want  int
	}{
		{[]backends.Port{port("a", tensor.FP32, -1)}, 1},
		{[]backends.Port{port("a", tensor.FP32, -1), port("timestamp", tensor.Uint64, 1)}, 2},
	} {
		built, diags := Build(dataset(t, text), &scenario.Request{Batch: 1}, signature(true, 0, c.ports...), 1)
		if len(diags) > 0 || len(built.Requests[0].Inputs) != c.want {
			t.Errorf("%d inputs of %d: %v", len(built.Requests[0].Inputs), c.want, diags)
		}
	}
	if n, _, diags := Check(dataset(t, text), false); n != 1 || len(diags) > 0 {
		t.Errorf("%d rows, %v", n, diags)
	}
	if n, _, diags := Check(&scenario.Dataset{Generate: &scenario.Generate{}, Count: 16}, false); n != 16 ||
		len(diags) > 0 {
		t.Errorf("%d rows, %v", n, diags)
	}
}
