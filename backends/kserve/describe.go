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
)

// metadata is what the protocol reports about a server and a model, and Triton's configuration of
// the model, over HTTP or gRPC.
type metadata struct {
	extensions []string
	model      modelMetadata
	configured bool
	config     modelConfig
}

type modelMetadata struct {
	Name     string           `json:"name"`
	Versions []string         `json:"versions"`
	Inputs   []tensorMetadata `json:"inputs"`
	Outputs  []tensorMetadata `json:"outputs"`
}

type tensorMetadata struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// modelConfig is the part of Triton's model configuration that decides about shapes and lists the
// models of an ensemble.
type modelConfig struct {
	MaxBatch wholeNumber   `json:"max_batch_size"`
	Input    []configInput `json:"input"`
	Output   []configInput `json:"output"`
	Policy   struct {
		Decoupled bool `json:"decoupled"`
	} `json:"model_transaction_policy"`
	Ensemble struct {
		Steps []configStep `json:"step"`
	} `json:"ensemble_scheduling"`
	Sequences *configSequences `json:"sequence_batching"`
}

// configSequences describes how a model keeps sequences; nil: it keeps none.
type configSequences struct {
	Inputs []struct {
		Control []configControl `json:"control"`
	} `json:"control_input"`
}

// configControl is a control input of such a model, filled in by the server.
type configControl struct {
	Kind     string `json:"kind"`
	DataType string `json:"data_type"`
}

// kind returns the form in which the model takes sequence ids.
func (c *configSequences) kind() backends.SequenceKind {
	if c == nil {
		return backends.NoSequences
	}
	for _, in := range c.Inputs {
		for _, control := range in.Control {
			if control.Kind == "CONTROL_SEQUENCE_CORRID" && control.DataType == "TYPE_STRING" {
				return backends.TextSequences
			}
		}
	}
	return backends.NumberSequences
}

// configStep is a model that an ensemble calls; Version -1 leaves the choice to the server.
type configStep struct {
	Model   string      `json:"model_name"`
	Version wholeNumber `json:"model_version"`
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
	Name     string `json:"name"`
	Optional bool   `json:"optional"`
	Shape    bool   `json:"is_shape_tensor"`
}

const (
	extStatistics = "statistics"
	extConfig     = "model_configuration"
	extBinary     = "binary_tensor_data"
	extClasses    = "classification"
)

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
	s.Statistics = slices.Contains(m.extensions, extStatistics)
	s.BinaryTensors = slices.Contains(m.extensions, extBinary)
	s.Classes = slices.Contains(m.extensions, extClasses)
	return s
}

// leadingFree reports whether all tensors have the form [-1, …, …].
func leadingFree(list []tensorMetadata) bool {
	for _, t := range list {
		if len(t.Shape) < 2 || t.Shape[0] != -1 {
			return false
		}
	}
	return len(list) > 0
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
	var m metadata
	var server struct {
		Extensions []string `json:"extensions"`
	}
	if err := c.read(ctx, "/v2", &server); err != nil {
		return backends.Signature{}, err
	}
	m.extensions = server.Extensions
	path := ModelPath(name, version)
	if err := c.read(ctx, path, &m.model); err != nil {
		return backends.Signature{}, c.explainModelError(ctx, name, version, err)
	}
	if slices.Contains(m.extensions, extConfig) {
		if err := c.read(ctx, path+"/config", &m.config); err != nil {
			return backends.Signature{}, err
		}
		m.configured = true
	}
	return m.signature(version), nil
}

// read sends a GET and parses the JSON of the reply.
func (c *HTTP) read(ctx context.Context, path string, into any) error {
	body, err := c.Get(ctx, path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("GET %s: reply %.*q: %w", c.base+path, backends.NoteSize, body, err)
	}
	return nil
}

// Ready implements backends.Prober: live, ready, and the model loaded.
func (c *HTTP) Ready(ctx context.Context, model string) error {
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
		body, err := c.Get(ctx, path)
		if err != nil && i == 2 { // Triton says "not ready" of a model that it has never heard of, and more there
			if _, why := c.Get(ctx, about); why != nil {
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
			return fmt.Errorf("GET %s: %w", c.base+path, &statusError{Status: http.StatusOK, Body: body})
		}
	}
	return nil
}
