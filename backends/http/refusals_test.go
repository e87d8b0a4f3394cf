package http

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/builtin"
	"github.com/sluice-bench/sluice/backends/wire/endpoint"
)

// TestRefusals: what a user meets first says what to change in the plan, ahead of the server's own words, which
// are those of FastAPI (MLServer, KServe, LitServe), TorchServe and others; without the right token nothing else
// is tried.
func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		body, note string
		refused    string
	}{
		"wrong path": {404, `{"detail":"Not Found"}`, "the server has nothing at this `path`: Not Found", ""},
		"no path at TorchServe": {
			404, "{\n  \"code\": 404,\n  \"type\": \"ResourceNotFoundException\",\n  \"message\": \"Requested resource is not found, please refer to API document.\"\n}\n",
			"the server has nothing at this `path`: ResourceNotFoundException: Requested resource is not found, please refer to API document.",
			"",
		},
		"wrong method": {405, `{"detail":"Method Not Allowed"}`, "the server wants another `method` at this `path`: Method Not Allowed", ""},
		"missing token": {
			401, `{"detail":"Invalid API key"}`, endpoint.WantsToken + "Invalid API key", endpoint.WantsToken + "Invalid API key",
		},
		"forbidden": {
			403, `{"detail":"Forbidden"}`, endpoint.WantsToken + "Forbidden", endpoint.WantsToken + "Forbidden",
		},
		"no words":   {401, "", endpoint.WantsToken + "an empty reply with status 401", endpoint.WantsToken + "an empty reply with status 401"},
		"too large":  {413, "", "the request is larger than the server takes: an empty reply with status 413", ""},
		"wrong type": {415, `{"error":"bad type"}`, "the server wants another Content-Type, which `headers` can name: bad type", ""},
		"malformed": {
			422, `{"detail":[{"type":"json_invalid","loc":["body",0],"msg":"JSON decode error","input":{}}]}`,
			"JSON decode error: body", "",
		},
		"the model raises":    {500, `{"error":"KeyError : 'instances'"}`, "KeyError : 'instances'", ""},
		"an OpenAI interface": {400, `{"error":{"message":"no model","type":"BadRequest","param":"model","code":400}}`, "no model", ""},
	} {
		t.Run(name, func(t *testing.T) {
			raw := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, fmt.Sprintf("accept\nread head\nsend %q\nclose",
				fmt.Sprintf("HTTP/1.1 %d \r\ncontent-length: %d\r\n\r\n%s", c.status, len(c.body), c.body)))
			conn, err := Kind().Open(t.Context(), backends.Target{
				URL: "http://" + raw.Address, Method: "GET", Path: "/x", ConnectTimeout: 10 * time.Second,
			}, backends.Clock{Origin: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
			lanes, _, err := conn.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
			if err != nil {
				t.Fatal(err)
			}
			call, err := conn.Prepare(backends.Request{Body: []byte{}})
			if err != nil {
				t.Fatal(err)
			}
			s := &backends.Sample{Gen: 1}
			lanes[0].Send(0, call, backends.Fields{}, s)
			lanes[0].Recv()
			if s.Class != backends.Status || string(s.Note) != c.note {
				t.Errorf("%v %q, want %q", s.Class, s.Note, c.note)
			}
			var refused *backends.RefusalError
			if err := conn.(backends.Explainer).Explain(s); errors.As(err, &refused) != (c.refused != "") || err != nil && err.Error() != c.refused {
				t.Errorf("explained as %v, want %q", err, c.refused)
			}
			if err := lanes[0].Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPortOfGRPC: a request that reaches a port of gRPC says that it speaks HTTP/2, and what to write.
func TestPortOfGRPC(t *testing.T) {
	s, err := builtin.Start(t.Context(), builtin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	conn, err := Kind().Open(t.Context(), backends.Target{
		URL: strings.Replace(s.GRPCURL(), "grpc://", "http://", 1), Path: "/x", ConnectTimeout: 10 * time.Second,
	}, backends.Clock{Origin: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	lanes, _, err := conn.Lanes(t.Context(), 1, backends.LaneOptions{Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	call, err := conn.Prepare(backends.Request{Body: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	sample := &backends.Sample{Gen: 1}
	lanes[0].Send(0, call, backends.Fields{}, sample)
	lanes[0].Recv()
	const want = "the reply is not HTTP/1 but begins as HTTP/2 does, which gRPC servers speak: write grpc:// in `url`, " +
		"or the server's port for HTTP"
	if sample.Class != backends.Protocol || string(sample.Note) != want {
		t.Errorf("%v %q, want %q", sample.Class, sample.Note, want)
	}
	if err := lanes[0].Close(); err != nil {
		t.Error(err)
	}
}
