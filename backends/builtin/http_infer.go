package builtin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"

	"google.golang.org/grpc/codes"
)

// headerLength holds the length of the JSON of a message with binary tensors.
const headerLength = "Inference-Header-Content-Length"

// maxBody is the largest request body in bytes.
const maxBody = 256 << 20

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
func (s *Server) httpInfer(w http.ResponseWriter, r *http.Request) {
	body, err := s.readBody(w, r)
	defer s.bodies.release(int64(cap(body)))
	if err != nil {
		s.count(err)
		writeFailure(w, err)
		return
	}
	var req jsonRequest
	held := &regionUse{of: &s.regions}
	defer held.done()
	parse := func(m *model) (*inference, error) {
		if m.moves != nil {
			return nil, notUnary("HTTP end point")
		}
		return s.parseHTTP(m, &req, body, r.Header, held)
	}
	_, m, out, err := s.infer(r.Context(), r.PathValue("model"), r.PathValue("version"), parse)
	switch {
	case errors.Is(err, errReset):
		resetPeer(w)
	case err != nil:
		writeFailure(w, err)
	default:
		s.writeReply(w, r, &req, m, out, held)
	}
}

// readBody reads the request's body. Its bytes are reserved in the budget; the caller releases
// cap(body).
func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		from, err := decoded(w, r)
		if err != nil {
			return nil, err
		}
		return s.readChunked(from)
	}
	if r.ContentLength > maxBody {
		return nil, &failure{http.StatusRequestEntityTooLarge, codes.InvalidArgument, "request body is too large"}
	}
	if r.ContentLength >= 0 {
		if !s.bodies.reserve(r.ContentLength) {
			return nil, errBusy()
		}
		body := make([]byte, r.ContentLength)
		if _, err := io.ReadFull(r.Body, body); err != nil {
			return body, err
		}
		return body, nil
	}
	return s.readChunked(http.MaxBytesReader(w, r.Body, maxBody))
}

// readChunked reads a body of unknown length, reserving bytes as it grows.
func (s *Server) readChunked(from io.Reader) ([]byte, error) {
	var body []byte
	for {
		if len(body) == cap(body) {
			room := max(2*cap(body), 4096)
			if !s.bodies.reserve(int64(room)) {
				return body, errBusy()
			}
			grown := make([]byte, len(body), room)
			copy(grown, body)
			s.bodies.release(int64(cap(body)))
			body = grown
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return body, &failure{http.StatusRequestEntityTooLarge, codes.InvalidArgument, "request body is too large"}
		}
		if err != nil {
			return body, err
		}
	}
}

func errBusy() error {
	return &failure{http.StatusServiceUnavailable, codes.Unavailable, "too many bytes of requests are waiting"}
}

// parseHTTP parses the JSON head and gives each input its part of the binary tail.
func (s *Server) parseHTTP(
	m *model, req *jsonRequest, body []byte, h http.Header, held *regionUse,
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
		if inf.inputs[i], tail, err = s.parseInput(&req.Inputs[i], tail, held); err != nil {
			return nil, err
		}
	}
	if len(tail) > 0 {
		return nil, invalid("unexpected additional input data: %d bytes after the last input", len(tail))
	}
	for _, o := range req.Outputs {
		classes, err := jsonClasses(o.Parameters.Classification)
		at, shared := o.Parameters.place()
		if err == nil {
			err = inf.want(o.Name, classes, shared)
		}
		if err == nil && shared {
			err = held.output(o.Name, at)
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
			return invalid("sending %s data via JSON is not supported. Please use the binary data format for "+
				"output '%s'", o.typ.name, o.name)
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

func (s *Server) parseInput(in *jsonInput, tail []byte, held *regionUse) (tensor, []byte, error) {
	t := tensor{name: in.Name, typ: s.types[in.Datatype], shape: in.Shape}
	if t.typ == nil {
		return t, tail, invalid("unknown datatype '%s' of input '%s'", in.Datatype, in.Name)
	}
	if at, ok := in.Parameters.place(); ok {
		var err error
		t.data, err = held.input(at)
		return t, tail, err
	}
	if size := in.Parameters.BinarySize; size != nil {
		if in.Data != nil {
			return t, tail, invalid("input '%s' has both 'data' and 'binary_data_size'", in.Name)
		}
		if *size < 0 || *size > int64(len(tail)) {
			return t, tail,
				invalid("unexpected size for input '%s', expecting %d additional bytes but %d are left",
					in.Name, *size, len(tail))
		}
		t.data = tail[:*size:*size]
		return t, tail[*size:], nil
	}
	if in.Data == nil {
		return t, tail, invalid("input '%s' has neither 'data' nor 'binary_data_size'", in.Name)
	}
	var err error
	t.data, err = t.fromJSON(in.Data)
	return t, tail, err
}

// fromJSON returns the raw form of a JSON tensor.
func (t tensor) fromJSON(data json.RawMessage) ([]byte, error) {
	if t.typ.decode == nil {
		return nil,
			invalid("sending %s data via JSON is not supported. Please use the binary data format for input '%s'",
				t.typ.name, t.name)
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
			invalid("unable to parse 'data' of input '%s': got %d elements for shape %s", t.name, n, dims(t.shape))
	}
	return raw, nil
}

// writeReply sends the outputs, each as JSON or in the binary tail as requested.
func (s *Server) writeReply(
	w http.ResponseWriter, r *http.Request, req *jsonRequest, m *model, out []tensor, held *regionUse,
) {
	reply := jsonReply{
		ID: req.ID, ModelName: m.name, ModelVersion: version, Outputs: make([]jsonResult, len(out)),
	}
	var tail [][]byte
	for i, t := range out {
		res := jsonResult{Name: t.name, Datatype: t.typ.name, Shape: t.shape}
		if put, err := held.put(t); err != nil {
			writeFailure(w, err)
			return
		} else if put {
			reply.Outputs[i] = res
			continue
		}
		if req.binary(t.name) {
			res.Parameters = &resultParameters{len(t.data)}
			tail = append(tail, t.data)
		} else if data, err := t.typ.encode(t.data); err != nil {
			// NaN and infinities have no JSON form.
			writeFailure(w, invalid("output '%s' cannot be written as JSON: %v", t.name, err))
			return
		} else {
			res.Data = data
		}
		reply.Outputs[i] = res
	}
	head, err := json.Marshal(&reply)
	if err != nil {
		writeFailure(w, err)
		return
	}
	s.writeBody(w, r, head, tail)
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

// writeBody sends head and tail, with the configured pause after the HTTP head.
func (s *Server) writeBody(w http.ResponseWriter, r *http.Request, head []byte, tail [][]byte) {
	h := w.Header()
	if tail == nil {
		h["Content-Type"] = []string{"application/json"}
	} else {
		h["Content-Type"] = []string{"application/octet-stream"}
		h[headerLength] = []string{strconv.Itoa(len(head))}
	}
	body, err := encoded(w, r, append([][]byte{head}, tail...))
	if err != nil {
		writeFailure(w, err)
		return
	}
	size := 0
	for _, b := range body {
		size += len(b)
	}
	h["Content-Length"] = []string{strconv.Itoa(size)}
	w.WriteHeader(http.StatusOK)
	if s.config.SlowBody > 0 {
		_ = http.NewResponseController(w).Flush()
		if sleep(r.Context(), s.config.SlowBody) != nil {
			return
		}
	}
	// A failed write means that the client is gone.
	for _, b := range body {
		_, _ = w.Write(b)
	}
}

// writeFailure answers with an error in the protocol's JSON form. Its < and > are not escaped,
// since clients show the body's first bytes.
func writeFailure(w http.ResponseWriter, err error) {
	f := asFailure(err)
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	// A struct of one string can always be encoded.
	_ = enc.Encode(struct {
		Error string `json:"error"`
	}{f.text})
	body.Truncate(body.Len() - 1) // the encoder's newline
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(body.Len())}
	w.WriteHeader(f.http)
	_, _ = w.Write(body.Bytes())
}

// resetPeer ends the connection with a reset if the transport has one.
func resetPeer(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	resetConn(c)
}

// resetConn closes c so that unsent bytes are dropped and the peer gets a reset.
func resetConn(c net.Conn) {
	for {
		u, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		c = u.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
