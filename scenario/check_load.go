package scenario

import (
	"fmt"
	"strconv"

	"github.com/sluice-bench/sluice/scenario/source"
)

// dimension is what differs between quantities of requests in flight and of requests per second.
type dimension[T amount] struct {
	name  string
	min   T // smallest value; 0: above 0
	max   T
	write func(float64) string
}

func inFlight() dimension[int64] {
	return dimension[int64]{"concurrency", 1, maxSlots, func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }}
}

func perSecond() dimension[rate] {
	return dimension[rate]{"rate", 0, maxRate, func(v float64) string { return strconv.FormatFloat(round(v), 'f', -1, 64) + "/s" }}
}

// load checks the load of a stage.
func (c *checker) load(s *rawStage) {
	l := s.Play.Load
	if l == nil {
		return
	}
	lasts := s.Play.For != nil
	checkQuantity(c, l.Concurrency, inFlight(), lasts)
	checkQuantity(c, l.Rate, perSecond(), lasts)
	if l.Concurrency != nil {
		c.periodic(l.Concurrency.More.Periodic)
	}
	c.arrivals(l.Arrivals)
	checkDist(c, l.Think)
	if l.Intervals != nil {
		c.file(l.Intervals.File)
	}
	c.schedule(s, l.Schedule)
}

func checkQuantity[T amount, X any](c *checker, q *rawQuantity[T, X], dim dimension[T], lasts bool) {
	if q == nil {
		return
	}
	checkDerived(c, q.One, dim)
	seen := map[T]bool{}
	for _, v := range q.Many {
		checkAmount(c, v, dim)
		if seen[v.V] {
			c.at(v.at, &source.Diagnostic{Code: codeDuplicate, Summary: fmt.Sprintf("duplicate %s %s", dim.name, v.at.node.Text)})
		}
		seen[v.V] = true
	}
	if q.Many != nil && len(q.At.node.Items) == 0 {
		c.at(q.At, &source.Diagnostic{Code: codeLevels, Summary: dim.name + " has no values"})
	}
	if len(q.Many) > maxLevels {
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
	return &source.Diagnostic{Code: codeLevels, Summary: fmt.Sprintf("%d levels are more than %d", n, maxLevels), Detail: "use a larger step, or `factor`"}
}

// checkAmount checks one value of a quantity.
func checkAmount[T amount](c *checker, v *val[T], dim dimension[T]) {
	if v != nil {
		c.within(v.at, dim.wrong(v.V))
	}
}

// checkDerived checks one value of a quantity that may come from an earlier result.
func checkDerived[T amount](c *checker, v *val[derived[T]], dim dimension[T]) {
	if v != nil && v.V.Expr == nil {
		c.within(v.at, dim.wrong(v.V.V))
	}
}

// within reports the mistake if there is one.
func (c *checker) within(at place, m *source.Diagnostic) {
	if m != nil {
		c.at(at, m)
	}
}

// wrong says what is wrong with a value of the quantity; nil: nothing.
func (dim dimension[T]) wrong(v T) *source.Diagnostic {
	switch {
	case v < dim.min || v <= 0:
		m := &source.Diagnostic{Code: codeRange, Summary: fmt.Sprintf("%s must be above 0", dim.name)}
		if dim.min > 0 {
			m.Summary = fmt.Sprintf("%s must be from %s to %s", dim.name, dim.write(float64(dim.min)), dim.write(float64(dim.max)))
		}
		return m
	case v > dim.max:
		return &source.Diagnostic{Code: codeRange, Summary: fmt.Sprintf("%s must be at most %s", dim.name, dim.write(float64(dim.max)))}
	}
	return nil
}

func checkLevels[T amount](c *checker, l *rawLevels[T], dim dimension[T]) {
	checkAmount(c, l.From, dim)
	checkAmount(c, l.To, dim)
	if l.Step != nil && l.Step.V <= 0 {
		c.at(l.Step.at, &source.Diagnostic{Code: codeLevels, Summary: "step must be above 0"})
	}
	if l.Factor != nil && l.Factor.V <= 1 {
		c.at(l.Factor.at, &source.Diagnostic{Code: codeLevels, Summary: "factor must be above 1"})
	}
	switch {
	case l.From == nil:
		if c.absent(l.At, "from") && !c.lacks[l.At.path] {
			c.at(l.At, &source.Diagnostic{Code: codeMissing, Summary: "levels need \"from\""})
		}
	case c.absent(l.At, "to") && c.absent(l.At, "while"):
		c.at(l.At, &source.Diagnostic{
			Code: codeLevels, Summary: "levels without \"to\" never end", Detail: "add `to`, or `while` with the condition for going on",
		})
	case l.To == nil:
	case l.To.V < l.From.V:
		c.at(l.To.at, &source.Diagnostic{Code: codeLevels, Summary: "levels must ascend: \"to\" is below \"from\""})
	case l.sound():
		if n := l.count(); n > maxLevels {
			c.at(l.At, tooMany(n))
		}
	}
}
