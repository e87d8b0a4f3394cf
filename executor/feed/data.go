package feed

import (
	"slices"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Check reads what a dataset names as far as that is possible without a model: what validate can know. rows is how many it
// has, 0 where only the model tells. A form of data that cannot be read yet is left alone: the plan says so.
func Check(d *scenario.Dataset) (rows int, streams []int, diags source.Diagnostics) {
	switch {
	case d.Generate != nil:
		return d.Count, nil, nil
	case !readable(d):
		return 0, nil, nil
	}
	r := read(d)
	r.timed()
	for _, s := range grouped(len(r.records), func(i int) *record { return &r.records[i] }) {
		streams = append(streams, len(s))
	}
	return len(r.records), streams, r.diags
}

// timed refuses a `time_unit` of rows without a time.
func (r *reader) timed() {
	has := func(rec record) bool { return rec.timestamp != nil || rec.delay != nil }
	if pos := r.dataset.TimeUnitPos; pos.Line > 0 && len(r.diags) == 0 && !slices.ContainsFunc(r.records, has) {
		r.fail(pos, "no-effect", "\"time_unit\" has no effect: no row has a %q or a \"delay\"", timestampKey).Detail = "leave the key out"
	}
}

// readable reports whether a dataset is rows of tensors, or bodies.
func readable(d *scenario.Dataset) bool {
	switch d.Source {
	case "file", "dir", "rows", "bodies":
	default:
		return false
	}
	switch d.Format {
	case "", formatPerfAnalyzer, formatV2, formatLines, formatList, formatTable, formatNpy, formatRaw:
		return true
	}
	return false
}
