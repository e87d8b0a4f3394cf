package measure

import "slices"

// MergeShard adds the measurement of another shard of the same run and period: requests are added,
// periods are united, windows and slices merged by their start. It is associative. o must not be
// used afterwards.
func (t *Total) MergeShard(o *Total) {
	if t.Aggregate == nil {
		*t = *o
		return
	}
	t.From, t.To = min(t.From, o.From), max(t.To, o.To)
	t.Aggregate.mergeShard(o.Aggregate)
	for i, a := range o.Scopes {
		t.Scopes[i].mergeShard(a)
	}
	for i := range o.Series {
		t.Series[i].mergeShard(o.Series[i])
	}
	for i := range o.Timelines {
		t.Timelines[i].mergeShard(&o.Timelines[i])
	}
	if t.steady != nil && o.steady != nil {
		t.steady.mergeShard(o.steady)
		t.setSteady(Span{0, t.steady.hold})
	}
	for _, s := range o.Slices {
		i := slices.IndexFunc(t.Slices, func(own Slice) bool {
			return own.From == s.From && own.Repeat == s.Repeat
		})
		if i < 0 {
			t.Slices = append(t.Slices, s)
			continue
		}
		both := t.Slices[i].merge(s)
		both.From, both.To = s.From, max(t.Slices[i].To, s.To)
		both.InFlight = t.Slices[i].InFlight + s.InFlight
		t.Slices[i] = both
	}
}

// mergeShard is Merge for the same period. The sum of both peaks is an upper bound of requests in
// flight.
func (a *Aggregate) mergeShard(o *Aggregate) {
	window, offered := max(a.Window, o.Window), max(a.Offered, o.Offered)
	peak := a.PeakInFlight + o.PeakInFlight
	a.Merge(o)
	a.Window, a.Offered, a.PeakInFlight = window, offered, peak
}

func (s *Series) mergeShard(o Series) {
	s.Missing = max(s.Missing, o.Missing)
	for _, w := range o.Windows {
		i := slices.IndexFunc(s.Windows, func(own SeriesWindow) bool {
			return own.From == w.From && own.Repeat == w.Repeat
		})
		if i < 0 {
			s.Windows = append(s.Windows, w)
			continue
		}
		s.Windows[i].Aggregate.mergeShard(w.Aggregate)
	}
}
