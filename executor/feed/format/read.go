// Package format reads data files: the rows of perf_analyzer's JSON, KServe v2 bodies, JSON lines
// and lists, CSV, NumPy arrays, raw tensors and traces. What a row means to a model is left to
// executor/feed.
package format

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/regular"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxFile limits the bytes of a dataset's files, which are read whole.
const maxFile = 1 << 30

// maxRecords limits the rows of a dataset of text: each takes some 600 bytes besides it, however short.
const maxRecords = 1 << 20

// MaxRows limits the rows of an array, whose entries may be small or empty.
const MaxRows = 1 << 23

const (
	codeFile   = "data-file"
	codeUnread = "nothing-reads"
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

// rowFormats holds the readers of formats of rows; a file of any other format is a tensor.
var rowFormats = map[string]func(*reader, []byte) error{
	formatPerfAnalyzer: (*reader).readPerfAnalyzer,
	formatV2:           (*reader).readV2,
	formatLines:        (*reader).readLines,
	formatList:         (*reader).readList,
	formatTable:        (*reader).readTable,
	Mooncake:           (*reader).readTrace,
	ShareGPT:           (*reader).readShareGPT,
	OpenAIBatch:        (*reader).readBatch,
	HAR:                (*reader).readHAR,
	Vegeta:             (*reader).readVegeta,
	Multipart:          (*reader).readForms,
	formatTextProto:    (*reader).readTextProto,
	Frames:             (*reader).readFrames,
}

// Rows holds the rows of a dataset, read as far as that is possible without a model.
type Rows struct {
	Records []Record
	Tensors []TensorFile // of formats where a file is one tensor; which one is known with the model
	Diags   source.Diagnostics
}

// reader reads the rows of a dataset. The limits are those of the whole dataset.
type reader struct {
	Rows
	dataset *scenario.Dataset
	columns columns
	fields  fieldReader
	from    *Origin // being read
	whole   bool    // rows are whole bodies …
	several bool    // … of any number of messages
	left    int64   // bytes that may still be read
	rows    int     // records that may still be read
}

// Read reads the files and rows of a dataset. Mistakes in them are diagnostics.
func Read(d *scenario.Dataset) *Rows {
	r := newReader(d)
	r.readAll()
	return &r.Rows
}

func (r *reader) readAll() {
	switch d := r.dataset; d.Source {
	case "rows":
		r.readPlan(d.Rows)
	case "dir":
		r.from = &Origin{Name: filepath.Base(d.Dir.Name), Pos: d.Dir.Pos}
		if err := r.readFolder(d.Dir.Name, d.Format); err != nil {
			r.fail(d.Dir.Pos, codeFile, "%s: %s", filepath.Base(d.Dir.Name), err)
		}
	case "command":
		r.readOutput()
	default:
		for _, f := range r.dataset.Files {
			r.readFile(f)
		}
	}
	if !r.Diags.HasErrors() {
		r.checkColumns()
		r.checkSequences()
		r.checkHistory()
	}
}

func newReader(d *scenario.Dataset) *reader {
	r := &reader{
		dataset: d, left: maxFile, rows: maxRecords, fields: fieldReader{names: map[string]string{}},
		columns: columns{found: map[string]bool{}},
	}
	for _, c := range d.Columns {
		if r.columns.fields == nil {
			r.columns.fields = map[string][]string{}
		}
		r.columns.fields[c.Name] = append(r.columns.fields[c.Name], c.Field)
	}
	return r
}

// room takes the room of one more row, or returns an error if there is none.
func (r *reader) room() error {
	if r.rows--; r.rows < 0 {
		return fmt.Errorf("the dataset has more than %d rows, no more can be held: measure with a part "+
			"of them",
			maxRecords)
	}
	return nil
}

func (r *Rows) fail(pos source.Pos, code, format string, args ...any) *source.Diagnostic {
	r.Diags = append(r.Diags, source.Errorf(code, format, args...).At("", pos, 0))
	return &r.Diags[len(r.Diags)-1]
}

// readFile reads a file of any format.
func (r *reader) readFile(f scenario.Path) {
	r.from = &Origin{
		Name: filepath.Base(f.Name), dir: filepath.Dir(f.Name), Pos: f.Pos, Several: len(r.dataset.Files) > 1,
	}
	data, err := ReadFile(f.Name, r.left)
	if err == nil {
		r.left -= int64(len(data))
		err = r.parse(f.Name, data)
	}
	if err != nil {
		r.fail(f.Pos, codeFile, "%s: %s", r.from.Name, err)
	}
}

// MaxOutput limits the bytes that a program may print.
const MaxOutput = maxFile

// readOutput reads what the program of the dataset has printed.
func (r *reader) readOutput() {
	d := r.dataset
	r.from = &Origin{Name: filepath.Base(d.Command[0]), dir: filepath.Dir(d.CommandPos.File), Pos: d.CommandPos}
	if err := r.parse("", d.Output); err != nil {
		r.fail(d.CommandPos, codeFile, "the output of %s: %s", r.from.Name, err)
		return
	}
	inSequence := func(rec Record) bool { return rec.Stream >= 0 || rec.Session != "" }
	if slices.ContainsFunc(r.Records, inSequence) {
		r.fail(d.CommandPos, codeFile, "%s prints sequences or sessions, which must be known before it runs",
			r.from.Name).Help("write its output to a file, and give that: data: {file: FILE}")
	}
}

// byteOrderMark begins the texts of some programs.
const byteOrderMark = "\xef\xbb\xbf"

// parse reads a file's rows in its format.
func (r *reader) parse(name string, data []byte) error {
	if r.dataset.Source == "bodies" {
		body := append([]byte{}, data...) // not nil, which would be no body
		mediaType := MediaType(name)
		if r.dataset.Format == formatTextProto {
			mediaType = backends.TextProto
		}
		r.Records = append(r.Records, Record{From: r.from, Stream: -1, Body: body, Type: mediaType})
		return nil
	}
	format, text := r.dataset.Format, bytes.TrimPrefix(data, []byte(byteOrderMark))
	if format == "" {
		var err error
		if format, err = formatOf(name, text); err != nil {
			return err
		}
	}
	if read := rowFormats[format]; read != nil {
		return read(r, text)
	}
	return r.readTensorFile(format, data)
}

// formatOf returns the format of a file for which the plan names none: by its extension, else by how it
// begins.
func formatOf(name string, data []byte) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(name)); {
	case ext == ".jsonl" || ext == ".ndjson":
		return formatLines, nil
	case ext == ".csv":
		return formatTable, nil
	case ext == ".har":
		return HAR, nil
	case ext == ".npy":
		return formatNpy, nil
	case slices.Contains(rawExtensions[:], ext):
		return formatRaw, nil
	}
	if bytes.HasPrefix(data, []byte(NpyMagic)) {
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
	return "", errors.New(
		"what form this has cannot be told from its name or its content: say it with `format`")
}

// mapFormat returns the format of a file that begins with a map.
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
	return "", errors.New(
		`there are no rows: the file must hold {"data": [row, …]}, [row, …], or a row a line`)
}

// checkColumns refuses columns that the plan names and no row has.
func (r *reader) checkColumns() {
	for _, c := range r.dataset.Columns {
		if !r.columns.read && len(r.Records)+len(r.Tensors) > 0 {
			r.fail(c.Pos, "column",
				"`columns` is for rows of jsonl, json and csv files; these name their tensors themselves")
			return
		}
		if !r.columns.found[c.Name] && len(r.Records) > 0 {
			r.fail(c.Pos, "column", "no row has a column %q", c.Name)
		}
	}
}

// checkSequences refuses rows of which some are parts of sequences and others are not.
func (r *reader) checkSequences() {
	for i := range r.Records {
		a, b := &r.Records[0], &r.Records[i]
		if (a.Stream >= 0) != (b.Stream >= 0) {
			r.fail(b.From.Pos, codeFile,
				"%s: rows and lists of rows are mixed: either all rows of all files are in lists, which are "+
					"sequences, or none", b.From.Name)
			return
		}
		if a.Stream < 0 && (a.Session == "") != (b.Session == "") {
			r.fail(b.From.Pos, codeFile, "%s and %s: one has a session_id and the other has none",
				a.Name(), b.Name())
			return
		}
	}
}

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(name string, limit int64) ([]byte, error) {
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

// CheckKeys refuses a `time_unit` of a dataset whose rows have no time, and a `history` where there are no
// sessions.
func (r *Rows) CheckKeys(d *scenario.Dataset) {
	has := func(rec Record) bool { return rec.Timestamp != nil || rec.Delay != nil }
	if pos := d.TimeUnitPos; pos.Line > 0 && len(r.Diags) == 0 && !slices.ContainsFunc(r.Records, has) {
		r.fail(pos, "no-effect", "\"time_unit\" has no effect: no row has a %q or a \"delay\"", TimestampKey).
			Help("leave the key out")
	}
	inSession := func(rec Record) bool { return rec.Session != "" || rec.Stream >= 0 || d.Format == ShareGPT }
	if pos := d.HistoryPos; pos.Line > 0 && len(r.Diags) == 0 && !slices.ContainsFunc(r.Records, inSession) {
		r.fail(pos, "no-effect", "\"history\" has no effect: no row has a \"session_id\"").
			Help("leave the key out")
	}
}

// Readable reports whether a dataset is rows of tensors, or bodies, that are there: those of a program are
// once it has run.
func Readable(d *scenario.Dataset) bool {
	return (slices.Contains([]string{"file", "dir", "rows", "bodies"}, d.Source) || d.Output != nil) &&
		(rowFormats[d.Format] != nil || slices.Contains([]string{"", formatNpy, formatRaw}, d.Format))
}
