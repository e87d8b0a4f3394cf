package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// object is a JSON object.
type object = map[string]any

// Error is an error reply, as OpenAI has it.
type Error struct {
	Status  int    `json:"-"` // of HTTP
	Message string `json:"message"`
	Type    string `json:"type"`
	Param   any    `json:"param"`
	Code    any    `json:"code"`
}

func (e *Error) Error() string { return e.Message }

// Body returns the JSON of e in the form of an endpoint.
func (e *Error) Body(of Endpoint) []byte {
	o := object{"error": e}
	if of == Messages {
		o = object{"type": "error", "error": object{"type": anthropicTypes[e.Status], "message": e.Message}}
	}
	return encode(o)
}

// anthropicTypes are the types of errors of the messages endpoint.
var anthropicTypes = map[int]string{
	http.StatusBadRequest:          "invalid_request_error",
	http.StatusUnauthorized:        "authentication_error",
	http.StatusNotFound:            "not_found_error",
	http.StatusInternalServerError: "api_error",
}

// BadRequest returns the error of a request with a mistake in param; "": in the whole of it.
func BadRequest(param, format string, args ...any) *Error {
	e := &Error{
		Status: http.StatusBadRequest, Message: fmt.Sprintf(format, args...), Type: "invalid_request_error",
	}
	if param != "" {
		e.Param = param
	}
	return e
}

// Unauthorized returns the error of a request without the API key.
func Unauthorized() *Error {
	return &Error{
		Status: http.StatusUnauthorized, Message: "Incorrect API key provided.", Type: "invalid_request_error",
		Code: "invalid_api_key",
	}
}

// Simulated returns the error of a request that was drawn to fail.
func Simulated() *Error {
	return &Error{
		Status: http.StatusInternalServerError, Message: "simulated failure", Type: "server_error",
		Code: http.StatusInternalServerError,
	}
}

// checkModel refuses models that the endpoint does not serve.
func checkModel(name string, of ...string) error {
	switch {
	case name == "":
		return BadRequest("model", "you must provide a model parameter")
	case slices.Contains(of, name):
		return nil
	}
	return &Error{
		Status: http.StatusNotFound, Message: fmt.Sprintf("The model `%s` does not exist", name),
		Type: "invalid_request_error", Param: "model", Code: "model_not_found",
	}
}

// encode returns the JSON of a value of texts, numbers, lists and objects, which can always be encoded.
func encode(v any) []byte {
	b, _ := json.Marshal(v)
	return b
}
