package feed

import (
	"fmt"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/scenario/source"
)

// record is one row of data before a model is known: values by name, not yet tensors.
type record struct {
	from   *origin
	number int // of the row in its file, or of the line, from what origin.unit says
	stream int // of the file, of which this is step number; -1: none

	inputs, outputs, parameters []field
	wanted                      []backends.Output // outputs that a v2 body asks for
	body                        []byte            // a whole request; nil: it is made of inputs

	timestamp, delay []byte // numbers as they stand; nil: none
	session, id      string
}

// origin is a file of rows, or the rows that the plan holds.
type origin struct {
	name string     // of the file, without its folder
	pos  source.Pos // of what names it in the plan
	unit string     // what number counts: "row", "line"; "": there is one
	ms   bool       // the format says that times are ms

	several bool // there are other files beside it
}

// field is a named value of a record.
type field struct {
	name  string
	value value
	// meta: it says something about the row, and is an input only of a model that has one of this name.
	meta bool
}

// form is how a value is written.
type form uint8

const (
	jsonTensor form = iota // JSON: a list, or {"content": …} or {"b64": …} with "shape"
	jsonAny                // JSON: the same, or a string, number or bool, which is a tensor of one element
	cell                   // text of a table's cell
	content                // bytes of a file that holds the tensor
	v2JSON                 // data of a KServe v2 input as JSON
	v2Raw                  // data of a KServe v2 input as raw bytes
	arrayRow               // one row, or all, of an array
)

// value is the data of one tensor, or of one parameter, as it is in its file.
type value struct {
	form     form
	text     []byte
	typ      string                // datatype that a v2 body says
	shape    []int64               // with the batch dimension, that a v2 body says
	params   *[]backends.Parameter // of the tensor; nil: none
	array    *array
	arrayRow int // of array; -1: all of it
}

// name says in words which row this is.
func (r *record) name() string {
	text := r.from.name
	switch {
	case r.stream >= 0:
		text += fmt.Sprintf(", stream %d, step %d", r.stream, r.number)
	case r.from.unit != "":
		text += fmt.Sprintf(", %s %d", r.from.unit, r.number)
	}
	if r.id != "" {
		text += fmt.Sprintf(" (%q)", r.id)
	}
	return text
}

// find gives the value with this name, and how many there are; nil when there is none. One that says something about the row
// counts only where there is no other.
func find(list []field, name string) (v *value, times int) {
	meta := false
	for i := range list {
		f := &list[i]
		switch {
		case f.name != name || f.meta && v != nil:
		case v == nil || meta:
			v, times, meta = &f.value, 1, f.meta
		default:
			times++
		}
	}
	return v, times
}

// names makes equal names one string.
type names map[string]string

func (n names) of(b []byte) string {
	if s, ok := n[string(b)]; ok {
		return s
	}
	s := string(b)
	n[s] = s
	return s
}
