package expression

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/scenario/metric"
	"github.com/sluice-bench/sluice/scenario/source"
)

// errOpen is a metric that some server may keep or some search may find: nothing can be said about it here, and nothing is
// wrong with it.
var errOpen = errors.New("known to the server only")

// Variables gives the one literal that a variable stands for, as Scope does.
type Variables interface {
	Variable(name string) (literal, typ string, err error)
}

// Check finds the mistakes of a condition that stay mistakes whatever the plan's targets and stages are: syntax, names
// of metrics, dimensions. For a plan that cannot be compiled, so that these do not come out one after the other. Any
// stage exists, and any metric server.NAME with any dimension; capacity has that of what was searched.
func Check(t source.Text, vars Variables) source.Diagnostics {
	return check(t, vars, true)
}

// CheckQuantity is Check for an expression that is one number.
func CheckQuantity(t source.Text, vars Variables) source.Diagnostics {
	return check(t, vars, false)
}

func check(t source.Text, vars Variables, condition bool) (ds source.Diagnostics) {
	text := []rune(t.Text)
	defer func() {
		if r := recover(); r != nil {
			ds = diagnose(t, []problem{{to: len(text), code: codeSyntax, summary: fmt.Sprintf("this cannot be read: %v", r)}})
		}
	}()
	catalogue, err := metric.New(metric.GoodputRows()...)
	if err != nil {
		return nil // a mistake of the program, which its tests find
	}
	c, _, problems := understand(t.Text, text, looseScope{vars, catalogue}, condition)
	ds = diagnose(t, problems)
	if c != nil {
		ds = append(ds, warned(t, c.warnings)...)
	}
	return ds.Sorted()
}

// looseScope is the Scope of Check.
type looseScope struct {
	Variables
	catalogue *metric.Catalogue
}

// Resolve implements Scope.
func (s looseScope) Resolve(at Place, path string) (metric.Leaf, error) {
	if strings.HasPrefix(path, "server.") || at.Model != "" || path == metric.CapacityRow(metric.Rate).Name { // of a search for what?
		return metric.Leaf{}, errOpen
	}
	return Find(s.catalogue, path)
}
