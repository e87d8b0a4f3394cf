package format

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario"
)

// readTable reads CSV (RFC 4180). The first line names the columns: fields of a row (timestamp,
// session_id, delay, id, inputs.NAME, outputs.NAME, parameters.NAME), and inputs by their own
// names.
func (r *Rows) readTable(data []byte) error {
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

// columnFields are the fields that each column of a table is read as.
func (r *Rows) columnFields(head []string) ([][]string, error) {
	fields := make([][]string, len(head))
	for i, name := range head {
		name = strings.TrimSpace(name)
		if slices.Contains(head[:i], name) {
			return nil, fmt.Errorf("line 1: duplicate column %q", name)
		}
		if r.columns == nil {
			fields[i] = []string{ColumnField(name)}
			continue
		}
		r.named = true
		for _, c := range r.columns[name] {
			r.used[name] = true
			fields[i] = append(fields[i], c.Field)
		}
	}
	return fields, nil
}

// ColumnField returns the field that a column is read as if the plan does not say.
func ColumnField(column string) string {
	part, _, dotted := strings.Cut(column, ".")
	inPart := dotted && (part == "inputs" || part == "outputs" || part == "parameters")
	if inPart || slices.Contains(aboutRow[:], column) {
		return column
	}
	return "inputs." + column
}

func (r *Rows) cells(rec *Record, fields [][]string, cells []string) {
	start := len(r.scratch)
	for i, text := range cells {
		for _, f := range fields[i] {
			v := Value{Form: Cell, Text: []byte(text)}
			if name, ok := strings.CutPrefix(f, "inputs."); ok {
				r.scratch = append(r.scratch, Field{Name: name, Value: v})
				continue
			}
			r.assign(rec, f, v)
		}
	}
	rec.Inputs = r.take(start)
}

// aboutCell takes what a cell says about the row.
func (rec *Record) aboutCell(name string, text []byte) {
	switch text = bytes.TrimSpace(text); {
	case len(text) == 0:
	case name == "timestamp":
		rec.Timestamp = text
	case name == "delay":
		rec.Delay = text
	case name == "session_id":
		rec.Session = string(text)
	case name == "id":
		rec.id = string(text)
	}
}

// tableError says where a table is broken.
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

// byColumn are the fields that a dataset's `columns` name, by column; nil: it names none.
func byColumn(d *scenario.Dataset) map[string][]scenario.Column {
	if len(d.Columns) == 0 {
		return nil
	}
	all := make(map[string][]scenario.Column)
	for _, c := range d.Columns {
		all[c.Name] = append(all[c.Name], c)
	}
	return all
}
