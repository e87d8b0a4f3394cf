package builtin

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// headerLength holds the length of the JSON of a message with binary tensors.
const headerLength = "Inference-Header-Content-Length"

// The JSON of the inference endpoint.
type (
	jsonRequest struct {
		ID         string `json:"id"`
		Parameters struct {
			BinaryOutput  bool            `json:"binary_data_output"`
			SequenceID    json.RawMessage `json:"sequence_id"`
			SequenceStart bool            `json:"sequence_start"`
			SequenceEnd   bool            `json:"sequence_end"`
		} `json:"parameters"`
		Inputs  []jsonInput  `json:"inputs"`
		Outputs []jsonOutput `json:"outputs"`
	}
	jsonInput struct {
		Name       string  `json:"name"`
		Shape      []int64 `json:"shape"`
		Datatype   string  `json:"datatype"`
		Parameters struct {
			BinarySize *int64 `json:"binary_data_size"`
			sharedParameters
		} `json:"parameters"`
		Data json.RawMessage `json:"data"`
	}
	jsonOutput struct {
		Name       string `json:"name"`
		Parameters struct {
			Binary         *bool           `json:"binary_data"`
			Classification json.RawMessage `json:"classification"`
			sharedParameters
		} `json:"parameters"`
	}
	jsonReply struct {
		ID           string       `json:"id,omitempty"`
		ModelName    string       `json:"model_name"`
		ModelVersion string       `json:"model_version"`
		Outputs      []jsonResult `json:"outputs"`
	}
	jsonResult struct {
		Name       string            `json:"name"`
		Datatype   string            `json:"datatype"`
		Shape      []int64           `json:"shape"`
		Parameters *resultParameters `json:"parameters,omitempty"`
		Data       json.RawMessage   `json:"data,omitempty"`
	}
	resultParameters struct {
		BinarySize int `json:"binary_data_size"`
	}
)

// httpInfer serves POST …/infer.
func (s *Server) httpInfer(w http.ResponseWriter, r *http.Request) error {
	use := s.use()
	defer use.done()
	var req jsonRequest
	inf, err := s.inferBody(w, r, use, func(m *model, body []byte) (*inference, error) {
		if m.moves != nil {
			return nil, notUnary("HTTP end point")
		}
		return parseHTTP(m, &req, body, r.Header, use)
	})
	if err != nil {
		return err
	}
	return s.writeReply(w, r, &req, inf, use)
}

// inferBody reads and runs a request.
func (s *Server) inferBody(
	w http.ResponseWriter, r *http.Request, use *resources, parse func(*model, []byte) (*inference, error),
) (*inference, error) {
	body, err := readBody(w, r, use)
	if err != nil {
		s.count(err)
		return nil, err
	}
	return s.infer(r.Context(), r.PathValue("model"), r.PathValue("version"),
		func(m *model) (*inference, error) { return parse(m, body) })
}

// parseHTTP parses the JSON head and gives each input its part of the binary tail.
func parseHTTP(
	m *model, req *jsonRequest, body []byte, h http.Header, use *resources,
) (*inference, error) {
	head, tail, err := split(body, h.Get(headerLength))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(head, req); err != nil {
		return nil, invalid("failed to parse the request JSON buffer: %v", err)
	}
	if req.Inputs == nil {
		return nil, invalid("failed to parse the request JSON buffer: missing 'inputs'")
	}
	inf := &inference{id: req.ID, inputs: make([]tensor, len(req.Inputs))}
	if inf.sequence, err = req.jsonStep(); err != nil {
		return nil, err
	}
	for i := range req.Inputs {
		if inf.inputs[i], tail, err = parseInput(&req.Inputs[i], tail, use); err != nil {
			return nil, err
		}
	}
	if len(tail) > 0 {
		return nil, invalid("unexpected additional input data: %d bytes after the last input", len(tail))
	}
	for _, o := range req.Outputs {
		classes, err := jsonClasses(o.Parameters.Classification)
		if err == nil {
			err = inf.want(o.Name, classes, o.Parameters.place(), use)
		}
		if err != nil {
			return nil, err
		}
	}
	return inf, req.encodable(m, inf)
}

// encodable refuses, before execution, outputs that have to be JSON and cannot.
func (req *jsonRequest) encodable(m *model, inf *inference) error {
	for _, o := range m.outputs {
		want, named := inf.wants(o.name)
		if named && want.classes == 0 && o.typ.encode == nil && !req.binary(o.name) && !req.shared(o.name) {
			return invalid("sending %s data via JSON is not supported. Please use the binary data format "+
				"for output '%s'", o.typ.name, o.name)
		}
	}
	return nil
}

// split separates the JSON head from the binary tail.
func split(body []byte, length string) (head, tail []byte, err error) {
	if length == "" {
		return body, nil, nil
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(body) {
		return nil, nil,
			invalid("unable to parse %s, got: %s for a body of %d bytes", headerLength, length, len(body))
	}
	return body[:n], body[n:], nil
}

func parseInput(in *jsonInput, tail []byte, use *resources) (_ tensor, _ []byte, err error) {
	t, p := tensor{name: in.Name, typ: typeOf(in.Datatype), shape: in.Shape}, in.Parameters
	switch size := p.BinarySize; {
	case t.typ == nil:
		err = invalid("unknown datatype '%s' of input '%s'", in.Datatype, in.Name)
	case p.Region != "":
		t.data, err = use.input(p.place())
	case size != nil && in.Data != nil:
		err = invalid("input '%s' has both 'data' and 'binary_data_size'", in.Name)
	case size != nil && (*size < 0 || *size > int64(len(tail))):
		err = invalid("unexpected size for input '%s', expecting %d additional bytes but %d are left",
			in.Name, *size, len(tail))
	case size != nil:
		t.data, tail = tail[:*size:*size], tail[*size:]
	case in.Data == nil:
		err = invalid("input '%s' has neither 'data' nor 'binary_data_size'", in.Name)
	default:
		t.data, err = t.fromJSON(in.Data)
	}
	return t, tail, err
}

// fromJSON returns the raw form of a JSON tensor.
func (t tensor) fromJSON(data json.RawMessage) ([]byte, error) {
	if t.typ.decode == nil {
		return nil,
			invalid("sending %s data via JSON is not supported. Please use the binary data format "+
				"for input '%s'", t.typ.name, t.name)
	}
	flat, err := flatten(data)
	if err != nil {
		return nil, invalid("unable to parse 'data' of input '%s': %v", t.name, err)
	}
	raw, n, err := t.typ.decode(flat)
	if err != nil {
		return nil, invalid("unable to parse 'data' of input '%s': %v", t.name, err)
	}
	if want, err := elements(t.shape); err == nil && n != want {
		return nil,
			invalid("unable to parse 'data' of input '%s': got %d elements for shape %s", t.name, n,
				dims(t.shape))
	}
	return raw, nil
}

// writeReply sends the outputs, each as JSON or in the binary tail as requested.
func (s *Server) writeReply(
	w http.ResponseWriter, r *http.Request, req *jsonRequest, inf *inference, use *resources,
) error {
	reply := jsonReply{
		ID: req.ID, ModelName: inf.model.name, ModelVersion: version,
		Outputs: make([]jsonResult, len(inf.results)),
	}
	var tail [][]byte
	for i, t := range inf.results {
		res := &reply.Outputs[i]
		res.Name, res.Datatype, res.Shape = t.name, t.typ.name, t.shape
		put, err := use.put(t)
		switch {
		case put || err != nil:
		case req.binary(t.name):
			res.Parameters = &resultParameters{len(t.data)}
			tail = append(tail, t.data)
		default:
			if res.Data, err = t.typ.encode(t.data); err != nil { // NaN and infinities have no JSON form
				err = invalid("output '%s' cannot be written as JSON: %v", t.name, err)
			}
		}
		if err != nil {
			return err
		}
	}
	head, err := json.Marshal(&reply)
	if err != nil {
		return err
	}
	return s.writeBody(w, r, head, tail)
}

// binary reports whether the request wants this output in the binary tail.
func (req *jsonRequest) binary(name string) bool {
	for i := range req.Outputs {
		if b := req.Outputs[i].Parameters.Binary; req.Outputs[i].Name == name && b != nil {
			return *b
		}
	}
	return req.Parameters.BinaryOutput
}

// shared reports whether the request wants this output in shared memory.
func (req *jsonRequest) shared(name string) bool {
	return slices.ContainsFunc(req.Outputs,
		func(o jsonOutput) bool { return o.Name == name && o.Parameters.Region != "" })
}
