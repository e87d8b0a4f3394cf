package kserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
)

// IndexedModel is one version of a model in the index of a server's repository (the model
// repository extension).
type IndexedModel struct {
	Name    string `json:"name" proto:"1"`
	Version string `json:"version" proto:"2"` // "": none is loaded
	// READY LOADING UNLOADING UNAVAILABLE, "" if it was never loaded
	State  string `json:"state" proto:"3"`
	Reason string `json:"reason" proto:"4"`
}

const stateReady = "READY"

// ExplainModelError returns the error of a call that names a model, explained by the server's index
// of models (nil: it has none). For a model that the index lacks it is a
// backends.UnknownModelError. A model in the index may still become loaded, so the error names its
// state.
func ExplainModelError(list []IndexedModel, model, version, said string, err error) error {
	var names, versions []string
	state, ready := "", false
	for _, m := range list {
		if !slices.Contains(names, m.Name) {
			names = append(names, m.Name)
		}
		if m.Name != model {
			continue
		}
		if m.Version != "" && m.State == stateReady {
			versions, ready = append(versions, m.Version), true
		}
		if m.Version == version || version == "" || m.Version == "" {
			state = "it is not loaded"
			if m.State != "" {
				state = "it is " + m.State
			}
			if m.Reason != "" {
				state += ": " + strings.Join(strings.Fields(m.Reason), " ")
			}
		}
	}
	switch {
	case state != "":
		return fmt.Errorf("model %s: %s: %w", model, state, err)
	case ready:
		return &backends.UnknownModelError{Model: model, Version: version, ServerText: said, Known: versions}
	case slices.Contains(names, model):
		return err
	}
	return &backends.UnknownModelError{Model: model, ServerText: said, Known: names}
}

// unknownCodes are codes other than NOT_FOUND that servers have for unknown models, and for other things.
var unknownCodes = []int32{grpcraw.InvalidArgument, grpcraw.Unavailable, grpcraw.Unknown}

// unknownTexts are parts of servers' messages about unknown models, with codes other than those for
// "not found".
var unknownTexts = []string{"unknown model", "not found", "does not exist"}

func isUnknown(words string) bool {
	words = strings.ToLower(words)
	return slices.ContainsFunc(unknownTexts, func(part string) bool { return strings.Contains(words, part) })
}

// explainModelError returns err unchanged unless it says that the model is unknown.
func (c *HTTP) explainModelError(ctx context.Context, model, version string, err error) error {
	var status *endpoint.StatusError
	if !errors.As(err, &status) ||
		status.Status != http.StatusNotFound &&
			(status.Status != http.StatusBadRequest || !isUnknown(string(status.Body))) {
		return err
	}
	return ExplainModelError(c.index(ctx), model, version, status.Message(), err)
}

// ExplainLoadError returns the error of a load of a model: a backends.UnknownModelError if the server answered and
// the index of its repository lacks the model.
func (c *HTTP) ExplainLoadError(ctx context.Context, model string, err error) error {
	var status *endpoint.StatusError
	if !errors.As(err, &status) {
		return err
	}
	return explainLoadError(c.index(ctx), model, status.Message(), err)
}

// ExplainLoadError does the same as over HTTP.
func (c *GRPC) ExplainLoadError(ctx context.Context, model string, err error) error {
	_, words, refused := grpcraw.Refusal(err)
	if !refused {
		return err
	}
	return explainLoadError(c.index(ctx), model, words, err)
}

func explainLoadError(list []IndexedModel, model, said string, err error) error {
	if len(list) == 0 || slices.ContainsFunc(list, func(m IndexedModel) bool { return m.Name == model }) {
		return err
	}
	return ExplainModelError(list, model, "", said, err)
}

// index returns the models of the server: from the index of its repository, or the plain list of
// KServe's own server; nil: it has neither.
func (c *HTTP) index(ctx context.Context) (list []IndexedModel) {
	if body, err := c.Fetch(ctx, http.MethodPost, "/v2/repository/index", []byte("{}")); err == nil &&
		json.Unmarshal(body, &list) == nil {
		return list
	}
	var plain struct{ Models []string }
	if body, err := c.Fetch(ctx, http.MethodGet, "/v2/models", nil); err == nil &&
		json.Unmarshal(body, &plain) == nil {
		list = nil
		for _, name := range plain.Models {
			list = append(list, IndexedModel{Name: name})
		}
		return list
	}
	return nil
}

// explainModelError does the same as over HTTP. Older versions of Triton say UNAVAILABLE of an unknown
// model, and MLServer's ModelReady says UNKNOWN.
func (c *GRPC) explainModelError(ctx context.Context, model, version string, err error) error {
	code, words, refused := grpcraw.Refusal(err)
	switch {
	case !refused:
		return err
	case code == grpcraw.NotFound, slices.Contains(unknownCodes, code) && isUnknown(words):
		return ExplainModelError(c.index(ctx), model, version, words, err)
	}
	return err
}

// index returns the index of the server's repository; nil: the server has none.
func (c *GRPC) index(ctx context.Context) []IndexedModel {
	var reply struct {
		Models []IndexedModel `proto:"1"`
	}
	if c.Read(ctx, "RepositoryIndex", nil, &reply) != nil {
		return nil
	}
	return reply.Models
}
