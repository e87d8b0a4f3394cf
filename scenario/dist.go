package scenario

import (
	"slices"
	"time"

	"github.com/sluice-bench/sluice/scenario/language"
)

// inUnit is a number of a Dist: durations in seconds.
func inUnit(v any) float64 {
	if d, ok := v.(time.Duration); ok {
		return d.Seconds()
	}
	return language.Magnitude(v)
}

func checkDist[C, T any](c *checker, d *language.Dist[C, T]) {
	if d == nil || d.Constant != nil {
		return
	}
	checkSpread(c, d.At, d.Spread)
}

// numbers are the keys of a spread that are numbers.
var numbers = [...]string{"mean", "std", "min", "max"}

// needs lists what each shape reads; ! marks what must be there.
var needs = map[string][]string{
	"normal":      {"!mean", "!std", "min", "max"},
	"uniform":     {"!min", "!max"},
	"exponential": {"!mean", "min", "max"},
	"lognormal":   {"!mean", "!std", "min", "max"},
}

// checkSpread checks the map form of a drawn number.
func checkSpread[T any](c *checker, at language.Place, s language.Spread[T]) {
	if c.Doubtful(at.Path) || at.Node == nil {
		return
	}
	if s.Values != nil {
		checkValues(c, at, s)
		return
	}
	shape := shapeOf(s)
	if shape == "" {
		c.at(at, missing("%s is no complete distribution", language.LastKey(at.Path)).
			Help("write a constant, {min, max}, {mean, std}, {mean, shape: exponential}, or {values: […]}"))
		return
	}
	for _, key := range numbers {
		switch must := slices.Contains(needs[shape], "!"+key); {
		case at.Node.Entry(key) == nil && must:
			c.at(at, missing("shape %s needs %q", shape, key))
		case at.Node.Entry(key) != nil && !must && !slices.Contains(needs[shape], key):
			c.under(at, key, doesNotFit("%q does not fit shape %s", key, shape))
		}
	}
	checkOrder(c, s, shape)
}

// checkOrder checks the numbers of a distribution against each other.
func checkOrder[T any](c *checker, s language.Spread[T], shape string) {
	if s.Min != nil && s.Max != nil && inUnit(s.Min.V) > inUnit(s.Max.V) {
		c.at(s.Max.At, outOfRange("max is below min"))
	}
	if s.Std != nil && inUnit(s.Std.V) < 0 {
		c.at(s.Std.At, outOfRange("std must be at least 0"))
	}
	if s.Mean == nil {
		return
	}
	mean := inUnit(s.Mean.V)
	if (shape == "exponential" || shape == "lognormal") && mean <= 0 {
		c.at(s.Mean.At, outOfRange("shape %s needs a mean above 0", shape))
	}
	if s.Min != nil && mean < inUnit(s.Min.V) || s.Max != nil && mean > inUnit(s.Max.V) {
		c.at(s.Mean.At, outOfRange("mean is not between min and max"))
	}
}

// shapeOf is the shape written, else the one that follows from the keys; "" when none does.
func shapeOf[T any](s language.Spread[T]) string {
	switch {
	case s.Shape != nil:
		return s.Shape.V
	case s.Mean != nil && s.Std != nil:
		return "normal"
	case s.Mean == nil && s.Std == nil && s.Min != nil && s.Max != nil:
		return "uniform"
	}
	return ""
}

// checkValues checks a distribution that is a list of values.
func checkValues[T any](c *checker, of language.Place, s language.Spread[T]) {
	at := s.Values.At
	for _, key := range numbers {
		if of.Node.Entry(key) != nil {
			c.at(at, doesNotFit("\"values\" and %q do not fit together", key))
		}
	}
	if s.Shape != nil {
		c.at(s.Shape.At, doesNotFit("\"shape\" does not fit \"values\""))
	}
	if len(s.Values.List) == 0 && len(s.Values.Weights.Items()) == 0 {
		c.at(at, missing("values is empty"))
	}
	for _, e := range s.Values.Weights.Items() {
		if e.Value.At.Node != nil && !(e.Value.V > 0) {
			c.at(e.Value.At, outOfRange("a weight must be above 0"))
		}
		if _, wrong := language.ReadKey[T](e.Key); wrong != nil {
			c.under(s.Values.Weights.At, e.Key, wrong)
		}
	}
}

// newDist is the plain form of a drawn number that was checked; nil stays nil.
func newDist[C, T any](d *language.Dist[C, T]) *Dist {
	switch {
	case d == nil:
		return nil
	case d.Constant != nil:
		return &Dist{Shape: "constant", Mean: inUnit(d.Constant.V)}
	}
	return newSpread(d.Spread)
}

func newSpread[T any](s language.Spread[T]) *Dist {
	if s.Values != nil {
		return newValues(*s.Values)
	}
	number := func(v *language.Val[T]) float64 {
		if v == nil {
			return 0
		}
		return inUnit(v.V)
	}
	return &Dist{
		Shape: shapeOf(s), Mean: number(s.Mean), Std: number(s.Std), Min: number(s.Min), Max: number(s.Max),
		HasMin: s.Min != nil, HasMax: s.Max != nil,
	}
}

func newValues[T any](v language.Values[T]) *Dist {
	d := &Dist{Shape: "values"}
	for _, e := range v.List {
		d.Values = append(d.Values, inUnit(e.V))
	}
	for _, e := range v.Weights.Items() {
		value, _ := language.ReadKey[T](e.Key)
		d.Values = append(d.Values, inUnit(value))
		d.Weights = append(d.Weights, float64(e.Value.V))
	}
	return d
}
