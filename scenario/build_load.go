package scenario

import (
	"reflect"

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
		return Concurrency{Level: newQuantity(b, l.Concurrency), Think: think}, at("concurrency")
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
	rate := Rate{Level: newQuantity(b, l.Rate)}
	b.copy(&rate, l)
	b.copy(&rate.Pool, l)
	if rate.Arrivals.Word == "poisson" {
		rate.Arrivals.CV = 1
	}
	return rate, at("rate")
}

// newQuantity makes the plain form of a quantity that was checked.
func newQuantity[T language.Amount, X any](b *builder, q *language.Quantity[T, X]) Quantity {
	var forms struct {
		One      *Level
		Many     []Level
		Ramp     []RampStep
		Search   *Search
		Periodic *Periodic
	}
	b.copy(&forms, q)
	b.copy(&forms, &q.More)
	switch s := forms.Search; {
	case forms.One != nil:
		return Fixed{*forms.One}
	case q.Levels != nil:
		return newLevels(q.Levels)
	case forms.Ramp != nil:
		return Ramp{forms.Ramp}
	case s != nil:
		p := q.Search.Precision.V
		s.Precision, s.Amount = float64(p.Ratio), language.Magnitude(p.Amount)
		return *s
	case forms.Periodic != nil:
		return *forms.Periodic
	}
	return Levels{Values: forms.Many}
}

func newLevel(s language.Scalar) Level {
	at, v := s.Place(), s.Value()
	l := Level{Text: at.Node.Text, Pos: at.Pos()}
	if v.Kind() == reflect.Struct { // a language.Derived
		l.Expr, v = v.FieldByName("Expr").Interface().(*source.Text), v.FieldByName("V")
	}
	l.Value = language.Magnitude(v.Interface())
	return l
}

func newLevels[T language.Amount](l *language.Levels[T]) Levels {
	levels := Levels{While: newConditions(l.While), Open: l.To == nil}
	if levels.Open {
		levels.Step = l.Increment()
		if l.Factor != nil {
			levels.Factor = float64(l.Factor.V)
		}
	}
	for _, v := range l.Values() {
		levels.Values = append(levels.Values, Level{Value: v, Text: l.Text(v), Pos: l.From.At.Pos()})
	}
	return levels
}

func newConditions(r *language.Conditions) (all []source.Text) {
	if r == nil {
		return nil
	}
	if r.One != nil {
		all = append(all, r.One.V)
	}
	for _, e := range r.Many {
		all = append(all, e.That.V)
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
	if p.Until.Precise != nil {
		return newPrecise(p.Until), at("until")
	}
	var u UntilStable
	b.copy(&u, p.Until.Stable)
	return u, at("until")
}

func newPrecise(p *language.Until) (u UntilPrecise) {
	u.Confidence = float64(p.Confidence.V)
	for _, e := range p.Precise.Items() {
		u.Within = append(u.Within, Precision{
			Metric: source.Text{
				Text: e.Key, Pos: e.KeyPos, Path: p.Precise.At.Path + source.JoinPointer(e.Key),
			},
			Share: float64(e.Value.V),
		})
	}
	return u
}
