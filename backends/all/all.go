// Package all is the list of backends that this binary has.
//
// It is not: a registry; it contains no logic.
package all

import (
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/triton"
)

// Kinds is every backend, in the order shown to people.
func Kinds() []backends.Kind { return []backends.Kind{kserve.Kind(), triton.Kind()} }
