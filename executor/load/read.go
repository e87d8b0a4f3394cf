package load

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxLine limits the bytes of one line of a file: rows of a trace carry prompts.
const maxLine = 16 << 20

// maxTimes limits the gaps or times of a file: 128 MiB, a day at 194 requests a second.
const maxTimes = 1 << 24

// errTooMany reports a file with more than maxTimes entries.
var errTooMany = fmt.Errorf("the file has more than %d entries, no more can be held: play a part of them",
	maxTimes)

// timestamp names the column, or the member of a JSON line, that holds a time.
const timestamp = "timestamp"

// ReadGaps reads one gap per line, in units of unit ns, and returns ns. Empty lines are skipped.
// Errors name the line.
func ReadGaps(r io.Reader, unit int64) ([]int64, error) {
	var gaps []int64
	sum := int64(0)
	err := eachLine(r, func(number int, text string) error {
		gap, err := parseTime(text, unit)
		if err != nil {
			return err
		}
		if gap > math.MaxInt64-sum {
			return fmt.Errorf("the gaps up to here add up to more than %d years", math.MaxInt64/year)
		}
		if len(gaps) == maxTimes {
			return errTooMany
		}
		sum += gap
		gaps = append(gaps, gap)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(gaps) == 0:
		return nil, errors.New("line 1: there are no gaps in this file")
	case sum == 0:
		return nil, errors.New("line 1: every gap in this file is 0")
	}
	return gaps, nil
}

const year = 31_556_952 * int64(1e9)

// ReadTimes reads ascending times, in units of unit ns, and returns ns. name selects the format:
// JSON lines with a "timestamp" (.jsonl, or the first line is a map), CSV with a column "timestamp"
// (.csv, or the first line has commas), or one number per line. Errors name the line.
func ReadTimes(r io.Reader, name string, unit int64) ([]int64, error) {
	t := &times{unit: unit}
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(b.Size())
	first, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	var err error
	switch ext := strings.ToLower(path.Ext(name)); {
	case ext == ".jsonl" || ext == ".ndjson" || strings.HasPrefix(first, "{"):
		err = eachLine(b, t.jsonLine)
	case ext == ".csv" || strings.ContainsRune(first, ','):
		err = t.csv(b)
	default:
		err = eachLine(b, t.add)
	}
	if err == nil && len(t.list) == 0 {
		err = errors.New("line 1: there are no times in this file")
	}
	if err != nil {
		return nil, err
	}
	return t.list, nil
}

// times collects ascending times.
type times struct {
	unit int64
	list []int64
}

func (t *times) add(_ int, text string) error {
	at, err := parseTime(text, t.unit)
	if err != nil {
		return err
	}
	if n := len(t.list); n > 0 && at < t.list[n-1] {
		return fmt.Errorf("%s is before the time in front of it; times must ascend", text)
	}
	if len(t.list) == maxTimes {
		return errTooMany
	}
	t.list = append(t.list, at)
	return nil
}

// jsonLine reads the timestamp of one row and ignores other members. perf_analyzer writes it as a
// list of one.
func (t *times) jsonLine(number int, text string) error {
	var row struct {
		Timestamp json.RawMessage `json:"timestamp"`
	}
	if err := json.Unmarshal([]byte(text), &row); err != nil {
		return fmt.Errorf("this is no JSON map: %w", err)
	}
	if row.Timestamp == nil {
		return fmt.Errorf("there is no %q in this row", timestamp)
	}
	value := strings.TrimSpace(string(row.Timestamp))
	if inner, ok := strings.CutPrefix(value, "["); ok {
		value = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
	}
	return t.add(number, value)
}

// csv reads the column "timestamp", or the only column, below a header; without a header the first
// column.
func (t *times) csv(r io.Reader) error {
	c := csv.NewReader(r)
	c.FieldsPerRecord, c.ReuseRecord, c.TrimLeadingSpace = -1, true, true
	column := -1
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			var parse *csv.ParseError
			if errors.As(err, &parse) {
				return fmt.Errorf("line %d: %w", parse.Line, parse.Err)
			}
			return err
		}
		number, _ := c.FieldPos(0)
		if column < 0 {
			var header bool
			if column, header, err = timeColumn(record); header && err == nil {
				continue
			}
		}
		if err == nil && column >= len(record) {
			err = fmt.Errorf("there is no column %d in this row", column+1)
		}
		if err == nil {
			err = t.add(number, record[column])
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
}

// columnName matches a plausible column name in a header.
var columnName = regexp.MustCompile(`^ ?[A-Za-z][A-Za-z0-9_. -]{0,40}$`)

// timeColumn finds the column of the times from the first row, and whether that row is a header.
func timeColumn(record []string) (column int, header bool, err error) {
	if _, err := strconv.ParseFloat(strings.TrimSpace(record[0]), 64); err == nil {
		return 0, false, nil
	}
	for i, name := range record {
		if strings.EqualFold(strings.TrimSpace(name), timestamp) {
			return i, true, nil
		}
	}
	if len(record) == 1 {
		return 0, true, nil
	}
	// any file could be given: do not show its content
	if slices.ContainsFunc(record, func(name string) bool { return !columnName.MatchString(name) }) {
		return 0, true, fmt.Errorf("there is no column %q", timestamp)
	}
	return 0, true, fmt.Errorf("there is no column %q among %s", timestamp, strings.Join(record, ", "))
}

// eachLine calls take for every non-empty line. Its errors name the line.
func eachLine(r io.Reader, take func(number int, text string) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	number := 0
	for s.Scan() {
		number++
		text := strings.TrimSpace(s.Text())
		if text == "" {
			continue
		}
		if err := take(number, text); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number+1, err)
	}
	return nil
}

// parseTime reads a number of units as ns, rounded to the nearest. Integers keep all their digits.
func parseTime(text string, unit int64) (int64, error) {
	text, unit = strings.TrimSpace(text), max(unit, 1)
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil && whole >= 0 &&
		whole <= math.MaxInt64/unit {
		return whole * unit, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	switch ns := math.Round(v * float64(unit)); {
	case err != nil && !errors.Is(err, strconv.ErrRange), math.IsNaN(v), strings.ContainsAny(text, "xX_"):
		if !numberLike(text) { // any file could be given: do not show its content
			return 0, errors.New("not a number")
		}
		return 0, fmt.Errorf("%s is not a number", quoted(text))
	case v < 0:
		return 0, fmt.Errorf("%s is negative", text)
	case ns >= math.MaxInt64:
		return 0, fmt.Errorf("%s is more than %d years", quoted(text), math.MaxInt64/year)
	default:
		return int64(ns), nil
	}
}

// numberLike reports whether a text was meant as a number: 1.5ms, 1,000, 0x10.
func numberLike(text string) bool {
	const most = 24
	bare := strings.TrimLeft(text, "+-.\"")
	return len(text) <= most && bare != "" && '0' <= bare[0] && bare[0] <= '9'
}

// quoted quotes the beginning of a text.
func quoted(text string) string {
	const most = 40
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strconv.Quote(text)
}
