package triton

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// TestConfigure: a model is loaded with its own configuration changed, and then as it was, over both
// protocols; a model that was not loaded is unloaded.
func TestConfigure(t *testing.T) {
	const model = "identity_fp32"
	both(t, model, func(t *testing.T, c backends.Conn) {
		k := c.(backends.Configurer)
		own, err := k.Configuration(t.Context(), model)
		if err != nil || !strings.Contains(own.Text, "max_batch_size: 64\n") {
			t.Fatalf("%v\n%s", err, own.Text)
		}
		now, err := k.Configure(t.Context(), model, own,
			`{"max_batch_size":8,"instance_group":[{"count":3}],"dynamic_batching":{"max_queue_delay_microseconds":500}}`)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"max_batch_size: 8\n", "  kind: KIND_CPU\n  count: 3\n", "  max_queue_delay_microseconds: 500\n",
			"name: \"identity_fp32\"\n",
		} {
			if !strings.Contains(now.Text, want) {
				t.Errorf("no %q in\n%s", want, now.Text)
			}
		}
		if _, err := k.Configure(t.Context(), model, own, `{"parameters":{"a":{"string_value":"1"}}}`); err == nil ||
			!strings.Contains(err.Error(), "does not change parameters") {
			t.Errorf("refused with %v", err)
		}
		for _, always := range []bool{false, true} {
			if err := k.Restore(t.Context(), model, own, always); err != nil {
				t.Error(err)
			}
			if again, err := k.Configuration(t.Context(), model); err != nil || !sameJSON(own.JSON, again.JSON) {
				t.Errorf("%v\n%s\n%s", err, own.JSON, again.JSON)
			}
		}
		if err := k.Restore(t.Context(), model, backends.Configuration{}, false); err != nil {
			t.Error(err)
		}
		if gone, err := k.Configuration(t.Context(), model); err != nil || gone.JSON != nil {
			t.Errorf("%v %s", err, gone.JSON)
		}
		if err := c.(backends.Controller).Load(t.Context(), model); err != nil {
			t.Error(err)
		}
	})
}

func TestMergeConfig(t *testing.T) {
	for name, c := range map[string]struct{ own, patch, want string }{
		"maps merge, lists are replaced": {
			`{"name":"m","dynamic_batching":{"preferred_batch_size":[4],"preserve_ordering":true}}`,
			`{"dynamic_batching":{"preferred_batch_size":[8,16]}}`,
			`{"dynamic_batching":{"preferred_batch_size":[8,16],"preserve_ordering":true},"name":"m"}`,
		},
		"null removes":           {`{"dynamic_batching":{},"name":"m"}`, `{"dynamic_batching":null}`, `{"name":"m"}`},
		"large numbers are kept": {`{"a":9007199254740993}`, `{"b":1}`, `{"a":9007199254740993,"b":1}`},
		"a group without a kind runs where the model's own does": {
			`{"instance_group":[{"count":1,"gpus":[1],"kind":"KIND_GPU"}]}`,
			`{"instance_group":[{"count":2},{"count":3}]}`,
			`{"instance_group":[{"count":2,"gpus":[1],"kind":"KIND_GPU"},{"count":3}]}`,
		},
		"a group with a kind is as it is written": {
			`{"instance_group":[{"count":1,"gpus":[1],"kind":"KIND_GPU"}]}`,
			`{"instance_group":[{"count":2,"kind":"KIND_CPU"}]}`, `{"instance_group":[{"count":2,"kind":"KIND_CPU"}]}`,
		},
		"a preferred size that was the largest one goes with it": {
			`{"dynamic_batching":{"preferred_batch_size":[64]},"max_batch_size":64}`, `{"max_batch_size":8}`,
			`{"dynamic_batching":{},"max_batch_size":8}`,
		},
		"another preferred size stays": {
			`{"dynamic_batching":{"preferred_batch_size":[4]},"max_batch_size":64}`, `{"max_batch_size":8}`,
			`{"dynamic_batching":{"preferred_batch_size":[4]},"max_batch_size":8}`,
		},
	} {
		if got, err := mergeConfig([]byte(c.own), []byte(c.patch)); err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\n%s", name, err, got, c.want)
		}
	}
}

// TestLoadUnknown: a load of a model that the repository lacks says which models there are, over both protocols.
func TestLoadUnknown(t *testing.T) {
	both(t, "simple", func(t *testing.T, c backends.Conn) {
		_, configured := c.(backends.Configurer).Configure(t.Context(), "smple", backends.Configuration{JSON: []byte("{}")}, "{}")
		for what, err := range map[string]error{
			"load": c.(backends.Controller).Load(t.Context(), "smple"), "configure": configured,
		} {
			var unknown *backends.UnknownModelError
			if !errors.As(err, &unknown) || unknown.Model != "smple" || !slices.Contains(unknown.Known, "simple") ||
				!strings.Contains(unknown.ServerText, "failed to load 'smple'") {
				t.Errorf("%s: %v, %+v", what, err, unknown)
			}
		}
	})
}

// stub is a server that keeps a configuration whatever it is loaded with, or refuses to load.
func stub(t *testing.T, refuse int, reason string, configs ...string) backends.Configurer {
	t.Helper()
	next := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/config"):
			_, _ = w.Write([]byte(configs[min(next, len(configs)-1)]))
			next++
		case strings.HasSuffix(r.URL.Path, "/load") && refuse > 0:
			w.WriteHeader(refuse)
			_, _ = w.Write([]byte(`{"error":"` + reason + `"}`))
		}
	}))
	t.Cleanup(server.Close)
	return dial(t, backends.Target{URL: server.URL, Model: "m"}).(backends.Configurer)
}

// TestConfigureRefused: what a server does not do, or cannot, says what to change.
func TestConfigureRefused(t *testing.T) {
	own := backends.Configuration{JSON: []byte(`{"instance_group":[{"count":1,"kind":"KIND_CPU"}]}`)}
	const polling = "explicit model load / unload is not allowed if polling is enabled"
	const poll = "failed to load 'm', failed to poll from model repository"
	for want, k := range map[string]backends.Configurer{
		"the server must run with --model-control-mode=explicit": stub(t, 503, polling, string(own.JSON)),
		"the server's log says what is wrong":                    stub(t, 500, poll, string(own.JSON)),
		`its instance_group is not as asked: wanted [{"count":2}], the server has [{"count":1,"kind":"KIND_CPU"}]`: stub(
			t, 0, "", string(own.JSON)),
	} {
		_, err := k.Configure(t.Context(), "m", own, `{"instance_group":[{"count":2}]}`)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestRestoreDiffers: the error has what was and what is, where they differ.
func TestRestoreDiffers(t *testing.T) {
	own := backends.Configuration{JSON: []byte(`{"a":1,"b":{"c":[2]},"d":"x"}`)}
	k := stub(t, 0, "", `{"a":1,"b":{"c":[3]},"e":true}`)
	err := k.Restore(t.Context(), "m", own, false)
	const want = `the configuration of model m is not what it was: b was {"c":[2]} and is {"c":[3]}; ` +
		`d was "x" and is absent; e was absent and is true`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestConfigText: the numbers of fields are those of Triton; what is unknown is named.
func TestConfigText(t *testing.T) {
	// name 1: m; instance_group 7: {count 2: 2, kind 4: KIND_CPU}; dynamic_batching 11: {max_queue_delay 2: 500}
	message := []byte("\x0a\x01m\x3a\x04\x10\x02\x20\x02\x5a\x03\x10\xf4\x03")
	text, err := configJSON(message)
	if err != nil {
		t.Fatal(err)
	}
	const want = "name: \"m\"\ndynamic_batching: {\n  max_queue_delay_microseconds: 500\n}\n" +
		"instance_group: {\n  kind: KIND_CPU\n  count: 2\n}\n"
	if got := configText(text); got != want {
		t.Errorf("%s\n%s", text, got)
	}
	if got := configText([]byte(`{"name":"m","later":1}`)); !strings.HasPrefix(got, "# Incomplete: ") ||
		!strings.Contains(got, "later") || !strings.HasSuffix(got, "\nname: \"m\"\n") {
		t.Errorf("%s", got)
	}
	if _, err := configJSON(append(message, "\xfa\x3f\x01x"...)); err == nil ||
		!strings.Contains(err.Error(), "use the http URL") {
		t.Errorf("a field that is unknown: %v", err)
	}
}

func FuzzConfiguration(f *testing.F) {
	f.Add([]byte(`{"name":"m","instance_group":[{"count":1}],"max_batch_size":8}`))
	f.Add([]byte("\x0a\x01m\x3a\x04\x10\x02\x20\x02\x5a\x03\x10\xf4\x03"))
	f.Add([]byte(`[]`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		text, err := configJSON(b)
		if err == nil {
			_ = configText(text)
		}
		_ = configText(b)
		_, _ = mergeConfig(b, []byte(`{"instance_group":[{"count":1}],"max_batch_size":1}`))
		_, _ = mergeConfig([]byte(`{"instance_group":[1],"dynamic_batching":[]}`), b)
		_ = tookOver("m", backends.Configuration{JSON: b}, b)
		_ = differences("m", []byte(`{"a":1}`), b)
	})
}
