package scenario

import (
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// newLoad is the plain form of a load that was checked.
func (r *reading) newLoad(l *language.Load) (Load, source.Pos) {
	at := func(key string) source.Pos { return l.At.Node.Entry(key).KeyPos }
	switch {
	case l.Concurrency != nil:
		think := newDist(l.Think)
		if think != nil && think.Shape == "constant" && think.Mean == 0 {
			think = nil
		}
		return Concurrency{Level: newQuantity(l.Concurrency, inFlight()), Think: think}, at("concurrency")
	case l.Intervals != nil:
		i := l.Intervals
		return Intervals{
			File: r.path(i.File), Unit: unitOf(i.Unit), First: i.First.V, AtEnd: i.AtEnd.V,
			Pool: newPool(l),
		}, at("intervals")
	case l.Schedule != nil:
		s := l.Schedule
		schedule := Schedule{
			Unit: unitOf(s.Unit), Speed: float64(s.Speed.V), From: s.From.V, To: s.To.Or(0),
			Pool: newPool(l),
		}
		if s.File != nil {
			file := r.path(s.File)
			schedule.File = &file
		}
		return schedule, at("schedule")
	}
	return Rate{
		Level: newQuantity(l.Rate, perSecond()), Arrivals: newArrivals(l.Arrivals), Of: l.Of.V,
		Pool: newPool(l),
	}, at("rate")
}

// newSequences is how a stage says that its requests form sequences, nil where it does not.
func newSequences(s *language.Stage) *Sequences {
	q := s.Play.Sequences
	if q == nil {
		return nil
	}
	pos := s.At.Node.Entry("sequences").KeyPos
	out := &Sequences{Pos: pos, IDsPos: pos, Live: int(q.Live.V), Serial: q.Serial.V}
	out.From, out.To = identities()
	if q.At.Node.Entry("length") != nil {
		out.Length = newDist(q.Length)
	}
	if ids := q.IDs; ids != nil {
		out.From, out.To, out.Text, out.IDsPos = uint64(ids.From.V), uint64(ids.To.V), ids.Text.V, ids.At.Pos()
	}
	return out
}

func newPool(l *language.Load) Pool {
	return Pool{MaxInFlight: int(l.MaxInFlight.V), Overflow: l.Overflow.V}
}

// unitOf is a unit of time by its word; 0 without one.
func unitOf(word *language.Val[string]) time.Duration {
	switch word.Or("") {
	case "ns":
		return time.Nanosecond
	case "us":
		return time.Microsecond
	case "ms":
		return time.Millisecond
	case "s":
		return time.Second
	}
	return 0
}

func newArrivals(a *language.Arrivals) Arrivals {
	switch {
	case a.Word == nil:
		return Arrivals{CV: float64(a.CV.V), Exact: a.Exact.V}
	case a.Word.V == "poisson":
		return Arrivals{Word: a.Word.V, CV: 1}
	}
	return Arrivals{Word: a.Word.V}
}

// newQuantity is the plain form of a quantity that was checked.
func newQuantity[T language.Amount, X any](q *language.Quantity[T, X], dim dimension[T]) Quantity {
	switch {
	case q.One != nil:
		return Fixed{newLevel(q.One)}
	case q.Levels != nil:
		return newLevels(q.Levels, dim)
	case q.Ramp != nil:
		return Ramp{Steps: rampSteps(q.Ramp)}
	case q.Search != nil:
		s := q.Search
		return Search{
			From: newLevel(s.From), To: newLevel(s.To), Precision: float64(s.Precision.V.Ratio),
			Amount:  language.Magnitude(s.Precision.V.Amount),
			Confirm: int(s.Confirm.V), While: newConditions(s.While),
		}
	}
	if m, ok := any(q.More).(language.PeriodicForm); ok && m.Periodic != nil {
		p := m.Periodic
		return Periodic{From: int(p.From.V), To: int(p.To.V), Step: int(p.Step.V), Responses: int(p.Responses.V)}
	}
	var l Levels
	for _, v := range q.Many {
		l.Values = append(l.Values, Level{Value: language.Magnitude(v.V), Text: v.At.Node.Text, Pos: v.At.Pos()})
	}
	return l
}

func rampSteps[T language.Amount](steps []*language.RampStep[T]) (all []RampStep) {
	for _, s := range steps {
		all = append(all, RampStep{To: newLevel(s.To), Over: s.Over.V, Hold: s.Hold.V, Name: s.Name.Or("")})
	}
	return all
}

func newLevel[T language.Amount](v *language.Val[language.Derived[T]]) Level {
	return Level{Value: language.Magnitude(v.V.V), Text: v.At.Node.Text, Pos: v.At.Pos(), Expr: v.V.Expr}
}

func newLevels[T language.Amount](l *language.Levels[T], dim dimension[T]) Levels {
	levels := Levels{While: newConditions(l.While)}
	if l.To == nil {
		levels.Values = []Level{
			{Value: language.Magnitude(l.From.V), Text: dim.write(language.Magnitude(l.From.V)), Pos: l.From.At.Pos()},
		}
		levels.Open, levels.Step = true, l.Increment()
		if l.Factor != nil {
			levels.Factor = float64(l.Factor.V)
		}
		return levels
	}
	for _, v := range l.Values() {
		levels.Values = append(levels.Values, Level{Value: v, Text: dim.write(v), Pos: l.From.At.Pos()})
	}
	return levels
}

func newConditions(r *language.Conditions) []Condition {
	var all []Condition
	if r == nil {
		return nil
	}
	if r.One != nil {
		all = append(all, Condition{r.One.V})
	}
	for _, e := range r.Many {
		all = append(all, Condition{e.That.V})
	}
	return all
}

// newExtent is how long a stage lasts, and where that is said: at the load where it ends by itself.
func newExtent(s *language.Stage, load source.Pos) (Extent, source.Pos) {
	p := s.Play
	at := func(key string) source.Pos { return s.At.Node.Entry(key).KeyPos }
	switch {
	case p.For != nil:
		return For{Span: p.For.V}, at("for")
	case p.Until == nil:
		return ByLoad{}, load
	case p.Until.Word != nil:
		return UntilOthers{}, at("until")
	}
	stable := p.Until.Stable
	u := UntilStable{
		Windows: int(stable.Windows.V), Window: stable.Window.V, Within: float64(stable.Within.V),
		MaxWindows: int(stable.MaxWindows.V),
	}
	for _, m := range stable.Metrics {
		u.Metrics = append(u.Metrics, m.V)
	}
	return u, at("until")
}
