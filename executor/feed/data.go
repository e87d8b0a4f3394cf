package feed

import (
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Check reads a dataset as far as that is possible without a model, for validate. whole: its rows are
// whole bodies. rows counts its rows, 0 if only the model decides; streams counts the steps of each of
// its sequences.
func Check(d *scenario.Dataset, whole bool) (rows int, streams []int, diags source.Diagnostics) {
	read := format.Read
	if whole {
		read = func(d *scenario.Dataset) *format.Rows { return format.ReadBodies(d, false) }
	}
	switch {
	case d.Generate != nil && whole:
		return 1, nil, nil
	case d.Generate != nil:
		return d.Count, nil, nil
	case d.Prompts != nil:
		rows, streams, diags = checkTurns(d)
		return rows, streams, append(diags, checkPrompts(d)...)
	case d.Command != nil:
		return 0, nil, checkSessionKeys(d, false)
	case !format.Readable(d):
		return 0, nil, nil
	}
	r := read(d)
	r.CheckKeys(d)
	groups := groupedRecords(r.Records)
	r.Diags = append(r.Diags, checkSessionKeys(d, groups != nil)...)
	for _, s := range drawSessions(d, groups) {
		streams = append(streams, len(s))
	}
	if d.Format == format.Frames { // a request may have all of them
		return 0, nil, r.Diags
	}
	if groups != nil && d.Sample > 0 {
		rows = 0
		for _, n := range streams {
			rows += n
		}
		return rows, streams, r.Diags
	}
	return len(r.Records), streams, r.Diags
}

// Times returns the timestamps of a dataset's rows, ns, ascending, for a schedule without a file. sessions:
// those of the first turns. They are those of the requests that Build makes of the rows.
func Times(d *scenario.Dataset, sessions bool) ([]int64, source.Diagnostics) {
	fail := func(pos source.Pos, format string, args ...any) source.Diagnostics {
		return source.Diagnostics{source.Errorf("timestamps", format, args...).
			Help(`a row says when it is due by "timestamp": [ms], or in units of the data's time_unit; `+
				"times without requests belong in a file of their own: schedule: {file: …}").At("", pos, 0)}
	}
	switch {
	case d.Generate != nil:
		return nil, fail(d.Pos, "generated data has no timestamps")
	case d.Prompts != nil:
		return nil, fail(d.Prompts.Pos, "prompts that are written for the plan have no timestamps")
	case d.Command != nil:
		return nil, fail(d.CommandPos, "the times of a program's rows are not known before it runs: write its "+
			"output to a file, and give that")
	}
	r := format.Read(d)
	if r.Diags.HasErrors() {
		return nil, r.Diags
	}
	if len(r.Records) == 0 {
		return nil, fail(d.Pos, "files of tensors have no timestamps")
	}
	records := timedRecords(d, r.Records, !sessions)
	times := make([]int64, len(records))
	for i := range records {
		rec := &records[i]
		if rec.Timestamp == nil {
			return nil, fail(rec.From.Pos, "%s has no %q", rec.Name(), format.TimestampKey)
		}
		if d.TimeUnit == 0 && rec.From.TimeUnit == 0 {
			return nil, fail(rec.From.Pos,
				"%s has a %q, and nothing says its unit: write `time_unit: ms`, or s, or us",
				rec.Name(), format.TimestampKey)
		}
		at, err := format.Timestamp(format.TimestampKey, rec.Timestamp, format.TimeUnit(d, rec))
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
