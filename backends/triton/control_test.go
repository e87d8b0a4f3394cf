package triton

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/builtin"
)

// both opens a model of a new embedded server over either protocol.
func both(t *testing.T, model string, check func(t *testing.T, c backends.Conn)) {
	t.Helper()
	server, err := builtin.Start(context.Background(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	for _, url := range []string{server.HTTPURL(), server.GRPCURL()} {
		t.Run(url[:4], func(t *testing.T) { check(t, dial(t, backends.Target{URL: url, Model: model})) })
	}
}

// TestAdjust: what is given back sets the server back, value by value and form by form.
func TestAdjust(t *testing.T) {
	both(t, "simple", func(t *testing.T, c backends.Conn) {
		a := c.(backends.Adjuster)
		for group, values := range map[backends.Settings][]backends.Parameter{
			backends.TraceSettings: {
				{Name: "trace_level", Value: []string{"TIMESTAMPS", "TENSORS"}}, {Name: "trace_rate", Value: "7"},
			},
			backends.LogSettings: {
				{Name: "log_info", Value: false},
				{Name: "log_verbose_level", Value: int64(3)},
				{Name: "log_format", Value: "ISO8601"},
			},
		} {
			before, err := a.Adjust(t.Context(), group, values)
			if err != nil {
				t.Fatal(err)
			}
			during, err := a.Adjust(t.Context(), group, before)
			if diff := cmp.Diff(values, during); err != nil || diff != "" {
				t.Errorf("%s: %v %s", group, err, diff)
			}
			again, err := a.Adjust(t.Context(), group, before)
			if diff := cmp.Diff(before, again); err != nil || diff != "" {
				t.Errorf("%s: %v %s", group, err, diff)
			}
			if _, err := a.Adjust(t.Context(), group,
				[]backends.Parameter{{Name: "nosuch", Value: "1"}}); err == nil ||
				!strings.Contains(err.Error(), "nosuch") {
				t.Errorf("%s: %v", group, err)
			}
		}
	})
}

// TestLoad: Unload returns when the model is gone; a model that cannot be loaded says why.
func TestLoad(t *testing.T) {
	both(t, "simple", func(t *testing.T, c backends.Conn) {
		k, p := c.(backends.Controller), c.(backends.Prober)
		if err := k.Unload(t.Context(), "simple"); err != nil {
			t.Fatal(err)
		}
		if err := p.Ready(t.Context(), "simple"); err == nil {
			t.Error("ready after Unload")
		}
		if err := k.Load(t.Context(), "simple"); err != nil {
			t.Error(err)
		}
		if err := p.Ready(t.Context(), "simple"); err != nil {
			t.Error(err)
		}
		if err := k.Load(t.Context(), "nosuch"); err == nil ||
			!strings.Contains(err.Error(), "load model nosuch") || !strings.Contains(err.Error(), "failed to poll") {
			t.Error(err)
		}
	})
}

// TestUnloadWaits: a server that goes on with a model is asked until the time is up.
func TestUnloadWaits(t *testing.T) {
	looks := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/ready") {
			if looks++; looks == 3 {
				w.WriteHeader(http.StatusBadRequest)
			}
		}
	}))
	t.Cleanup(server.Close)
	c := dial(t, backends.Target{URL: server.URL, Model: "m"}).(backends.Controller)
	if err := c.Unload(t.Context(), "m"); err != nil || looks != 3 {
		t.Errorf("%v after %d looks", err, looks)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Unload(ctx, "m"); err == nil || !strings.Contains(err.Error(), "unload model m") {
		t.Error(err)
	}
}

// TestUnloadUnknown: an answer that says nothing of the model is no proof that it is gone.
func TestUnloadUnknown(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/ready") {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(server.Close)
	if err := dial(t,
		backends.Target{URL: server.URL, Model: "m"}).(backends.Controller).Unload(t.Context(), "m"); err == nil ||
		!strings.Contains(err.Error(), "401") {
		t.Error(err)
	}
}

// TestCall: over HTTP a call of any method may be made, as for KServe; a status other than 2xx is
// an error.
func TestCall(t *testing.T) {
	server, err := builtin.Start(context.Background(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	c, ok := dial(t, backends.Target{URL: server.HTTPURL(), Model: "simple"}).(backends.Caller)
	if !ok {
		t.Fatal("no calls")
	}
	if err := c.Call(t.Context(), http.MethodPost, "/v2/systemsharedmemory/unregister"); err != nil {
		t.Error(err)
	}
	if err := c.Call(t.Context(), http.MethodGet, "/nowhere"); err == nil ||
		!strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
}

// TestCalls: an ensemble names the models that it is made of, each once; another model names none.
func TestCalls(t *testing.T) {
	both(t, "ensemble", func(t *testing.T, c backends.Conn) {
		d := c.(backends.Describer)
		for model, want := range map[string][]backends.Called{"": {{Model: "simple"}}, "slow": nil} {
			s, err := d.Describe(t.Context(), model)
			if diff := cmp.Diff(want, s.Calls); err != nil || diff != "" {
				t.Errorf("%q: %v %s", model, err, diff)
			}
		}
	})
}

// FuzzSettings: what a server says of its settings, over either protocol, never panics.
func FuzzSettings(f *testing.F) {
	f.Add([]byte(`{"trace_level":["OFF"],"log_verbose_level":1,"log_info":true,"x":null}`))
	f.Add([]byte{0x0a, 0x00})
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = parseSettings(b)
		_, _ = readSetting("x", b, true)
		_, _ = readSetting("x", b, false)
	})
}
