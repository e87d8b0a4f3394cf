package tfserving

import (
	"errors"
	"fmt"
	"strconv"
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

// unknownLabel begins the message about a label that no version of the model has (server_core.cc); its code is
// INVALID_ARGUMENT, over REST status 400.
const unknownLabel = "Unrecognized servable version label"

// unknownVersion reports whether a server refuses to answer about a version of a model, or the model.
func unknownVersion(notFound bool, version, words string) bool {
	return notFound || version != "" && strings.Contains(words, unknownLabel)
}

// explain says why a server answers no request: it does not know the model.
func explain(t *backends.Target, s *backends.Sample) error {
	words := string(s.Note)
	if s.Class != backends.Status || s.Status != grpcraw.NotFound && !strings.Contains(words, unknownModel) &&
		!strings.Contains(words, unknownLabel) {
		return nil
	}
	return &backends.UnknownModelError{Model: t.Model, Version: t.ModelVersion, ServerText: words}
}

// versionStatus is the status of one version of a model.
type versionStatus struct{ version, state, text string }

// statusReply is a GetModelStatusResponse: model_version_status 1 {version 1, state 2, status 3 {error_message 2}}.
type statusReply struct {
	Versions []struct {
		Version int64 `proto:"1"`
		State   int64 `proto:"2"`
		Status  struct {
			Text string `proto:"2"`
		} `proto:"3"`
	} `proto:"1"`
}

func (r *statusReply) list() (list []versionStatus) {
	for _, v := range r.Versions {
		state := "unknown"
		if i := v.State / 10; i > 0 && i < int64(len(stateNames)) {
			state = stateNames[i]
		}
		list = append(list, versionStatus{strconv.FormatInt(v.Version, 10), state, v.Status.Text})
	}
	return list
}

// availableOf returns the versions that answer requests.
func availableOf(list []versionStatus) (names []string) {
	for _, v := range list {
		if v.state == available {
			names = append(names, v.version)
		}
	}
	return names
}

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
