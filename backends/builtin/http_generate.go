package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
)

// onlyOne is the error of generate for a model that sent more than one response, or none. The
// status has been sent by then.
const onlyOne = "generate expects model to produce exactly 1 response, use generate stream for model " +
	"that generates various number of responses"

// httpGenerate serves POST …/generate: inputs are members of a JSON object, and so are the outputs
// of the single response.
func (s *Server) httpGenerate(w http.ResponseWriter, r *http.Request) error {
	inf, err := s.generate(w, r)
	if err != nil {
		return err
	}
	var replies []map[string]any
	for st := range inf.steps() {
		if st.wait(r.Context()) != nil {
			return nil
		}
		switch st.act {
		case fail:
			replies = []map[string]any{{"error": simulated(inf.id, inf.model.name).text}}
		case cutOff:
			return errReset
		default:
			replies = append(replies, inf.object(st.out))
		}
	}
	if len(replies) != 1 {
		replies = []map[string]any{{"error": onlyOne}}
	}
	s.sendings.note(inf.id, 0, inf.arrived)
	w.Header()["Content-Type"] = []string{"application/json"}
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // makes it chunked, as Triton's is
	_ = json.NewEncoder(w).Encode(replies[0])
	return nil
}

// httpGenerateStream serves POST …/generate_stream: each response is a server-sent event, and so is
// a late error.
func (s *Server) httpGenerateStream(w http.ResponseWriter, r *http.Request) error {
	inf, err := s.generate(w, r)
	if err != nil {
		return err
	}
	w.Header()["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	_ = out.Flush()
	index := 0
	for st := range inf.steps() {
		if st.wait(r.Context()) != nil {
			return nil
		}
		event := inf.object(st.out)
		switch st.act {
		case fail:
			event = map[string]any{"error": simulated(inf.id, inf.model.name).text}
		case cutOff:
			return errReset
		case respond, hang: // hang waits until the request is gone
		}
		text, err := json.Marshal(event)
		if err != nil {
			return nil
		}
		s.sendings.note(inf.id, index, inf.arrived)
		_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		if err = errors.Join(err, out.Flush()); err != nil || st.act == fail {
			return nil
		}
		index++
	}
	return nil
}

// steps returns the response steps of any model: a model that is not decoupled has one response.
func (r *inference) steps() iter.Seq[responseStep] {
	if r.model.moves != nil {
		return r.model.moves(r.results)
	}
	return func(yield func(responseStep) bool) { yield(responseStep{out: r.results}) }
}

// generate reads a request of either endpoint and starts it.
func (s *Server) generate(w http.ResponseWriter, r *http.Request) (*inference, error) {
	use := s.use()
	defer use.done()
	return s.inferBody(w, r, use, (*model).parseObject)
}

// parseObject parses a request of the generate extension: members of the object and of its
// "parameters" that have the name of an input are inputs; others are ignored.
func (m *model) parseObject(body []byte) (*inference, error) {
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, invalid("failed to parse the request JSON buffer: %v", err)
	}
	inner := map[string]json.RawMessage{}
	if p := members["parameters"]; p != nil {
		if err := json.Unmarshal(p, &inner); err != nil {
			return nil, invalid("failed to parse the request JSON buffer: %v", err)
		}
	}
	inf := &inference{}
	if id := members["id"]; id != nil {
		inf.id = strings.Trim(string(id), `"`)
	}
	for _, in := range m.inputs {
		value := members[in.name]
		if value == nil {
			value = inner[in.name]
		}
		if value == nil {
			continue
		}
		t, err := m.tensorOf(in, value)
		if err != nil {
			return nil, err
		}
		inf.inputs = append(inf.inputs, t)
	}
	return inf, nil
}

// tensorOf converts a JSON value to a tensor: one element, or a list of them that fills the shape
// of the model. The batch is 1.
func (m *model) tensorOf(in spec, value json.RawMessage) (tensor, error) {
	t := tensor{name: in.name, typ: in.typ}
	if value[0] != '[' {
		value = json.RawMessage("[" + string(value) + "]")
	}
	raw, n, err := in.typ.decode(value)
	if err != nil {
		return t, invalid("unable to parse '%s': %v", in.name, err)
	}
	if m.maxBatch > 0 {
		t.shape = append(t.shape, 1)
	}
	left := n
	for _, d := range in.dims {
		if d < 0 {
			d = left
		}
		t.shape = append(t.shape, d)
		if d > 0 {
			left /= d
		}
	}
	if want, err := elements(t.shape); err != nil || want != n {
		return t, invalid("The schema can not convert input '%s' to tensor with proper shape", in.name)
	}
	t.data = raw
	return t, nil
}

// object returns a response of the generate extension: a list if there is more than one element.
func (r *inference) object(out []tensor) map[string]any {
	o := map[string]any{"model_name": r.model.name, "model_version": version}
	if r.id != "" {
		o["id"] = r.id
	}
	for _, t := range out {
		text, err := t.typ.encode(t.data)
		if err != nil {
			return map[string]any{
				"error": fmt.Sprintf("output '%s' cannot be written as JSON: %v", t.name, err),
			}
		}
		if n, err := elements(t.shape); err == nil && n == 1 {
			text = text[1 : len(text)-1]
		}
		o[t.name] = text
	}
	return o
}
