package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Mooncake is the format of a trace of requests to a language model: a JSON map a line, with the time
// of a request, the lengths of its prompt and its answer, and the blocks that its prompt shares with
// other requests.
const Mooncake = "mooncake"

// traceRow is one line of such a trace.
type traceRow struct {
	Timestamp    json.RawMessage `json:"timestamp"`     // ms
	InputLength  *int64          `json:"input_length"`  // tokens
	OutputLength *int64          `json:"output_length"` // tokens
	HashIDs      []uint64        `json:"hash_ids"`      // of the prompt's blocks, equal if the blocks are
	due          int64           // ns
}

// TraceTimes returns the timestamps of a dataset's trace, ns.
func TraceTimes(
	d *scenario.Dataset, fail func(source.Pos, string, ...any) source.Diagnostics,
) ([]int64, source.Diagnostics) {
	unit := TimeUnit(d)
	var times []int64
	left := int64(maxFile)
	for _, f := range d.Files {
		data, err := ReadFile(f.Name, left)
		if err != nil {
			return nil, fail(f.Pos, "%s: %s", filepath.Base(f.Name), err)
		}
		left -= int64(len(data))
		rows, err := parseTrace(data, unit)
		if err != nil {
			return nil, fail(f.Pos, "%s: %s", filepath.Base(f.Name), err)
		}
		if n := len(times); n > 0 && rows[0].due < times[n-1] {
			return nil, fail(f.Pos,
				"%s, line 1: this is due before the end of the file in front of it; times must ascend",
				filepath.Base(f.Name))
		}
		for _, r := range rows {
			times = append(times, r.due)
		}
	}
	return times, nil
}

// parseTrace reads the rows of a trace, whose times are in units of unit ns. Errors name the line.
// Empty lines are skipped.
func parseTrace(data []byte, unit int64) ([]traceRow, error) {
	var rows []traceRow
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		row, err := parseTraceRow(line, unit)
		if err == nil && len(rows) > 0 && row.due < rows[len(rows)-1].due {
			err = errors.New("this is due before the row in front of it; times must ascend")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, errors.New("line 1: there are no rows in this file")
	}
	return rows, nil
}

func parseTraceRow(line []byte, unit int64) (row traceRow, err error) {
	var wrong *json.UnmarshalTypeError
	switch err = json.Unmarshal(line, &row); {
	case errors.As(err, &wrong) && wrong.Field == "":
		return row, errors.New("this is no JSON map")
	case errors.As(err, &wrong):
		return row, fmt.Errorf("%q is no whole number that fits: %s", wrong.Field, wrong.Value)
	case err != nil:
		return row, fmt.Errorf("this is no JSON map: %w", err)
	case row.Timestamp == nil:
		return row, fmt.Errorf("there is no %q in this row", TimestampKey)
	}
	for _, length := range []struct {
		key string
		v   *int64
	}{{"input_length", row.InputLength}, {"output_length", row.OutputLength}} {
		switch {
		case length.v == nil:
			return row, fmt.Errorf("there is no %q in this row", length.key)
		case *length.v < 0 || *length.v > math.MaxInt32:
			return row, fmt.Errorf("%q must be from 0 to %d: %d", length.key, math.MaxInt32, *length.v)
		}
	}
	row.due, err = Timestamp(TimestampKey, alone(row.Timestamp), unit)
	return row, err
}
