package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario"
)

// Rows of jsonl, json and csv files, and those that the plan holds:
//
//	row   := { member, … }
//	member := tensorName: data | "inputs": {tensorName: data, …} | "outputs": {tensorName: data, …}
//	        | "parameters": {name: scalar, …} | "timestamp": number | "delay": number
//	        | "session_id": text | "id": text
//	        | "inputs": [v2 input, …] | "outputs": [v2 output, …]     as in a KServe v2 body
//	data  := scalar | tensor as in perf_analyzer's JSON
//
// With `columns` only the columns that are named there are read, each as the field that it is named
// for.

// aboutRow are the members that say something about the row; a model may have an input with such a
// name all the same.
var aboutRow = [...]string{"timestamp", "delay", "session_id", "id", "model"}

// readLines reads a row a line.
func (r *Rows) readLines(data []byte) error {
	r.from.Unit = "line"
	found := false
	for number := 1; len(data) > 0; number++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		found = true
		c := jsonscan.Strict(line)
		r.row(&c, number)
		c.End()
		if !c.OK() {
			return fmt.Errorf("line %d, column %d: %w", number, c.Offset()+1, c.Err())
		}
	}
	if !found {
		return errors.New("there are no rows in this file")
	}
	return nil
}

// readList reads a JSON list of rows.
func (r *Rows) readList(data []byte) error {
	r.from.Unit = "row"
	c := jsonscan.Strict(data)
	if c.Peek() != '[' {
		c.Fail("the file must be a list of rows, found %s", jsonscan.Kind(c.Rest()))
	}
	number := 0
	for c.Enter('['); c.More(']'); number++ {
		r.row(&c, number)
	}
	c.End()
	if c.OK() && number == 0 {
		return errors.New("there are no rows in this file")
	}
	return c.Mistake()
}

// readPlan reads the rows that stand in the plan.
func (r *Rows) readPlan(rows []scenario.Row) {
	for i, row := range rows {
		r.from = &Origin{Name: "rows", Pos: row.Pos, Unit: "row"}
		c := jsonscan.Strict([]byte(row.JSON))
		r.row(&c, i)
		c.End()
		if !c.OK() {
			r.fail(row.Pos, codeFile, "row %d: %s", i, c.Err())
		}
	}
}

// row reads a row.
func (r *Rows) row(c *jsonscan.Scanner, number int) {
	rec := Record{From: r.from, Stream: -1, Number: number}
	if c.Peek() != '{' {
		c.Fail("a row is a map, found %s", jsonscan.Kind(c.Rest()))
		return
	}
	if err := r.room(); err != nil {
		c.Fail("%s", err)
		return
	}
	if r.columns != nil {
		r.named = true
		r.mapped(c, &rec)
	} else {
		r.members(c, &rec, JSONAny)
	}
	if slices.ContainsFunc(rec.Inputs, func(f Field) bool { return f.Value.Form == V2Raw }) {
		c.Fail("binary_data_size: only a file of one body with `format: v2` has raw data behind its JSON")
	}
	r.Records = append(r.Records, rec)
}

// members reads a row whose members stand under their own names.
func (r *Rows) members(c *jsonscan.Scanner, rec *Record, form Form) {
	start := len(r.scratch)
	for c.Enter('{'); c.More('}'); {
		name := r.names.of(c.Key())
		if form == JSONAny && r.part(c, rec, name) {
			continue
		}
		v := Value{Form: form, Text: c.Value()}
		meta := slices.Contains(aboutRow[:], name)
		if meta {
			rec.about(name, v.Text)
		}
		r.put(c, start, Field{name, v, meta})
	}
	rec.Inputs = append(r.take(start), rec.Inputs...)
}

// part reads a member that holds several of a row's values.
func (r *Rows) part(c *jsonscan.Scanner, rec *Record, name string) bool {
	open := c.Peek()
	switch name {
	case "inputs", "outputs":
		if open == '[' && startsMap(c.Rest()[1:]) {
			if name == "inputs" {
				r.v2Inputs(c, rec)
			} else {
				rec.Wanted = r.v2Outputs(c)
			}
			return true
		}
		if open == '{' && !wrapper(c.Rest()) {
			list := r.fields(c, JSONAny)
			if name == "inputs" {
				rec.Inputs = append(rec.Inputs, list...)
			} else {
				rec.Outputs = append(rec.Outputs, list...)
			}
			return true
		}
	case "parameters":
		if open == '{' && !wrapper(c.Rest()) {
			rec.Parameters = append(rec.Parameters, r.fields(c, JSONAny)...)
			return true
		}
	}
	return false
}

func startsMap(b []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) }

// wrapper reports whether the map that b starts with is that of one tensor.
func wrapper(b []byte) bool {
	c := jsonscan.Strict(b)
	c.Enter('{')
	key := string(c.Key())
	return key == "content" || key == "b64" || key == "shape"
}

// fields reads the members of a map.
func (r *Rows) fields(c *jsonscan.Scanner, form Form) []Field {
	start := len(r.scratch)
	for c.Enter('{'); c.More('}'); {
		name := r.names.of(c.Key())
		r.put(c, start, Field{Name: name, Value: Value{Form: form, Text: c.Value()}})
	}
	return r.take(start)
}

// put adds a field to those read since start, whose names must differ.
func (r *Rows) put(c *jsonscan.Scanner, start int, f Field) {
	if there, _ := Find(r.scratch[start:], f.Name); there != nil {
		c.Fail("duplicate %q", f.Name)
	}
	r.scratch = append(r.scratch, f)
}

// take gives the fields read since start, to be kept. Fields of many rows share a block of memory.
func (r *Rows) take(start int) []Field {
	list := r.scratch[start:]
	r.scratch = r.scratch[:start]
	if len(list) == 0 {
		return nil
	}
	if len(r.block) < len(list) {
		r.block = make([]Field, max(256, len(list)))
	}
	kept := r.block[:len(list):len(list)]
	r.block = r.block[len(list):]
	copy(kept, list)
	return kept
}

// about takes what a member says about the row; text is JSON: a scalar, or a list of one.
func (rec *Record) about(name string, text []byte) {
	text = alone(text)
	switch name {
	case "timestamp":
		rec.Timestamp = text
	case "delay":
		rec.Delay = text
	case "session_id":
		rec.Session = plainText(text)
	case "id":
		rec.id = plainText(text)
	}
}

// alone is the only element of a list, and any other value as it stands.
func alone(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if inner, ok := bytes.CutPrefix(text, []byte("[")); ok {
		return bytes.TrimSpace(bytes.TrimSuffix(inner, []byte("]")))
	}
	return text
}

// plainText is a JSON string's text, and any other value as it stands.
func plainText(text []byte) string {
	if len(text) > 0 && text[0] == '"' {
		c := jsonscan.Strict(text)
		return string(c.Text())
	}
	if string(text) == "null" {
		return ""
	}
	return string(text)
}

// mapped reads a row whose columns the plan names.
func (r *Rows) mapped(c *jsonscan.Scanner, rec *Record) {
	for c.Enter('{'); c.More('}'); {
		column := r.names.of(c.Key())
		text := c.Value()
		if !c.OK() || string(text) == "null" {
			continue // not given
		}
		for _, f := range r.columns[column] {
			r.used[f.Name] = true
			r.assign(rec, f.Field, Value{Form: JSONAny, Text: text})
		}
	}
}

// assign gives a field of a record its value.
func (r *Rows) assign(rec *Record, name string, v Value) {
	part, rest, dotted := strings.Cut(name, ".")
	switch {
	case dotted && part == "inputs":
		rec.Inputs = append(rec.Inputs, Field{Name: rest, Value: v})
	case dotted && part == "outputs":
		rec.Outputs = append(rec.Outputs, Field{Name: rest, Value: v})
	case dotted && part == "parameters":
		rec.Parameters = append(rec.Parameters, Field{Name: rest, Value: v})
	case v.Form == Cell:
		rec.aboutCell(name, v.Text)
	default:
		rec.about(name, v.Text)
	}
}

// Scalar returns a value as bool, int64, float64 or string; nil if it is none.
func Scalar(v *Value) (any, bool) {
	text := string(v.Text)
	switch {
	case text == "true" || text == "false":
		return text == "true", true
	case jsonscan.IsNumber(v.Text):
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, true
		}
		f, err := strconv.ParseFloat(text, 64)
		return f, err == nil
	case v.Form == Cell:
		if text == "" {
			return nil, true
		}
		return text, true
	case text == "null":
		return nil, true
	case jsonscan.Kind(v.Text) == "a string":
		return plainText(v.Text), true
	}
	return nil, false
}
