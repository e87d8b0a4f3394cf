package feed

import (
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Check reads a dataset as far as that is possible without a model, for validate. rows counts its rows,
// 0 if only the model decides; streams counts the steps of each of its sequences. A form of data that
// cannot be read yet has no diagnostic here: the plan has one.
func Check(d *scenario.Dataset) (rows int, streams []int, diags source.Diagnostics) {
	switch {
	case d.Generate != nil:
		return d.Count, nil, nil
	case !format.Readable(d):
		return 0, nil, nil
	}
	r := format.Read(d)
	r.CheckTimes(d)
	for _, s := range grouped(len(r.Records), func(i int) *format.Record { return &r.Records[i] }) {
		streams = append(streams, len(s))
	}
	return len(r.Records), streams, r.Diags
}

// Times returns the timestamps of a dataset's rows, ns, ascending, for a schedule without a file.
func Times(d *scenario.Dataset) ([]int64, source.Diagnostics) {
	fail := func(pos source.Pos, format string, args ...any) source.Diagnostics {
		return source.Diagnostics{source.Errorf("timestamps", format, args...).
			Help(`a row says when it is due by "timestamp": [ms], or in units of the data's time_unit; `+
				"times without requests belong in a file of their own: schedule: {file: …}").At("", pos, 0)}
	}
	switch {
	case d.Generate != nil:
		return nil, fail(d.Pos, "generated data has no timestamps")
	case d.Format == format.Mooncake && d.Files != nil:
		return format.TraceTimes(d, fail)
	case !format.Readable(d):
		return nil, source.Diagnostics{
			source.Errorf(codeUnbuilt, "this version cannot read the timestamps of this data yet").At("",
				d.Pos, 0),
		}
	}
	r := format.Read(d)
	if r.Diags.HasErrors() {
		return nil, r.Diags
	}
	if len(r.Records) == 0 {
		return nil, fail(d.Pos, "files of tensors have no timestamps")
	}
	unit := format.TimeUnit(d)
	times := make([]int64, len(r.Records))
	for i := range r.Records {
		rec := &r.Records[i]
		if rec.Timestamp == nil {
			return nil, fail(rec.From.Pos, "%s has no %q", rec.Name(), format.TimestampKey)
		}
		if d.TimeUnit == 0 && !rec.From.Millis {
			return nil, fail(rec.From.Pos,
				"%s has a %q, and nothing says its unit: write `time_unit: ms`, or s, or us",
				rec.Name(), format.TimestampKey)
		}
		at, err := format.Timestamp(format.TimestampKey, rec.Timestamp, unit)
		if err != nil {
			return nil, fail(rec.From.Pos, "%s: %s", rec.Name(), err)
		}
		if i > 0 && at < times[i-1] {
			return nil, fail(rec.From.Pos, "%s is due before the row in front of it; times must ascend",
				rec.Name())
		}
		times[i] = at
	}
	return times, r.Diags
}
