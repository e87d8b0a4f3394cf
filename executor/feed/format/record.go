package format

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Record is one row of data before a model is known: values by name, not yet tensors.
type Record struct {
	From   *Origin
	Number int // of the row in its file, or of the line, as Origin.Unit says
	Stream int // of the file, of which this is step number; -1: none

	Inputs, Outputs, Parameters []Field
	Wanted                      []backends.Output // outputs that a v2 body asks for
	Body                        []byte            // a whole request; nil: it is made of inputs
	Type                        string            // media type of Body
	Parts                       []backends.Part   // a whole request that is a form; nil: it is none
	Blocks                      *Blocks           // its prompt, where only the length is known; nil: Inputs have it
	Path                        string            // of the endpoint that the row is for; "": it does not say

	Timestamp, Delay []byte // numbers as in the file; nil: none
	Session, id      string
}

// Origin is a file of rows, or the rows that the plan holds.
type Origin struct {
	Name string     // of the file, without its folder
	dir  string     // of the file
	Pos  source.Pos // in the plan
	Unit string     // of Record.Number: "row", "line"; "": there is one record
	// TimeUnit is the unit of times that the format has, ns; 0: it has none.
	TimeUnit int64
	// After: a delay is the pause after the reply to its row, not before its row.
	After bool

	Several bool // the dataset has other files
}

// Field is a named value of a record.
type Field struct {
	Name  string
	Value Value
	// Meta: it says something about the row, and is an input only for a model with one of this name.
	Meta bool
}

// Form is the way in which a value is written.
type Form uint8

// The forms of values.
const (
	JSONTensor Form = iota // JSON: a list, or {"content": …} or {"b64": …} with "shape"
	JSONAny                // JSON: the same, or a string, number or bool, which is a tensor of one element
	Cell                   // text of a table's cell
	Content                // bytes of a file that holds the tensor
	V2JSON                 // data of a KServe v2 input as JSON
	V2Raw                  // data of a KServe v2 input as raw bytes
	ArrayRow               // one row, or all, of an array
)

// Value is the data of one tensor, or of one parameter, as it is in its file.
type Value struct {
	Form     Form
	Text     []byte
	Type     string                // datatype that a v2 body says
	shape    []int64               // with the batch dimension, that a v2 body says
	Params   *[]backends.Parameter // of the tensor; nil: none
	Array    *Array
	ArrayRow int // of array; -1: all of it
}

// Name describes the place of the row for a message.
func (r *Record) Name() string {
	text := r.From.Name
	switch {
	case r.Stream >= 0:
		text += fmt.Sprintf(", stream %d, step %d", r.Stream, r.Number)
	case r.From.Unit != "":
		text += fmt.Sprintf(", %s %d", r.From.Unit, r.Number)
	}
	if r.id != "" {
		text += fmt.Sprintf(" (%q)", r.id)
	}
	return text
}

// Find returns the value with this name and the number of such values; nil if there is none. One that
// says something about the row counts only where there is no other.
func Find(list []Field, name string) (v *Value, times int) {
	meta := false
	for i := range list {
		f := &list[i]
		switch {
		case f.Name != name || f.Meta && v != nil:
		case v == nil || meta:
			v, times, meta = &f.Value, 1, f.Meta
		default:
			times++
		}
	}
	return v, times
}
