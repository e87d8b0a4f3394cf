package feed

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxFile caps the data files of a dataset: they are read whole.
const maxFile = 1 << 30

// maxRecords caps the rows that a dataset has as text: each takes some 600 bytes beside it, however short it is.
const maxRecords = 1 << 20

// maxRows caps the rows of an array, whose entries may be small, or nothing at all.
const maxRows = 1 << 23

const (
	codeFile    = "data-file"
	codeUnbuilt = "not-built-yet"
	codeClasses = "no-classes"
	codeUnasked = "not-asked-for"
	codeUnread  = "nothing-reads"
)

// Formats that are read as rows of tensors.
const (
	formatPerfAnalyzer = "perf_analyzer"
	formatV2           = "v2"
	formatLines        = "jsonl"
	formatList         = "json"
	formatTable        = "csv"
	formatNpy          = "npy"
	formatRaw          = "raw"
)

// reader reads the rows of a dataset, as far as that is possible without a model.
type reader struct {
	dataset *scenario.Dataset
	columns map[string][]scenario.Column // what the plan's `columns` say, by column; nil: nothing
	used    map[string]bool              // columns that were there
	named   bool                         // there are rows whose columns the plan names
	records []record
	tensors []tensorFile // of formats where a file is one tensor; which is known with the model
	diags   source.Diagnostics

	from    *origin // being read
	left    int64   // bytes that may still be read
	rows    int     // records that were read
	most    int     // and may be: maxRecords
	names   names
	scratch []field
	block   []field
}

// read reads all that a dataset names. Mistakes in it are diagnostics.
func read(d *scenario.Dataset) *reader {
	r := newReader(d)
	switch d.Source {
	case "rows":
		r.readPlan(d.Rows)
	case "dir":
		r.from = &origin{name: filepath.Base(d.Dir.Name), pos: d.Dir.Pos}
		if err := r.readFolder(d.Dir.Name, d.Format); err != nil {
			r.fail(d.Dir.Pos, codeFile, "%s: %s", filepath.Base(d.Dir.Name), err)
		}
	default:
		for _, f := range d.Files {
			r.readFile(f)
		}
	}
	if !r.diags.HasErrors() {
		r.unused()
		r.sequences()
	}
	return r
}

func newReader(d *scenario.Dataset) *reader {
	return &reader{dataset: d, columns: byColumn(d), used: map[string]bool{}, left: maxFile, most: maxRecords, names: names{}}
}

// room makes room for one more row, or says that there is none.
func (r *reader) room() error {
	if r.rows++; r.rows > r.most {
		return fmt.Errorf("the dataset has more than %d rows, no more can be held: measure with a part of them", r.most)
	}
	return nil
}

func (r *reader) fail(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	r.diags = append(r.diags, source.Diagnostic{Severity: source.Error, Code: code, Pos: pos, Summary: fmt.Sprintf(format, args...)})
	return &r.diags[len(r.diags)-1]
}

// readFile reads a file of any format.
func (r *reader) readFile(f scenario.Path) {
	r.from = &origin{name: filepath.Base(f.Name), pos: f.Pos, several: len(r.dataset.Files) > 1}
	data, err := readLimited(f.Name, r.left)
	if err == nil {
		r.left -= int64(len(data))
		err = r.parse(f.Name, data)
	}
	if err != nil {
		r.fail(f.Pos, codeFile, "%s: %s", r.from.name, err)
	}
}

// byteOrderMark is in front of texts that some programs write.
const byteOrderMark = "\xef\xbb\xbf"

// parse reads a file's rows in its format.
func (r *reader) parse(name string, data []byte) error {
	if r.dataset.Source == "bodies" {
		r.records = append(r.records, record{from: r.from, stream: -1, body: data})
		return nil
	}
	format, text := r.dataset.Format, bytes.TrimPrefix(data, []byte(byteOrderMark))
	if format == "" {
		var err error
		if format, err = formatOf(name, text); err != nil {
			return err
		}
	}
	switch format {
	case formatPerfAnalyzer:
		r.from.unit, r.from.ms = "row", true
		return r.readPerfAnalyzer(text)
	case formatV2:
		return r.readV2(text)
	case formatLines:
		return r.readLines(text)
	case formatList:
		return r.readList(text)
	case formatTable:
		return r.readTable(text)
	}
	return r.readTensorFile(format, data)
}

// formatOf is the format of a file whose plan does not say it: by its extension, else by how it begins.
func formatOf(name string, data []byte) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case ext == ".jsonl" || ext == ".ndjson":
		return formatLines, nil
	case ext == ".csv":
		return formatTable, nil
	case ext == ".npy":
		return formatNpy, nil
	case slices.Contains(rawExtensions[:], ext):
		return formatRaw, nil
	}
	if strings.HasPrefix(string(data[:min(len(data), len(npyMagic))]), npyMagic) {
		return formatNpy, nil
	}
	c := jsonscan.Strict(data)
	switch c.Peek() {
	case '[':
		c.Enter('[')
		if c.More(']') && c.Peek() == '{' && isInput(c.Rest()) {
			return formatV2, nil
		}
		return formatList, nil
	case '{':
		return mapFormat(&c)
	}
	return "", errors.New("what form this has cannot be told from its name or its content: say it with `format`")
}

// mapFormat tells what a file that begins with a map holds.
func mapFormat(c *jsonscan.Scanner) (string, error) {
	switch key := firstOf(c.Rest(), "data", "validation_data", "inputs", "datatype"); key {
	case "data", "validation_data":
		return formatPerfAnalyzer, nil
	case "datatype":
		return formatV2, nil
	case "inputs":
		for c.Enter('{'); c.More('}'); c.Skip() {
			if string(c.Key()) == key && c.Peek() == '[' && startsMap(c.Rest()[1:]) {
				return formatV2, nil
			}
		}
	default:
		c.Skip()
	}
	switch {
	case !c.OK():
		return "", c.Mistake()
	case c.Peek() == '{':
		return formatLines, nil
	}
	return "", errors.New(`there are no rows: the file must hold {"data": [row, …]}, [row, …], or a row a line`)
}

// unused refuses columns that the plan names and no row has.
func (r *reader) unused() {
	for _, c := range r.dataset.Columns {
		if !r.named && len(r.records)+len(r.tensors) > 0 {
			r.fail(c.Pos, "column", "`columns` is for rows of jsonl, json and csv files; these name their tensors themselves")
			return
		}
		if !r.used[c.Name] && len(r.records) > 0 {
			r.fail(c.Pos, "column", "no row has a column %q", c.Name)
		}
	}
}

// sequences checks that all rows are parts of sequences, or none.
func (r *reader) sequences() {
	for i := range r.records {
		a, b := &r.records[0], &r.records[i]
		if (a.stream >= 0) != (b.stream >= 0) {
			r.fail(b.from.pos, codeFile, "%s: rows and lists of rows are mixed: either all rows of all files are in lists, which are sequences, or none", b.from.name)
			return
		}
		if a.stream < 0 && (a.session == "") != (b.session == "") {
			r.fail(b.from.pos, codeFile, "%s and %s: one has a session_id and the other has none", a.name(), b.name())
			return
		}
	}
}

// readLimited reads a regular file of at most limit bytes.
func readLimited(name string, limit int64) ([]byte, error) {
	data, err := regular.Read(name, limit)
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file")
	case errors.As(err, &at):
		return nil, at.Err
	}
	return data, err
}
