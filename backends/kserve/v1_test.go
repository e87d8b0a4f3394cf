package kserve_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/kserve"
)

func TestLawV1(t *testing.T) {
	body := `{"predictions":[[1,2]]}`
	backendtest.Run(t, backendtest.Suite{
		Kind: kserve.Kind(), Target: backends.Target{Model: "m", Endpoint: kserve.Predict},
		Request: backends.Request{Body: []byte(`{"instances":[[1,2]]}`)},
		Servers: backendtest.HTTP(backendtest.RawOptions{},
			fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", len(body), body)),
	})
}

func openV1(t *testing.T, url string) backends.Conn {
	t.Helper()
	c, err := kserve.Kind().Open(t.Context(),
		backends.Target{URL: url, Model: "identity", Endpoint: kserve.Predict, ConnectTimeout: 10 * time.Second},
		backends.Clock{Origin: time.Now().Add(-time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	return c
}

// TestV1Bodies: what is sent for a body, and how many inferences it counts as.
func TestV1Bodies(t *testing.T) {
	c := openV1(t, "http://h/p")
	for body, want := range map[string]string{
		`{"instances": [[1],[2],[3]], "x": 1}`: `3 {"instances": [[1],[2],[3]], "x": 1}`,
		`{"inputs": {"a": [1, 2]}}`:            `1 {"inputs": {"a": [1, 2]}}`,
		`{"a": 1}`:                             `1 {"instances":[{"a": 1}]}`,
		`[1, 2]`:                               `1 {"instances":[[1, 2]]}`,
		`{"instances": []}`:                    "the list of instances is empty",
		`{"instances": 5}`:                     "`instances` must be a list",
		`{"inst`:                               "the body is not JSON",
		``:                                     "the request has no instances",
	} {
		call, err := c.Prepare(backends.Request{Body: []byte(body)})
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(call.Items, " ", string(call.Body[0]))
			if !strings.HasPrefix(string(call.Head), "POST /p/v1/models/identity:predict HTTP/1.1\r\n") {
				t.Errorf("head %q", call.Head)
			}
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestV1 runs against the embedded server: predictions, and what KServe's own server answers to a wrong
// request, after which it closes the connection without saying so (the next request is sent again).
func TestV1(t *testing.T) {
	s := start(t, builtin.Config{})
	c := openV1(t, s.HTTPURL())
	if err := c.(backends.Prober).Ready(t.Context(), "identity"); err != nil {
		t.Error(err)
	}
	var unknown *backends.UnknownModelError
	if err := c.(backends.Prober).Ready(t.Context(), "nosuch"); !errors.As(err, &unknown) ||
		!strings.Contains(err.Error(), "Model with name nosuch does not exist.") {
		t.Errorf("an unknown model: %v", err)
	}
	lanes, _, err := c.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer lanes[0].Close()
	for i, step := range []struct {
		model, body, want string
		status            []int // nil: 200
	}{
		{"", `{"instances":[[1],[2]]}`, "ok", nil},
		{"", `{"inputs":null}`, "status KeyError : 'instances'", nil},
		{"", `{"inputs":null}`, "ok", []int{500}},
		{"", `{"instances":[[1]]}`, "ok", nil},
		{"nosuch", `1`, "status Model with name nosuch does not exist.", nil},
	} {
		call, err := c.Prepare(backends.Request{
			Model: step.model, Body: []byte(step.body), Expect: &backends.Expect{Status: step.status},
		})
		if err != nil {
			t.Fatal(err)
		}
		sample := &backends.Sample{Gen: uint32(i + 1)}
		lanes[0].Send(0, call, backends.Fields{}, sample)
		lanes[0].Recv()
		if got := strings.TrimSpace(sample.Class.String() + " " + string(sample.Note)); got != step.want {
			t.Errorf("%s: %s, want %s", step.body, got, step.want)
		}
	}
}

// TestV1Replies: a reply that is not whole, or without a prediction for each instance, is class decode.
func TestV1Replies(t *testing.T) {
	const instances, columns = `{"instances":[1,2]}`, `{"inputs":{"a":[1]}}`
	for _, c := range [][3]string{
		{instances, `{"predictions":[1,2]}`, "ok"},
		{instances, `{"predictions":[1]}`, `decode the reply has a list of 1 predictions, want 2: {"predictions":[1]}`},
		{instances, `{"predictions":[1,2,3]}`, `decode the reply has a list of 3 predictions, want 2: {"predictions":[1,2,3]}`},
		{instances, `{"predictions":5}`, `decode the reply has no list of predictions: {"predictions":5}`},
		{instances, `{"outputs":[1,2]}`, `decode the reply has no predictions: {"outputs":[1,2]}`},
		{instances, `{"predictions":[1,2]`, `decode the reply is not JSON: {"predictions":[1,2]`},
		{instances, `<html>`, `decode the reply is not JSON: <html>`},
		{columns, `{"outputs":{"b":[1]}}`, "ok"},
		{columns, `{"predictions":[1,2]}`, "ok"},
		{columns, `{"result":1}`, `decode the reply has no outputs or predictions: {"result":1}`},
		{columns, `{"predictions":[}`, `decode the reply is not JSON: {"predictions":[}`},
	} {
		request, body, want := c[0], c[1], c[2]
		raw := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, fmt.Sprintf(
			"accept\nread size\nsend %q", fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", len(body), body)))
		conn := openV1(t, "http://"+raw.Address)
		call, err := conn.Prepare(backends.Request{Body: []byte(request)})
		if err != nil {
			t.Fatal(err)
		}
		raw.Size(call.Size)
		lanes, _, err := conn.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
		if err != nil {
			t.Fatal(err)
		}
		sample := &backends.Sample{Gen: 1}
		lanes[0].Send(0, call, backends.Fields{}, sample)
		lanes[0].Recv()
		_ = lanes[0].Close()
		if got := strings.TrimSpace(sample.Class.String() + " " + string(sample.Note)); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}
