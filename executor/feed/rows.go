package feed

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
)

// Rows of jsonl, json and csv files, and those that the plan holds:
//
//	row   := { member, … }
//	member := tensorName: data | "inputs": {tensorName: data, …} | "outputs": {tensorName: data, …}
//	        | "parameters": {name: scalar, …} | "timestamp": number | "delay": number | "session_id": text | "id": text
//	        | "inputs": [v2 input, …] | "outputs": [v2 output, …]     as in a KServe v2 body
//	data  := scalar | tensor as in perf_analyzer's JSON
//
// With `columns` only the columns that are named there are read, each as the field that it is named for.

// aboutRow are the members that say something about the row; a model may have an input with such a name all the same.
var aboutRow = [...]string{"timestamp", "delay", "session_id", "id", "model"}

// readLines reads a row a line.
func (r *reader) readLines(data []byte) error {
	r.from.unit = "line"
	found := false
	for number := 1; len(data) > 0; number++ {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		found = true
		c := cursor{b: line}
		r.row(&c, number)
		c.end()
		if c.err != nil {
			return fmt.Errorf("line %d, column %d: %w", number, c.at+1, c.err)
		}
	}
	if !found {
		return errors.New("there are no rows in this file")
	}
	return nil
}

// readList reads a JSON list of rows.
func (r *reader) readList(data []byte) error {
	r.from.unit = "row"
	c := cursor{b: data}
	if c.peek() != '[' {
		c.fail("the file must be a list of rows, found %s", kind(c.rest()))
	}
	number := 0
	for c.open('['); c.more(']'); number++ {
		r.row(&c, number)
	}
	c.end()
	if c.err == nil && number == 0 {
		return errors.New("there are no rows in this file")
	}
	return c.mistake()
}

// readPlan reads the rows that stand in the plan.
func (r *reader) readPlan(rows []scenario.Row) {
	for i, row := range rows {
		r.from = &origin{name: "rows", pos: row.Pos, unit: "row"}
		c := cursor{b: []byte(row.JSON)}
		r.row(&c, i)
		c.end()
		if c.err != nil {
			r.fail(row.Pos, codeFile, "row %d: %s", i, c.err)
		}
	}
}

// row reads a row.
func (r *reader) row(c *cursor, number int) {
	rec := record{from: r.from, stream: -1, number: number}
	if c.peek() != '{' {
		c.fail("a row is a map, found %s", kind(c.rest()))
		return
	}
	if err := r.room(); err != nil {
		c.fail("%s", err)
		return
	}
	if r.columns != nil {
		r.named = true
		r.mapped(c, &rec)
	} else {
		r.members(c, &rec, jsonAny)
	}
	if slices.ContainsFunc(rec.inputs, func(f field) bool { return f.value.form == v2Raw }) {
		c.fail("binary_data_size: only a file of one body with `format: v2` has raw data behind its JSON")
	}
	r.records = append(r.records, rec)
}

// members reads a row whose members stand under their own names.
func (r *reader) members(c *cursor, rec *record, form form) {
	start := len(r.scratch)
	for c.open('{'); c.more('}'); {
		name := r.names.of(c.key())
		if form == jsonAny && r.part(c, rec, name) {
			continue
		}
		v := value{form: form, text: c.value()}
		meta := slices.Contains(aboutRow[:], name)
		if meta {
			rec.about(name, v.text)
		}
		r.put(c, start, field{name, v, meta})
	}
	rec.inputs = append(r.take(start), rec.inputs...)
}

// part reads a member that holds several of a row's values.
func (r *reader) part(c *cursor, rec *record, name string) bool {
	open := c.peek()
	switch name {
	case "inputs", "outputs":
		if open == '[' && startsMap(c.rest()[1:]) {
			if name == "inputs" {
				r.v2Inputs(c, rec)
			} else {
				rec.wanted = r.v2Outputs(c)
			}
			return true
		}
		if open == '{' && !wrapper(c.rest()) {
			list := r.fields(c, jsonAny)
			if name == "inputs" {
				rec.inputs = append(rec.inputs, list...)
			} else {
				rec.outputs = append(rec.outputs, list...)
			}
			return true
		}
	case "parameters":
		if open == '{' && !wrapper(c.rest()) {
			rec.parameters = append(rec.parameters, r.fields(c, jsonAny)...)
			return true
		}
	}
	return false
}

func startsMap(b []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) }

// wrapper reports whether the map that b starts with is that of one tensor.
func wrapper(b []byte) bool {
	c := cursor{b: b}
	c.open('{')
	key := string(c.key())
	return key == "content" || key == "b64" || key == "shape"
}

// fields reads the members of a map.
func (r *reader) fields(c *cursor, form form) []field {
	start := len(r.scratch)
	for c.open('{'); c.more('}'); {
		name := r.names.of(c.key())
		r.put(c, start, field{name: name, value: value{form: form, text: c.value()}})
	}
	return r.take(start)
}

// put adds a field to those read since start, whose names must differ.
func (r *reader) put(c *cursor, start int, f field) {
	if there, _ := find(r.scratch[start:], f.name); there != nil {
		c.fail("duplicate %q", f.name)
	}
	r.scratch = append(r.scratch, f)
}

// take gives the fields read since start, to be kept. Fields of many rows share a block of memory.
func (r *reader) take(start int) []field {
	list := r.scratch[start:]
	r.scratch = r.scratch[:start]
	if len(list) == 0 {
		return nil
	}
	if len(r.block) < len(list) {
		r.block = make([]field, max(256, len(list)))
	}
	kept := r.block[:len(list):len(list)]
	r.block = r.block[len(list):]
	copy(kept, list)
	return kept
}

// about takes what a member says about the row; text is JSON: a scalar, or a list of one.
func (rec *record) about(name string, text []byte) {
	text = alone(text)
	switch name {
	case "timestamp":
		rec.timestamp = text
	case "delay":
		rec.delay = text
	case "session_id":
		rec.session = plainText(text)
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
		c := cursor{b: text}
		return string(c.text())
	}
	if string(text) == "null" {
		return ""
	}
	return string(text)
}

// mapped reads a row whose columns the plan names.
func (r *reader) mapped(c *cursor, rec *record) {
	for c.open('{'); c.more('}'); {
		column := r.names.of(c.key())
		text := c.value()
		if c.err != nil || string(text) == "null" {
			continue // not given
		}
		for _, f := range r.columns[column] {
			r.used[f.Name] = true
			r.assign(rec, f.Field, value{form: jsonAny, text: text})
		}
	}
}

// assign gives a field of a record its value.
func (r *reader) assign(rec *record, name string, v value) {
	part, rest, dotted := strings.Cut(name, ".")
	switch {
	case dotted && part == "inputs":
		rec.inputs = append(rec.inputs, field{name: rest, value: v})
	case dotted && part == "outputs":
		rec.outputs = append(rec.outputs, field{name: rest, value: v})
	case dotted && part == "parameters":
		rec.parameters = append(rec.parameters, field{name: rest, value: v})
	case v.form == cell:
		rec.aboutCell(name, v.text)
	default:
		rec.about(name, v.text)
	}
}
