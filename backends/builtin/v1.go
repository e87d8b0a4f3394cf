package builtin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// v1Routes adds KServe's protocol of version 1, and TensorFlow Serving's REST API, which has the same
// paths: instances that no model of TensorFlow takes go to a model of numbers, which takes its time and
// returns them as predictions. Errors are those of KServe's own server.
func (s *Server) v1Routes(mux *http.ServeMux) {
	serveJSON(mux, "GET /v1/models/{model}", func(r *http.Request) (any, error) {
		m, err := s.v1Model(r.PathValue("model"))
		if err != nil {
			return nil, err
		}
		return object{"name": m.name, "ready": true, "model_version_status": m.versionStatus()}, nil
	})
	mux.HandleFunc("POST /v1/models/{call}", refusing(s.v1Predict))
	s.restRoutes(mux)
}

func (s *Server) v1Model(name string) (*model, error) {
	m := s.models[name]
	if m == nil || m.unloaded.Load() {
		return nil, notFound("Model with name %s does not exist.", name)
	}
	return m, nil
}

// v1Predict serves POST /v1/models/NAME:predict.
func (s *Server) v1Predict(w http.ResponseWriter, r *http.Request) error {
	use := s.use()
	defer use.done()
	name, verb, _ := strings.Cut(r.PathValue("call"), ":")
	m, err := s.v1Model(name)
	if err != nil {
		return err
	}
	body, err := readBody(w, r, use)
	if err != nil {
		s.count(err)
		return err
	}
	var req map[string]json.RawMessage
	if err := json.Unmarshal(body, &req); err != nil {
		return invalid("Unrecognized request format: %v", err)
	}
	if verb != "predict" || !isV1(m, req) {
		return s.restAnswer(w, r, m, verb, body)
	}
	var instances []json.RawMessage
	if json.Unmarshal(req["instances"], &instances) != nil || len(instances) == 0 {
		return closeSilently(w, 500, `{"error":"KeyError : 'instances'"}`)
	}
	_, err = s.infer(r.Context(), name, "", func(*model) (*inference, error) {
		in := m.inputs[0]
		t := tensor{name: in.name, typ: in.typ, shape: []int64{1}}
		if m.maxBatch > 0 {
			t.shape = []int64{int64(len(instances)), 1}
		}
		n, _ := elements(t.shape) // of two small numbers
		t.data = make([]byte, n*in.typ.size)
		return &inference{inputs: []tensor{t}}, nil
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal(object{"predictions": instances})
	if err == nil {
		writeJSON(w, http.StatusOK, text)
	}
	return err
}

// isV1 reports whether a request is for a model that KServe serves: of one input of numbers, without what
// only TensorFlow Serving takes.
func isV1(m *model, req map[string]json.RawMessage) bool {
	columns := len(req["inputs"]) > 0 && string(req["inputs"]) != "null"
	if len(m.inputs) != 1 || m.inputs[0].typ.name == "BYTES" || columns || req["signature_name"] != nil {
		return false
	}
	var q restBody
	if json.Unmarshal(req["instances"], &q.Instances) != nil || q.Instances == nil {
		return true
	}
	_, _, err := q.tensors(m)
	return err != nil
}

// closeSilently answers with an error, and closes the connection without saying so, as uvicorn does
// after an exception.
func closeSilently(w http.ResponseWriter, status int, body string) error {
	c, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "HTTP/1.1 %d %s\r\ncontent-length: %d\r\ncontent-type: application/json\r\n\r\n%s",
		status, http.StatusText(status), len(body), body)
	_ = errors.Join(err, out.Flush(), c.Close()) // one means that the client is gone
	return nil
}
