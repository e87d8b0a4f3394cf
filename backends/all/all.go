// Package all is the list of backends that this binary has. It contains no logic.
package all

import "github.com/sluice-bench/sluice/backends"

// Kinds is every backend, in the order shown to people.
func Kinds() []backends.Kind { return nil }
