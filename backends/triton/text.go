package triton

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// Inputs of Triton's backends for TensorRT-LLM and vLLM.
const (
	textInput = "text_input"
	maxTokens = "max_tokens"
	excludes  = "exclude_input_in_output"
	sampling  = "sampling_parameters" // of vLLM: a JSON object as text
	streams   = "stream"
)

// noLimit is the limit of output tokens of a row that has none, for TensorRT-LLM, which requires one.
const noLimit = 256

// textNames are the members of a row that may hold its text.
var textNames = []string{"prompt", "text", textInput, "input"}

// takesText reports whether requests to a target are made of rows of text, as tensors of these backends.
func takesText(t *backends.Target) bool { return kserve.TextTensors(t) }

// Describe implements backends.Describer.
func (c *conn) Describe(ctx context.Context, model string) (backends.Signature, error) {
	sig, err := c.Conn.Describe(ctx, model)
	if generates(&c.target) {
		sig.Text, sig.Endpoint = takesText(&c.target), c.target.Endpoint
	}
	if sig.Text {
		sig.Batched = false
	}
	return sig, err
}

// Prepare implements backends.Conn. The row of a request of text becomes the inputs that its backend takes, at
// endpoint generate those of vLLM where the model has sampling_parameters, else those of TensorRT-LLM:
//
//	the text, as prompt, text, text_input or input   text_input
//	output_tokens                                    max_tokens; of vLLM in sampling_parameters
//	exact_output                                     of vLLM min_tokens and ignore_eos, else min_tokens or
//	                                                 min_length, which the model must have unless it is "auto"
//	(streaming)                                      stream
//	(always)                                         exclude_input_in_output true, and without a limit of
//	                                                 TensorRT-LLM max_tokens 256, where the model has them
//	parameters of target, request and row, and       inputs of their name; of vLLM those that are none are
//	other members of the row                         in sampling_parameters. At generate parameters stay such
//
// The last replace what comes before them.
func (c *conn) Prepare(r backends.Request) (*backends.Call, error) {
	if len(r.Rows) == 0 && !takesText(&c.target) || r.Body != nil {
		return c.Conn.Prepare(r)
	}
	inputs, err := c.TextInputs(r)
	if err != nil {
		return nil, err
	}
	r.Inputs, r.Rows = inputs, nil
	if takesText(&c.target) {
		r.Parameters = nil
	}
	return c.Conn.Prepare(r)
}

// TextInputs implements backends.TextTensors.
func (c *conn) TextInputs(r backends.Request) ([]backends.Tensor, error) {
	if len(r.Rows) != 1 {
		return nil, fmt.Errorf("endpoint %s takes one text in a request: remove `batch`", c.target.Endpoint)
	}
	m := &textMaker{vllm: c.target.Endpoint == vllm, sig: r.Signature}
	m.vllm = m.vllm || c.target.Endpoint == generate && m.port(sampling) != nil
	if err := m.row(r.Rows[0], c.target.Streaming); err != nil {
		return nil, err
	}
	parameters := slices.Concat(c.target.Parameters, r.Parameters)
	if takesText(&c.target) { // else they are those of the request
		for _, p := range parameters {
			value, err := json.Marshal(p.Value)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
			}
			m.set(p.Name, value)
		}
	}
	for _, x := range m.rest {
		m.set(x.Name, x.Value)
	}
	return m.tensors()
}

// Texts implements backends.Texter: replies that hold parts of a text are joined. The text is the output
// text_output, or the only output of strings where there is none of that name; of several none can be told to be it.
func (c *conn) Texts(reply *backends.Sample) (texts []string, ok bool) {
	named := map[string][]string{} // elements of each output of strings
	for _, r := range reply.Replies() {
		outputs, err := c.Outputs(r)
		if err != nil || len(r) == 0 {
			return nil, false
		}
		for _, t := range outputs {
			if t.Type == tensor.Bytes {
				named[t.Name] = joined(named[t.Name], stringsIn(t.Data))
			}
		}
	}
	if texts, ok = named[kserve.TextOutput]; ok || len(named) > 1 {
		return texts, ok
	}
	for _, texts := range named {
		return texts, true
	}
	return nil, false
}

// stringsIn returns the elements of the raw form of BYTES.
func stringsIn(data []byte) (list []string) {
	for element, rest, ok := tensor.CutElement(data); ok; element, rest, ok = tensor.CutElement(rest) {
		list = append(list, string(element))
	}
	return list
}

// joined appends each element of more to the text at its place.
func joined(texts, more []string) []string {
	for len(texts) < len(more) {
		texts = append(texts, "")
	}
	for i, text := range more {
		texts[i] += text
	}
	return texts
}

// textMaker makes the inputs of a request of text.
type textMaker struct {
	vllm     bool
	sig      *backends.Signature // nil: the model is unknown
	inputs   []backends.Member   // in order, each name once
	sampling []backends.Member   // of vLLM
	rest     []backends.Member   // of the row, not taken
}

// port returns an input of the model; nil: it has none of that name, or is unknown.
func (m *textMaker) port(name string) *backends.Port {
	if m.sig == nil {
		return nil
	}
	for i := range m.sig.Inputs {
		if m.sig.Inputs[i].Name == name {
			return &m.sig.Inputs[i]
		}
	}
	return nil
}

// known reports whether the inputs of the model are known.
func (m *textMaker) known() bool { return m.sig != nil && len(m.sig.Inputs) > 0 }

// row takes the text and the limit of a row, and adds what the backend needs besides.
func (m *textMaker) row(members []backends.Member, streaming bool) error {
	var limit, exact []byte
	for _, x := range members {
		switch {
		case string(x.Value) == "null":
		case slices.Contains(textNames, x.Name):
			if len(m.inputs) > 0 {
				return errors.New("the row has its text twice")
			}
			m.inputs = append(m.inputs, backends.Member{Name: textInput, Value: x.Value})
		case x.Name == "output_tokens":
			limit = x.Value
		case x.Name == backends.ExactOutput:
			exact = x.Value
		default:
			m.rest = append(m.rest, x)
		}
	}
	if len(m.inputs) == 0 {
		return fmt.Errorf("the row has no text: name it %s", strings.Join(textNames, ", "))
	}
	if text := m.inputs[0].Value; text[0] != '"' {
		return fmt.Errorf("the text must be a string, found %s", jsonscan.Kind(text))
	}
	if limit != nil && !jsonscan.IsNumber(limit) {
		return fmt.Errorf("output_tokens must be a number, found %s", limit)
	}
	m.usual(excludes, []byte("true"))
	if streaming || m.port(streams) != nil {
		value, _ := json.Marshal(streaming)
		m.usual(streams, value)
	}
	switch {
	case limit != nil && m.vllm && m.port(maxTokens) == nil: // GenAI-Perf has these numbers as strings, which every version reads
		m.set(maxTokens, slices.Concat([]byte{'"'}, limit, []byte{'"'}))
	case limit != nil:
		m.set(maxTokens, limit)
	case !m.vllm:
		m.usual(maxTokens, fmt.Appendf(nil, "%d", noLimit))
	}
	return m.exactly(limit, string(exact))
}

// exactly asks for answers that do not end before the limit, where the row wants that.
func (m *textMaker) exactly(limit []byte, exact string) error {
	switch {
	case exact == "" || exact == "false":
		return nil
	case exact != "true" && exact != `"auto"`:
		return fmt.Errorf(`exact_output must be true, false or "auto", found %s`, exact)
	case limit == nil && exact == "true":
		return errors.New("exact_output needs output_tokens beside it")
	case limit == nil:
		return nil
	case m.vllm:
		m.set("min_tokens", slices.Concat([]byte{'"'}, limit, []byte{'"'}))
		m.set("ignore_eos", []byte("true"))
		return nil
	}
	for _, name := range []string{"min_tokens", "min_length"} {
		if m.port(name) != nil || !m.known() {
			m.set(name, limit)
			return nil
		}
	}
	if exact == "true" {
		return errors.New("the model has no input min_tokens or min_length, so its answers cannot be of exactly " +
			"output_tokens: remove exact_output")
	}
	return nil
}

// usual sets an input that not every model has.
func (m *textMaker) usual(name string, value []byte) {
	if !m.known() || m.port(name) != nil {
		m.set(name, value)
	}
}

// set sets an input, or of vLLM a sampling parameter.
func (m *textMaker) set(name string, value []byte) {
	own := []string{textInput, streams, excludes, sampling}
	list := &m.inputs
	if m.vllm && m.port(name) == nil && (m.known() || !slices.Contains(own, name)) {
		list = &m.sampling
	}
	for i := range *list {
		if (*list)[i].Name == name {
			(*list)[i].Value = value
			return
		}
	}
	*list = append(*list, backends.Member{Name: name, Value: value})
}

// tensors returns the inputs.
func (m *textMaker) tensors() (list []backends.Tensor, err error) {
	if len(m.sampling) > 0 {
		if err := m.joinSampling(); err != nil {
			return nil, err
		}
	}
	for _, x := range m.inputs {
		port := m.port(x.Name)
		if port == nil && m.known() && x.Name != textInput {
			var names []string
			for _, p := range m.sig.Inputs {
				names = append(names, p.Name)
			}
			return nil, fmt.Errorf("model %q has no input %q: its inputs are %s", m.sig.Model, x.Name,
				strings.Join(names, ", "))
		}
		t, err := textTensor(x, port)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", x.Name, err)
		}
		if m.sig != nil && m.sig.MaxBatch > 0 {
			t.Shape = append([]int64{1}, t.Shape...)
		}
		list = append(list, t)
	}
	return list, nil
}

// joinSampling makes the input sampling_parameters of a row that may have some itself: as an object, or as
// its text.
func (m *textMaker) joinSampling() error {
	all := &m.sampling
	for i, x := range m.inputs {
		if x.Name != sampling {
			continue
		}
		text := x.Value
		if text[0] == '"' {
			var inner string
			if err := json.Unmarshal(text, &inner); err != nil {
				return err
			}
			text = []byte(inner)
		}
		s := jsonscan.Strict(text)
		for s.Enter('{'); s.More('}'); {
			key := string(s.Key())
			value := slices.Clone(s.Value())
			at := slices.IndexFunc(*all, func(o backends.Member) bool { return o.Name == key })
			if at < 0 {
				*all = append(*all, backends.Member{Name: key, Value: value})
			} else {
				(*all)[at].Value = value
			}
		}
		if !s.OK() {
			return fmt.Errorf("%s is no object: it is %s", sampling, text)
		}
		m.inputs = slices.Delete(m.inputs, i, i+1)
		break
	}
	var b bytes.Buffer
	for i, x := range *all {
		key, _ := json.Marshal(x.Name) // a string has JSON
		b.WriteByte("{,"[min(i, 1)])
		b.Write(key)
		b.WriteByte(':')
		b.Write(x.Value)
	}
	b.WriteByte('}')
	text, err := json.Marshal(b.String())
	m.inputs = append(m.inputs, backends.Member{Name: sampling, Value: text})
	return err
}

// textTensor returns a value, or a list of them, as a tensor of one dimension, without that of a batch. Without
// a port its datatype is that of the value.
func textTensor(x backends.Member, port *backends.Port) (t backends.Tensor, err error) {
	d := json.NewDecoder(bytes.NewReader(x.Value))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return t, err
	}
	if object, ok := value.(map[string]any); ok && x.Name == sampling {
		text, err := json.Marshal(object)
		if err != nil {
			return t, err
		}
		value = string(text)
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	if len(list) == 0 {
		return t, errors.New("the list is empty")
	}
	t = backends.Tensor{Name: x.Name, Type: typeOf(list[0]), Shape: []int64{int64(len(list))}}
	if port != nil {
		t.Type = port.Type
	}
	for _, v := range list {
		if t.Data, err = tensor.AppendElement(t.Data, t.Type, v); err != nil {
			return t, err
		}
	}
	return t, nil
}

// typeOf returns the datatype of a value of JSON for which the model names none.
func typeOf(v any) tensor.DataType {
	switch v := v.(type) {
	case bool:
		return tensor.Bool
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return tensor.Int32
		}
		return tensor.FP32
	}
	return tensor.Bytes
}

// withoutParameters returns the target for package kserve: parameters of a target of text become inputs.
func withoutParameters(t backends.Target) backends.Target {
	if takesText(&t) {
		t.Parameters = nil
	}
	return t
}
