package format

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// readV2 reads KServe v2 bodies, one after the other:
//
//	file   := body … | body raw     raw: the data of inputs with "binary_data_size", in their order
//	body   := { "inputs": [ input, … ] [, "outputs": [ output, … ]]
//	            [, "parameters": { … }] [, "id": text] }
//	        | [ input, … ] | input
//	input  := { "name": text, "shape": [d, …], "datatype": text, "data": [ … ]
//	            [, "parameters": { … }] }
//	output := { "name": text [, "parameters": { "classification": N, … }]
//	            [, "shape": [d, …], "datatype": text, "data": [ … ]] }
//
// The data of an output are those that the reply must have, as a reply to the body shows them.
//
// Shapes hold the batch dimension where the model has one: such a body is a request of as many items.
func (r *reader) readV2(data []byte) error {
	r.from.Unit = "body"
	c := jsonscan.Strict(data)
	number := 0
	for ; c.OK() && !c.AtEnd(); number++ {
		rec := Record{From: r.from, Stream: -1, Number: number}
		switch b := c.Peek(); {
		case b == '[':
			r.fields.inputs(&c, &rec)
		case b == '{' && isInput(c.Rest()):
			rec.Inputs = []Field{r.fields.input(&c)}
		case b == '{':
			r.fields.members(&c, &rec, JSONAny)
			if c.OK() && !slices.ContainsFunc(rec.Inputs, func(f Field) bool { return f.Value.Type != "" }) {
				c.Fail("a body has a list of inputs under \"inputs\"")
			}
		default:
			c.Fail("found %s, want a body", c.Found())
		}
		if !c.OK() {
			break
		}
		if err := cmp.Or(rec.takeRaw(&c), r.room()); err != nil {
			return err
		}
		r.Records = append(r.Records, rec)
	}
	switch {
	case !c.OK():
	case number == 0:
		return errors.New("the file is empty")
	case number == 1:
		r.from.Unit = "" // its file's name says all
	}
	return c.Mistake()
}

// isInput reports whether the map that b starts with is one input, not a body.
func isInput(b []byte) bool { return firstOf(b, "inputs", "datatype") == "datatype" }

// firstOf returns the first of these keys in the map that b starts with, "" if it has none.
func firstOf(b []byte, keys ...string) string {
	c := jsonscan.Strict(b)
	for c.Enter('{'); c.More('}'); {
		if key := string(c.Key()); slices.Contains(keys, key) {
			return key
		}
		c.Skip()
	}
	return ""
}

// inputs reads the inputs of a body.
func (r *fieldReader) inputs(c *jsonscan.Scanner, rec *Record) {
	start := len(r.scratch)
	for c.Enter('['); c.More(']'); {
		r.put(c, start, r.input(c))
	}
	rec.Inputs = append(rec.Inputs, r.take(start)...)
}

// input reads an input. The text of one whose data follow the JSON is the number of their bytes.
func (r *fieldReader) input(c *jsonscan.Scanner) (f Field) {
	f.Value.Form = V2JSON
	if c.Peek() != '{' {
		c.Fail("an input is a map with name, shape, datatype and data, found %s", jsonscan.Kind(c.Rest()))
	}
	shaped := false
	for c.Enter('{'); c.More('}'); {
		switch key := string(c.Key()); key {
		case "name":
			f.Name = r.name(c.Text())
		case "datatype":
			f.Value.Type = r.name(c.Text())
		case "shape":
			f.Value.shape, shaped = dims(c), true
		case "data":
			f.Value.Text = c.Value()
		case "parameters":
			r.inputParameters(c, &f.Value)
		default:
			c.Fail("an input has no %q: it holds name, shape, datatype, data and parameters", key)
		}
	}
	switch {
	case !c.OK():
	case f.Name == "":
		c.Fail("an input has no name")
	case f.Value.Type == "":
		c.Fail("input %q has no datatype", f.Name)
	case !shaped:
		c.Fail("input %q has no shape", f.Name)
	case f.Value.Text == nil:
		c.Fail("input %q has no data", f.Name)
	}
	return f
}

// dims reads a shape.
func dims(c *jsonscan.Scanner) []int64 {
	dims := []int64{}
	for c.Enter('['); c.More(']'); {
		word := c.Word()
		d, err := strconv.ParseInt(string(word), 10, 64)
		if c.OK() && (err != nil || d < 0) {
			c.Fail("a dimension must be a whole number from 0 on, found %s", word)
		}
		dims = append(dims, d)
	}
	return dims
}

// inputParameters reads an input's parameters: the size of data behind the JSON, and what goes to
// the model.
func (r *fieldReader) inputParameters(c *jsonscan.Scanner, v *Value) {
	for c.Enter('{'); c.More('}'); {
		switch key := r.name(c.Key()); key {
		case "binary_data_size":
			v.Form, v.Text = V2Raw, c.Value()
		case "shared_memory_region", "shared_memory_byte_size", "shared_memory_offset":
			c.Fail("%q: the data of an input must be in the file; `shared_memory` of a stage puts it "+
				"into a region",
				key)
		default:
			v.Params = parameter(c, v.Params, key)
		}
	}
}

// parameter reads the value of a parameter of a tensor, and adds it to those that there are; null
// is none.
func parameter(c *jsonscan.Scanner, list *[]backends.Parameter, name string) *[]backends.Parameter {
	text := c.Value()
	if !c.OK() {
		return list
	}
	v, ok := Scalar(&Value{Form: JSONAny, Text: text})
	if !ok {
		c.Fail("parameter %q is %s; it must be text, a number or a bool", name, jsonscan.Kind(text))
	}
	if v == nil || !c.OK() {
		return list
	}
	if list == nil {
		list = new([]backends.Parameter)
	}
	if slices.ContainsFunc(*list, func(p backends.Parameter) bool { return p.Name == name }) {
		c.Fail("duplicate parameter %q", name)
	}
	*list = append(*list, backends.Parameter{Name: name, Value: v})
	return list
}

// outputs reads the outputs that a body asks for, and what it expects of them. Whether they come as raw bytes is
// decided by the target's `tensors`.
func (r *fieldReader) outputs(c *jsonscan.Scanner, rec *Record) {
	for c.Enter('['); c.More(']'); {
		var o backends.Output
		expected, shaped := Field{Value: Value{Form: V2JSON}}, false
		for c.Enter('{'); c.More('}'); {
			switch key := string(c.Key()); key {
			case "name":
				o.Name = r.name(c.Text())
			case "parameters":
				r.outputParameters(c, &o)
			case "datatype":
				expected.Value.Type = r.name(c.Text())
			case "shape":
				expected.Value.shape, shaped = dims(c), true
			case "data":
				expected.Value.Text = c.Value()
			default:
				c.Fail("an output has no %q: it holds name and parameters, and what is expected: shape, datatype "+
					"and data", key)
			}
		}
		expects := expected.Value.Text != nil || expected.Value.Type != "" || shaped
		switch {
		case !c.OK():
		case o.Name == "":
			c.Fail("an output has no name")
		case expects && (expected.Value.Text == nil || expected.Value.Type == "" || !shaped):
			c.Fail("output %q is expected, and lacks shape, datatype or data", o.Name)
		case expects:
			expected.Name = o.Name
			rec.Outputs = append(rec.Outputs, expected)
		}
		rec.Wanted = append(rec.Wanted, o)
	}
}

// outputParameters reads an output's parameters: the number of classes that are wanted in its
// place, and what goes to the model.
func (r *fieldReader) outputParameters(c *jsonscan.Scanner, o *backends.Output) {
	var list *[]backends.Parameter
	for c.Enter('{'); c.More('}'); {
		switch key := r.name(c.Key()); key {
		case "classification":
			word := c.Word()
			n, err := strconv.ParseUint(string(word), 10, 32)
			if c.OK() && err != nil {
				c.Fail("\"classification\" must be a whole number of classes, found %s", word)
			}
			o.Classification = int64(n)
		case "binary_data": // decided by the target
			c.Skip()
		case "shared_memory_region", "shared_memory_byte_size", "shared_memory_offset":
			c.Fail("%q: `shared_memory` of a stage puts outputs into a region", key)
		default:
			list = parameter(c, list, key)
		}
	}
	if list != nil {
		o.Parameters = *list
	}
}

// takeRaw gives the inputs whose data follow the JSON their bytes.
func (rec *Record) takeRaw(c *jsonscan.Scanner) error {
	for i := range rec.Inputs {
		v := &rec.Inputs[i].Value
		if v.Form != V2Raw {
			continue
		}
		size, err := strconv.ParseInt(string(v.Text), 10, 64)
		if err != nil || size < 0 || size > int64(c.Left()) {
			return fmt.Errorf("input %q has binary_data_size %s, and %d bytes follow what was read",
				rec.Inputs[i].Name, v.Text, c.Left())
		}
		v.Text = c.Take(int(size))
	}
	return nil
}
