package format

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Rows that are whole bodies, for kinds of service without tensors:
//
//	row   := any JSON value, which is the body
//	       | { "body": any JSON value or the text of the body [, member …] }
//	member := "outputs": {path: value, …} | "timestamp": number | "delay": number
//	        | "session_id": text | "id": text | "model": text
//
// An object with a body and any other member is a mistake: a slip of the pen would send all of it and compare
// nothing. And rows of format multipart, which are forms:
//
//	row   := { name: field | [field, …], … }
//	field := path of a file, relative to the file of the row | {"text": text} | number | bool

// Multipart is the format of forms.
const Multipart = "multipart"

// fileField is the pseudo input by which perf_analyzer names a file to upload, and formField the field
// of the form that it is sent as.
const (
	fileField = "TORCHSERVE_INPUT"
	formField = "data"
)

// mediaJSON is the media type of JSON.
const mediaJSON = "application/json"

// ReadBodies reads a dataset whose rows are whole bodies. Mistakes in it are diagnostics.
// several: a request has any number of messages.
func ReadBodies(d *scenario.Dataset, several bool) *Rows {
	r := newReader(d)
	r.whole, r.several = true, several
	r.readAll()
	for i := range r.Records {
		rec := &r.Records[i]
		form := d.Source == "bodies" && d.Format == Multipart
		value, _ := Find(rec.Inputs, fileField)
		generator, _ := Find(rec.Inputs, generatorField)
		var err error
		switch {
		case form:
			rec.Parts = []backends.Part{filePart(formField, rec.From.Name, rec.Body)}
			rec.Body = nil
		case generator != nil:
			err = fmt.Errorf("%q runs a command: give it in the plan, data: {command: [PROGRAM, ARGUMENT, …], "+
				"format: frames}, and run that with --allow-exec", generatorField)
		case value != nil:
			err = r.upload(rec, plainText(alone(value.Text)))
		}
		if err != nil {
			r.fail(rec.From.Pos, codeFile, "%s: %s", rec.Name(), err)
			break
		}
	}
	return &r.Rows
}

// filePart returns the part of a form that holds a file.
func filePart(field, name string, data []byte) backends.Part {
	return backends.Part{Name: field, File: filepath.Base(name), Type: MediaType(name), Data: data}
}

// upload makes a row a form of one file.
func (r *reader) upload(rec *Record, name string) error {
	data, err := r.beside(rec.From, name)
	rec.Parts, rec.Inputs = []backends.Part{filePart(formField, name, data)}, nil
	return err
}

// beside reads a file whose path is relative to the file that names it.
func (r *reader) beside(from *Origin, name string) ([]byte, error) {
	data, err := from.beside(name, r.left)
	r.left -= int64(len(data))
	return data, err
}

// Beside reads a file of at most limit bytes that the row names, relative to the file of the row.
func (rec *Record) Beside(name string, limit int64) ([]byte, error) {
	return rec.From.beside(name, limit)
}

func (from *Origin) beside(name string, limit int64) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(from.dir, name)
	}
	data, err := ReadFile(name, limit)
	if err != nil {
		return nil, fmt.Errorf("file %q: %w", name, err)
	}
	return data, nil
}

// MediaTypes of files, by extension. It is a list of this program's own, so that requests do not depend
// on the machine.
var mediaTypes = map[string]string{
	".json": mediaJSON, ".txt": "text/plain", ".csv": "text/csv", ".html": "text/html",
	".xml": "application/xml", ".yaml": "application/yaml", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".png": "image/png", ".gif": "image/gif", ".webp": "image/webp", ".bmp": "image/bmp",
	".wav": "audio/wav", ".mp3": "audio/mpeg", ".flac": "audio/flac", ".mp4": "video/mp4",
	".pdf": "application/pdf", ".textproto": backends.TextProto, ".pbtxt": backends.TextProto,
	".txtpb": backends.TextProto,
}

// MediaType returns the media type of a file by its name; application/octet-stream if that says
// nothing.
func MediaType(name string) string {
	if t := mediaTypes[strings.ToLower(filepath.Ext(name))]; t != "" {
		return t
	}
	return "application/octet-stream"
}

// bodyRow reads a row that is a whole body.
func (r *reader) bodyRow(c *jsonscan.Scanner, number int) {
	if err := r.room(); err != nil {
		c.Fail("%s", err)
		return
	}
	rec := Record{From: r.from, Stream: -1, Number: number}
	if text := c.Value(); c.OK() && !rec.envelope(text, c) {
		rec.Body, rec.Type = text, mediaJSON
	}
	r.Records = append(r.Records, rec)
}

// envelope reads a row that has a body beside what it says about it, and reports whether it is one.
// Mistakes in it fail the row's scanner.
func (rec *Record) envelope(text []byte, row *jsonscan.Scanner) bool {
	if text[0] != '{' || !bytes.Contains(text, []byte(`"body"`)) {
		return false
	}
	found, unknown := false, ""
	c := jsonscan.Strict(text)
	for c.Enter('{'); c.More('}'); c.Skip() {
		switch key := string(c.Key()); {
		case key == "body":
			found = true
		case key != "outputs" && !slices.Contains(aboutRow[:], key):
			unknown = cmp.Or(unknown, key)
		}
	}
	if !found {
		return false
	}
	if unknown != "" {
		failBeside(row, unknown)
		return true
	}
	c = jsonscan.Strict(text)
	for c.Enter('{'); c.More('}'); {
		switch key, value := string(c.Key()), c.Value(); {
		case key == "body" && value[0] == '"':
			rec.Body, rec.Type = []byte(plainText(value)), "text/plain"
		case key == "body":
			rec.Body, rec.Type = value, mediaJSON
		case key == "outputs" && value[0] != '{':
			row.Fail("outputs are a map from path to value, such as {label: 8}; found %s", jsonscan.Kind(value))
		case key == "outputs":
			rec.outputsOf(value)
		default:
			rec.about(key, Value{Form: JSONAny, Text: value})
		}
	}
	return true
}

// failBeside fails a row for a member that no row with a body has.
func failBeside(row *jsonscan.Scanner, name string) {
	allowed := append(aboutRow[:len(aboutRow):len(aboutRow)], "outputs")
	meant := ""
	if near := source.Nearest(name, allowed); near != "" {
		meant = fmt.Sprintf(": did you mean %q?", near)
	}
	row.Fail(`beside "body" a row has no %q%s (it may have %s; a row that is itself what is sent is {"body": ROW})`,
		name, meant, strings.Join(allowed, ", "))
}

// outputsOf reads the values that the reply must have, by path.
func (rec *Record) outputsOf(text []byte) {
	c := jsonscan.Strict(text)
	for c.Enter('{'); c.More('}'); {
		name := string(c.Key())
		rec.Outputs = append(rec.Outputs, Field{Name: name, Value: Value{Form: JSONAny, Text: c.Value()}})
	}
}

// formRow reads a row that is a form.
func (r *reader) formRow(c *jsonscan.Scanner, number int) {
	rec := Record{From: r.from, Stream: -1, Number: number, Parts: []backends.Part{}}
	if err := r.room(); err != nil {
		c.Fail("%s", err)
		return
	}
	if c.Peek() != '{' {
		c.Fail("a row of format multipart is a map from field to file, found %s", jsonscan.Kind(c.Rest()))
		return
	}
	for c.Enter('{'); c.More('}'); {
		name := string(c.Key())
		if c.Peek() != '[' {
			r.formField(c, &rec, name)
			continue
		}
		for c.Enter('['); c.More(']'); {
			r.formField(c, &rec, name)
		}
	}
	r.Records = append(r.Records, rec)
}

// formField reads one field of a form.
func (r *reader) formField(c *jsonscan.Scanner, rec *Record, name string) {
	switch c.Peek() {
	case '"':
		file := string(c.Text())
		data, err := r.beside(rec.From, file)
		if err != nil {
			c.Fail("field %q: %s", name, err)
			return
		}
		rec.Parts = append(rec.Parts, filePart(name, file, data))
	case '{':
		value := c.Value()
		inner := jsonscan.Strict(value)
		if !inner.Find("text") || inner.Peek() != '"' {
			c.Fail(`field %q: a map is {"text": text}`, name)
			return
		}
		rec.Parts = append(rec.Parts, backends.Part{Name: name, Data: inner.Text()})
	default:
		word := c.Word()
		if !jsonscan.IsNumber(word) && string(word) != "true" && string(word) != "false" {
			c.Fail(`field %q is a file's path, {"text": text}, a number or a bool; found %s`, name, word)
		}
		rec.Parts = append(rec.Parts, backends.Part{Name: name, Data: word})
	}
}

// readForms reads forms: a row on each line.
func (r *reader) readForms(data []byte) error {
	if !r.whole {
		return fmt.Errorf("format %s is for targets that take whole bodies, this one takes tensors", Multipart)
	}
	return r.eachLine(data, r.formRow)
}
