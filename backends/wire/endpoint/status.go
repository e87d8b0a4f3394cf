package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
)

// StatusError is a reply to a control call; an error if its status is not the wanted one.
type StatusError struct {
	Status   int
	Location string
	Body     []byte
}

func (e *StatusError) Error() string {
	text := "status " + strconv.Itoa(e.Status)
	if e.Location != "" {
		text += ", which points to " + strconv.Quote(e.Location)
		if e.Status/100 == 3 {
			text += ": write the right address into `url`"
		}
	}
	if words := e.Message(); words != "" {
		text += ": " + words
	}
	return text
}

// Message returns the server's message: the text of {"error": text}, {"error": {"message": text}}
// or {"detail": text}, or the body, in quotes unless it is plain text; "": none.
func (e *StatusError) Message() string {
	text := string(bytes.TrimSpace(e.Body))
	if words := errorText(e.Body); words != "" {
		text = words
	}
	switch {
	case len(text) > backends.NoteSize:
		return fmt.Sprintf("%.*q", backends.NoteSize, text)
	case strings.ContainsFunc(text, func(r rune) bool {
		return !strconv.IsPrint(r) || r == utf8.RuneError
	}) ||
		strings.HasPrefix(text, "{"):
		return strconv.Quote(text)
	}
	return text
}

// WantsToken comes before the words of a server that refuses a request without the right token.
const WantsToken = "the server wants a token, or another one, such as headers: {Authorization: \"Bearer ${token}\"} " +
	"with a secret variable: "

// Refused returns the error of a call that asks whether a server is ready: a backends.RefusalError, which ends the
// wait, if the server wants a token, by the statuses 401 and 403 or the codes UNAUTHENTICATED and PERMISSION_DENIED.
func Refused(err error) error {
	var status *StatusError
	code, _, refused := grpcraw.Refusal(err)
	switch {
	case errors.As(err, &status) && (status.Status == http.StatusUnauthorized || status.Status == http.StatusForbidden),
		refused && (code == grpcraw.Unauthenticated || code == grpcraw.PermissionDenied):
		return &backends.RefusalError{Text: WantsToken + err.Error()}
	}
	return err
}

// errorText returns the message in a JSON object of a server; "": there is none.
func errorText(body []byte) string {
	var reply struct{ Error, Detail any }
	if json.Unmarshal(body, &reply) != nil {
		return ""
	}
	if object, ok := reply.Error.(map[string]any); ok {
		reply.Error = object["message"]
	}
	for _, v := range []any{reply.Error, reply.Detail} {
		if text, ok := v.(string); ok && text != "" {
			return text
		}
	}
	return ""
}
