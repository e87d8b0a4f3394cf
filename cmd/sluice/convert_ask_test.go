package main

import (
	"context"
	"errors"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// modelTeller is a server that says of its models what it is told to.
type modelTeller struct {
	backends.Conn
	models map[string]backends.Signature
	model  string
}

func (t modelTeller) Close(context.Context) error { return nil }

func (t modelTeller) Describe(context.Context, string) (backends.Signature, error) {
	sig, ok := t.models[t.model]
	if !ok {
		return sig, errors.New("unknown model")
	}
	return sig, nil
}

// An ensemble keeps sequences when a model that it calls does, at whatever depth; one that calls itself ends.
func TestEnsembleKeepsSequences(t *testing.T) {
	models := map[string]backends.Signature{
		"alone": {Sequence: backends.NoSequences},
		"acc":   {Sequence: backends.TextSequences},
		"plain": {Calls: []backends.Called{{Model: "alone"}, {Model: "alone"}}},
		"inner": {Calls: []backends.Called{{Model: "alone"}, {Model: "acc"}}},
		"outer": {Calls: []backends.Called{{Model: "plain"}, {Model: "inner"}}},
		"loop":  {Calls: []backends.Called{{Model: "loop"}}},
		"torn":  {Calls: []backends.Called{{Model: "gone"}}},
	}
	kind := &backends.Kind{Open: func(_ context.Context, target backends.Target, _ backends.Clock) (backends.Conn, error) {
		return modelTeller{models: models, model: target.Model}, nil
	}}
	for model, want := range map[string]bool{"alone": false, "acc": true, "plain": false, "inner": true, "outer": true, "loop": false} {
		got, err := keepsSequences(t.Context(), kind, backends.Target{Model: model}, models[model], map[string]bool{})
		if err != nil || got != want {
			t.Errorf("%s: %t, %v", model, got, err)
		}
	}
	if _, err := keepsSequences(t.Context(), kind, backends.Target{Model: "torn"}, models["torn"], map[string]bool{}); err == nil {
		t.Error("a model that is not there is none that keeps no sequences")
	}
}
