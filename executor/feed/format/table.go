package format

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// readTable reads CSV (RFC 4180). The first line names the columns: fields of a row (timestamp,
// session_id, delay, id, inputs.NAME, outputs.NAME, parameters.NAME), and inputs by their own
// names.
func (r *reader) readTable(data []byte) error {
	r.from.Unit = "line"
	table := csv.NewReader(bytes.NewReader(data))
	head, err := table.Read()
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("the file is empty")
	case err != nil:
		return tableError(err)
	}
	fields, err := r.columnFields(head)
	if err != nil {
		return err
	}
	table.ReuseRecord = true
	before := len(r.Records)
	for {
		cells, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return tableError(err)
		}
		if err := r.room(); err != nil {
			return err
		}
		line, _ := table.FieldPos(0)
		rec := Record{From: r.from, Stream: -1, Number: line}
		r.cells(&rec, fields, cells)
		r.Records = append(r.Records, rec)
	}
	if len(r.Records) == before {
		return errors.New("there are no rows below the names of the columns")
	}
	return nil
}

// columnFields returns the fields that each column of a table is read as.
func (r *reader) columnFields(head []string) ([][]string, error) {
	fields := make([][]string, len(head))
	for i, name := range head {
		name = strings.TrimSpace(name)
		if slices.Contains(head[:i], name) {
			return nil, fmt.Errorf("line 1: duplicate column %q", name)
		}
		if fields[i] = []string{ColumnField(name)}; r.columns.fields != nil {
			fields[i] = r.columns.of(name)
		}
	}
	return fields, nil
}

// ColumnField returns the field that a column is read as if the plan does not say.
func ColumnField(column string) string {
	part, _, dotted := strings.Cut(column, ".")
	if dotted && new(Record).part(part) != nil || slices.Contains(aboutRow[:], column) {
		return column
	}
	return "inputs." + column
}

func (r *reader) cells(rec *Record, fields [][]string, cells []string) {
	start := len(r.fields.scratch)
	for i, text := range cells {
		for _, f := range fields[i] {
			v := Value{Form: Cell, Text: []byte(text)}
			if name, ok := strings.CutPrefix(f, "inputs."); ok {
				r.fields.scratch = append(r.fields.scratch, Field{Name: name, Value: v})
				continue
			}
			rec.assign(f, v)
		}
	}
	rec.Inputs = append(r.fields.take(start), rec.Inputs...)
}

// tableError returns an error with the place at which a table is broken.
func tableError(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		return err
	}
	if errors.Is(parse.Err, csv.ErrFieldCount) {
		return fmt.Errorf("line %d: the row has another number of cells than the line of names", parse.Line)
	}
	return fmt.Errorf("line %d, column %d: %w", parse.Line, parse.Column, parse.Err)
}

// columns are the columns that a plan names.
type columns struct {
	fields map[string][]string // that the plan reads each column as; nil: it names none
	found  map[string]bool     // columns that are in the data
	read   bool                // there are rows whose columns the plan names
}

// of returns the fields that a column of the data is read as.
func (c *columns) of(name string) []string {
	c.read, c.found[name] = true, true
	return c.fields[name]
}
