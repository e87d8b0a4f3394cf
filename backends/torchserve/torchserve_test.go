package torchserve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ask = backends.Request{Body: []byte("hello"), BodyType: "text/plain"}

// TestLaw: with the heads of TorchServe, whose reason is empty, and a stream of chunks.
func TestLaw(t *testing.T) {
	backendtest.Run(t, backendtest.Suite{
		Kind: Kind(), Target: backends.Target{Model: "m"}, Request: ask,
		Servers: backendtest.HTTP(backendtest.RawOptions{},
			"HTTP/1.1 200 \r\ncontent-length: 5\r\nconnection: keep-alive\r\n\r\nhello"),
	})
}

// refusal is a reply as TorchServe makes them, after which it resets the connection.
func refusal(status int, kind, message string) string {
	body := fmt.Sprintf("{\n  \"code\": %d,\n  \"type\": %q,\n  \"message\": %q\n}\n", status, kind, message)
	return fmt.Sprintf("HTTP/1.1 %d Refused\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"+
		"connection: close\r\n\r\n%s", status, len(body), body)
}

// answered sends one request to a server that answers it and resets the connection.
func answered(t *testing.T, target backends.Target, reply string) (backends.Conn, *backends.Sample) {
	t.Helper()
	raw := backendtest.StartRaw(t, backendtest.RawOptions{}, nil,
		fmt.Sprintf("accept\nread size\nsend %q\ndelay 5ms\nreset", reply))
	return play(t, target, ask, "http://"+raw.Address, raw.Size)
}

// play sends one request; size, unless nil, is told how long it is.
func play(
	t *testing.T, target backends.Target, r backends.Request, url string, size func(int),
) (backends.Conn, *backends.Sample) {
	t.Helper()
	target.URL, target.ConnectTimeout = url, 10*time.Second
	clock := backends.Clock{Origin: time.Now().Add(-time.Second)}
	c, err := Kind().Open(t.Context(), target, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	call, err := c.Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	if size != nil {
		size(call.Size)
	}
	lanes, _, err := c.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &backends.Sample{Due: clock.Now(), Gen: 1}
	lanes[0].Send(0, call, backends.Fields{}, s)
	lanes[0].Recv()
	_ = lanes[0].Close()
	return c, s
}

// TestRefusals: class, note and explanation of each refusal, in the server's own words.
func TestRefusals(t *testing.T) {
	const full = `Model "m" has no worker to serve inference request. Please use scale workers API.`
	for name, c := range map[string]struct {
		reply, note string
		explained   string // "": it is an answer
		final       bool
	}{
		"unknown model": {
			refusal(404, unknownModel, "Model not found: m"), "ModelNotFoundException: Model not found: m",
			`the server does not know model "m": Model not found: m`, true,
		},
		"unknown version": {
			refusal(404, unknownVersion, "Model version: 9 does not exist for model: m"),
			"ModelVersionNotFoundException: Model version: 9 does not exist for model: m",
			`the server does not know version 9 of model "m": Model version: 9 does not exist for model: m`, true,
		},
		"missing token": {
			refusal(400, invalidKey, "Token Authorization failed."),
			"no token, or one that is wrong or expired: InvalidKeyException: Token Authorization failed.",
			wantsToken, true,
		},
		"queue full": {
			refusal(503, noWorker, full),
			"the model's queue (job_queue_size) is full, or no worker is up: ServiceUnavailableException: " + full,
			"no worker of model m is up, or its queue (job_queue_size) is full: start one with PUT " +
				"/models/m?min_worker=1 of the management API; the server says the model's queue (job_queue_size) is " +
				"full, or no worker is up: ServiceUnavailableException: " + full, false,
		},
		"handler failed": {
			refusal(503, "InternalServerException", "Prediction failed"),
			"InternalServerException: Prediction failed", "", false,
		},
		"too large": {
			"HTTP/1.1 413 Request Entity Too Large\r\ncontent-length: 0\r\n\r\n", "the request is larger than the server's max_request_size: an empty reply with status 413",
			"", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn, s := answered(t, backends.Target{Model: "m", ModelVersion: "9"}, c.reply)
			if s.Class != backends.Status || string(s.Note) != c.note {
				t.Errorf("%v %q, want %q", s.Class, s.Note, c.note)
			}
			err := conn.(backends.Explainer).Explain(s)
			var model *backends.UnknownModelError
			var refused *backends.RefusalError
			if got := fmt.Sprint(err); c.explained == "" && err != nil || c.explained != "" && got != c.explained ||
				c.final != (errors.As(err, &model) || errors.As(err, &refused)) {
				t.Errorf("explained as %v\nwant %s", err, c.explained)
			}
		})
	}
}

// TestNoWorker: no answer at all, which the ping contradicts.
func TestNoWorker(t *testing.T) {
	c := &conn{}
	s := &backends.Sample{}
	s.SetCancelled(backends.CauseTimeout, 1, true)
	if err := c.Explain(s); err == nil || !strings.Contains(err.Error(), "no worker of the model is up") {
		t.Errorf("explained as %v", err)
	}
}

// TestToken: the server is asked for readiness with the token, and refuses without it at once.
func TestToken(t *testing.T) {
	s, err := builtin.Start(t.Context(), builtin.Config{APIKey: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	with := backends.Header{Name: "Authorization", Value: "Bearer secret"}
	for want, headers := range map[string][]backends.Header{
		"the server wants a token": nil, "<nil>": {with},
	} {
		target := backends.Target{Model: "identity_bytes", Headers: headers}
		c, sample := play(t, target, ask, s.HTTPURL(), nil)
		err := c.(backends.Prober).Ready(t.Context(), "identity_bytes")
		if !strings.HasPrefix(fmt.Sprint(err), want) {
			t.Errorf("ready: %v, want %s", err, want)
		}
		if (sample.Class == backends.OK) != (headers != nil) {
			t.Errorf("with %v: class %v, %s", headers, sample.Class, sample.Note)
		}
	}
}

// TestPaths: a request names its model, and the target's path stands for /predictions.
func TestPaths(t *testing.T) {
	for want, c := range map[string]struct {
		target  backends.Target
		model   string
		version string
	}{
		"POST /predictions/m HTTP/1.1":     {target: backends.Target{Model: "m"}},
		"POST /predictions/m/1.0 HTTP/1.1": {target: backends.Target{Model: "m", ModelVersion: "1.0"}},
		"POST /predictions/a%2Fb HTTP/1.1": {target: backends.Target{Model: "m", ModelVersion: "1"}, model: "a/b"},
		"POST /p/explanations/m/2 HTTP/1.1": {target: backends.Target{
			URL: "http://h/p", Model: "m", ModelVersion: "2", Path: "/explanations",
		}},
	} {
		if c.target.URL == "" {
			c.target.URL = "http://h"
		}
		conn, err := Kind().Open(t.Context(), c.target, backends.Clock{})
		if err != nil {
			t.Fatal(err)
		}
		call, err := conn.Prepare(backends.Request{Model: c.model, Body: []byte("x")})
		if err != nil || !strings.HasPrefix(string(call.Head), want+"\r\n") {
			t.Errorf("%v, %q, want %q", err, call.Head, want)
		}
		_ = conn.Close(t.Context())
	}
}
