package scenario

import (
	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// load makes the plain form of a load that was checked, and tells where its key is.
func (b *builder) load(l *language.Load) (Load, source.Pos) {
	at := func(key string) source.Pos { return l.At.Node.Entry(key).KeyPos }
	switch {
	case l.Concurrency != nil:
		think := newDist(l.Think)
		if think != nil && think.Shape == "constant" && think.Mean == 0 {
			think = nil
		}
		return Concurrency{Level: newQuantity(l.Concurrency, inFlight()), Think: think}, at("concurrency")
	case l.Intervals != nil:
		var intervals Intervals
		b.copy(&intervals, l.Intervals)
		b.copy(&intervals.Pool, l)
		return intervals, at("intervals")
	case l.Schedule != nil:
		var schedule Schedule
		b.copy(&schedule, l.Schedule)
		b.copy(&schedule.Pool, l)
		return schedule, at("schedule")
	}
	rate := Rate{Level: newQuantity(l.Rate, perSecond())}
	b.copy(&rate, l)
	b.copy(&rate.Pool, l)
	if rate.Arrivals.Word == "poisson" {
		rate.Arrivals.CV = 1
	}
	return rate, at("rate")
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
		return Periodic{
			From: int(p.From.V), To: int(p.To.V), Step: int(p.Step.V), Responses: int(p.Responses.V),
		}
	}
	var l Levels
	for _, v := range q.Many {
		value := language.Magnitude(v.V)
		l.Values = append(l.Values, Level{Value: value, Text: v.At.Node.Text, Pos: v.At.Pos()})
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
		from := language.Magnitude(l.From.V)
		levels.Values = []Level{{Value: from, Text: dim.write(from), Pos: l.From.At.Pos()}}
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

// extent returns how long a stage lasts, and the key that says so: that of the load where it ends by itself.
func (b *builder) extent(s *language.Stage, load source.Pos) (Extent, source.Pos) {
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
	var u UntilStable
	b.copy(&u, p.Until.Stable)
	return u, at("until")
}
