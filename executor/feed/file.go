package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxFile caps the data files of a dataset: they are read whole.
const maxFile = 1 << 30

// step is one row of a file in perf_analyzer's JSON before a model is known:
//
//	file   := { "data": [ step, … ] [, "validation_data": [ step, … ] ] }
//	step   := { tensorName: tensor, … }
//	tensor := array | { "b64": text [, "shape": [d, …]] } | { "content": array | {"b64": text} [, "shape": [d, …]] }
//
// Arrays are flat in row-major order, or nested as the shape. Lists of lists of steps are sequences.
type step struct {
	name    string
	inputs  map[string]json.RawMessage
	outputs map[string]json.RawMessage
	stream  bool // part of a sequence
	first   bool // the first of its sequence
}

// Check reads the files of a dataset as far as that is possible without a model: what validate can know.
// A form of data that cannot be read yet is left alone: the plan says so.
func Check(d *scenario.Dataset) source.Diagnostics {
	if !readable(d) {
		return nil
	}
	steps, diags := readFiles(d)
	if !diags.HasErrors() && len(steps) > 0 && steps[0].stream {
		diags = append(diags, source.Diagnostic{
			Severity: source.Error, Code: "not-built-yet", Pos: d.Pos, Summary: "this version cannot send sequences yet",
		})
	}
	return diags
}

// readable reports whether the form of a dataset's files is one that can be read.
func readable(d *scenario.Dataset) bool { return d.Format == "" || d.Format == "perf_analyzer" }

// readFiles joins the steps of all files of a dataset.
func readFiles(d *scenario.Dataset) ([]step, source.Diagnostics) {
	var steps []step
	var diags source.Diagnostics
	left := int64(maxFile)
	for _, f := range d.Files {
		more, err := readFile(f.Name, &left)
		if err != nil {
			diags = append(diags, source.Diagnostic{
				Severity: source.Error, Code: "data-file", Pos: f.Pos, Summary: fmt.Sprintf("%s: %s", filepath.Base(f.Name), err),
			})
			continue
		}
		if len(steps) > 0 && steps[0].stream != more[0].stream {
			diags = append(diags, source.Diagnostic{
				Severity: source.Error, Code: "data-file", Pos: f.Pos,
				Summary: fmt.Sprintf("%s: rows and lists of rows are mixed: either all rows of all files are in lists, which are sequences, or none", filepath.Base(f.Name)),
			})
			continue
		}
		steps = append(steps, more...)
	}
	return steps, diags
}

// readFile reads the steps of a file, which may have left bytes at most.
func readFile(name string, left *int64) ([]step, error) {
	data, err := readLimited(name, *left)
	if err != nil {
		return nil, err
	}
	*left -= int64(len(data))
	return parseFile(filepath.Base(name), data)
}

// readLimited reads a regular file of at most limit bytes, whatever its size is said to be.
func readLimited(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, errors.New("there is no such file")
	case !info.Mode().IsRegular():
		return nil, errors.New("this is no regular file")
	case info.Size() > limit:
		return nil, fmt.Errorf("the file has %d bytes, no more than %d can be held", info.Size(), limit)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the file grew beyond %d bytes", limit)
	}
	return data, err
}

func parseFile(name string, data []byte) ([]step, error) {
	data = quoteNonFinite(data)
	var doc struct {
		Data       []json.RawMessage `json:"data"`
		Validation []json.RawMessage `json:"validation_data"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, jsonError(data, err)
	}
	if len(doc.Data) == 0 {
		return nil, errors.New(`there are no rows under "data"`)
	}
	if doc.Validation != nil && len(doc.Validation) != len(doc.Data) {
		return nil, fmt.Errorf(`"validation_data" has %d rows, "data" has %d`, len(doc.Validation), len(doc.Data))
	}
	nested := isList(doc.Data[0])
	var steps []step
	for i, raw := range doc.Data {
		var expected json.RawMessage
		if doc.Validation != nil {
			expected = doc.Validation[i]
		}
		if isList(raw) != nested {
			return nil, fmt.Errorf("row %d: rows and lists of rows stand side by side: either all rows are in lists, which are sequences, or none", i)
		}
		if !nested {
			s, err := newStep(fmt.Sprintf("%s, row %d", name, i), raw, expected)
			if err != nil {
				return nil, err
			}
			steps = append(steps, s)
			continue
		}
		stream, err := newStream(name, i, raw, expected)
		if err != nil {
			return nil, err
		}
		steps = append(steps, stream...)
	}
	return steps, nil
}

func isList(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) }

// newStream reads the steps of a sequence.
func newStream(name string, number int, raw, expected json.RawMessage) ([]step, error) {
	var rows, outputs []json.RawMessage
	if err := json.Unmarshal(raw, &rows); err != nil {
		return nil, err
	}
	if expected != nil {
		if err := json.Unmarshal(expected, &outputs); err != nil || len(outputs) != len(rows) {
			return nil, fmt.Errorf(`stream %d of "data" has %d steps, that of "validation_data" has not`, number, len(rows))
		}
	}
	var steps []step
	for i, row := range rows {
		var output json.RawMessage
		if outputs != nil {
			output = outputs[i]
		}
		s, err := newStep(fmt.Sprintf("%s, stream %d, step %d", name, number, i), row, output)
		if err != nil {
			return nil, err
		}
		s.stream, s.first = true, i == 0
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("stream %d has no steps", number)
	}
	return steps, nil
}

// newStep reads one row, and its expected outputs unless they are nil.
func newStep(name string, raw, expected json.RawMessage) (step, error) {
	s := step{name: name}
	if err := json.Unmarshal(raw, &s.inputs); err != nil {
		return s, fmt.Errorf("%s is not a map of tensors", name)
	}
	if expected != nil {
		if err := json.Unmarshal(expected, &s.outputs); err != nil {
			return s, fmt.Errorf(`%s of "validation_data" is not a map of tensors`, name)
		}
	}
	return s, nil
}

// jsonError says where in the file a JSON error is.
func jsonError(data []byte, err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &typ):
		offset = typ.Offset
		err = fmt.Errorf("%q must be a list of rows, found %s", typ.Field, typ.Value)
		if typ.Field == "" {
			err = fmt.Errorf("the file must be a map with a list of rows under \"data\", found %s", typ.Value)
		}
	}
	if offset < 0 || offset > int64(len(data)) {
		return err
	}
	before := data[:offset]
	return fmt.Errorf("line %d, column %d: %w", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n')-1, err)
}

// read makes the rows of a file dataset.
func (b *builder) read() []row {
	steps, diags := readFiles(b.dataset)
	b.diags = append(b.diags, diags...)
	var rows []row
	const most = 20 // mistakes of one kind repeat in every row; the first ones are enough
	for _, s := range steps {
		r := row{name: s.name, stream: s.stream, first: s.first}
		r.inputs = b.tensors(s.name, s.inputs, b.sig.Inputs, "input")
		r.outputs = b.tensors(s.name, s.outputs, b.sig.Outputs, "output")
		if missing := b.missing(r.inputs); missing != "" && !b.diags.HasErrors() {
			b.fail(b.dataset.Pos, "missing-tensor", "%s has no data for %s", s.name, missing)
		}
		if len(b.diags) >= most {
			break
		}
		if b.bytes += held([]row{r}); b.bytes > maxData {
			b.fail(b.dataset.Pos, "data-size", "%s: %s", s.name, errTooMuch)
			break
		}
		rows = append(rows, r)
	}
	return rows
}

// tensors decodes the tensors of one step in the order of the model's ports.
func (b *builder) tensors(name string, raw map[string]json.RawMessage, ports []backends.Port, what string) []backends.Tensor {
	var out []backends.Tensor
	for _, p := range ports {
		text, ok := raw[p.Name]
		if !ok {
			continue
		}
		t, err := b.decode(p, text, what)
		if err != nil {
			b.fail(b.dataset.Pos, "tensor", "%s, %s %q%s", name, what, p.Name, err)
			continue
		}
		out = append(out, t)
	}
	allowed := names(ports)
	for _, key := range sortedKeys(raw) {
		if slices.Contains(allowed, key) || key == "model" || key == timestampKey && what == "input" {
			continue // perf_analyzer ignores "model" in a step, and sends no timestamp
		}
		d := b.fail(b.dataset.Pos, "unknown-tensor", "%s: model %q has no %s %q", name, b.sig.Model, what, key)
		d.Allowed, d.Nearest = allowed, source.Nearest(key, allowed)
		if key == "shape" || key == "content" || key == "b64" {
			d.Detail = fmt.Sprintf(`put it inside the tensor: {"%s": {"content": […], "shape": […]}}`, firstName(ports))
		}
	}
	return out
}

func firstName(ports []backends.Port) string {
	if len(ports) == 0 {
		return "INPUT"
	}
	return ports[0].Name
}

func sortedKeys(m map[string]json.RawMessage) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
