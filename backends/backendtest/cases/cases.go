// Package cases chooses how many of its cases a test runs: all of them with SLUICE_TESTS=all, else a
// part that has one of each kind, so that `go test ./...` takes a minute and not six.
//
// It is not: a way to leave out a whole test. What a test proves, its part proves of fewer cases.
package cases

import (
	"flag"
	"os"
	"strconv"
)

// Variable is the environment variable that asks for all cases by its only value, "all".
const Variable = "SLUICE_TESTS"

// All reports whether tests run all of their cases.
func All() bool {
	switch value := os.Getenv(Variable); value {
	case "":
		return false
	case "all":
		return true
	default:
		panic(Variable + " is all or not set, and it is " + value)
	}
}

// Runs reports whether a test runs its case number i, counted from 0: the first of every n cases, or
// each with All.
func Runs(i, n int) bool { return i%n == 0 || All() }

// Some returns the first of every n elements of a list, or the list with All.
func Some[T any](list []T, n int) []T {
	var some []T
	for i, one := range list {
		if Runs(i, n) {
			some = append(some, one)
		}
	}
	return some
}

// Count returns how often a test repeats what depends on chance or on the moment: all times with All,
// else some times.
func Count(some, all int) int {
	if All() {
		return all
	}
	return some
}

// Parallel lets n tests of a package run side by side, more than there are processors, as most of the time they wait.
// Its TestMain calls it.
func Parallel(n int) {
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // every test has the flag
	}
}
