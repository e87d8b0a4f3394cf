package feed

import (
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Check reads what a dataset names as far as that is possible without a model: what validate can
// know. rows is how many it has, 0 where only the model tells. A form of data that cannot be read
// yet is left alone: the plan says so.
func Check(d *scenario.Dataset) (rows int, streams []int, diags source.Diagnostics) {
	switch {
	case d.Generate != nil:
		return d.Count, nil, nil
	case !format.Readable(d):
		return 0, nil, nil
	}
	r := format.Read(d)
	r.CheckTimes()
	for _, s := range grouped(len(r.Records), func(i int) *format.Record { return &r.Records[i] }) {
		streams = append(streams, len(s))
	}
	return len(r.Records), streams, r.Diags
}
