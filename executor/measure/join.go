package measure

import "slices"

// AddRepeat adds another repeat of the same node: sums are added, distributions pooled, windows and
// slices appended with the number of their repeat. It is associative. o must not be used
// afterwards.
func (t *Total) AddRepeat(o *Total, repeat int) {
	if t.Aggregate == nil {
		t.Aggregate = &Aggregate{}
		t.From, t.To = o.From, o.To
	}
	t.Aggregate.Merge(o.Aggregate)
	for i, a := range o.Scopes {
		if i == len(t.Scopes) {
			t.Scopes = append(t.Scopes, &Aggregate{})
		}
		t.Scopes[i].Merge(a)
	}
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
}
