package http

import (
	"net/http"
	"strings"

	"github.com/sluice-bench/sluice/backends"
)

// wantsToken comes before the words of a server that refuses a request without the right token.
const wantsToken = "the server wants a token, or another one, such as headers: {Authorization: \"Bearer ${token}\"} " +
	"with a secret variable: "

// advise returns what comes before the words of a refusal of backend http: what to change in the plan.
func advise(status int, _ []byte) string {
	switch status {
	case http.StatusUnauthorized:
		return wantsToken
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
	if s.Class != backends.Status || s.Status != http.StatusUnauthorized {
		return nil
	}
	return &backends.RefusalError{Text: wantsToken + strings.TrimPrefix(string(s.Note), wantsToken)}
}
