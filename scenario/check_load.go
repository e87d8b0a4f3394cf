package scenario

import (
	"fmt"
	"math"
	"strconv"

	"github.com/sluice-bench/sluice/scenario/source"
)

// amount is what a quantity is made of.
type amount interface{ int64 | rate }

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

func (c *checker) load(l *rawLoad) {
	if l == nil {
		return
	}
	checkQuantity(c, l.Concurrency, inFlight())
	checkQuantity(c, l.Rate, perSecond())
}

func checkQuantity[T amount](c *checker, q *rawQuantity[T], dim dimension[T]) {
	if q == nil {
		return
	}
	checkAmount(c, q.One, dim)
	seen := map[T]bool{}
	for _, v := range q.Many {
		checkAmount(c, v, dim)
		if seen[v.V] {
			c.at(v.at, &mistake{code: codeDuplicate, summary: fmt.Sprintf("%s %s stands here twice", dim.name, v.at.node.Text)})
		}
		seen[v.V] = true
	}
	if q.Many != nil && len(q.At.node.Items) == 0 {
		c.at(q.At, &mistake{code: codeLevels, summary: dim.name + " has no values"})
	}
	if len(q.Many) > maxLevels {
		c.at(q.At, tooMany(len(q.Many)))
	}
	if q.Levels != nil {
		checkLevels(c, q.Levels, dim)
	}
}

func tooMany(n int) *mistake {
	return &mistake{code: codeLevels, summary: fmt.Sprintf("%d levels are more than %d", n, maxLevels), detail: "use a larger step, or `factor`"}
}

// checkAmount checks one value of a quantity.
func checkAmount[T amount](c *checker, v *val[T], dim dimension[T]) {
	switch {
	case v == nil:
	case v.V < dim.min || v.V <= 0:
		m := &mistake{code: codeRange, summary: fmt.Sprintf("%s must be above 0", dim.name)}
		if dim.min > 0 {
			m.summary = fmt.Sprintf("%s must be from %s to %s", dim.name, dim.write(float64(dim.min)), dim.write(float64(dim.max)))
		}
		c.at(v.at, m)
	case v.V > dim.max:
		c.at(v.at, &mistake{code: codeRange, summary: fmt.Sprintf("%s must be at most %s", dim.name, dim.write(float64(dim.max)))})
	}
}

func checkLevels[T amount](c *checker, l *rawLevels[T], dim dimension[T]) {
	checkAmount(c, l.From, dim)
	checkAmount(c, l.To, dim)
	if l.Step != nil && l.Step.V <= 0 {
		c.at(l.Step.at, &mistake{code: codeLevels, summary: "step must be above 0"})
	}
	if l.Factor != nil && l.Factor.V <= 1 {
		c.at(l.Factor.at, &mistake{code: codeLevels, summary: "factor must be above 1"})
	}
	switch {
	case l.From == nil:
		if c.absent(l.At, "from") && !c.lacks[l.At.path] {
			c.at(l.At, &mistake{code: codeMissing, summary: "levels need \"from\""})
		}
	case c.absent(l.At, "to") && c.absent(l.At, "while"):
		c.at(l.At, &mistake{
			code: codeLevels, summary: "levels without \"to\" never end", detail: "add `to`, or `while` with the condition for going on",
		})
	case l.To == nil:
	case l.To.V < l.From.V:
		c.at(l.To.at, &mistake{code: codeLevels, summary: "levels must ascend: \"to\" is below \"from\""})
	case l.sound():
		if n := l.count(); n > maxLevels {
			c.at(l.At, tooMany(n))
		}
	}
}

// sound reports whether step and factor lead upwards.
func (l *rawLevels[T]) sound() bool {
	return (l.Step == nil || magnitude(l.Step.V) > 0) && (l.Factor == nil || l.Factor.V > 1) && magnitude(l.From.V) > 0
}

// level is level i, by the closed form, so that no error adds up.
func (l *rawLevels[T]) level(i int) float64 {
	from := magnitude(l.From.V)
	if l.Factor != nil {
		v := from * math.Pow(float64(l.Factor.V), float64(i))
		if _, whole := any(l.From.V).(int64); whole {
			return math.Round(v)
		}
		return v
	}
	return round(from + float64(i)*l.step())
}

// step is what is added from level to level: as written, else 1, for rates else from.
func (l *rawLevels[T]) step() float64 {
	switch {
	case l.Step != nil:
		return magnitude(l.Step.V)
	case l.Factor != nil:
		return 0
	}
	if _, whole := any(l.From.V).(int64); whole {
		return 1
	}
	return magnitude(l.From.V)
}

// values are the levels up to and including `to`. It stops one above the limit, which count tells.
func (l *rawLevels[T]) values() []float64 {
	to := magnitude(l.To.V) * (1 + 1e-9)
	var all []float64
	for i := 0; len(all) <= maxLevels; i++ {
		v := l.level(i)
		if v > to {
			break
		}
		if len(all) == 0 || v > all[len(all)-1] {
			all = append(all, v)
		}
		if i > 1<<20 {
			break
		}
	}
	return all
}

func (l *rawLevels[T]) count() int {
	if l.Factor == nil {
		return int(min((magnitude(l.To.V)-magnitude(l.From.V))/l.step()+1, math.MaxInt32))
	}
	return len(l.values())
}

// newQuantity is the plain form of a quantity that was checked.
func newQuantity[T amount](q *rawQuantity[T], dim dimension[T]) Quantity {
	level := func(v *val[T]) Level { return Level{Value: magnitude(v.V), Text: v.at.node.Text, Pos: v.at.pos()} }
	switch {
	case q.One != nil:
		return Fixed{level(q.One)}
	case q.Levels != nil:
		return newLevels(q.Levels, dim)
	}
	var l Levels
	for _, v := range q.Many {
		l.Values = append(l.Values, level(v))
	}
	return l
}

func newLevels[T amount](l *rawLevels[T], dim dimension[T]) Levels {
	levels := Levels{While: newConditions(l.While)}
	if l.To == nil {
		levels.Values = []Level{{Value: magnitude(l.From.V), Text: dim.write(magnitude(l.From.V)), Pos: l.From.at.pos()}}
		levels.Open, levels.Step = true, l.step()
		if l.Factor != nil {
			levels.Factor = float64(l.Factor.V)
		}
		return levels
	}
	for _, v := range l.values() {
		levels.Values = append(levels.Values, Level{Value: v, Text: dim.write(v), Pos: l.From.at.pos()})
	}
	return levels
}

func newConditions(r *rawConditions) []Condition {
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

// newLoad is the plain form of a load that was checked.
func newLoad(l *rawLoad) (Load, source.Pos) {
	if l.Concurrency != nil {
		return Concurrency{Level: newQuantity(l.Concurrency, inFlight())}, l.At.node.Entry("concurrency").KeyPos
	}
	return Rate{
		Level: newQuantity(l.Rate, perSecond()), Arrivals: newArrivals(l.Arrivals.V), Of: "requests",
		Pool: Pool{MaxInFlight: int(l.MaxInFlight.V), Overflow: l.Overflow.V},
	}, l.At.node.Entry("rate").KeyPos
}

func newArrivals(word string) Arrivals {
	if word == "poisson" {
		return Arrivals{Word: word, CV: 1}
	}
	return Arrivals{Word: word}
}
