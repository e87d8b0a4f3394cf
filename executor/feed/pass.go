package feed

import (
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Share is one kind of request of a stage: how many rows its data has, how many of them a request takes, and its weight in
// the mix.
type Share struct {
	Rows   int
	Batch  int
	Weight float64
}

// Passes is how many requests it takes until every row of each share was sent so many times. The seed is the mix's.
func Passes(passes int64, of []Share, seed uint64) int64 { return 0 }

// Rows is how many rows a dataset has, read from its files. A problem with them is a diagnostic of Check.
func Rows(d *scenario.Dataset) (int, source.Diagnostics) { return 0, nil }

// Times are the timestamps of a dataset's rows, ns, ascending: what a schedule without a file plays.
func Times(d *scenario.Dataset) ([]int64, source.Diagnostics) { return nil, nil }
