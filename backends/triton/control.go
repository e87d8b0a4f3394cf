package triton

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
)

// control changes models, settings and shared memory of Triton over one protocol. Sources: the
// model repository, trace, logging and shared memory extensions of the KServe v2 protocol in
// Triton's documentation.
type control interface {
	// load makes the server "load" or "unload" a model.
	load(ctx context.Context, verb, model string) error
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
	statistics(ctx context.Context, model, version string) ([]statistics, error)
}

// Load implements backends.Controller. The server answers when the model is loaded.
func (c *conn) Load(ctx context.Context, model string) error {
	if err := c.load(ctx, "load", model); err != nil {
		return fmt.Errorf("load model %s: %w", model, err)
	}
	return nil
}

// pollInterval is the time between two checks of a state that the server does not report by itself.
const pollInterval = 20 * time.Millisecond

// Unload implements backends.Controller. The server answers at once and unloads when the requests
// in flight are done, so it is polled until the model is no longer ready.
func (c *conn) Unload(ctx context.Context, model string) error {
	err := c.load(ctx, "unload", model)
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

func (h overHTTP) load(ctx context.Context, verb, model string) error {
	_, err := h.Post(ctx, "/v2/repository/models/"+url.PathEscape(model)+"/"+verb, nil)
	return err
}

// ready takes the statuses of an absent model for false: Triton's 400, others' 404.
func (h overHTTP) ready(ctx context.Context, model string) (bool, error) {
	switch status, err := h.Status(ctx, kserve.ModelPath(model, "")+"/ready"); {
	case err != nil:
		return false, err
	case status == http.StatusOK:
		return true, nil
	case status == http.StatusBadRequest || status == http.StatusNotFound:
		return false, nil
	default:
		return false, fmt.Errorf("model readiness: unexpected status %d", status)
	}
}

func (h overHTTP) register(ctx context.Context, m *memory, name string, r region) error {
	body, err := json.Marshal(r.JSON())
	if err == nil {
		_, err = h.Post(ctx, "/v2/"+m.path+"/region/"+url.PathEscape(name)+"/register", body)
	}
	return err
}

func (h overHTTP) unregister(ctx context.Context, m *memory, name string) error {
	_, err := h.Post(ctx, "/v2/"+m.path+"/region/"+url.PathEscape(name)+"/unregister", nil)
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

// pathOf returns the path of a group of settings.
func pathOf(group backends.Settings) string {
	if group == backends.TraceSettings {
		return "/v2/trace/setting"
	}
	return "/v2/logging"
}

func (h overHTTP) settings(
	ctx context.Context, group backends.Settings, values []backends.Parameter,
) ([]backends.Parameter, error) {
	var body []byte
	var err error
	if values == nil {
		body, err = h.Get(ctx, pathOf(group))
	} else {
		wanted := make(map[string]any, len(values))
		for _, v := range values {
			wanted[v.Name] = v.Value
		}
		if body, err = json.Marshal(wanted); err == nil {
			body, err = h.Post(ctx, pathOf(group), body)
		}
	}
	if err != nil {
		return nil, err
	}
	return parseSettings(body)
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
	for name, v := range said {
		p := backends.Parameter{Name: name, Value: v}
		switch v := v.(type) {
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
