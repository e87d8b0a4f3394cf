package tfserving

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/grpcraw"
)

// stateNames are the states of a version (get_model_status.proto), by tens.
var stateNames = [...]string{"", "START", "LOADING", "AVAILABLE", "UNLOADING", "END"}

// available is the state of a version that answers requests.
const available = "AVAILABLE"

// unknownModel begins the message of a server without the status of models (pythie-serving).
const unknownModel = "Unknown model: "

// explain says why a server answers no request: it does not know the model.
func explain(t *backends.Target, s *backends.Sample) error {
	if s.Class != backends.Status || s.Status != grpcraw.NotFound && !strings.Contains(string(s.Note), unknownModel) {
		return nil
	}
	return &backends.UnknownModelError{Model: t.Model, Version: t.ModelVersion, ServerText: string(s.Note)}
}

// versionStatus is the status of one version of a model.
type versionStatus struct{ version, state, text string }

// ready returns nil if a version answers requests, else the state of the last one.
func ready(model string, versions []versionStatus) error {
	text := "model " + model + " has no version"
	for _, v := range versions {
		if v.state == available {
			return nil
		}
		text = fmt.Sprintf("version %s of model %s is %s", v.version, model, v.state)
		if v.text != "" {
			text += ": " + v.text
		}
	}
	return errors.New(text)
}
