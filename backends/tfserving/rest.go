package tfserving

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/sluice-bench/sluice/backends"
	bodies "github.com/sluice-bench/sluice/backends/http"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
)

// rest is an open target over HTTP.
type rest struct {
	*bodies.Conn
	target backends.Target
}

func openREST(t backends.Target, clock backends.Clock) (*rest, error) {
	c, err := bodies.Open(t, clock, bodies.Options{Reader: func() bodies.Reader { return &jsonReader{} }})
	if err != nil {
		return nil, err
	}
	return &rest{Conn: c, target: t}, nil
}

// restPath returns the path of a model, or of one version or label of it.
func restPath(model, version string) string {
	path := "/v1/models/" + url.PathEscape(model)
	switch _, err := strconv.ParseInt(version, 10, 64); {
	case version == "":
		return path
	case err == nil:
		return path + "/versions/" + version
	}
	return path + "/labels/" + url.PathEscape(version)
}

// fetch reads the JSON of a path below a model. A path that the server does not have is no error if it
// knows the model: then known is false.
func (c *rest) fetch(ctx context.Context, model, version, path string, into any) (known bool, err error) {
	body, err := c.Fetch(ctx, http.MethodGet, restPath(model, version)+path, nil)
	var status *endpoint.StatusError
	switch {
	case errors.As(err, &status) && status.Status == http.StatusNotFound && path != "":
		_, err := c.fetch(ctx, model, version, "", &struct{}{})
		return false, err
	case errors.As(err, &status) && unknownVersion(status.Status == http.StatusNotFound, version, status.Message()):
		e := &backends.UnknownModelError{Model: model, Version: version, ServerText: status.Message()}
		e.Known = c.versions(ctx, model, version)
		return true, e
	case err != nil:
		return true, err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return true, fmt.Errorf("GET %s: %w", c.URL(restPath(model, version)+path), err)
	}
	return true, nil
}

// Ready implements backends.Prober.
func (c *rest) Ready(ctx context.Context, model string) error {
	return endpoint.Refused(c.isReady(ctx, model))
}

func (c *rest) isReady(ctx context.Context, model string) error {
	name, version := modelOf(&c.target, model)
	var reply restStatus
	_, err := c.fetch(ctx, name, version, "", &reply)
	var unknown *backends.UnknownModelError
	switch {
	case model == "" && errors.As(err, &unknown): // it answers, and its stage loads the model
		return nil
	case err != nil || model == "" || reply.Versions == nil: // of a server like KServe's
		return err
	}
	return ready(name, reply.list())
}

// restStatus is the status of a model's versions as the REST API shows it.
type restStatus struct {
	Versions []struct {
		Version, State string
		Status         struct {
			Text string `json:"error_message"`
		}
	} `json:"model_version_status"`
}

func (r *restStatus) list() (list []versionStatus) {
	for _, v := range r.Versions {
		list = append(list, versionStatus{v.Version, v.State, v.Status.Text})
	}
	return list
}

// versions returns those of a model that answer requests, for a message about another one; nil: unknown.
func (c *rest) versions(ctx context.Context, model, version string) []string {
	var reply restStatus
	if version == "" {
		return nil
	}
	if _, err := c.fetch(ctx, model, "", "", &reply); err != nil {
		return nil
	}
	return availableOf(reply.list())
}

// restDef is a SignatureDef as the REST API shows it.
type restDef struct {
	Inputs, Outputs map[string]restTensor
	Method          string `json:"method_name"`
}

type restTensor struct {
	DType string
	Shape struct {
		Dims []struct {
			Size string
		} `json:"dim"`
		UnknownRank bool `json:"unknown_rank"`
	} `json:"tensor_shape"`
}

// Describe implements backends.Describer. A server without metadata describes nothing: the data then say
// what the inputs are.
func (c *rest) Describe(ctx context.Context, model string) (backends.Signature, error) {
	name, version := modelOf(&c.target, model)
	var reply struct {
		Metadata struct {
			Def struct {
				Def map[string]restDef `json:"signature_def"`
			} `json:"signature_def"`
		}
	}
	known, err := c.fetch(ctx, name, version, "/metadata", &reply)
	sig := newSignature(name, version)
	if err != nil || !known {
		return sig, err
	}
	var all signatureMap
	for name, def := range reply.Metadata.Def.Def {
		var one signatureDef
		one.Method = def.Method
		one.Inputs, one.Outputs = entriesOf(def.Inputs), entriesOf(def.Outputs)
		all.Signatures = append(all.Signatures, namedDef{name, one})
	}
	return all.describe(&c.target, sig)
}

// entriesOf returns tensors as GetModelMetadata has them.
func entriesOf(tensors map[string]restTensor) (list []tensorEntry) {
	for name, t := range tensors {
		e := tensorEntry{Name: name}
		e.Info.DType = int64(slices.Index(dtypeNames[:], t.DType))
		e.Info.Shape.UnknownRank = t.Shape.UnknownRank
		for _, d := range t.Shape.Dims {
			size, err := strconv.ParseInt(d.Size, 10, 64)
			if err != nil {
				size = -1
			}
			e.Info.Shape.Dims = append(e.Info.Shape.Dims, dimension{size})
		}
		list = append(list, e)
	}
	return list
}

// Prepare implements backends.Conn.
func (c *rest) Prepare(r backends.Request) (*backends.Call, error) {
	if takesExamples(&c.target) {
		return c.prepareExamples(&r)
	}
	r, err := complete(r, &c.target)
	switch {
	case err != nil:
		return nil, err
	case len(r.Outputs) > 0:
		return nil, errors.New("TensorFlow Serving returns all outputs over REST: remove `outputs`, or use grpc://")
	}
	rows := c.target.Layout == "rows" ||
		c.target.Layout == "" && r.Signature != nil && r.Signature.Batched
	want := &jsonWant{want: kserve.WantOf(&r), rows: rows, ports: portsOf(&r)}
	if len(want.ports) > 0 {
		want.only = []byte(want.ports[0].Name)
	}
	if r.Expect != nil {
		want.share = r.Expect.Share
	}
	member := bodies.Member{Names: []string{"outputs"}, Want: want}
	if rows {
		items, err := rowsOf(&r)
		if err != nil {
			return nil, err
		}
		member.Names, member.Items, want.items = []string{"predictions"}, int(items), items
	}
	if r.Body, err = c.encode(&r, rows, want.items); err != nil {
		return nil, err
	}
	_, version := modelOf(&c.target, r.Model)
	return c.post(&r, version, predict, member)
}

// prepareExamples encodes a request of classify or regress.
func (c *rest) prepareExamples(r *backends.Request) (*backends.Call, error) {
	e, err := examplesOf(r.Body)
	if err != nil {
		return nil, err
	}
	if _, err := e.input(); err != nil {
		return nil, err
	}
	if r.Body, err = e.json(c.target.Signature); err != nil {
		return nil, err
	}
	r.Items = uint32(len(e.list))
	name, version := modelOf(&c.target, r.Model)
	r.Model = name
	return c.post(r, version, c.target.Endpoint, bodies.Member{Names: []string{"results"}, Items: len(e.list)})
}

// post encodes a request of a model.
func (c *rest) post(r *backends.Request, version, verb string, member bodies.Member) (*backends.Call, error) {
	r.BodyType = "application/json"
	path := restPath(r.Model, version) + ":" + verb
	r.Inputs, r.Outputs = nil, nil
	return c.Encode(http.MethodPost, path, r, member)
}
