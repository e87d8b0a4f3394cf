package torchserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
)

// management is TorchServe's management API, which has a port and a key of its own.
type management struct{ *endpoint.HTTP }

// openManagement opens the API of a target; nil: the plan names none. It sends nothing.
func openManagement(t *backends.Target, clock backends.Clock) (*management, error) {
	m := t.Management
	if m == nil {
		return nil, nil
	}
	at := backends.Target{URL: m.URL, Headers: m.Headers, TLS: t.TLS, ConnectTimeout: t.ConnectTimeout}
	if strings.HasPrefix(m.URL, "/") {
		u, err := url.Parse(t.URL)
		if err != nil || t.GRPC() || u.Host == "" {
			return nil, wrongManagement(errors.New("it is a path on the target's host, which is not reached over HTTP: " +
				"give a whole URL, such as http://localhost:8081"))
		}
		at.URL = u.Scheme + "://" + u.Host + strings.TrimSuffix(m.URL, "/")
	}
	for _, h := range m.Headers {
		if err := endpoint.CheckHeader(h); err != nil {
			return nil, wrongManagement(err)
		}
	}
	e, err := endpoint.Open(&at, []string{"http", "https"})
	if err != nil {
		return nil, wrongManagement(err)
	}
	return &management{endpoint.OpenHTTP(at, e, clock, nil)}, nil
}

// close closes idle connections, if there is an API.
func (m *management) close(ctx context.Context) error {
	if m == nil {
		return nil
	}
	return m.Close(ctx)
}

func wrongManagement(err error) error {
	return &backends.KeyError{Key: "management", Err: fmt.Errorf("management: %w", err)}
}

// modelStatus is a version of a model, as GET /models/NAME describes it.
type modelStatus struct {
	Version    string `json:"modelVersion"`
	MinWorkers int    `json:"minWorkers"`
	Workers    []struct{ Status string }
	Queue      struct {
		Free    int `json:"remainingCapacity"`
		Waiting int `json:"pendingRequests"`
	} `json:"jobQueueStatus"`
}

// up is the status of a worker that answers requests.
const up = "READY"

// ready returns nil if a worker of a model is up, else what there is.
func (m *management) ready(ctx context.Context, model, version string) error {
	path := "/models/" + url.PathEscape(model)
	if version != "" {
		path += "/" + url.PathEscape(version)
	}
	body, err := m.Fetch(ctx, nethttp.MethodGet, path, nil)
	var status *endpoint.StatusError
	switch words := ""; {
	case errors.As(err, &status):
		words = string(status.Body)
		switch {
		case strings.Contains(words, invalidKey),
			status.Status == nethttp.StatusUnauthorized, status.Status == nethttp.StatusForbidden:
			return &backends.RefusalError{Text: "the management API wants a token: write management: {headers: " +
				"{Authorization: \"Bearer KEY\"}} with the management key of the server's key_file.json"}
		case strings.Contains(words, unknownVersion):
			return &backends.UnknownModelError{Model: model, Version: version, ServerText: messageOf(status.Body)}
		case strings.Contains(words, unknownModel):
			return &backends.UnknownModelError{
				Model: model, ServerText: messageOf(status.Body), Known: m.models(ctx),
			}
		}
		return fmt.Errorf("management: %w", err)
	case err != nil:
		return fmt.Errorf("management: %w", err)
	}
	var list []modelStatus
	if err := json.Unmarshal(body, &list); err != nil || len(list) == 0 {
		return fmt.Errorf("management: GET %s: the reply is no list of a model's versions", m.URL(path))
	}
	return list[0].ready(model)
}

// readyFor returns nil if a worker of a request's model is up.
func (m *management) readyFor(ctx context.Context, t *backends.Target, model string) error {
	if model == t.Model {
		return m.ready(ctx, model, t.ModelVersion)
	}
	return m.ready(ctx, model, "")
}

// ready returns nil if a worker is up.
func (s *modelStatus) ready(model string) error {
	var states []string
	for _, w := range s.Workers {
		if w.Status == up {
			return nil
		}
		states = append(states, w.Status)
	}
	what := "no worker"
	if len(states) > 0 {
		what = "workers that are " + strings.Join(states, ", ")
	}
	return fmt.Errorf("model %s has %s, and %d requests wait in its queue of %d: look into the server's log, or "+
		"start one with PUT /models/%s?min_worker=1 of its management API",
		model, what, s.Queue.Waiting, s.Queue.Free+s.Queue.Waiting, model)
}

// messageOf returns the message of a refusal.
func messageOf(body []byte) string {
	var e struct{ Message string }
	_ = json.Unmarshal(body, &e) // what is no JSON has none
	return e.Message
}

// models returns the models that the server lists; nil: it does not.
func (m *management) models(ctx context.Context) (names []string) {
	var list struct {
		Models []struct {
			Name string `json:"modelName"`
		}
	}
	body, err := m.Fetch(ctx, nethttp.MethodGet, "/models", nil)
	if err != nil || json.Unmarshal(body, &list) != nil {
		return nil
	}
	for _, one := range list.Models {
		names = append(names, one.Name)
	}
	return names
}
