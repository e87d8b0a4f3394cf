package scenario

import (
	"fmt"
	"strconv"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// dimension is what differs between quantities of requests in flight and of requests per second.
type dimension[T language.Amount] struct {
	name  string
	min   T // smallest value; 0: above 0
	max   T
	write func(float64) string
}

func inFlight() dimension[int64] {
	return dimension[int64]{
		"concurrency", 1, language.MaxSlots, func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) },
	}
}

func perSecond() dimension[language.Rate] {
	return dimension[language.Rate]{
		"rate", 0, language.MaxRate,
		func(v float64) string { return strconv.FormatFloat(language.Round(v), 'f', -1, 64) + "/s" },
	}
}

// checkLoad checks the load of a stage. lasts: the stage says how long it lasts.
func checkLoad(c *checker, l *language.Load, lasts bool) {
	checkQuantity(c, l.Concurrency, inFlight(), lasts)
	checkQuantity(c, l.Rate, perSecond(), lasts)
	if l.Concurrency != nil {
		checkPeriodic(c, l.Concurrency.More.Periodic)
	}
	checkArrivals(c, l.Arrivals)
	checkDist(c, l.Think)
	if l.Intervals != nil {
		c.file(l.Intervals.File)
	}
}

func checkQuantity[T language.Amount, X any](
	c *checker, q *language.Quantity[T, X], dim dimension[T], lasts bool,
) {
	if q == nil {
		return
	}
	checkDerived(c, q.One, dim)
	seen := map[T]bool{}
	for _, v := range q.Many {
		checkAmount(c, v, dim)
		if seen[v.V] {
			c.at(v.At, source.Errorf(source.CodeDuplicate, "duplicate %s %s", dim.name, v.At.Node.Text))
		}
		seen[v.V] = true
	}
	if q.Many != nil && len(q.At.Node.Items) == 0 {
		c.at(q.At, source.Errorf(source.CodeLevels, "%s", dim.name+" has no values"))
	}
	if len(q.Many) > language.MaxValues {
		c.at(q.At, tooMany(len(q.Many)))
	}
	if q.Levels != nil {
		checkLevels(c, q.Levels, dim)
	}
	if q.Ramp != nil {
		checkRamp(c, q, dim, lasts)
	}
	if q.Search != nil {
		checkSearch(c, q.Search, dim)
	}
}

func tooMany(n int) *source.Diagnostic {
	return source.Errorf(source.CodeLevels, "%d levels are more than %d", n,
		language.MaxValues).Help("use a larger step, or `factor`")
}

// checkAmount checks one value of a quantity.
func checkAmount[T language.Amount](c *checker, v *language.Val[T], dim dimension[T]) {
	if v != nil {
		c.at(v.At, dim.wrong(v.V))
	}
}

// checkDerived checks one value of a quantity that may come from an earlier result.
func checkDerived[T language.Amount](c *checker, v *language.Val[language.Derived[T]], dim dimension[T]) {
	if v != nil && v.V.Expr == nil {
		c.at(v.At, dim.wrong(v.V.V))
	}
}

// wrong says what is wrong with a value of the quantity; nil: nothing.
func (dim dimension[T]) wrong(v T) *source.Diagnostic {
	switch {
	case v < dim.min || v <= 0:
		m := outOfRange("%s must be above 0", dim.name)
		if dim.min > 0 {
			m.Summary = fmt.Sprintf(
				"%s must be from %s to %s", dim.name, dim.write(float64(dim.min)),
				dim.write(float64(dim.max)),
			)
		}
		return m
	case v > dim.max:
		return outOfRange("%s must be at most %s", dim.name, dim.write(float64(dim.max)))
	}
	return nil
}

func checkLevels[T language.Amount](c *checker, l *language.Levels[T], dim dimension[T]) {
	checkAmount(c, l.From, dim)
	checkAmount(c, l.To, dim)
	if l.Step != nil && l.Step.V <= 0 {
		c.at(l.Step.At, source.Errorf(source.CodeLevels, "step must be above 0"))
	}
	if l.Factor != nil && l.Factor.V <= 1 {
		c.at(l.Factor.At, source.Errorf(source.CodeLevels, "factor must be above 1"))
	}
	switch {
	case l.From == nil:
		if c.Absent(l.At, "from") && !c.Lacks[l.At.Path] {
			c.at(l.At, missing("levels need \"from\""))
		}
	case c.Absent(l.At, "to") && c.Absent(l.At, "while"):
		c.at(l.At,
			source.Errorf(source.CodeLevels,
				"levels without \"to\" never end").Help("add `to`, or `while` with the condition for going on"))
	case l.To == nil:
	case l.To.V < l.From.V:
		c.at(l.To.At, source.Errorf(source.CodeLevels, "levels must ascend: \"to\" is below \"from\""))
	case l.Sound():
		if n := l.Count(); n > language.MaxValues {
			c.at(l.At, tooMany(n))
		}
	}
}
