package measure

import "slices"

// Unite adds what another shard of the same run measured at the same time: requests are summed, stretches of time are one,
// windows and slices go to those that begin with them. It is associative; o is not to be used any more.
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
	for _, s := range o.Slices {
		i := slices.IndexFunc(t.Slices, func(own Slice) bool { return own.From == s.From && own.Repeat == s.Repeat })
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

// unite is Merge of requests over the same stretch of time. The most that were open at the same time are at most those of
// both.
func (a *Aggregate) mergeShard(o *Aggregate) {
	window, offered, peak := max(a.Window, o.Window), max(a.Offered, o.Offered), a.PeakInFlight+o.PeakInFlight
	a.Merge(o)
	a.Window, a.Offered, a.PeakInFlight = window, offered, peak
}

func (s *Series) mergeShard(o Series) {
	s.Missing = max(s.Missing, o.Missing)
	for _, w := range o.Windows {
		i := slices.IndexFunc(s.Windows, func(own SeriesWindow) bool { return own.From == w.From && own.Repeat == w.Repeat })
		if i < 0 {
			s.Windows = append(s.Windows, w)
			continue
		}
		s.Windows[i].Aggregate.mergeShard(w.Aggregate)
	}
}
