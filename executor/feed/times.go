package feed

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// timestampKey is the member of a row that says when it was recorded, ms unless the data says otherwise. It is sent only to a model that has an input of
// this name.
const timestampKey = "timestamp"

const msec = 1_000_000 // ns

// Times are the timestamps of a dataset's rows, ns, ascending: what a schedule without a file plays.
func Times(d *scenario.Dataset) ([]int64, source.Diagnostics) {
	fail := func(pos source.Pos, format string, args ...any) source.Diagnostics {
		return source.Diagnostics{{
			Severity: source.Error, Code: "timestamps", Pos: pos, Summary: fmt.Sprintf(format, args...),
			Detail: `a row says when it is due by "timestamp": [ms], or in units of the data's time_unit; times without requests stand in a file of their own: schedule: {file: …}`,
		}}
	}
	switch {
	case d.Generate != nil:
		return nil, fail(d.Pos, "generated data has no timestamps")
	case d.Format == Mooncake && d.Files != nil:
		return traceTimes(d, fail)
	case !readable(d):
		return nil, source.Diagnostics{{
			Severity: source.Error, Code: codeUnbuilt, Pos: d.Pos, Summary: "this version cannot read the timestamps of this data yet",
		}}
	}
	r := read(d)
	if r.diags.HasErrors() {
		return nil, r.diags
	}
	if len(r.records) == 0 {
		return nil, fail(d.Pos, "files of tensors have no timestamps")
	}
	unit := unitOfTimes(d)
	times := make([]int64, len(r.records))
	for i := range r.records {
		rec := &r.records[i]
		if rec.timestamp == nil {
			return nil, fail(rec.from.pos, "%s has no %q", rec.name(), timestampKey)
		}
		if d.TimeUnit == 0 && !rec.from.ms {
			return nil, fail(rec.from.pos, "%s has a %q, and nothing says its unit: write `time_unit: ms`, or s, or us", rec.name(), timestampKey)
		}
		at, err := timestamp(timestampKey, rec.timestamp, unit)
		if err != nil {
			return nil, fail(rec.from.pos, "%s: %s", rec.name(), err)
		}
		if i > 0 && at < times[i-1] {
			return nil, fail(rec.from.pos, "%s is due before the row in front of it; times must ascend", rec.name())
		}
		times[i] = at
	}
	return times, r.diags
}

// unitOfTimes is the unit, ns, of a dataset's timestamps and delays.
func unitOfTimes(d *scenario.Dataset) int64 {
	if d.TimeUnit == 0 {
		return msec
	}
	return int64(d.TimeUnit)
}

// timestamp reads the member with this key as ns: a number of units, or a text with a unit of its own such as 1.5s.
func timestamp(key string, text []byte, unit int64) (int64, error) {
	if plain := plainText(text); !jsonscan.IsNumber(text) {
		d, err := time.ParseDuration(plain)
		switch {
		case err != nil:
			return 0, fmt.Errorf("%q must be one number: %.40s", key, text)
		case d < 0:
			return 0, fmt.Errorf("%q is negative: %s", key, plain)
		}
		return int64(d), nil
	}
	n := json.Number(text)
	if whole, err := n.Int64(); err == nil && whole >= 0 && whole <= math.MaxInt64/unit {
		return whole * unit, nil
	}
	units, err := n.Float64()
	switch {
	case units < 0:
		return 0, fmt.Errorf("%q is negative: %s", key, text)
	case err != nil || units*float64(unit) >= math.MaxInt64:
		return 0, fmt.Errorf("%q is more than 292 years: %s", key, text)
	}
	return int64(math.Round(units * float64(unit))), nil
}
