package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
)

const wantsKey = "the server wants an API key: write headers: {Authorization: \"Bearer ${key}\"}, or " +
	"{x-api-key: \"${key}\"} for the endpoint messages, with a secret variable; it says: "

// Ready implements backends.Prober. Servers list their models at /v1/models; one that does not have
// the list is ready if it answers. Names in the list are not compared: servers take names that they
// do not list, of adapters for one.
func (c *conn) Ready(ctx context.Context, _ string) error {
	_, err := c.models(ctx)
	var reply *endpoint.StatusError
	switch {
	case !errors.As(err, &reply):
		return err
	case reply.Status == http.StatusUnauthorized:
		return &backends.RefusalError{Text: wantsKey + reply.Error()}
	case slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed}, reply.Status):
		return nil
	}
	return err
}

// models returns the names of the models that the server lists.
func (c *conn) models(ctx context.Context) ([]string, error) {
	text, err := c.Fetch(ctx, http.MethodGet, c.pathOf("/v1/models"), nil)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Data []struct{ ID string }
	}
	_ = json.Unmarshal(text, &reply) // a list in another form is none
	names := make([]string, 0, len(reply.Data))
	for _, m := range reply.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

// Explain implements backends.Explainer. Servers say with status 404 also that they lack the path: the
// text of an unknown model names it.
func (c *conn) Explain(s *backends.Sample) error {
	note := string(s.Note)
	switch {
	case s.Class != backends.Status:
	case s.Status == http.StatusUnauthorized:
		return &backends.RefusalError{Text: wantsKey + note}
	case s.Status == http.StatusNotFound && c.target.Model != "" && strings.Contains(note, c.target.Model):
		ctx, cancel := context.WithTimeout(context.Background(), c.target.ConnectTimeout)
		defer cancel()
		known, _ := c.models(ctx) // a server without the list
		return &backends.UnknownModelError{Model: c.target.Model, ServerText: note, Known: known}
	}
	return nil
}
