package kserve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// Read makes a control call of a method of the inference service, and decodes the reply.
func (c *GRPC) Read(ctx context.Context, method string, request []byte, into any) error {
	reply, err := c.Invoke(ctx, method, request)
	if err != nil {
		return err
	}
	if err := protow.Decode(reply, into); err != nil {
		return fmt.Errorf("%s: reply: %w", method, err)
	}
	return nil
}

// Describe implements backends.Describer.
func (c *GRPC) Describe(ctx context.Context, model string) (backends.Signature, error) {
	name, version, err := ModelOf(&c.target, model)
	if err != nil {
		return backends.Signature{}, err
	}
	request := ModelRequest(name, version)
	var m metadata
	if err = c.Read(ctx, "ServerMetadata", nil, &m); err == nil {
		err = c.explainModelError(ctx, name, version, c.Read(ctx, "ModelMetadata", request, &m.model))
	}
	if m.configured = slices.Contains(m.Extensions, extConfig); m.configured && err == nil {
		var reply struct {
			Config *modelConfig `proto:"1"`
		}
		reply.Config = &m.config
		err = c.Read(ctx, "ModelConfig", request, &reply)
	}
	if err != nil {
		return backends.Signature{}, err
	}
	s := m.signature(version)
	s.BinaryTensors = true // raw contents are part of the protocol
	return s, nil
}

var errFalse = errors.New("the server answers false")

// isTrue makes a call whose reply is a bool (field 1); false is errFalse.
func (c *GRPC) isTrue(ctx context.Context, method string, request []byte) error {
	var reply struct {
		Yes bool `proto:"1"`
	}
	err := c.Read(ctx, method, request, &reply)
	if err == nil && !reply.Yes {
		return fmt.Errorf("%s: %w", method, errFalse)
	}
	return err
}

// Ready implements backends.Prober: live, ready, and the model loaded.
func (c *GRPC) Ready(ctx context.Context, model string) error {
	return endpoint.Refused(c.isReady(ctx, model))
}

func (c *GRPC) isReady(ctx context.Context, model string) error {
	for _, method := range []string{"ServerLive", "ServerReady"} {
		if err := c.isTrue(ctx, method, nil); err != nil {
			return err
		}
	}
	if model == "" {
		return nil
	}
	name, version, err := ModelOf(&c.target, model)
	if err != nil {
		return err
	}
	request := ModelRequest(name, version)
	if err = c.isTrue(ctx, "ModelReady", request); errors.Is(err, errFalse) {
		if _, why := c.Invoke(ctx, "ModelMetadata", request); why != nil { // Triton says more there
			err = why
		}
	}
	return c.explainModelError(ctx, name, version, err)
}
