package expression

import "github.com/sluice-bench/sluice/scenario/metric"

// kind is what a part of an expression is: a dimension, or a truth. The zero kind is a mistake that was reported.
type kind uint8

const truth kind = 100

func (k kind) String() string {
	if k == truth {
		return "condition"
	}
	return metric.Dim(k).String()
}

// dims are all dimensions, in the order in which the table names them.
func dims() []kind {
	return []kind{
		kind(metric.Duration), kind(metric.Rate), kind(metric.Count), kind(metric.Ratio),
		kind(metric.Bytes), kind(metric.Power), kind(metric.Number),
	}
}

// overload is one row of the table: what an operator or function takes and gives.
type overload struct {
	op          string
	left, right kind // right 0: one operand
	result      kind
	shown       metric.Dim // of a comparison: the dimension in which both sides are shown
	apply       func(a, b Quantity) Quantity
}

// overloads is the whole table. Everything that is not in it is refused.
func overloads() []overload {
	var rows []overload
	for _, q := range dims() {
		rows = append(rows, sameKind(q)...)
	}
	rows = append(rows, scaling()...)
	rows = append(rows, mixed()...)
	rows = append(rows,
		overload{op: "and", left: truth, right: truth, result: truth},
		overload{op: "or", left: truth, right: truth, result: truth},
		overload{op: "not", left: truth, result: truth})
	return rows
}

// sameKind: what every dimension can do with its own.
func sameKind(q kind) []overload {
	rows := comparisons(q, q, metric.Dim(q))
	if q == kind(metric.Count) || q == kind(metric.Number) {
		rows = append(rows, equalities(q, q, metric.Dim(q))...)
	}
	rows = append(rows, closed(q, q, q)...)
	one := func(a Quantity, f func(Quantity) Quantity) Quantity { return f(a) }
	return append(rows,
		overload{op: "/", left: q, right: q, result: kind(metric.Number), apply: divide},
		overload{op: "-", left: q, result: q, apply: func(a, _ Quantity) Quantity { return one(a, negate) }},
		overload{op: "abs", left: q, result: q, apply: func(a, _ Quantity) Quantity { return one(a, absolute) }})
}

func comparisons(l, r kind, shown metric.Dim) []overload {
	var rows []overload
	for _, op := range []string{"<", "<=", ">", ">="} {
		rows = append(rows, overload{op: op, left: l, right: r, result: truth, shown: shown})
	}
	return rows
}

func equalities(l, r kind, shown metric.Dim) []overload {
	return []overload{
		{op: "==", left: l, right: r, result: truth, shown: shown},
		{op: "!=", left: l, right: r, result: truth, shown: shown},
	}
}

// closed: sums and the like of l and r are res.
func closed(l, r, res kind) []overload {
	return []overload{
		{op: "+", left: l, right: r, result: res, apply: add},
		{op: "-", left: l, right: r, result: res, apply: subtract},
		{op: "min", left: l, right: r, result: res, apply: smaller},
		{op: "max", left: l, right: r, result: res, apply: larger},
	}
}

// scaling: every dimension times or over a number or a ratio stays what it is.
func scaling() []overload {
	var rows []overload
	n := kind(metric.Number)
	for _, q := range dims() {
		for _, factor := range []kind{n, kind(metric.Ratio)} {
			if q == n && factor != n {
				continue // ratio * number is ratio, from the other side
			}
			rows = append(rows, overload{op: "*", left: q, right: factor, result: q, apply: multiply})
			if factor != q {
				rows = append(rows,
					overload{op: "*", left: factor, right: q, result: q, apply: multiply},
					overload{op: "/", left: q, right: factor, result: q, apply: divide})
			}
		}
	}
	return rows
}

// mixed: what different dimensions can do with one another.
func mixed() []overload {
	d, r, c, n := kind(metric.Duration), kind(metric.Rate), kind(metric.Count), kind(metric.Number)
	ra, b := kind(metric.Ratio), kind(metric.Bytes)
	rows := []overload{
		{op: "*", left: r, right: d, result: c, apply: multiply},
		{op: "*", left: d, right: r, result: c, apply: multiply},
		{op: "/", left: c, right: d, result: r, apply: divide},
		{op: "/", left: n, right: d, result: r, apply: divide},
		{op: "/", left: b, right: d, result: r, apply: divide},
		{op: "/", left: c, right: r, result: d, apply: divide},
		{op: "/", left: n, right: r, result: d, apply: divide},
	}
	for _, q := range []kind{c, ra} { // a number is a count or a ratio where one is asked for; see bareNumber for constants
		shown := metric.Dim(q)
		rows = append(rows, comparisons(q, n, shown)...)
		rows = append(rows, comparisons(n, q, shown)...)
		rows = append(rows, closed(q, n, q)...)
		rows = append(rows, closed(n, q, q)...)
	}
	rows = append(rows, equalities(c, n, metric.Count)...)
	return append(rows, equalities(n, c, metric.Count)...)
}

// applied is what an operator is applied to.
type applied struct {
	op          string
	left, right kind
}

// table is overloads by what they are applied to. It never changes.
var table = index(overloads())

func index(rows []overload) map[applied]overload {
	t := make(map[applied]overload, len(rows))
	for _, o := range rows {
		t[applied{o.op, o.left, o.right}] = o
	}
	return t
}

// find gives the row for an operator and what it is applied to.
func find(op string, l, r kind) (overload, bool) {
	o, ok := table[applied{op, l, r}]
	return o, ok
}

// Overload is one row of the table of operators, in words, for documentation.
type Overload struct{ Op, Left, Right, Result string }

// Overloads lists what the operators and functions of the language take and give.
func Overloads() []Overload {
	var rows []Overload
	for _, o := range overloads() {
		row := Overload{Op: o.op, Left: o.left.String(), Result: o.result.String()}
		if o.right != 0 {
			row.Right = o.right.String()
		}
		rows = append(rows, row)
	}
	return rows
}
