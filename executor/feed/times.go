package feed

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

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
	case d.Files == nil || !readable(d):
		return nil, source.Diagnostics{{
			Severity: source.Error, Code: "not-built-yet", Pos: d.Pos, Summary: "this version cannot read the timestamps of this data yet",
		}}
	}
	unit := int64(d.TimeUnit)
	if unit == 0 {
		unit = msec
	}
	steps, diags := readFiles(d)
	if diags.HasErrors() {
		return nil, diags
	}
	times := make([]int64, len(steps))
	for i, s := range steps {
		raw, ok := s.inputs[timestampKey]
		if !ok {
			return nil, fail(d.Pos, "%s has no %q", s.name, timestampKey)
		}
		at, err := timestamp(raw, unit)
		if err != nil {
			return nil, fail(d.Pos, "%s: %s", s.name, err)
		}
		if i > 0 && at < times[i-1] {
			return nil, fail(d.Pos, "%s is due before the row in front of it; times must ascend", s.name)
		}
		times[i] = at
	}
	return times, diags
}

// timestamp reads a number of units, or a list of one, as ns.
func timestamp(raw json.RawMessage, unit int64) (int64, error) {
	text := strings.TrimSpace(string(raw))
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
	}
	n := json.Number(text)
	if whole, err := n.Int64(); err == nil && whole >= 0 && whole <= math.MaxInt64/unit {
		return whole * unit, nil
	}
	units, err := n.Float64()
	switch {
	case err != nil || math.IsNaN(units):
		return 0, fmt.Errorf("%q must be one number", timestampKey)
	case units < 0:
		return 0, fmt.Errorf("%q is negative: %s", timestampKey, text)
	case units*float64(unit) >= math.MaxInt64:
		return 0, fmt.Errorf("%q is more than 292 years: %s", timestampKey, text)
	}
	return int64(math.Round(units * float64(unit))), nil
}
