package format

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario"
)

// Rows of jsonl, json and csv files, and those in the plan:
//
//	row   := { member, … }
//	member := tensorName: data | "inputs": {tensorName: data, …} | "outputs": {tensorName: data, …}
//	        | "parameters": {name: scalar, …} | "timestamp": number | "delay": number
//	        | "session_id": text | "id": text
//	        | "inputs": [v2 input, …] | "outputs": [v2 output, …]     as in a KServe v2 body
//	data  := scalar | tensor as in perf_analyzer's JSON
//
// With `columns` only the columns that are named there are read, each as the field that the plan says.

// aboutRow lists the members that say something about the row; a model may have an input of such a name.
var aboutRow = [...]string{"timestamp", "delay", "session_id", "id", "model"}

// readLines reads one row from each line.
func (r *reader) readLines(data []byte) error { return r.eachLine(data, r.row) }

// eachLine calls read for the row on each line.
func (r *reader) eachLine(data []byte, read func(c *jsonscan.Scanner, number int)) error {
	r.from.Unit = "line"
	found := false
	number := 0
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		number++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		found = true
		c := jsonscan.Strict(line)
		read(&c, number)
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

// readPlan reads the rows that the plan holds.
func (r *reader) readPlan(rows []scenario.Row) {
	for i, row := range rows {
		r.from = &Origin{Name: "rows", dir: filepath.Dir(row.Pos.File), Pos: row.Pos, Unit: "row"}
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
	if r.whole && r.columns.fields == nil {
		r.bodyRow(c, number)
		return
	}
	rec := Record{From: r.from, Stream: -1, Number: number}
	if c.Peek() != '{' {
		c.Fail("a row is a map, found %s", jsonscan.Kind(c.Rest()))
		return
	}
	if err := r.room(); err != nil {
		c.Fail("%s", err)
		return
	}
	if r.columns.fields != nil {
		r.columns.read = true
		for c.Enter('{'); c.More('}'); {
			name := r.fields.name(c.Key())
			text := c.Value()
			if !c.OK() || string(text) == "null" {
				continue // not given
			}
			for _, field := range r.columns.of(name) {
				rec.assign(field, Value{Form: JSONAny, Text: text})
			}
		}
	} else {
		r.fields.members(c, &rec, JSONAny)
	}
	if slices.ContainsFunc(rec.Inputs, func(f Field) bool { return f.Value.Form == V2Raw }) {
		c.Fail("binary_data_size: only a file of one body with `format: v2` has raw data behind its JSON")
	}
	r.Records = append(r.Records, rec)
}

// fieldReader reads the fields of one row after the other. Equal names are one string, and the lists of
// many rows share a block of memory.
type fieldReader struct {
	names   map[string]string
	scratch []Field // of the row that is being read
	block   []Field
}

func (r *fieldReader) name(b []byte) string {
	if s, ok := r.names[string(b)]; ok {
		return s
	}
	s := string(b)
	r.names[s] = s
	return s
}

// members reads a row whose members have their own names.
func (r *fieldReader) members(c *jsonscan.Scanner, rec *Record, form Form) {
	start := len(r.scratch)
	for c.Enter('{'); c.More('}'); {
		name := r.name(c.Key())
		if form == JSONAny && r.part(c, rec, name) {
			continue
		}
		v := Value{Form: form, Text: c.Value()}
		meta := slices.Contains(aboutRow[:], name)
		if meta {
			rec.about(name, v)
		}
		r.put(c, start, Field{name, v, meta})
	}
	rec.Inputs = append(r.take(start), rec.Inputs...)
}

// part reads a member that holds several of a row's values, and reports whether it is one.
func (r *fieldReader) part(c *jsonscan.Scanner, rec *Record, name string) bool {
	list, open := rec.part(name), c.Peek()
	switch {
	case list == nil:
		return false
	case open == '{' && !wrapper(c.Rest()):
		start := len(r.scratch)
		for c.Enter('{'); c.More('}'); {
			name := r.name(c.Key())
			r.put(c, start, Field{Name: name, Value: Value{Form: JSONAny, Text: c.Value()}})
		}
		*list = append(*list, r.take(start)...)
	case open != '[' || !startsMap(c.Rest()[1:]):
		return false
	case name == "inputs":
		r.inputs(c, rec)
	case name == "outputs":
		r.outputs(c, rec)
	default:
		return false
	}
	return true
}

func startsMap(b []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) }

// wrapper reports whether b starts with the map of one tensor.
func wrapper(b []byte) bool {
	c := jsonscan.Strict(b)
	c.Enter('{')
	key := string(c.Key())
	return key == "content" || key == "b64" || key == "shape"
}

// put adds a field to those read since start, whose names must differ.
func (r *fieldReader) put(c *jsonscan.Scanner, start int, f Field) {
	if there, _ := Find(r.scratch[start:], f.Name); there != nil {
		c.Fail("duplicate %q", f.Name)
	}
	r.scratch = append(r.scratch, f)
}

// take returns the fields read since start, to be kept.
func (r *fieldReader) take(start int) []Field {
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

// about reads what a member says about the row: a scalar, or in JSON a list of one. An empty cell says
// nothing.
func (rec *Record) about(name string, v Value) {
	text := bytes.TrimSpace(v.Text)
	word := string(text)
	if v.Form != Cell {
		text = alone(text)
		word = plainText(text)
	} else if len(text) == 0 {
		return
	}
	switch name {
	case "timestamp":
		rec.Timestamp = text
	case "delay":
		rec.Delay = text
	case "session_id":
		rec.Session = word
	case "id":
		rec.id = word
	}
}

// alone returns the only element of a list, and any other value unchanged.
func alone(text []byte) []byte {
	if inner, ok := bytes.CutPrefix(text, []byte("[")); ok {
		return bytes.TrimSpace(bytes.TrimSuffix(inner, []byte("]")))
	}
	return text
}

// plainText returns a JSON string's text, "" for null, and any other value unchanged.
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

// part returns the list of a record's fields with a name, nil if it is the name of none.
func (rec *Record) part(name string) *[]Field {
	switch name {
	case "inputs":
		return &rec.Inputs
	case "outputs":
		return &rec.Outputs
	case "parameters":
		return &rec.Parameters
	}
	return nil
}

// assign gives a field of a record its value.
func (rec *Record) assign(name string, v Value) {
	part, rest, dotted := strings.Cut(name, ".")
	if list := rec.part(part); dotted && list != nil {
		*list = append(*list, Field{Name: rest, Value: v})
		return
	}
	if !slices.Contains(aboutRow[:], name) { // a member of a row of text
		rec.Inputs = append(rec.Inputs, Field{Name: name, Value: v})
		return
	}
	rec.about(name, v)
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
