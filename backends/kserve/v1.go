package kserve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	bodies "github.com/sluice-bench/sluice/backends/http"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// Predict is the endpoint of the protocol's version 1: JSON over HTTP, instances to predictions.
// Source: https://kserve.github.io/website/docs/concepts/architecture/data-plane/v1-protocol
const Predict = "predict"

// abilities returns the abilities of a target of backend kserve.
func abilities(t backends.Target) backends.Ability {
	if t.Endpoint == Predict {
		return bodies.Abilities(t) &^ backends.Counters // a row may become an instance of a body
	}
	return Abilities(t)
}

// check checks a target of backend kserve.
func check(t backends.Target) error {
	if t.Endpoint != Predict {
		return Check(t)
	}
	const without = "endpoint predict is the protocol's version 1, which has no "
	switch {
	case t.GRPC():
		return &backends.KeyError{Key: "url", Err: errors.New("endpoint predict is HTTP: use http://")}
	case t.ModelVersion != "":
		return &backends.KeyError{Key: "model_version", Err: errors.New(without + "versions of models")}
	case len(t.Parameters) > 0:
		return &backends.KeyError{Key: "parameters", Err: errors.New(without + "parameters")}
	case t.InputJSON || t.OutputJSON:
		return &backends.KeyError{Key: "tensors", Err: errors.New(without + "tensors: requests are always JSON")}
	}
	return bodies.Kind().Check(t)
}

// v1 is an open target of version 1.
type v1 struct {
	*bodies.Conn
	target backends.Target
}

// Prepare implements backends.Conn. A body with instances, or with inputs, is sent as it is; any other
// is one instance. The reply must have a prediction for each instance, or outputs for inputs.
func (c *v1) Prepare(r backends.Request) (*backends.Call, error) {
	name := r.Model
	if name == "" {
		name = c.target.Model
	}
	switch {
	case name == "":
		return nil, errors.New("no model is named")
	case r.Parts != nil:
		return nil, errors.New("the protocol has no forms: a request is JSON")
	case len(r.Body) == 0:
		return nil, errors.New(`the request has no instances: say with data what is sent, such as ` +
			`data: {rows: [{instances: [[1, 2]]}]}`)
	}
	body, n, err := instances(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body, r.BodyType, r.Items = body, "application/json", uint32(max(n, 1))
	member := bodies.Member{Names: []string{"predictions"}, Items: n}
	if n == 0 { // TensorFlow Serving answers columns with outputs
		member.Names = []string{"outputs", "predictions"}
	}
	return c.Encode(http.MethodPost, v1Path(name)+":predict", &r, member)
}

func v1Path(model string) string { return "/v1/models/" + url.PathEscape(model) }

// instances returns the body of a request and the number of its instances; 0: it has inputs by columns.
func instances(body []byte) (whole []byte, n int, err error) {
	sc := jsonscan.Strict(body)
	list, columns, scalar := false, false, false
	if sc.Peek() == '{' {
		for sc.Enter('{'); sc.More('}'); {
			switch key := string(sc.Key()); {
			case key == "instances" && sc.Peek() == '[':
				for sc.Enter('['); sc.More(']'); n++ {
					sc.Skip()
				}
				list = true
			default:
				columns, scalar = columns || key == "inputs", scalar || key == "instances"
				sc.Skip()
			}
		}
	} else {
		sc.Skip()
	}
	switch {
	case !sc.AtEnd():
		return nil, 0, errors.New("the body is not JSON")
	case scalar:
		return nil, 0, errors.New("`instances` must be a list")
	case list && n == 0:
		return nil, 0, errors.New("the list of instances is empty")
	case list || columns:
		return body, n, nil
	}
	return slices.Concat([]byte(`{"instances":[`), body, []byte("]}")), 1, nil
}

// Ready implements backends.Prober.
func (c *v1) Ready(ctx context.Context, model string) error {
	return endpoint.Refused(c.isReady(ctx, model))
}

func (c *v1) isReady(ctx context.Context, model string) error {
	path := "/v1/models"
	if model != "" {
		path = v1Path(model)
	}
	body, err := c.Fetch(ctx, http.MethodGet, path, nil)
	var status *endpoint.StatusError
	if errors.As(err, &status) && status.Status == http.StatusNotFound && model != "" {
		return &backends.UnknownModelError{Model: model, ServerText: status.Message(), Known: c.models(ctx)}
	}
	var reply struct{ Ready *bool }
	_ = json.Unmarshal(body, &reply) // the status alone says it too
	if err == nil && reply.Ready != nil && !*reply.Ready {
		return fmt.Errorf("GET %s: %w", c.URL(path), &endpoint.StatusError{Status: http.StatusOK, Body: body})
	}
	return err
}

// models returns the models that the server lists; nil: it does not.
func (c *v1) models(ctx context.Context) []string {
	var list struct{ Models []string }
	body, err := c.Fetch(ctx, http.MethodGet, "/v1/models", nil)
	if err != nil || json.Unmarshal(body, &list) != nil {
		return nil
	}
	return list.Models
}
