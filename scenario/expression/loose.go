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

// Names is what is known of the names in an expression of a plan that cannot be compiled.
type Names interface {
	// Variable gives the one literal that a variable stands for, as Scope does.
	Variable(name string) (literal, typ string, err error)
	// Has says, with a *NameError, which part of the place of a metric there is not; nil: it is there, or cannot be told.
	Has(at Place, path string) error
}

// Check finds the mistakes of a condition that stay mistakes whatever the plan's targets are: syntax, names of places
// and metrics, dimensions. For a plan that cannot be compiled, so that these do not come out one after the other. Any
// metric server.NAME exists with any dimension; capacity has that of what was searched.
func Check(t source.Text, names Names) source.Diagnostics {
	return check(t, names, true)
}

// CheckQuantity is Check for an expression that is one number.
func CheckQuantity(t source.Text, names Names) source.Diagnostics {
	return check(t, names, false)
}

func check(t source.Text, names Names, condition bool) (ds source.Diagnostics) {
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
	c, _, problems := understand(t.Text, text, looseScope{names, catalogue}, condition)
	ds = diagnose(t, problems)
	if c != nil {
		ds = append(ds, warned(t, c.warnings)...)
	}
	return ds.Sorted()
}

// looseScope is the Scope of Check.
type looseScope struct {
	Names
	catalogue *metric.Catalogue
}

// Resolve implements Scope.
func (s looseScope) Resolve(at Place, path string) (metric.Leaf, error) {
	if err := s.Has(at, path); err != nil {
		return metric.Leaf{}, err
	}
	if strings.HasPrefix(path, "server.") || at.Model != "" || path == metric.CapacityRow(metric.Rate).Name { // of a search for what?
		return metric.Leaf{}, errOpen
	}
	return Find(s.catalogue, path)
}
