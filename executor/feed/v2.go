package feed

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
)

// readV2 reads KServe v2 bodies, one after the other, as they stand:
//
//	file   := body … | body raw     raw: the data of inputs with "binary_data_size", in their order
//	body   := { "inputs": [ input, … ] [, "outputs": [ output, … ]] [, "parameters": { … }] [, "id": text] }
//	        | [ input, … ] | input
//	input  := { "name": text, "shape": [d, …], "datatype": text, "data": [ … ] [, "parameters": { … }] }
//	output := { "name": text [, "parameters": { "classification": N, … }] }
//
// Shapes hold the batch dimension where the model has one: such a body is a request of so many items.
func (r *reader) readV2(data []byte) error {
	r.from.unit = "body"
	c := cursor{b: data}
	number := 0
	for ; c.err == nil && !c.over(); number++ {
		rec := record{from: r.from, stream: -1, number: number}
		switch b := c.peek(); {
		case b == '[':
			r.v2Inputs(&c, &rec)
		case b == '{' && isInput(c.rest()):
			if f, ok := r.v2Input(&c); ok {
				rec.inputs = []field{f}
			}
		case b == '{':
			r.members(&c, &rec, jsonAny)
			if c.err == nil && !slices.ContainsFunc(rec.inputs, func(f field) bool { return f.value.typ != "" }) {
				c.fail("a body has a list of inputs under \"inputs\"")
			}
		default:
			c.fail("%s where a body must stand", c.found())
		}
		if c.err != nil {
			break
		}
		if err := cmp.Or(r.rawInputs(&c, &rec), r.room()); err != nil {
			return err
		}
		r.records = append(r.records, rec)
	}
	switch {
	case c.err != nil:
	case number == 0:
		return errors.New("the file is empty")
	case number == 1:
		r.from.unit = "" // its file's name says all
	}
	return c.mistake()
}

// isInput reports whether the map that b starts with is one input, not a body.
func isInput(b []byte) bool { return firstOf(b, "inputs", "datatype") == "datatype" }

// firstOf is the first of these keys in the map that b starts with; "": none.
func firstOf(b []byte, keys ...string) string {
	c := cursor{b: b}
	for c.open('{'); c.more('}'); {
		if key := string(c.key()); slices.Contains(keys, key) {
			return key
		}
		c.skip()
	}
	return ""
}

func (r *reader) v2Inputs(c *cursor, rec *record) {
	start := len(r.scratch)
	for c.open('['); c.more(']'); {
		f, ok := r.v2Input(c)
		if !ok {
			return
		}
		r.put(c, start, f)
	}
	rec.inputs = append(rec.inputs, r.take(start)...)
}

// v2Input reads an input. The text of one whose data follow the JSON is how many bytes they are.
func (r *reader) v2Input(c *cursor) (f field, ok bool) {
	f.value.form = v2JSON
	if c.peek() != '{' {
		c.fail("an input is a map with name, shape, datatype and data, found %s", kind(c.rest()))
		return f, false
	}
	shaped := false
	for c.open('{'); c.more('}'); {
		switch key := string(c.key()); key {
		case "name":
			f.name = r.names.of(c.text())
		case "datatype":
			f.value.typ = r.names.of(c.text())
		case "shape":
			f.value.shape, shaped = c.dims(), true
		case "data":
			f.value.text = c.value()
		case "parameters":
			r.inputParameters(c, &f.value)
		default:
			c.fail("an input has no %q: it holds name, shape, datatype, data and parameters", key)
		}
	}
	switch {
	case c.err != nil:
	case f.name == "":
		c.fail("an input has no name")
	case f.value.typ == "":
		c.fail("input %q has no datatype", f.name)
	case !shaped:
		c.fail("input %q has no shape", f.name)
	case f.value.text == nil:
		c.fail("input %q has no data", f.name)
	}
	return f, c.err == nil
}

// dims reads a shape.
func (c *cursor) dims() []int64 {
	dims := []int64{}
	for c.open('['); c.more(']'); {
		word := c.word()
		d, err := strconv.ParseInt(string(word), 10, 64)
		if c.err == nil && (err != nil || d < 0) {
			c.fail("a dimension must be a whole number from 0 on, found %s", word)
		}
		dims = append(dims, d)
	}
	return dims
}

// inputParameters reads an input's parameters: the size of data behind the JSON, and what goes to the model.
func (r *reader) inputParameters(c *cursor, v *value) {
	for c.open('{'); c.more('}'); {
		switch key := r.names.of(c.key()); key {
		case "binary_data_size":
			v.form, v.text = v2Raw, c.value()
		case "shared_memory_region", "shared_memory_byte_size", "shared_memory_offset":
			c.fail("%q: the data of an input must be in the file; `shared_memory` of a stage puts it into a region", key)
		default:
			v.params = c.parameter(v.params, key)
		}
	}
}

// parameter reads the value of a parameter of a tensor, and adds it to those that there are; null is none.
func (c *cursor) parameter(list *[]backends.Parameter, name string) *[]backends.Parameter {
	text := c.value()
	if c.err != nil {
		return list
	}
	v, ok := scalar(&value{form: jsonAny, text: text})
	if !ok {
		c.fail("parameter %q is %s; it must be text, a number or a bool", name, kind(text))
	}
	if v == nil || c.err != nil {
		return list
	}
	if list == nil {
		list = new([]backends.Parameter)
	}
	if slices.ContainsFunc(*list, func(p backends.Parameter) bool { return p.Name == name }) {
		c.fail("duplicate parameter %q", name)
	}
	*list = append(*list, backends.Parameter{Name: name, Value: v})
	return list
}

// v2Outputs are the outputs that a body asks for. Whether they come as raw bytes is decided by the target's `tensors`.
func (r *reader) v2Outputs(c *cursor) (list []backends.Output) {
	for c.open('['); c.more(']'); {
		var o backends.Output
		for c.open('{'); c.more('}'); {
			switch key := string(c.key()); key {
			case "name":
				o.Name = r.names.of(c.text())
			case "parameters":
				r.outputParameters(c, &o)
			default:
				c.fail("an output has no %q: it holds name and parameters", key)
			}
		}
		if c.err == nil && o.Name == "" {
			c.fail("an output has no name")
		}
		list = append(list, o)
	}
	return list
}

// outputParameters reads an output's parameters: the number of classes that are wanted in its place, and what goes to the model.
func (r *reader) outputParameters(c *cursor, o *backends.Output) {
	var list *[]backends.Parameter
	for c.open('{'); c.more('}'); {
		switch key := r.names.of(c.key()); key {
		case "classification":
			word := c.word()
			n, err := strconv.ParseUint(string(word), 10, 32)
			if c.err == nil && err != nil {
				c.fail("\"classification\" must be a whole number of classes, found %s", word)
			}
			o.Classification = int64(n)
		case "binary_data": // decided by the target
			c.skip()
		case "shared_memory_region", "shared_memory_byte_size", "shared_memory_offset":
			c.fail("%q: `shared_memory` of a stage puts outputs into a region", key)
		default:
			list = c.parameter(list, key)
		}
	}
	if list != nil {
		o.Parameters = *list
	}
}

// rawInputs gives the inputs whose data follow the JSON their bytes.
func (r *reader) rawInputs(c *cursor, rec *record) error {
	for i := range rec.inputs {
		v := &rec.inputs[i].value
		if v.form != v2Raw {
			continue
		}
		size, err := strconv.ParseInt(string(v.text), 10, 64)
		if err != nil || size < 0 || size > int64(len(c.b)-c.at) {
			return fmt.Errorf("input %q has binary_data_size %s, and %d bytes follow what was read", rec.inputs[i].name, v.text, len(c.b)-c.at)
		}
		v.text = c.b[c.at : c.at+int(size)]
		c.at += int(size)
	}
	return nil
}
