package kserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
)

// metadata holds what the protocol reports about a server and a model, and Triton's configuration
// of the model, over HTTP or gRPC: these types are read from JSON and from messages. Of an enum JSON
// has the name and a message the number.
type metadata struct {
	Extensions []string `json:"extensions" proto:"3"`
	model      modelMetadata
	configured bool
	config     modelConfig
}

type modelMetadata struct {
	Name     string           `json:"name" proto:"1"`
	Versions []string         `json:"versions" proto:"2"`
	Inputs   []tensorMetadata `json:"inputs" proto:"4"`
	Outputs  []tensorMetadata `json:"outputs" proto:"5"`
}

type tensorMetadata struct {
	Name     string  `json:"name" proto:"1"`
	Datatype string  `json:"datatype" proto:"2"`
	Shape    []int64 `json:"shape" proto:"3"`
}

// modelConfig is the part of Triton's model configuration that decides about shapes and lists the
// models of an ensemble.
type modelConfig struct {
	MaxBatch wholeNumber   `json:"max_batch_size" proto:"4"`
	Input    []configInput `json:"input" proto:"5"`
	Output   []configInput `json:"output" proto:"6"`
	Policy   struct {
		Decoupled bool `json:"decoupled" proto:"1"`
	} `json:"model_transaction_policy" proto:"19"`
	Ensemble struct {
		Steps []configStep `json:"step" proto:"1"`
	} `json:"ensemble_scheduling" proto:"15"`
	Sequences *configSequences `json:"sequence_batching" proto:"13"`
}

// configSequences describes how a model keeps sequences; nil: it keeps none.
type configSequences struct {
	Inputs []struct {
		Control []configControl `json:"control" proto:"2"`
	} `json:"control_input" proto:"2"`
}

// configControl is a control input of such a model, filled in by the server.
type configControl struct {
	Kind           string `json:"kind"`
	KindNumber     int64  `json:"-" proto:"1"`
	DataType       string `json:"data_type"`
	DataTypeNumber int64  `json:"-" proto:"4"`
}

// Numbers of the enums ModelSequenceBatching.Control.Kind and DataType.
const (
	correlationID = 3
	typeString    = 13
)

// takesText reports whether the server fills in ids that are strings.
func (c *configControl) takesText() bool {
	return (c.Kind == "CONTROL_SEQUENCE_CORRID" || c.KindNumber == correlationID) &&
		(c.DataType == "TYPE_STRING" || c.DataTypeNumber == typeString)
}

// kind returns the form in which the model takes sequence ids.
func (c *configSequences) kind() backends.SequenceKind {
	if c == nil {
		return backends.NoSequences
	}
	for _, in := range c.Inputs {
		for i := range in.Control {
			if in.Control[i].takesText() {
				return backends.TextSequences
			}
		}
	}
	return backends.NumberSequences
}

// configStep is a model that an ensemble calls; Version -1 leaves the choice to the server.
type configStep struct {
	Model   string      `json:"model_name" proto:"1"`
	Version wholeNumber `json:"model_version" proto:"2"`
}

// wholeNumber is an integer in protobuf's JSON: 64-bit integers are strings there.
type wholeNumber int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *wholeNumber) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	if err != nil {
		return fmt.Errorf("%s is not a 64-bit integer", text)
	}
	*n = wholeNumber(v)
	return nil
}

type configInput struct {
	Name     string `json:"name" proto:"1"`
	Optional bool   `json:"optional" proto:"8"`
	Shape    bool   `json:"is_shape_tensor" proto:"6"`
}

const extConfig = "model_configuration"

// signature converts metadata for the executor. Triton reports shapes with a leading batch
// dimension if the configuration has one. Without a configuration, a model whose tensors all have a
// leading dimension of any size and further ones takes batches of unknown limit; other shapes are
// kept unchanged.
func (m *metadata) signature(version string) backends.Signature {
	s := backends.Signature{Model: m.model.Name, Version: version, Configured: m.configured}
	if version == "" && len(m.model.Versions) == 1 {
		s.Version = m.model.Versions[0]
	}
	switch {
	case m.configured && m.config.MaxBatch > 0:
		s.MaxBatch, s.Batched = int(m.config.MaxBatch), true
	case !m.configured:
		s.Batched = leadingFree(m.model.Inputs) && leadingFree(m.model.Outputs)
	}
	s.Inputs, s.Outputs = ports(m.model.Inputs, s.Batched), ports(m.model.Outputs, s.Batched)
	for _, in := range m.config.Input {
		for i := range s.Inputs {
			if s.Inputs[i].Name == in.Name {
				s.Inputs[i].Optional, s.Inputs[i].ShapeTensor = in.Optional, in.Shape
			}
		}
	}
	for _, out := range m.config.Output {
		for i := range s.Outputs {
			s.Outputs[i].ShapeTensor = s.Outputs[i].ShapeTensor || s.Outputs[i].Name == out.Name && out.Shape
		}
	}
	if m.configured && len(m.config.Ensemble.Steps) == 0 { // models that an ensemble calls may keep some
		s.Sequence = m.config.Sequences.kind()
	}
	for _, step := range m.config.Ensemble.Steps {
		c := backends.Called{Model: step.Model}
		if step.Version > 0 {
			c.Version = strconv.FormatInt(int64(step.Version), 10)
		}
		if !slices.Contains(s.Calls, c) {
			s.Calls = append(s.Calls, c)
		}
	}
	s.Decoupled = m.config.Policy.Decoupled
	s.Statistics = slices.Contains(m.Extensions, "statistics")
	s.BinaryTensors = slices.Contains(m.Extensions, "binary_tensor_data")
	s.Classes = slices.Contains(m.Extensions, classification)
	return s
}

// leadingFree reports whether all tensors have the form [-1, …, …].
func leadingFree(list []tensorMetadata) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(t tensorMetadata) bool {
		return len(t.Shape) < 2 || t.Shape[0] != -1
	})
}

func ports(list []tensorMetadata, batched bool) []backends.Port {
	out := make([]backends.Port, 0, len(list))
	for _, t := range list {
		shape := slices.Clone(t.Shape)
		if batched && len(shape) > 0 {
			shape = shape[1:]
		}
		out = append(out, backends.Port{Name: t.Name, Type: tensor.DataType(t.Datatype), Shape: shape})
	}
	return out
}

// ModelOf returns the requested model: the target's, with its version, or another one. It returns
// an error if none is named.
func ModelOf(t *backends.Target, model string) (name, version string, err error) {
	if model != "" && model != t.Model {
		return model, "", nil
	}
	if t.Model == "" {
		return "", "", errors.New("no model is named")
	}
	return t.Model, t.ModelVersion, nil
}

// Describe implements backends.Describer.
func (c *HTTP) Describe(ctx context.Context, model string) (backends.Signature, error) {
	name, version, err := ModelOf(&c.target, model)
	if err != nil {
		return backends.Signature{}, err
	}
	path := ModelPath(name, version)
	var m metadata
	if err = c.Read(ctx, "/v2", &m); err == nil {
		err = c.explainModelError(ctx, name, version, c.Read(ctx, path, &m.model))
	}
	if m.configured = slices.Contains(m.Extensions, extConfig); m.configured && err == nil {
		err = c.Read(ctx, path+"/config", &m.config)
	}
	if err != nil {
		return backends.Signature{}, err
	}
	return m.signature(version), nil
}

// Read makes a control call with GET and parses the JSON of the reply.
func (c *HTTP) Read(ctx context.Context, path string, into any) error {
	body, err := c.Fetch(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("GET %s: reply %.*q: %w", c.URL(path), backends.NoteSize, body, err)
	}
	return nil
}

// Ready implements backends.Prober: live, ready, and the model loaded.
func (c *HTTP) Ready(ctx context.Context, model string) error {
	return endpoint.Refused(c.isReady(ctx, model))
}

func (c *HTTP) isReady(ctx context.Context, model string) error {
	paths, about, name, version := []string{"/v2/health/live", "/v2/health/ready"}, "", "", ""
	if model != "" {
		var err error
		if name, version, err = ModelOf(&c.target, model); err != nil {
			return err
		}
		about = ModelPath(name, version)
		paths = append(paths, about+"/ready")
	}
	for i, path := range paths {
		body, err := c.Fetch(ctx, http.MethodGet, path, nil)
		// Triton says "not ready" of a model that it has never heard of, and more there
		if err != nil && i == 2 {
			if _, why := c.Fetch(ctx, http.MethodGet, about, nil); why != nil {
				return c.explainModelError(ctx, name, version, why)
			}
			return err
		}
		if err != nil {
			return err
		}
		said := struct{ Live, Ready *bool }{}
		_ = json.Unmarshal(body, &said) // most servers report it by the status alone
		if said.Live != nil && !*said.Live || said.Ready != nil && !*said.Ready {
			return fmt.Errorf("GET %s: %w", c.URL(path), &endpoint.StatusError{Status: http.StatusOK, Body: body})
		}
	}
	return nil
}
