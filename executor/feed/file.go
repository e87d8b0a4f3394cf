package feed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// maxFile caps one data file: it is read whole.
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
}

// Check reads the files of a dataset as far as that is possible without a model: what validate can know.
func Check(d *scenario.Dataset) source.Diagnostics {
	_, diags := readFiles(d)
	return diags
}

// readFiles joins the steps of all files of a dataset.
func readFiles(d *scenario.Dataset) ([]step, source.Diagnostics) {
	var steps []step
	var diags source.Diagnostics
	for _, f := range d.Files {
		more, err := readFile(f.Name)
		if err != nil {
			diags = append(diags, source.Diagnostic{
				Severity: source.Error, Code: "data-file", Pos: f.Pos,
				Summary: fmt.Sprintf("%s: %s", filepath.Base(f.Name), err),
			})
			continue
		}
		steps = append(steps, more...)
	}
	return steps, diags
}

func readFile(name string) ([]step, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, errors.New("there is no such file")
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("the file has %d bytes, more than %d are not read", info.Size(), maxFile)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parseFile(filepath.Base(name), data)
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
	steps := make([]step, len(doc.Data))
	for i, raw := range doc.Data {
		steps[i].name = fmt.Sprintf("%s, row %d", name, i)
		if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
			return nil, fmt.Errorf("row %d is a list: sequences are part of the language but not built yet", i)
		}
		if err := json.Unmarshal(raw, &steps[i].inputs); err != nil {
			return nil, fmt.Errorf("row %d is not a map of tensors", i)
		}
		if doc.Validation != nil {
			if err := json.Unmarshal(doc.Validation[i], &steps[i].outputs); err != nil {
				return nil, fmt.Errorf(`row %d of "validation_data" is not a map of tensors`, i)
			}
		}
	}
	return steps, nil
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
	}
	if offset < 0 || offset > int64(len(data)) {
		return err
	}
	before := data[:offset]
	return fmt.Errorf("line %d, column %d: %w", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n')-1, err)
}

// bare marks a string that was a bare NaN, Infinity or -Infinity in the file.
const bare = "\x00"

// quoteNonFinite makes marked strings of the literals NaN, Infinity and -Infinity, which perf_analyzer's files may hold
// and JSON does not know.
func quoteNonFinite(data []byte) []byte {
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	inString := false
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case inString:
			if c == '\\' && i+1 < len(data) {
				out = append(out, c)
				i++
				c = data[i]
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		default:
			if word := nonFinite(data[i:]); word != "" {
				out = append(append(append(out, `"\u0000`...), word...), '"')
				i += len(word) - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

func nonFinite(data []byte) string {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return word
		}
	}
	return ""
}

// read makes the rows of a file dataset.
func (b *builder) read() []row {
	steps, diags := readFiles(b.dataset)
	b.diags = append(b.diags, diags...)
	var rows []row
	const most = 20 // mistakes of one kind repeat in every row; the first ones are enough
	for _, s := range steps {
		r := row{name: s.name}
		r.inputs = b.tensors(s.name, s.inputs, b.sig.Inputs, "input")
		r.outputs = b.tensors(s.name, s.outputs, b.sig.Outputs, "output")
		if missing := b.missing(r.inputs); missing != "" && !b.diags.HasErrors() {
			b.fail(b.dataset.Pos, "missing-tensor", "%s has no data for %s", s.name, missing)
		}
		if len(b.diags) >= most {
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
		if slices.Contains(allowed, key) || key == "model" {
			continue // perf_analyzer ignores "model" in a step
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

// decode reads one tensor. The error text starts where the tensor's name ends: "[3]: …" or ": …".
func (b *builder) decode(p backends.Port, raw json.RawMessage, what string) (backends.Tensor, error) {
	t := backends.Tensor{Name: p.Name, Type: p.Type}
	content, shape := raw, []int64(nil)
	var b64 *string
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		var err error
		if content, b64, shape, err = wrapped(raw); err != nil {
			return t, fmt.Errorf(": %w", err)
		}
	}
	var nested []int64
	var elements int64
	var err error
	if b64 != nil {
		if t.Data, err = decodeBase64(*b64); err != nil {
			return t, fmt.Errorf(": %w", err)
		}
		elements, err = count(t)
	} else {
		t.Data, nested, elements, err = flatten(p.Type, content)
	}
	if err != nil {
		return t, err
	}
	if shape == nil {
		shape = b.fromNesting(p, nested)
	}
	if what == "output" && shape == nil {
		t.Shape, err = infer(p.Shape, elements)
	} else {
		t.Shape, err = b.shape(p, shape, elements)
	}
	if err != nil {
		return t, fmt.Errorf(": %w", err)
	}
	want, err := backends.Elements(t.Shape)
	if err != nil {
		return t, fmt.Errorf(": %w", err)
	}
	if want != elements {
		return t, fmt.Errorf(": shape %v has %d elements, %d found", t.Shape, want, elements)
	}
	return t, nil
}

// fromNesting takes the shape from how the lists are nested, where that says more than a flat list. A leading 1 beyond
// the model's dimensions is the batch.
func (b *builder) fromNesting(p backends.Port, nested []int64) []int64 {
	switch {
	case len(nested) < 2:
		return nil
	case len(nested) == len(p.Shape)+1 && b.sig.Batched && nested[0] == 1:
		return nested[1:]
	}
	return nested
}

// wrapped reads {"content": …, "shape": …} and {"b64": …, "shape": …}.
func wrapped(raw json.RawMessage) (content json.RawMessage, b64 *string, shape []int64, err error) {
	var w struct {
		Content json.RawMessage `json:"content"`
		B64     *string         `json:"b64"`
		Shape   []int64         `json:"shape"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return nil, nil, nil, fmt.Errorf("a tensor map holds content or b64, and shape (a list of integers): %w", err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(w.Content), []byte("{")) {
		var inner struct {
			B64 *string `json:"b64"`
		}
		if err := json.Unmarshal(w.Content, &inner); err != nil || inner.B64 == nil {
			return nil, nil, nil, errors.New("content is a list or {\"b64\": …}")
		}
		w.B64, w.Content = inner.B64, nil
	}
	switch {
	case w.B64 == nil && w.Content == nil:
		return nil, nil, nil, errors.New("a tensor map needs content or b64")
	case w.B64 != nil && w.Content != nil:
		return nil, nil, nil, errors.New("a tensor map has both content and b64")
	}
	return w.Content, w.B64, w.Shape, nil
}

// flatten reads nested lists of elements: their bytes, the sizes of the lists, the number of elements.
func flatten(t backends.DataType, raw json.RawMessage) (data []byte, shape []int64, n int64, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	tok, err := d.Token()
	if err != nil || tok != json.Delim('[') {
		return nil, nil, 0, errors.New(": a tensor is a list, or a map with content or b64")
	}
	f := flattener{dec: d, typ: t}
	if err := f.list(0); err != nil {
		return nil, nil, 0, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, nil, 0, errors.New(": there is something after the list")
	}
	return f.data, f.shape, f.n, nil
}

type flattener struct {
	dec   *json.Decoder
	typ   backends.DataType
	data  []byte
	shape []int64 // sizes of the first list at each depth
	leaf  int     // depth of the elements, once known
	n     int64
}

// list reads the rest of a list whose bracket is already read.
func (f *flattener) list(depth int) error {
	if depth > 32 {
		return errors.New(": lists are nested deeper than 32")
	}
	first := len(f.shape) == depth
	if first {
		f.shape = append(f.shape, 0)
	}
	var size int64
	for f.dec.More() {
		tok, err := f.dec.Token()
		if err != nil {
			return fmt.Errorf(": %w", err)
		}
		size++
		if tok == json.Delim('[') {
			if f.leaf == depth+1 {
				return fmt.Errorf("[%d]: a list stands beside elements", f.n)
			}
			if err := f.list(depth + 1); err != nil {
				return err
			}
			continue
		}
		if f.leaf == 0 {
			f.leaf = depth + 1
		}
		if f.leaf != depth+1 {
			return fmt.Errorf("[%d]: an element stands beside lists", f.n)
		}
		if err := f.element(tok); err != nil {
			return err
		}
	}
	if _, err := f.dec.Token(); err != nil { // the closing bracket
		return fmt.Errorf(": %w", err)
	}
	if first {
		f.shape[depth] = size
	} else if f.shape[depth] != size {
		return fmt.Errorf("[%d]: lists of one depth have %d and %d entries", f.n, f.shape[depth], size)
	}
	return nil
}

func (f *flattener) element(tok json.Token) error {
	var v any = tok
	if _, ok := tok.(json.Delim); ok {
		return fmt.Errorf("[%d]: a map is not a %s", f.n, f.typ)
	}
	if text, ok := tok.(string); ok {
		if word, ok := strings.CutPrefix(text, bare); ok {
			v = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[word]
		}
	}
	var err error
	if f.data, err = backends.AppendElement(f.data, f.typ, v); err != nil {
		return fmt.Errorf("[%d]: %w", f.n, err)
	}
	f.n++
	return nil
}
