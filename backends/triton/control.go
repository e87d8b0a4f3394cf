package triton

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
)

// control changes models, settings and shared memory of Triton over one protocol. Sources: the
// model repository, trace, logging and shared memory extensions of the KServe v2 protocol in
// Triton's documentation.
type control interface {
	// load makes the server "load" or "unload" a model, with a configuration as JSON; "": as it has it.
	load(ctx context.Context, verb, model, config string) error
	// ExplainLoadError returns the error of load, explained by the index of models if that lacks the model.
	ExplainLoadError(ctx context.Context, model string, err error) error
	// configuration returns that of a loaded model as JSON.
	configuration(ctx context.Context, model string) ([]byte, error)
	// settings sets values and returns all settings of the group; without values it only reads.
	settings(
		ctx context.Context, group backends.Settings, values []backends.Parameter,
	) ([]backends.Parameter, error)
	ready(ctx context.Context, model string) (bool, error)
	// register registers a region at the server, unregister removes one: also one that it does not
	// know.
	register(ctx context.Context, m *memory, name string, r region) error
	unregister(ctx context.Context, m *memory, name string) error
	// registered returns the names of all regions that the server has, of any client.
	registered(ctx context.Context, m *memory) ([]string, error)
	// statistics returns the entries of a model, or of one version of it.
	statistics(ctx context.Context, model, version string) ([]Statistics, error)
}

// Load implements backends.Controller. The server answers when the model is loaded.
func (c *conn) Load(ctx context.Context, model string) error {
	if err := c.explainLoad(ctx, model, c.load(ctx, "load", model, "")); err != nil {
		return fmt.Errorf("load model %s: %w", model, err)
	}
	return nil
}

// pollInterval is the time between two checks of a state that the server does not report by itself.
const pollInterval = 20 * time.Millisecond

// Unload implements backends.Controller. The server answers at once and unloads when the requests
// in flight are done, so it is polled until the model is no longer ready.
func (c *conn) Unload(ctx context.Context, model string) error {
	err := c.explainLoad(ctx, model, c.load(ctx, "unload", model, ""))
	for err == nil {
		var ready bool
		if ready, err = c.ready(ctx, model); err == nil && !ready {
			return nil
		}
		if err == nil && !pause(ctx) {
			err = fmt.Errorf("it is still ready: %w", ctx.Err())
		}
	}
	return fmt.Errorf("unload model %s: %w", model, err)
}

// pause waits for the time between two checks; false: ctx ended before.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pollInterval):
		return true
	}
}

// Adjust implements backends.Adjuster. It returns the previous values of the named settings only:
// the server has settings that a client may not write.
func (c *conn) Adjust(
	ctx context.Context, group backends.Settings, values []backends.Parameter,
) (before []backends.Parameter, err error) {
	all, err := c.settings(ctx, group, nil)
	if err != nil {
		return nil, fmt.Errorf("%s settings: %w", group, err)
	}
	for _, v := range values {
		i := slices.IndexFunc(all, func(p backends.Parameter) bool { return p.Name == v.Name })
		if i < 0 {
			return nil, fmt.Errorf("%s settings: the server has no %s", group, v.Name)
		}
		before = append(before, all[i])
	}
	if _, err := c.settings(ctx, group, values); err != nil {
		return nil, fmt.Errorf("%s settings: %w", group, err)
	}
	return before, nil
}

// overHTTP is control over HTTP.
type overHTTP struct{ *kserve.HTTP }

func (h overHTTP) load(ctx context.Context, verb, model, config string) (err error) {
	var body []byte
	if config != "" {
		body, err = json.Marshal(object{"parameters": object{"config": config}})
	}
	if err == nil {
		_, err = h.Fetch(ctx, http.MethodPost, "/v2/repository/models/"+url.PathEscape(model)+"/"+verb, body)
	}
	return err
}

func (h overHTTP) configuration(ctx context.Context, model string) ([]byte, error) {
	return h.Fetch(ctx, http.MethodGet, kserve.ModelPath(model, "")+"/config", nil)
}

// ready takes the statuses of an absent model for false: Triton's 400, others' 404.
func (h overHTTP) ready(ctx context.Context, model string) (bool, error) {
	_, err := h.Fetch(ctx, http.MethodGet, kserve.ModelPath(model, "")+"/ready", nil)
	var reply *endpoint.StatusError
	if errors.As(err, &reply) &&
		(reply.Status == http.StatusBadRequest || reply.Status == http.StatusNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (h overHTTP) register(ctx context.Context, m *memory, name string, r region) error {
	body, err := json.Marshal(r.JSON())
	if err != nil {
		return err
	}
	return h.region(ctx, m, name, "register", body)
}

func (h overHTTP) unregister(ctx context.Context, m *memory, name string) error {
	return h.region(ctx, m, name, "unregister", nil)
}

func (h overHTTP) region(ctx context.Context, m *memory, name, verb string, body []byte) error {
	_, err := h.Fetch(ctx, http.MethodPost, "/v2/"+m.path+"/region/"+url.PathEscape(name)+"/"+verb, body)
	return err
}

// named is a region that the server has: an element of a list of JSON, or the key of a map.
type named struct {
	Name string `json:"name" proto:"1"`
}

func namesOf(list []named) (names []string) {
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

func (h overHTTP) registered(ctx context.Context, m *memory) ([]string, error) {
	var list []named
	err := h.Read(ctx, "/v2/"+m.path+"/status", &list)
	return namesOf(list), err
}

func (h overHTTP) settings(
	ctx context.Context, group backends.Settings, values []backends.Parameter,
) ([]backends.Parameter, error) {
	method, path, body := http.MethodGet, "/v2/logging", []byte(nil)
	if group == backends.TraceSettings {
		path = "/v2/trace/setting"
	}
	if values != nil {
		wanted := make(map[string]any, len(values))
		for _, v := range values {
			wanted[v.Name] = v.Value
		}
		var err error
		if body, err = json.Marshal(wanted); err != nil {
			return nil, err
		}
		method = http.MethodPost
	}
	reply, err := h.Fetch(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	return parseSettings(reply)
}

// parseSettings parses {"name": value, …} where a value is a boolean, an integer, a string or a
// list of strings.
func parseSettings(body []byte) (list []backends.Parameter, err error) {
	said := map[string]any{}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&said); err != nil {
		return nil, fmt.Errorf("reply %.*q: %w", backends.NoteSize, body, err)
	}
	for _, name := range slices.Sorted(maps.Keys(said)) {
		p := backends.Parameter{Name: name, Value: said[name]}
		switch v := p.Value.(type) {
		case json.Number:
			if p.Value, err = v.Int64(); err != nil {
				return nil, fmt.Errorf("setting %s: %w", name, err)
			}
		case []any:
			texts := make([]string, 0, len(v))
			for _, text := range v {
				texts = append(texts, fmt.Sprint(text))
			}
			p.Value = texts
		}
		list = append(list, p)
	}
	return list, nil
}
