package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// The server speaks TensorFlow Serving's REST API: rows and columns of any model with one response
// become a request of KServe v2, and examples one of Classify or Regress. Errors have the words of
// tensorflow_serving/util/json_tensor.cc.

// label is the label of every model's only version.
const label = "stable"

// restRoutes adds the paths that KServe's version 1 does not have (v1Routes).
func (s *Server) restRoutes(mux *http.ServeMux) {
	for _, base := range []string{
		"/v1/models/{model}", "/v1/models/{model}/versions/{version}", "/v1/models/{model}/labels/{label}",
	} {
		serveJSON(mux, "GET "+base+"/metadata", s.restMetadata)
	}
	for _, key := range []string{"versions/{version}", "labels/{label}"} {
		serveJSON(mux, "GET /v1/models/{model}/"+key, s.restStatus)
		mux.HandleFunc("POST /v1/models/{model}/"+strings.Replace(key, "}", "_call}", 1), refusing(s.restCall))
	}
}

// restModel returns the model of a path.
func (s *Server) restModel(r *http.Request) (*model, error) {
	name, v, wanted := r.PathValue("model"), r.PathValue("version"), r.PathValue("label")
	m, err := s.find(name, v)
	switch {
	case wanted != "" && wanted != label:
		return nil, invalid("Unrecognized servable version label: %s", wanted)
	case err != nil:
		return nil, notFound("Could not find any versions of model %s", name)
	}
	return m, nil
}

// restStatus answers a request for the status of a model.
func (s *Server) restStatus(r *http.Request) (any, error) {
	m, err := s.restModel(r)
	if err != nil {
		return nil, err
	}
	return object{"model_version_status": m.versionStatus()}, nil
}

func (m *model) versionStatus() []object {
	return []object{{
		"version": version, "state": "AVAILABLE", "status": object{"error_code": "OK", "error_message": ""},
	}}
}

// restMetadata answers a request for the signatures of a model.
func (s *Server) restMetadata(r *http.Request) (any, error) {
	m, err := s.restModel(r)
	if err != nil {
		return nil, err
	}
	tensors := func(specs []spec) object {
		all := object{}
		for _, p := range specs {
			dims := []object{}
			for _, d := range m.shape(p) {
				dims = append(dims, object{"size": strconv.FormatInt(d, 10), "name": ""})
			}
			all[p.name] = object{
				"dtype": restTypes[p.typ.name], "name": p.name + ":0",
				"tensor_shape": object{"dim": dims, "unknown_rank": false},
			}
		}
		return all
	}
	defs := object{onlySignature: object{
		"inputs": tensors(m.inputs), "outputs": tensors(m.outputs), "method_name": "tensorflow/serving/predict",
	}}
	for _, verb := range m.exampleVerbs() {
		defs[verb] = object{
			"inputs": object{"inputs": object{
				"dtype": "DT_STRING", "name": "examples:0",
				"tensor_shape": object{"dim": []object{{"size": "-1", "name": ""}}, "unknown_rank": false},
			}},
			"outputs": object{}, "method_name": "tensorflow/serving/" + verb,
		}
	}
	return object{
		"model_spec": object{"name": m.name, "signature_name": "", "version": version},
		"metadata":   object{"signature_def": object{"signature_def": defs}},
	}, nil
}

// restTypes are the datatypes as REST names them.
var restTypes = map[string]string{
	"FP32": "DT_FLOAT", "FP64": "DT_DOUBLE", "INT32": "DT_INT32", "UINT8": "DT_UINT8", "INT16": "DT_INT16",
	"INT8": "DT_INT8", "BYTES": "DT_STRING", "INT64": "DT_INT64", "BOOL": "DT_BOOL", "BF16": "DT_BFLOAT16",
	"UINT16": "DT_UINT16", "FP16": "DT_HALF", "UINT32": "DT_UINT32", "UINT64": "DT_UINT64",
}

// restCall serves a call of a version or a label.
func (s *Server) restCall(w http.ResponseWriter, r *http.Request) error {
	use := s.use()
	defer use.done()
	for _, key := range []string{"version", "label"} {
		if what, verb, ok := strings.Cut(r.PathValue(key+"_call"), ":"); ok {
			r.SetPathValue(key, what)
			m, err := s.restModel(r)
			if err != nil {
				return err
			}
			body, err := readBody(w, r, use)
			if err != nil {
				s.count(err)
				return err
			}
			return s.restAnswer(w, r, m, verb, body)
		}
	}
	return notFound("Malformed request: POST %s", r.URL.Path)
}

// restBody is the JSON of a request.
type restBody struct {
	Signature                            string `json:"signature_name"`
	Instances, Inputs, Examples, Context any
}

// restAnswer answers predict, classify or regress.
func (s *Server) restAnswer(w http.ResponseWriter, r *http.Request, m *model, verb string, body []byte) error {
	var q restBody
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&q); err != nil {
		return invalid("JSON Parse error: %v", err)
	}
	if known := append(m.exampleVerbs(), onlySignature, ""); !slices.Contains(known, q.Signature) {
		return invalid("Serving signature name: %q not found in signature def", q.Signature)
	}
	var reply any
	var err error
	switch verb {
	case "predict":
		reply, err = s.restPredict(r.Context(), m, &q)
	case "classify", "regress":
		var rows [][]float32
		if rows, err = jsonExamples(q.Examples); err == nil {
			rows, err = s.examples(r.Context(), m, rows)
		}
		reply = object{"results": resultsOf(rows, verb)}
	default:
		err = notFound("Malformed request: POST %s", r.URL.Path)
	}
	if err != nil {
		return err
	}
	text, err := json.Marshal(reply)
	if err == nil {
		writeJSON(w, http.StatusOK, text)
	}
	return err
}

// restPredict runs a predict request.
func (s *Server) restPredict(ctx context.Context, m *model, q *restBody) (any, error) {
	inputs, rows, err := q.tensors(m)
	if err != nil {
		return nil, err
	}
	inf, err := s.infer(ctx, m.name, "", func(*model) (*inference, error) {
		return &inference{inputs: inputs}, nil
	})
	if err != nil {
		return nil, err
	}
	if inf.model.moves != nil {
		return nil, notUnary("REST")
	}
	columns := object{}
	for _, t := range inf.results {
		v, err := nestedJSON(t)
		if err != nil {
			return nil, err
		}
		columns[t.name] = v
	}
	alone := len(inf.results) == 1
	switch {
	case rows && alone:
		return object{"predictions": columns[inf.results[0].name]}, nil
	case alone:
		return object{"outputs": columns[inf.results[0].name]}, nil
	case !rows:
		return object{"outputs": columns}, nil
	}
	list := make([]object, inf.results[0].shape[0])
	for i := range list {
		list[i] = object{}
		for name, v := range columns {
			list[i][name] = v.([]any)[i]
		}
	}
	return object{"predictions": list}, nil
}

// tensors returns the inputs of a request; rows: they came as instances.
func (q *restBody) tensors(m *model) (inputs []tensor, rows bool, err error) {
	var columns map[string]any
	switch list, isList := q.Instances.([]any); {
	case q.Instances != nil && q.Inputs != nil:
		return nil, false, invalid("Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ")
	case q.Instances != nil && !isList:
		return nil, false, invalid("Excepting 'instances' to be an list/array")
	case isList && len(list) == 0:
		return nil, false, invalid("No values in 'instances' array")
	case isList:
		rows = true
		if columns, err = columnsOf(list, m); err != nil {
			return nil, false, err
		}
	case q.Inputs == nil:
		return nil, false, invalid("Missing 'inputs' or 'instances' key")
	default:
		named, ok := q.Inputs.(map[string]any)
		if _, text := base64Of(q.Inputs); !ok || text {
			if len(m.inputs) > 1 {
				return nil, false, invalid("inputs is a plain value/list, but expecting an object as multiple input " +
					"tensors required as per tensorinfo_map")
			}
			named = map[string]any{m.inputs[0].name: q.Inputs}
		}
		columns = named
	}
	for _, p := range m.inputs[:len(m.inputs)-m.optional] {
		v, ok := columns[p.name]
		if !ok {
			return nil, false, invalid("Missing named input: %s in 'inputs' object.", p.name)
		}
		t, err := denseTensor(p, v)
		if err != nil {
			return nil, false, err
		}
		inputs = append(inputs, t)
	}
	return inputs, rows, nil
}

// columnsOf returns the instances of each input.
func columnsOf(list []any, m *model) (map[string]any, error) {
	columns := map[string][]any{}
	for i, one := range list {
		named, ok := one.(map[string]any)
		if _, text := base64Of(one); !ok || text {
			if len(m.inputs) > 1 {
				return nil, invalid("instances is a plain list, but expecting list of objects as multiple input " +
					"tensors required as per tensorinfo_map")
			}
			named = map[string]any{m.inputs[0].name: one}
		}
		for name, v := range named {
			if !slices.ContainsFunc(m.inputs, func(p spec) bool { return p.name == name }) {
				return nil, invalid("Failed to process element: %d key: %s of 'instances' list. Error: "+
					"INVALID_ARGUMENT: JSON object: does not have named input: %s", i, name, name)
			}
			columns[name] = append(columns[name], v)
		}
		if len(named) != len(m.inputs)-m.optional {
			text, _ := json.Marshal(one)
			return nil, invalid("Failed to process element: %d of 'instances' list. JSON object: %s must only have "+
				"keys: %s", i, text, strings.Join(namesOf(m.inputs), ","))
		}
	}
	all := map[string]any{}
	for name, v := range columns {
		all[name] = v
	}
	return all, nil
}
