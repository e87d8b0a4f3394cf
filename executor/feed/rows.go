package feed

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
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
func (r *reader) readList(data []byte) error {
	r.from.unit = "row"
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
func (r *reader) readPlan(rows []scenario.Row) {
	for i, row := range rows {
		r.from = &origin{name: "rows", pos: row.Pos, unit: "row"}
		c := jsonscan.Strict([]byte(row.JSON))
		r.row(&c, i)
		c.End()
		if !c.OK() {
			r.fail(row.Pos, codeFile, "row %d: %s", i, c.Err())
		}
	}
}

// row reads a row.
func (r *reader) row(c *jsonscan.Scanner, number int) {
	rec := record{from: r.from, stream: -1, number: number}
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
		r.members(c, &rec, jsonAny)
	}
	if slices.ContainsFunc(rec.inputs, func(f field) bool { return f.value.form == v2Raw }) {
		c.Fail("binary_data_size: only a file of one body with `format: v2` has raw data behind its JSON")
	}
	r.records = append(r.records, rec)
}

// members reads a row whose members stand under their own names.
func (r *reader) members(c *jsonscan.Scanner, rec *record, form form) {
	start := len(r.scratch)
	for c.Enter('{'); c.More('}'); {
		name := r.names.of(c.Key())
		if form == jsonAny && r.part(c, rec, name) {
			continue
		}
		v := value{form: form, text: c.Value()}
		meta := slices.Contains(aboutRow[:], name)
		if meta {
			rec.about(name, v.text)
		}
		r.put(c, start, field{name, v, meta})
	}
	rec.inputs = append(r.take(start), rec.inputs...)
}

// part reads a member that holds several of a row's values.
func (r *reader) part(c *jsonscan.Scanner, rec *record, name string) bool {
	open := c.Peek()
	switch name {
	case "inputs", "outputs":
		if open == '[' && startsMap(c.Rest()[1:]) {
			if name == "inputs" {
				r.v2Inputs(c, rec)
			} else {
				rec.wanted = r.v2Outputs(c)
			}
			return true
		}
		if open == '{' && !wrapper(c.Rest()) {
			list := r.fields(c, jsonAny)
			if name == "inputs" {
				rec.inputs = append(rec.inputs, list...)
			} else {
				rec.outputs = append(rec.outputs, list...)
			}
			return true
		}
	case "parameters":
		if open == '{' && !wrapper(c.Rest()) {
			rec.parameters = append(rec.parameters, r.fields(c, jsonAny)...)
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
func (r *reader) fields(c *jsonscan.Scanner, form form) []field {
	start := len(r.scratch)
	for c.Enter('{'); c.More('}'); {
		name := r.names.of(c.Key())
		r.put(c, start, field{name: name, value: value{form: form, text: c.Value()}})
	}
	return r.take(start)
}

// put adds a field to those read since start, whose names must differ.
func (r *reader) put(c *jsonscan.Scanner, start int, f field) {
	if there, _ := find(r.scratch[start:], f.name); there != nil {
		c.Fail("duplicate %q", f.name)
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
		c := jsonscan.Strict(text)
		return string(c.Text())
	}
	if string(text) == "null" {
		return ""
	}
	return string(text)
}

// mapped reads a row whose columns the plan names.
func (r *reader) mapped(c *jsonscan.Scanner, rec *record) {
	for c.Enter('{'); c.More('}'); {
		column := r.names.of(c.Key())
		text := c.Value()
		if !c.OK() || string(text) == "null" {
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
