package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// httpGenerate serves POST …/generate: inputs are members of a JSON object, and so are the outputs
// of the single response.
func (s *Server) httpGenerate(w http.ResponseWriter, r *http.Request) error {
	inf, err := s.generate(w, r)
	if err != nil {
		return err
	}
	var replies []object
	err = s.play(r.Context(), inf, func(out []tensor) error {
		replies = append(replies, inf.object(out))
		return nil
	})
	var f *failure
	switch {
	case errors.As(err, &f):
		replies = []object{{"error": f.text}}
	case err != nil:
		return err
	case len(replies) != 1:
		replies = []object{{"error": "generate expects model to produce exactly 1 response, use generate " +
			"stream for model that generates various number of responses"}}
	}
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
	flush := http.NewResponseController(w).Flush
	_ = flush()
	event := func(o object) error {
		text, err := json.Marshal(o)
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		return errors.Join(err, flush())
	}
	err = s.play(r.Context(), inf, func(out []tensor) error { return event(inf.object(out)) })
	var f *failure
	switch {
	case errors.As(err, &f):
		_ = event(object{"error": f.text})
	case errors.Is(err, errReset):
		return err
	}
	return nil
}

// play passes the responses of a request to send, each when it is due, and notes their times. A
// model that is not decoupled has one. It returns the error that takes the place of the remaining
// responses; errReset if the connection has to be reset.
func (s *Server) play(ctx context.Context, r *inference, send func([]tensor) error) error {
	steps := slices.Values([]responseStep{{out: r.results}})
	if r.model.moves != nil {
		steps = r.model.moves(r.results)
	}
	index := 0
	for st := range steps {
		if err := st.wait(ctx); err != nil {
			return err
		}
		switch st.act {
		case fail:
			return simulated(r.id, r.model.name)
		case cutOff:
			return errReset
		case respond, hang: // hang waits until the request is gone
		}
		out, err := wanted(r, st.out)
		if err != nil {
			return err
		}
		s.sendings.note(r.id, index, r.arrived)
		if err := send(out); err != nil {
			return err
		}
		index++
	}
	return nil
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
func (r *inference) object(out []tensor) object {
	o := object{"model_name": r.model.name, "model_version": version}
	if r.id != "" {
		o["id"] = r.id
	}
	for _, t := range out {
		text, err := t.typ.encode(t.data)
		if err != nil {
			return object{
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
