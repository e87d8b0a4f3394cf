package measure

import (
	"cmp"
	"slices"
)

// AddRepeat adds another repeat of the same node: sums are added, distributions pooled, windows and
// slices appended with the number of their repeat. Parts of hold are not joined: repeats are independent of
// each other, and the parts of one are not. It is associative. o must not be used afterwards.
func (t *Total) AddRepeat(o *Total, repeat int) {
	if t.Aggregate == nil {
		t.Aggregate = &Aggregate{}
		t.From, t.To = o.From, o.To
	}
	t.Aggregate.Merge(o.Aggregate)
	t.NotSteady = cmp.Or(t.NotSteady, o.NotSteady)
	t.Scopes = mergeScopes(t.Scopes, o.Scopes)
	for i, s := range o.Series {
		if i == len(t.Series) {
			t.Series = append(t.Series, Series{From: s.From, To: s.To})
		}
		t.Series[i].addRepeat(s, repeat)
	}
	for _, s := range o.Slices {
		s.Repeat = repeat
		t.Slices = append(t.Slices, s)
	}
}

// mergeScopes merges the aggregates of other scopes into those of the same index, and returns these.
func mergeScopes(scopes, other []*Aggregate) []*Aggregate {
	for i, a := range other {
		if i == len(scopes) {
			scopes = append(scopes, &Aggregate{})
		}
		scopes[i].Merge(a)
	}
	return scopes
}

func (s *Series) addRepeat(o Series, repeat int) {
	s.To = max(s.To, o.To)
	s.Missing += o.Missing
	for _, w := range o.Windows {
		w.Repeat = repeat
		s.Windows = append(s.Windows, w)
	}
}

// KeepWithin drops the windows outside [from, to), in ns since hold began, as these are not
// reported.
func (t *Total) KeepWithin(from, to int64) {
	for i := range t.Series {
		s := &t.Series[i]
		s.Windows = slices.DeleteFunc(s.Windows,
			func(w SeriesWindow) bool { return w.From < from || w.To > to })
		s.From, s.To = max(s.From, from), min(s.To, to)
	}
	for i := range t.Timelines {
		t.Timelines[i].keepWithin(from, to)
	}
	t.setSteady(Span{from, to})
}
