package format

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario/source"
)

// readPerfAnalyzer reads perf_analyzer's JSON:
//
//	file   := { "data": [ step, … ] [, "validation_data": [ step, … ] ] }     rows
//	        | { "data": [ [step, …], … ] [, "validation_data": [ [step, …], … ] ] }     sequences
//	step   := { tensorName: tensor, … }
//	tensor := array | { "b64": text [, "shape": [d, …]] }
//	        | { "content": array | {"b64": text} [, "shape": [d, …]] }
//
// Arrays are flat in row-major order, or nested as the shape.
func (r *reader) readPerfAnalyzer(data []byte) error {
	r.from.Unit, r.from.TimeUnit, r.from.After = "row", msec, true
	c := jsonscan.Strict(data)
	var rows, expected []Record
	var streams, expectedStreams []int // number of steps of each; nil: rows
	found, validated := false, false
	var unread []string // names of other members
	for c.Enter('{'); c.More('}'); {
		switch key := string(c.Key()); key {
		case "data":
			once(&c, key, &found)
			rows, streams = r.steps(&c, key)
		case "validation_data":
			once(&c, key, &validated)
			expected, expectedStreams = r.steps(&c, key)
		default: // perf_analyzer takes others and does not read them, and a slip would leave something out
			const meant = "validation_data"
			near := source.Nearest(key, []string{meant})
			if near != "" && strings.Contains(key, "data") && len(key) <= len(meant)+2 {
				c.Fail("a file of rows has no %q: did you mean %q", key, near)
			}
			unread = append(unread, strconv.Quote(key))
			c.Skip()
		}
	}
	c.End()
	switch {
	case !c.OK():
		return c.Mistake()
	case !found || len(rows) == 0:
		return errors.New(`there are no rows under "data"`)
	case validated:
		if err := align(rows, expected, streams, expectedStreams); err != nil {
			return err
		}
	}
	if len(unread) > 0 {
		r.Diags = append(r.Diags,
			source.Warnf(codeUnread, "%s: nothing reads %s", r.from.Name, strings.Join(unread, ", ")).
				Help("rows are under \"data\", what they expect is under \"validation_data\"").
				At("", r.from.Pos, 0))
	}
	r.Records = append(r.Records, rows...)
	return nil
}

// once refuses a key that was read before.
func once(c *jsonscan.Scanner, key string, read *bool) {
	if *read {
		c.Fail("duplicate %q", key)
	}
	*read = true
}

// steps reads the list of a key: rows, or streams, then with the number of steps of each.
func (r *reader) steps(c *jsonscan.Scanner, key string) (rows []Record, streams []int) {
	if c.Peek() != '[' {
		c.Fail("%q must be a list of rows, found %s", key, jsonscan.Kind(c.Rest()))
		return nil, nil
	}
	nested := false
	n := 0
	for c.Enter('['); c.More(']'); n++ {
		list := c.Peek() == '['
		if n > 0 && list != nested {
			c.Fail(
				"entry %d of %q: rows and lists of rows are mixed: either all rows are in lists, "+
					"which are sequences, or none", n, key)
			return nil, nil
		}
		if nested = list; !nested {
			rows = append(rows, r.step(c, -1, n))
			continue
		}
		count := 0
		for c.Enter('['); c.More(']'); count++ {
			rows = append(rows, r.step(c, n, count))
		}
		if count == 0 {
			c.Fail("stream %d of %q has no steps", n, key)
		}
		streams = append(streams, count)
	}
	return rows, streams
}

// step reads a row.
func (r *reader) step(c *jsonscan.Scanner, stream, number int) Record {
	rec := Record{From: r.from, Stream: stream, Number: number}
	if c.Peek() != '{' {
		c.Fail("%s is %s, not a map of tensors", rec.Name(), jsonscan.Kind(c.Rest()))
		return rec
	}
	if err := r.room(); err != nil {
		c.Fail("%s", err)
		return rec
	}
	r.fields.members(c, &rec, JSONTensor)
	return rec
}

// align gives rows the outputs at the same place of the validation data.
func align(rows, expected []Record, streams, expectedStreams []int) error {
	switch {
	case (streams == nil) != (expectedStreams == nil) && len(expected) > 0:
		return errors.New(`"data" and "validation_data" must both hold rows, or both streams`)
	case len(streams) != len(expectedStreams):
		return fmt.Errorf(`"validation_data" has %d streams, "data" has %d`,
			len(expectedStreams), len(streams))
	}
	for i, n := range streams {
		if expectedStreams[i] != n {
			return fmt.Errorf(`stream %d of "validation_data" has %d steps, that of "data" has %d`,
				i, expectedStreams[i], n)
		}
	}
	if len(expected) != len(rows) {
		return fmt.Errorf(`"validation_data" has %d rows, "data" has %d`, len(expected), len(rows))
	}
	if len(rows) > 0 && !slices.ContainsFunc(expected, func(r Record) bool { return len(r.Inputs) > 0 }) {
		return errors.New(`no row of "validation_data" has an output: nothing would be compared`)
	}
	for i := range rows {
		rows[i].Outputs = expected[i].Inputs
	}
	return nil
}
