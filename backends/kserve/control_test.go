package kserve_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
	"github.com/sluice-bench/sluice/backends/tensor"
)

// site answers control calls by path; others get a 404 with the protocol's error.
func site(t *testing.T, pages map[string]string) (url string, asked *[]*http.Request) {
	asked = &[]*http.Request{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r)
		body, ok := pages[r.URL.EscapedPath()]
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error":"nothing here"}`)
		case strings.HasPrefix(body, "http"):
			http.Redirect(w, r, body, http.StatusMovedPermanently)
		default:
			fmt.Fprint(w, body)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func openSite(t *testing.T, target backends.Target) backends.Conn {
	t.Helper()
	c, err := kserve.Kind().Open(t.Context(), target, backends.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	return c
}

// What servers without Triton's configuration say, as captured from MLServer and KServe.
func TestDescribeOthers(t *testing.T) {
	url, asked := site(t, map[string]string{
		"/p/v2": `{"name":"mlserver","version":"1.7.1","extensions":[]}`,
		"/p/v2/models/a%2Fb": `{"name":"a/b","versions":[],"platform":"identity",` +
			`"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[-1,4]}],"outputs":[{"name":"OUTPUT0",` +
			`"datatype":"FP32","shape":[-1,4]}],"parameters":{}}`,
		"/p/v2/models/ident": `{"name":"ident","versions":null,"platform":"","inputs":[],"outputs":[]}`,
		"/p/v2/models/t": `{"name":"t","versions":["1","3"],"platform":"x","inputs":[{"name":"A",` +
			`"datatype":"INT64","shape":[-1,2]},{"name":"B","datatype":"BYTES","shape":[-1]}],"outputs":[]}`,
		"/p/v2/models/t/versions/2": `{"name":"t","versions":["1","3"],"platform":"x","inputs":[],"outputs":[]}`,
		"/p/v2/models/broken":       `<html>`,
	})
	c := openSite(t,
		backends.Target{
			URL: url + "/p/", Model: "a/b",
			Headers: []backends.Header{{Name: "Authorization", Value: "Bearer s3cret"}},
		}).(backends.Describer)
	for model, want := range map[string]backends.Signature{
		"": {
			Model: "a/b", Batched: true,
			Inputs:  []backends.Port{{Name: "INPUT0", Type: tensor.FP32, Shape: []int64{4}}},
			Outputs: []backends.Port{{Name: "OUTPUT0", Type: tensor.FP32, Shape: []int64{4}}},
		},
		"ident": {Model: "ident", Inputs: []backends.Port{}, Outputs: []backends.Port{}},
		"t": {
			Model: "t",
			Inputs: []backends.Port{
				{Name: "A", Type: tensor.Int64, Shape: []int64{-1, 2}},
				{Name: "B", Type: tensor.Bytes, Shape: []int64{-1}},
			},
			Outputs: []backends.Port{},
		},
	} {
		got, err := c.Describe(t.Context(), model)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", model, err, diff)
		}
	}
	for _, r := range *asked {
		if r.Header.Get("Authorization") != "Bearer s3cret" {
			t.Errorf("%s was asked without the target's headers", r.URL)
		}
	}
	_, err := c.Describe(t.Context(), "broken")
	if err == nil || !strings.Contains(err.Error(), "<html>") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("broken: %v", err)
	}
	v := openSite(t, backends.Target{URL: url + "/p", Model: "t", ModelVersion: "2"}).(backends.Describer)
	if got, err := v.Describe(t.Context(), "t"); err != nil || got.Version != "2" {
		t.Errorf("version 2: %+v %v", got, err)
	}
}

// Triton's configuration takes the batch dimension off and marks optional inputs.
func TestDescribeTriton(t *testing.T) {
	url, _ := site(t, map[string]string{
		"/v2": `{"name":"triton","version":"2","extensions":["model_configuration",` +
			`"binary_tensor_data","statistics"]}`,
		"/v2/models/m": `{"name":"m","versions":["1"],"platform":"x","inputs":[{"name":"A",` +
			`"datatype":"INT64","shape":[-1,2]},{"name":"B","datatype":"BYTES","shape":[-1,1]}],` +
			`"outputs":[{"name":"C","datatype":"FP16","shape":[-1]}]}`,
		"/v2/models/m/config": `{"name":"m","max_batch_size":16,"input":[{"name":"A","data_type":"TYPE_INT64",` +
			`"dims":[2]},{"name":"B","data_type":"TYPE_STRING","dims":["1"],"optional":true}]}`,
	})
	got, err := openSite(t, backends.Target{URL: url, Model: "m"}).(backends.Describer).Describe(t.Context(), "")
	want := backends.Signature{
		Model: "m", Version: "1", Configured: true, MaxBatch: 16, Batched: true, Statistics: true,
		BinaryTensors: true, Sequence: backends.NoSequences,
		Inputs: []backends.Port{
			{Name: "A", Type: tensor.Int64, Shape: []int64{2}},
			{Name: "B", Type: tensor.Bytes, Shape: []int64{1}, Optional: true},
		},
		Outputs: []backends.Port{{Name: "C", Type: tensor.FP16, Shape: []int64{}}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// Whole numbers of a configuration are numbers or texts; what is none is an error that shows it. An
// ensemble names what it calls, each once, with the version where one is wanted; what keeps
// sequences is asked of those.
func TestDescribeConfigurations(t *testing.T) {
	const step = `{"model_name":"%s","model_version":%s}`
	steps := func(list ...string) string {
		var all []string
		for i := 0; i < len(list); i += 2 {
			all = append(all, fmt.Sprintf(step, list[i], list[i+1]))
		}
		return `{"max_batch_size":0,"ensemble_scheduling":{"step":[` + strings.Join(all, ",") + `]}}`
	}
	for config, want := range map[string]struct {
		batch    int
		calls    []backends.Called
		sequence backends.SequenceKind
		err      string
	}{
		`{"max_batch_size":"100"}`:                 {batch: 100, sequence: backends.NoSequences},
		`{"max_batch_size":100}`:                   {batch: 100, sequence: backends.NoSequences},
		`{"max_batch_size":"abc"}`:                 {err: `"abc" is not a 64-bit integer`},
		`{"max_batch_size":"9223372036854775808"}`: {err: "9223372036854775808"},
		`{"max_batch_size":100.1}`:                 {err: "100.1 is not a 64-bit integer"},
		`{"dynamic_batching":{}}`:                  {sequence: backends.NoSequences},
		`{"sequence_batching":{}}`:                 {sequence: backends.NumberSequences},
		`{"sequence_batching":{"control_input":[{"control":[{"kind":"CONTROL_SEQUENCE_CORRID",` +
			`"data_type":"TYPE_STRING"}]}]}}`: {sequence: backends.TextSequences},
		steps("A", `"2"`, "B", "-1", "A", "2"): {
			calls: []backends.Called{{Model: "A", Version: "2"}, {Model: "B"}},
		},
	} {
		url, _ := site(t, map[string]string{
			"/v2":                 `{"extensions":["model_configuration"]}`,
			"/v2/models/m":        `{"name":"m","versions":["1"],"inputs":[],"outputs":[]}`,
			"/v2/models/m/config": config,
		})
		got, err := openSite(t,
			backends.Target{URL: url, Model: "m"}).(backends.Describer).Describe(t.Context(), "")
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %v", config, err)
			}
			continue
		}
		if err != nil || got.MaxBatch != want.batch || got.Sequence != want.sequence ||
			!cmp.Equal(got.Calls, want.calls) {
			t.Errorf("%s: %+v %v", config, got, err)
		}
	}
}

// TestAbsent: what a server's index makes of its word that it does not know a model.
func TestAbsent(t *testing.T) {
	type list = []kserve.IndexedModel
	said := errors.New("404")
	both := list{{"a", "1", "READY", ""}, {"b", "2", "READY", ""}, {"b", "3", "LOADING", ""}}
	for _, c := range []struct {
		name, model, version string
		list                 list
		known                []string // of an UnknownModelError; nil: it is none
		text                 string
	}{
		{"no index", "m", "", nil, []string{}, `the server does not know model "m": words`},
		{"another name", "m", "", both, []string{"a", "b"}, `the server does not know model "m": words`},
		{
			"another version", "a", "9", both,
			[]string{"1"},
			`the server does not know version 9 of model "a": words`,
		},
		{"a version that is loading", "b", "3", both, nil, "model b: it is LOADING: 404"},
		{"loading", "m", "", list{{"m", "1", "LOADING", ""}}, nil, "model m: it is LOADING: 404"},
		{
			"unloaded", "m", "",
			list{{"m", "1", "UNAVAILABLE", "unloaded"}},
			nil,
			"model m: it is UNAVAILABLE: unloaded: 404",
		},
		{"never loaded", "m", "", list{{Name: "m"}}, nil, "model m: it is not loaded: 404"},
		{"never loaded, a version", "m", "2", list{{Name: "m"}}, nil, "model m: it is not loaded: 404"},
		{
			"does not load", "m", "",
			list{{"m", "1", "UNAVAILABLE", "no file\n  model.py"}},
			nil,
			"model m: it is UNAVAILABLE: no file model.py: 404",
		},
		{"another version is loading", "m", "2", list{{"m", "1", "LOADING", ""}}, nil, "404"},
	} {
		err := kserve.ExplainModelError(c.list, c.model, c.version, "words", said)
		var unknown *backends.UnknownModelError
		is := errors.As(err, &unknown)
		if is != (c.known != nil) || err.Error() != c.text || is && !slices.Equal(unknown.Known, c.known) {
			t.Errorf("%s: %v (%+v), want %q", c.name, err, unknown, c.text)
		}
	}
}

func TestReadyAndControlErrors(t *testing.T) {
	for _, c := range []struct {
		pages map[string]string
		want  string
	}{
		{
			map[string]string{
				"/v2/health/live": "", "/v2/health/ready": `{"ready":true}`,
				"/v2/models/m/ready": `{"name":"m","ready":true}`,
			},
			"",
		},
		{
			map[string]string{"/v2/health/live": "", "/v2/health/ready": `{"ready":false}`},
			`/v2/health/ready: status 200: "{\"ready\":false}"`,
		},
		{map[string]string{"/v2/health/live": `{"live":false}`}, "live"},
		{
			map[string]string{"/v2/health/live": "", "/v2/health/ready": ""},
			`the server does not know model "m": nothing here`,
		},
		{
			map[string]string{"/v2/health/live": "", "/v2/health/ready": "", "/v2/models/m": `{"name":"m"}`},
			`/v2/models/m/ready: status 404: nothing here`,
		},
		{
			map[string]string{"/v2/health/live": "https://elsewhere/v2"},
			"status 301, which points to \"https://elsewhere/v2\": write the right address into `url`",
		},
	} {
		url, _ := site(t, c.pages)
		err := openSite(t, backends.Target{URL: url, Model: "m"}).(backends.Prober).Ready(t.Context(), "m")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	frames, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	go func() {
		if c, err := frames.Accept(); err == nil {
			_, _ = c.Read(make([]byte, 4096))
			// SETTINGS of HTTP/2, as a gRPC server begins
			_, _ = c.Write([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00"))
			_ = c.Close()
		}
	}()
	other := openSite(t, backends.Target{URL: "http://" + frames.Addr().String(), Model: "m"})
	if err := other.(backends.Prober).Ready(t.Context(), "m"); err == nil ||
		!strings.Contains(err.Error(), "write grpc:// in `url`") {
		t.Errorf("a server of gRPC: %v", err)
	}
	closed := openSite(t, backends.Target{URL: "http://127.0.0.1:1", Model: "m"})
	if err := closed.(backends.Prober).Ready(t.Context(), "m"); err == nil ||
		!strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("closed port: %v", err)
	}
	closed = openSite(t, backends.Target{URL: "grpc://127.0.0.1:1", Model: "m"})
	if err := closed.(backends.Prober).Ready(t.Context(), "m"); err == nil ||
		!strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("closed port over gRPC: %v", err)
	}
}
