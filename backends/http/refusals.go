package http

import (
	"net/http"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
)

// advise returns what comes before the words of a refusal of backend http: what to change in the plan.
func advise(status int, _ []byte) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return endpoint.WantsToken
	case http.StatusNotFound:
		return "the server has nothing at this `path`: "
	case http.StatusMethodNotAllowed:
		return "the server wants another `method` at this `path`: "
	case http.StatusRequestEntityTooLarge:
		return "the request is larger than the server takes: "
	case http.StatusUnsupportedMediaType:
		return "the server wants another Content-Type, which `headers` can name: "
	}
	return ""
}

// Explain implements backends.Explainer: without the right token no request is answered.
func (*Conn) Explain(s *backends.Sample) error {
	if s.Class != backends.Status || s.Status != http.StatusUnauthorized && s.Status != http.StatusForbidden {
		return nil
	}
	note := strings.TrimPrefix(string(s.Note), endpoint.WantsToken)
	return &backends.RefusalError{Text: endpoint.WantsToken + note}
}
