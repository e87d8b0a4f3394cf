package builtin

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
)

// torchRoutes adds the inference API of TorchServe 0.12, and what its management API says of models: a body, or a form, goes to a model whose first
// input is text. A model of one response returns it as it is, and of a form with several fields the
// sizes of the fields; a decoupled model streams its texts, a chunk each.
func (s *Server) torchRoutes(mux *http.ServeMux) {
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /ping":                            s.torchPing,
		"POST /predictions/{model}":            s.torchPredict,
		"POST /predictions/{model}/{version}":  s.torchPredict,
		"POST /explanations/{model}":           s.torchPredict,
		"POST /explanations/{model}/{version}": s.torchPredict,
		"GET /models":                          s.torchModels,
		"GET /models/{model}":                  s.torchModel,
		"GET /models/{model}/{version}":        s.torchModel,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			err := s.text.allowed(r)
			if err != nil {
				err = &torchError{
					400, "InvalidKeyException",
					"Token Authorization failed. Token either incorrect, expired, or not provided correctly",
				}
			} else {
				err = h(w, r)
			}
			switch {
			case errors.Is(err, errReset):
				resetPeer(w)
			case err != nil:
				writeTorchError(w, err)
			}
		})
	}
}

// torchError is the JSON of a refusal.
type torchError struct {
	Code    int    `json:"code"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

func (e *torchError) Error() string { return e.Message }

// writeTorchError answers with an error in TorchServe's form, and ends the connection as it does.
func writeTorchError(w http.ResponseWriter, err error) {
	var e *torchError
	if !errors.As(err, &e) {
		e = &torchError{503, "InternalServerException", "Prediction failed"}
		var f *failure
		if errors.As(err, &f) && f.http == http.StatusRequestEntityTooLarge {
			w.WriteHeader(f.http)
			return
		}
	}
	text, _ := json.MarshalIndent(e, "", "  ") // of a number and strings
	w.Header()["Connection"] = []string{"close"}
	writeJSON(w, e.Code, append(text, '\n'))
}

func (s *Server) torchPing(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, []byte("{\n  \"status\": \"Healthy\"\n}\n"))
	return nil
}

// torchPredict serves a prediction.
func (s *Server) torchPredict(w http.ResponseWriter, r *http.Request) error {
	use := s.use()
	defer use.done()
	m, err := s.findTorch(r.PathValue("model"), r.PathValue("version"))
	if err != nil {
		return err
	}
	body, err := readBody(w, r, use)
	if err == nil {
		body, err = formContent(r.Header.Get("Content-Type"), body)
	}
	if err != nil {
		s.count(err)
		return err
	}
	inf, err := s.torchInfer(r.Context(), m.name, body)
	if err != nil {
		return err
	}
	if inf.model.moves == nil {
		_, _ = w.Write(inf.results[0].data[4:]) // a failed write means that the client is gone
		return nil
	}
	w.Header()["Ts_stream_next"] = []string{"true"}
	flush := http.NewResponseController(w).Flush
	return s.play(r.Context(), inf, func(out []tensor) error {
		_, err := w.Write(out[0].data[4:])
		return errors.Join(err, flush())
	})
}

// findTorch returns a model that takes text, with TorchServe's errors.
func (s *Server) findTorch(name, v string) (*model, error) {
	m := s.models[name]
	switch {
	case m == nil || m.unloaded.Load() || m.inputs[0].typ.name != "BYTES":
		return nil, &torchError{404, "ModelNotFoundException", "Model not found: " + name}
	case v != "" && v != version && v != version+".0":
		return nil, &torchError{
			404, "ModelVersionNotFoundException", "Model version: " + v + " does not exist for model: " + name,
		}
	}
	return m, nil
}

// torchInfer runs one text through a model.
func (s *Server) torchInfer(ctx context.Context, name string, body []byte) (*inference, error) {
	inf, err := s.infer(ctx, name, "", func(m *model) (*inference, error) {
		in := m.inputs[0]
		shape := []int64{1}
		if m.maxBatch > 0 {
			shape = append(shape, 1)
		}
		data := append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
		return &inference{inputs: []tensor{{in.name, in.typ, shape, data}}}, nil
	})
	var f *failure
	if errors.As(err, &f) && strings.Contains(f.text, errFull.Error()) {
		return nil, &torchError{
			503, "ServiceUnavailableException", "Model \"" + name + "\" has no worker to serve inference request. " +
				"Please use scale workers API to add workers. If this is a sequence inference, please check if it " +
				"is closed, or expired; or exceeds maxSequenceJobQueueSize",
		}
	}
	return inf, err
}

// torchModels lists the models.
func (s *Server) torchModels(w http.ResponseWriter, _ *http.Request) error {
	list := []object{}
	for _, m := range s.order {
		if _, err := s.findTorch(m.name, ""); err == nil {
			list = append(list, object{"modelName": m.name, "modelUrl": m.name + ".mar"})
		}
	}
	text, err := json.MarshalIndent(object{"models": list}, "", "  ")
	writeJSON(w, http.StatusOK, text)
	return err
}

// torchModel describes a model: its instances are workers, which are always up.
func (s *Server) torchModel(w http.ResponseWriter, r *http.Request) error {
	m, err := s.findTorch(r.PathValue("model"), r.PathValue("version"))
	if err != nil {
		return err
	}
	workers := []object{}
	for i := range m.count {
		workers = append(workers, object{"id": strconv.Itoa(9000 + i), "status": "READY", "gpu": false})
	}
	waiting := m.queue.waiting()
	text, err := json.MarshalIndent([]object{{
		"modelName": m.name, "modelVersion": version + ".0", "minWorkers": m.count, "maxWorkers": m.count,
		"workers":        workers,
		"jobQueueStatus": object{"remainingCapacity": max(m.queue.size-waiting, 0), "pendingRequests": waiting},
	}}, "", "  ")
	writeJSON(w, http.StatusOK, text)
	return err
}

// formContent returns the content of the only file of a form, or the sizes of several by field; what is
// no form is returned as it is.
func formContent(contentType string, body []byte) ([]byte, error) {
	kind, about, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "multipart/form-data" {
		return body, nil
	}
	bad := &torchError{400, "BadRequestException", "Parsing parameter failed."}
	sizes, parts := map[string]int{}, 0
	for form := multipart.NewReader(bytes.NewReader(body), about["boundary"]); ; {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, bad
		}
		if body, err = io.ReadAll(part); err != nil {
			return nil, bad
		}
		sizes[part.FormName()] += len(body)
		parts++
	}
	if parts == 1 {
		return body, nil
	}
	return json.MarshalIndent(sizes, "", "  ")
}
