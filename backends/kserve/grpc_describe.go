package kserve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Describe implements backends.Describer.
func (c *GRPC) Describe(ctx context.Context, model string) (backends.Signature, error) {
	name, version, err := ModelOf(&c.target, model)
	if err != nil {
		return backends.Signature{}, err
	}
	var m metadata
	reply, err := c.Invoke(ctx, "ServerMetadata", nil)
	if err == nil {
		m.extensions, err = readExtensions(reply)
	}
	if err == nil {
		if reply, err = c.Invoke(ctx, "ModelMetadata", ModelRequest(name, version)); err != nil {
			err = c.explainModelError(ctx, name, version, err)
		}
	}
	if err == nil {
		m.model, err = readModel(reply)
	}
	if err == nil && slices.Contains(m.extensions, extConfig) {
		m.configured = true
		if reply, err = c.Invoke(ctx, "ModelConfig", ModelRequest(name, version)); err == nil {
			m.config, err = readConfig(reply)
		}
	}
	if err != nil {
		return backends.Signature{}, err
	}
	s := m.signature(version)
	s.BinaryTensors = true // raw contents are part of the protocol
	return s, nil
}

// readExtensions reads a ServerMetadataResponse: extensions 3.
func readExtensions(b []byte) (list []string, err error) {
	w := protow.Walk(b)
	for w.Next() {
		if w.Is(3) {
			list = append(list, string(w.Bytes))
		}
	}
	return list, wrapMalformed("ServerMetadata", w.Err())
}

// readModel reads a ModelMetadataResponse: name 1, versions 2, inputs 4, outputs 5.
func readModel(b []byte) (m modelMetadata, err error) {
	w := protow.Walk(b)
	for w.Next() && err == nil {
		switch {
		case w.Is(1):
			m.Name = string(w.Bytes)
		case w.Is(2):
			m.Versions = append(m.Versions, string(w.Bytes))
		case w.Is(4):
			m.Inputs, err = appendTensor(m.Inputs, w.Bytes)
		case w.Is(5):
			m.Outputs, err = appendTensor(m.Outputs, w.Bytes)
		}
	}
	if err == nil {
		err = w.Err()
	}
	return m, wrapMalformed("ModelMetadata", err)
}

// appendTensor reads a TensorMetadata: name 1, datatype 2, shape 3.
func appendTensor(list []tensorMetadata, b []byte) ([]tensorMetadata, error) {
	var t tensorMetadata
	w := protow.Walk(b)
	for w.Next() {
		var err error
		switch {
		case w.Is(1):
			t.Name = string(w.Bytes)
		case w.Is(2):
			t.Datatype = string(w.Bytes)
		case w.Field == 3:
			t.Shape, err = w.Ints(t.Shape)
		}
		if err != nil {
			return list, err
		}
	}
	return append(list, t), w.Err()
}

// readConfig reads a ModelConfigResponse (config 1) down to ModelConfig (max_batch_size 4, input 5,
// output 6, sequence_batching 13, ensemble_scheduling 15, model_transaction_policy 19), ModelInput
// and ModelOutput (name 1, is_shape_tensor 6, optional 8), ModelEnsembling (step 1) and its Step
// (model_name 1, model_version 2), ModelTransactionPolicy (decoupled 1).
func readConfig(b []byte) (c modelConfig, err error) {
	w := protow.Walk(b)
	for w.Next() && err == nil {
		if !w.Is(1) {
			continue
		}
		config := protow.Walk(w.Bytes)
		for config.Next() && err == nil {
			switch {
			case config.Field == 4:
				c.MaxBatch = wholeNumber(int32(config.Varint))
			case config.Is(5):
				c.Input, err = appendConfigInput(c.Input, config.Bytes)
			case config.Is(6):
				c.Output, err = appendConfigInput(c.Output, config.Bytes)
			case config.Is(13):
				err = c.readSequences(config.Bytes)
			case config.Is(15):
				err = c.appendSteps(config.Bytes)
			case config.Is(19):
				for policy := protow.Walk(config.Bytes); policy.Next(); {
					c.Policy.Decoupled = c.Policy.Decoupled || policy.Field == 1 && policy.Varint != 0
				}
			}
		}
		err = errors.Join(err, config.Err())
	}
	return c, wrapMalformed("ModelConfig", errors.Join(err, w.Err()))
}

func appendConfigInput(list []configInput, b []byte) ([]configInput, error) {
	var in configInput
	w := protow.Walk(b)
	for w.Next() {
		switch {
		case w.Is(1):
			in.Name = string(w.Bytes)
		case w.Field == 6:
			in.Shape = w.Varint != 0
		case w.Field == 8:
			in.Optional = w.Varint != 0
		}
	}
	return append(list, in), w.Err()
}

func (c *modelConfig) appendSteps(b []byte) error {
	list := protow.Walk(b)
	for list.Next() {
		if !list.Is(1) {
			continue
		}
		var step configStep
		w := protow.Walk(list.Bytes)
		for w.Next() {
			switch {
			case w.Is(1):
				step.Model = string(w.Bytes)
			case w.Field == 2:
				step.Version = wholeNumber(w.Varint)
			}
		}
		if err := w.Err(); err != nil {
			return err
		}
		c.Ensemble.Steps = append(c.Ensemble.Steps, step)
	}
	return list.Err()
}

// readSequences reads a ModelSequenceBatching: control_input 2, of it control 2, of that kind 1 and
// data_type 4.
func (c *modelConfig) readSequences(b []byte) (err error) {
	c.Sequences = &configSequences{}
	list := protow.Walk(b)
	for list.Next() && err == nil {
		if list.Is(2) {
			err = c.Sequences.appendControls(list.Bytes)
		}
	}
	return errors.Join(err, list.Err())
}

// Numbers of the enums ModelSequenceBatching.Control.Kind and DataType.
const (
	correlationID = 3
	typeString    = 13
)

func (c *configSequences) appendControls(b []byte) error {
	var in struct {
		Control []configControl `json:"control"`
	}
	list := protow.Walk(b)
	for list.Next() {
		if !list.Is(2) {
			continue
		}
		var control configControl
		w := protow.Walk(list.Bytes)
		for w.Next() {
			switch {
			case w.Field == 1 && w.Varint == correlationID:
				control.Kind = "CONTROL_SEQUENCE_CORRID"
			case w.Field == 4 && w.Varint == typeString:
				control.DataType = "TYPE_STRING"
			}
		}
		if err := w.Err(); err != nil {
			return err
		}
		in.Control = append(in.Control, control)
	}
	c.Inputs = append(c.Inputs, in)
	return list.Err()
}

func wrapMalformed(method string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: reply: %w", method, err)
	}
	return nil
}

// Ready implements backends.Prober: live, ready, and the model loaded.
func (c *GRPC) Ready(ctx context.Context, model string) error {
	type question struct {
		method  string
		request []byte
	}
	asks := []question{{"ServerLive", nil}, {"ServerReady", nil}}
	name, version := "", ""
	if model != "" {
		var err error
		if name, version, err = ModelOf(&c.target, model); err != nil {
			return err
		}
		asks = append(asks, question{"ModelReady", ModelRequest(name, version)})
	}
	for _, a := range asks {
		reply, err := c.Invoke(ctx, a.method, a.request)
		if err != nil && a.method == "ModelReady" {
			return c.explainModelError(ctx, name, version, err)
		}
		if err != nil {
			return err
		}
		yes := false
		w := protow.Walk(reply)
		for w.Next() {
			yes = yes || w.Field == 1 && w.Varint == 1
		}
		if err := w.Err(); err != nil {
			return wrapMalformed(a.method, err)
		}
		if !yes && a.method == "ModelReady" { // about an unknown model Triton says more there
			if _, err := c.Invoke(ctx, "ModelMetadata", a.request); err != nil {
				return c.explainModelError(ctx, name, version, err)
			}
		}
		if !yes {
			return fmt.Errorf("%s: the server answers false", a.method)
		}
	}
	return nil
}
