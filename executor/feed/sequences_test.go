package feed

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
)

// stepsOf makes n calls whose rows are their numbers.
func stepsOf(n int) []*backends.Call {
	var all []*backends.Call
	for i := range n {
		all = append(all, &backends.Call{Row: uint32(i)})
	}
	return all
}

func constant(n float64) *scenario.Dist { return &scenario.Dist{Shape: "constant", Mean: n} }

// played is what a test looks at in a turn.
type played struct {
	Row        uint32
	ID         uint64
	Start, End bool
	Left       uint32
}

func playedTurn(t *Turn) played {
	return played{t.Call.Row, t.Fields.Sequence, t.Fields.Start, t.Fields.End, t.Left}
}

// whole plays n sequences on a slot.
func whole(t *testing.T, s *Sequences, slot, n int) (all [][]played) {
	t.Helper()
	var turn Turn
	for range n {
		var one []played
		for len(one) == 0 || !one[len(one)-1].End {
			if !s.Next(slot, uint64(len(one)), &turn) {
				t.Fatalf("nothing more after %d sequences and %d steps", len(all), len(one))
			}
			one = append(one, playedTurn(&turn))
		}
		all = append(all, one)
	}
	return all
}

// TestSteps has perf_analyzer's tables of marks, lengths and wrapping steps.
func TestSteps(t *testing.T) {
	five, three, one := [][]int{{0, 1, 2, 3, 4}}, [][]int{{0, 1, 2}}, [][]int{{1}}
	for _, c := range []struct {
		name    string
		streams [][]int
		length  *scenario.Dist
		rows    []uint32
	}{
		{"as long as the data", five, nil, []uint32{0, 1, 2, 3, 4}},
		{"shorter than the data", five, constant(4), []uint32{0, 1, 2, 3}},
		{"longer than the data", five, constant(6), []uint32{0, 1, 2, 3, 4, 0}},
		{"twice round", three, constant(6), []uint32{0, 1, 2, 0, 1, 2}},
		{"one step", one, nil, []uint32{1}},
		{"a length of one", five, constant(1), []uint32{0}},
		{"no length is below one", five, constant(0.2), []uint32{0}},
		{"rows without sequences", nil, constant(7), []uint32{0, 1, 2, 3, 4, 0, 1}},
	} {
		s := NewSequences(SequenceOptions{
			Entries: []SequenceEntry{{Calls: stepsOf(5), Streams: c.streams}}, Length: c.length,
			IDs: NewIDs(5, 6, 0, 0), Slots: 1,
		})
		for i, q := range whole(t, s, 0, 3) {
			var rows []uint32
			for at, p := range q {
				rows = append(rows, p.Row)
				last := at == len(q)-1
				if p.Start != (at == 0) || p.End != last || p.ID != uint64(5+i%2) || int(p.Left) != len(q)-1-at {
					t.Errorf("%s: step %d of sequence %d is %+v", c.name, at, i, p)
				}
			}
			if diff := cmp.Diff(c.rows, rows); diff != "" {
				t.Errorf("%s: %s", c.name, diff)
			}
		}
	}
}

func TestLengthsAreDrawn(t *testing.T) {
	seen := map[int]bool{}
	o := SequenceOptions{
		Entries: []SequenceEntry{{Calls: stepsOf(1)}}, Length: &scenario.Dist{Shape: "uniform", Min: 16, Max: 24},
		IDs: NewIDs(1, 100, 0, 0), Slots: 1, Seed: 3,
	}
	lengths := func() (all []int) {
		for _, q := range whole(t, NewSequences(o), 0, 300) {
			all = append(all, len(q))
		}
		return all
	}
	first := lengths()
	for _, n := range first {
		if seen[n] = true; n < 16 || n > 24 {
			t.Errorf("a sequence of %d", n)
		}
	}
	if len(seen) != 9 {
		t.Errorf("lengths %v, want all from 16 to 24", seen)
	}
	if !slices.Equal(first, lengths()) {
		t.Error("the same seed drew something else")
	}
	o.Seed++
	if slices.Equal(first, lengths()) {
		t.Error("another seed drew the same")
	}
}

func TestOrderOfStreams(t *testing.T) {
	streams := [][]int{{0}, {1}, {2}, {3}}
	firsts := func(o SequenceOptions, n int) (rows []uint32) {
		o.IDs, o.Slots = NewIDs(1, 9, 0, 0), 1
		for _, q := range whole(t, NewSequences(o), 0, n) {
			rows = append(rows, q[0].Row)
		}
		return rows
	}
	entry := func(order Order) []SequenceEntry {
		return []SequenceEntry{{Calls: stepsOf(4), Streams: streams, Order: order}}
	}
	if got := firsts(SequenceOptions{Entries: entry(Sequential)},
		9); !slices.Equal(got, []uint32{0, 1, 2, 3, 0, 1, 2, 3, 0}) {
		t.Errorf("sequential: %v", got)
	}
	shuffled := firsts(SequenceOptions{Entries: entry(Shuffle), Seed: 5}, 8)
	round := slices.Clone(shuffled[:4])
	slices.Sort(round)
	if !slices.Equal(round, []uint32{0, 1, 2, 3}) || !slices.Equal(shuffled[:4], shuffled[4:]) {
		t.Errorf("shuffle: %v", shuffled)
	}
	count := map[uint32]int{}
	for _, row := range firsts(SequenceOptions{Entries: entry(Random), Seed: 5}, 1000) {
		count[row]++
	}
	for row := range uint32(4) {
		if count[row] < 200 || count[row] > 300 {
			t.Errorf("random: %v", count)
		}
	}
}

func TestOnceAndParts(t *testing.T) {
	for part := range 2 {
		s := NewSequences(SequenceOptions{
			Entries: []SequenceEntry{{Calls: stepsOf(5), Streams: [][]int{{0}, {1}, {2}, {3}, {4}}, Once: true}},
			IDs:     NewIDs(1, 10, part, 2),
			Slots:   2,
			Part:    part,
			Parts:   2,
		})
		var rows []uint32
		var turn Turn
		for s.Next(len(rows)%2, 0, &turn) {
			rows = append(rows, turn.Call.Row)
		}
		if want := [][]uint32{{0, 2, 4}, {1, 3}}[part]; !slices.Equal(rows, want) {
			t.Errorf("part %d played %v, want %v", part, rows, want)
		}
	}
}

func TestKindsOfSequences(t *testing.T) {
	s := NewSequences(SequenceOptions{
		Entries: []SequenceEntry{
			{Calls: stepsOf(3), Streams: [][]int{{0, 1}, {2, 1}}},
			{Calls: stepsOf(9), Streams: [][]int{{7, 8}}, Pool: 1},
		},
		IDs: NewIDs(1, 100, 0, 0), Slots: 1,
	})
	var got [][2]uint32
	var turn Turn
	for n := uint64(0); n < 8; n++ {
		s.Next(0, n, &turn)
		got = append(got, [2]uint32{uint32(turn.Pool), turn.Call.Row})
	}
	want := [][2]uint32{{0, 0}, {0, 1}, {1, 7}, {1, 8}, {0, 2}, {0, 1}, {1, 7}, {1, 8}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestBudget: sequences have so many requests together, the last is cut; what is left out is there
// again.
func TestBudget(t *testing.T) {
	s := NewSequences(SequenceOptions{
		Entries: []SequenceEntry{{Calls: stepsOf(3)}}, Length: constant(4), IDs: NewIDs(1, 9, 0, 0), Slots: 2,
		Budget: 10,
	})
	var turn Turn
	s.Next(1, 0, &turn) // four are taken, of which three are given back
	if !s.Finish(1, &turn) || !turn.Fields.End {
		t.Errorf("finish gave %+v", turn)
	}
	var lengths []int
	for _, q := range whole(t, s, 0, 3) {
		if lengths = append(lengths, len(q)); !q[0].Start || !q[len(q)-1].End {
			t.Errorf("%+v", q)
		}
	}
	if diff := cmp.Diff([]int{4, 4, 1}, lengths); diff != "" {
		t.Error(diff)
	}
	if s.Next(0, 0, &turn) || s.Next(1, 0, &turn) {
		t.Error("more than the budget")
	}
}

// TestBudgetOfSessions: the session that is cut is marked, as it has not come to its end; no other is.
func TestBudgetOfSessions(t *testing.T) {
	s := NewSequences(SequenceOptions{
		Entries: []SequenceEntry{{Calls: stepsOf(3)}}, Slots: 1, Budget: 8, Sessions: true,
	})
	var turn Turn
	var ends, cuts []uint64
	for n := range uint64(9) {
		if !s.Next(0, n, &turn) {
			break
		}
		if turn.Fields.End {
			ends = append(ends, n)
		}
		if turn.Cut {
			cuts = append(cuts, n)
		}
	}
	if diff := cmp.Diff([][]uint64{{2, 5, 7}, {7}}, [][]uint64{ends, cuts}); diff != "" {
		t.Errorf("ends and cuts (-want +got):\n%s", diff)
	}
}

func TestFinish(t *testing.T) {
	s := NewSequences(SequenceOptions{
		Entries: []SequenceEntry{{Calls: stepsOf(3)}}, Length: constant(3), IDs: NewIDs(1, 2, 0, 0), Slots: 2,
	})
	var turn Turn
	if s.Finish(0, &turn) {
		t.Error("a slot on which nothing began has something to finish")
	}
	s.Next(0, 1, &turn)
	if !s.Finish(0, &turn) || playedTurn(&turn) != (played{Row: 1, ID: 1, End: true}) {
		t.Errorf("finish gave %+v", turn)
	}
	if s.Finish(0, &turn) {
		t.Error("a sequence was finished twice")
	}
	for range 3 {
		s.Next(0, 2, &turn)
	}
	if !turn.Fields.End || turn.Fields.Sequence != 2 {
		t.Errorf("the next sequence ends with %+v", turn)
	}
	if s.Finish(0, &turn) {
		t.Error("a sequence that has ended has something to finish")
	}
}

// TestIDs: no id is in use twice at a time, in ranges down to the number of slots, however many
// slots begin at once.
func TestIDs(t *testing.T) {
	const slots = 12
	for _, c := range []struct{ from, to uint64 }{{1, 12}, {17, 30}, {1, 3 * mostCells}} {
		ids := NewIDs(c.from, c.to, 0, 0)
		s := NewSequences(SequenceOptions{
			Entries: []SequenceEntry{{Calls: stepsOf(1)}}, Length: &scenario.Dist{Shape: "uniform", Min: 1, Max: 4},
			IDs: ids, Slots: slots,
		})
		var live sync.Map
		var all sync.WaitGroup
		for slot := range slots {
			all.Go(func() {
				var turn Turn
				last := uint64(0)
				for n := range uint64(3000) {
					s.Next(slot, n, &turn)
					id := turn.Fields.Sequence
					if turn.Fields.Start {
						if id < c.from || id > c.to {
							t.Errorf("id %d is not from %d to %d", id, c.from, c.to)
						}
						if other, twice := live.LoadOrStore(id, slot); twice {
							t.Errorf("id %d is in use by slot %v when slot %d begins with it", id, other, slot)
						}
					} else if id != last {
						t.Errorf("a sequence changed its id from %d to %d", last, id)
					}
					if last = id; turn.Fields.End {
						live.Delete(id)
					}
				}
			})
		}
		all.Wait()
		s.Close()
		for i := range ids.cells {
			if ids.cells[i].Load() {
				t.Fatalf("%d: cell %d is in use at the end", c.to, i)
			}
		}
	}
}

// TestShardsOfIDs: the shards of a range have no id in common and together all of them.
func TestShardsOfIDs(t *testing.T) {
	seen := map[uint64]int{}
	for part := range 3 {
		ids := NewIDs(10, 29, part, 3)
		for range ids.size {
			id, _ := ids.Take()
			seen[id]++
		}
	}
	for id := uint64(10); id <= 29; id++ {
		if seen[id] != 1 {
			t.Errorf("id %d was given %d times", id, seen[id])
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d ids, want 20", len(seen))
	}
}

// TestIDsOfTheWholeRange: the default range is given in order and its end is its end.
func TestIDsOfTheWholeRange(t *testing.T) {
	ids := NewIDs(1, 4294967295, 0, 0)
	take := func(want uint64) {
		t.Helper()
		if id, ok := ids.Take(); id != want || !ok {
			t.Errorf("id %d %t, want %d", id, ok, want)
		}
	}
	take(1)
	take(2)
	ids.next.Store(ids.size - 1)
	take(4294967295)
	take(3) // 1 and 2 are in use
	ids.Give(1)
	ids.next.Store(ids.size)
	take(1)
}

func BenchmarkSequences(b *testing.B) {
	s := NewSequences(SequenceOptions{
		Entries: []SequenceEntry{
			{Calls: stepsOf(64), Streams: [][]int{{0, 1, 2}, {4, 5, 6, 7}}, Order: Random, Weight: 1},
			{Calls: stepsOf(8), Weight: 2},
		},
		Length: &scenario.Dist{Shape: "normal", Mean: 20, Std: 4}, IDs: NewIDs(1, 4294967295, 0, 0), Slots: 64,
	})
	var turn Turn
	var src Source = s
	n := uint64(0)
	step := func() {
		src.Next(int(n%64), n, &turn)
		if n++; n%97 == 0 {
			src.Finish(int(n%64), &turn)
		}
	}
	if avg := testing.AllocsPerRun(10_000, step); avg != 0 {
		b.Fatalf("%v allocations a request", avg)
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

// TestNoIDIsFree: a slot for which there is no id begins nothing, rather than wait for ever.
func TestNoIDIsFree(t *testing.T) {
	s := NewSequences(SequenceOptions{
		Entries: []SequenceEntry{{Calls: stepsOf(1)}}, Length: constant(2), IDs: NewIDs(1, 2, 0, 0), Slots: 3,
	})
	var turn Turn
	if !s.Next(0, 0, &turn) || !s.Next(1, 1, &turn) || s.Next(2, 2, &turn) {
		t.Error("three slots have two ids")
	}
	s.Next(0, 3, &turn)
	if !s.Next(0, 4, &turn) || turn.Fields.Sequence != 1 {
		t.Errorf("a slot that ended its sequence goes on with %d", turn.Fields.Sequence)
	}
}
