package torchserve

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
	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// TestLawGRPC: faults of connections and replies over gRPC.
func TestLawGRPC(t *testing.T) {
	servers := backendtest.GRPC(backendtest.RawOptions{}, "hello", protow.AppendString(nil, 1, "hello"))
	embedded := func(t testing.TB) backendtest.Server {
		s, err := builtin.Start(context.Background(), builtin.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return backendtest.Server{URL: s.GRPCURL(), Down: func() { _ = s.Close() }}
	}
	servers[backendtest.None], servers[backendtest.Refused] = embedded, embedded
	backendtest.Run(t, backendtest.Suite{
		Kind: Kind(), Target: backends.Target{Model: "identity_bytes"}, Request: ask, Servers: servers,
	})
}

// TestGRPC: predictions and streams of the embedded server, and what a user meets first.
func TestGRPC(t *testing.T) {
	s, err := builtin.Start(t.Context(), builtin.Config{APIKey: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	key := []backends.Header{{Name: "Authorization", Value: "Bearer secret"}}
	two := []backends.Part{{Name: "a", Data: []byte("xyz")}, {Name: "b", Data: []byte("1")}}
	for name, c := range map[string]struct {
		target    backends.Target
		r         backends.Request
		want      string // class and note
		responses uint32
		explained string
	}{
		"prediction": {
			target: backends.Target{Model: "identity_bytes", ModelVersion: "1.0"},
			r:      backends.Request{Body: []byte(`{"y": [1]}`), Expect: &backends.Expect{Fields: []backends.Field{{Path: "y.0", Want: int64(1)}}}},
			want:   "ok", responses: 1,
		},
		"another value": {
			target: backends.Target{Model: "identity_bytes"},
			r:      backends.Request{Body: []byte(`{"y": 2}`), Expect: &backends.Expect{Fields: []backends.Field{{Path: "y", Want: int64(1)}}}},
			want:   "mismatch field y is 2, want 1", responses: 1,
		},
		"no JSON": {
			target: backends.Target{Model: "identity_bytes"},
			r:      backends.Request{Body: []byte(`<p>`), Expect: &backends.Expect{Fields: []backends.Field{{Path: "y", Want: int64(1)}}}},
			want:   "decode the reply is not JSON: <p>", responses: 1,
		},
		"inputs": {
			target: backends.Target{Model: "identity_bytes"},
			r:      backends.Request{Parts: two, Expect: &backends.Expect{Fields: []backends.Field{{Path: "a", Want: int64(3)}}}},
			want:   "ok", responses: 1,
		},
		"stream": {
			target: backends.Target{Model: "tokens_decoupled", Streaming: true}, r: ask, want: "ok", responses: 8,
		},
		"unknown model": {
			target: backends.Target{Model: "nosuch"}, r: ask, want: "status Internal: Model not found: nosuch",
			explained: `the server does not know model "nosuch": Model not found: nosuch`,
		},
		"unknown version": {
			target: backends.Target{Model: "identity_bytes", ModelVersion: "9"}, r: ask,
			want: "status Internal: Model version: 9 does not exist for model: identity_bytes",
			explained: `the server does not know version 9 of model "identity_bytes": Model version: 9 does not exist ` +
				`for model: identity_bytes`,
		},
		"no token": {
			target: backends.Target{Model: "identity_bytes", Headers: []backends.Header{{Name: "x", Value: "y"}}}, r: ask,
			want: "status PermissionDenied: Token Authorization failed.", explained: wantsToken,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.target.Headers == nil {
				c.target.Headers = key
			}
			conn, sample := play(t, c.target, c.r, s.GRPCURL(), nil)
			got := strings.TrimSpace(sample.Class.String() + " " + string(sample.Note))
			if !strings.HasPrefix(got, c.want) || sample.Responses != c.responses && c.responses > 0 {
				t.Errorf("%s, %d responses, want %s, %d", got, sample.Responses, c.want, c.responses)
			}
			if err := conn.(backends.Explainer).Explain(sample); c.explained != "" && fmt.Sprint(err) != c.explained {
				t.Errorf("explained as %v, want %s", err, c.explained)
			}
			ready := conn.(backends.Prober).Ready(t.Context(), c.target.Model)
			var refused *backends.RefusalError
			if want := name == "no token"; errors.As(ready, &refused) != want || !want && ready != nil {
				t.Errorf("ready: %v", ready)
			}
		})
	}
}

// TestManagement: the workers and the queue of a model, in the words of the real server.
func TestManagement(t *testing.T) {
	const about = `[{"modelName": "m", "modelVersion": "1.0", "minWorkers": 1, "workers": [%s],
		"jobQueueStatus": {"remainingCapacity": 97, "pendingRequests": 3}}]`
	const none = "and 3 requests wait in its queue of 100: look into the server's log, or start one with " +
		"PUT /models/m?min_worker=1 of its management API"
	answer := func(status int, body string) string {
		return fmt.Sprintf("HTTP/1.1 %d \r\ncontent-length: %d\r\n\r\n%s", status, len(body), body)
	}
	for name, c := range map[string]struct{ reply, want string }{
		"up":       {answer(200, fmt.Sprintf(about, `{"id": "9000", "status": "READY"}, {"status": "UNLOADING"}`)), "<nil>"},
		"none":     {answer(200, fmt.Sprintf(about, "")), "model m has no worker, " + none},
		"starting": {answer(200, fmt.Sprintf(about, `{"status": "UNLOADING"}`)), "model m has workers that are UNLOADING, " + none},
		"unknown": {
			refusal(404, unknownModel, "Model not found: m"), `the server does not know model "m": Model not found: m`,
		},
		"version": {
			refusal(404, unknownVersion, "Model version: 9 does not exist for model: m"),
			`the server does not know version 9 of model "m": Model version: 9 does not exist for model: m`,
		},
		"token": {
			refusal(400, invalidKey, "Token Authorization failed."),
			`the management API wants a token: write management: {headers: {Authorization: "Bearer KEY"}} with the ` +
				`management key of the server's key_file.json`,
		},
		"a proxy's token": {
			answer(403, "Forbidden"),
			`the management API wants a token: write management: {headers: {Authorization: "Bearer KEY"}} with the ` +
				`management key of the server's key_file.json`,
		},
		"another server": {answer(200, "{}"), "the reply is no list of a model's versions"},
		"error":          {answer(500, "oh"), "status 500: oh"},
	} {
		t.Run(name, func(t *testing.T) {
			raw := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, fmt.Sprintf("accept\nread head\nsend %q\nclose", c.reply))
			target := backends.Target{
				URL: "grpc://h:1", Model: "m", ModelVersion: "9", ConnectTimeout: 10 * time.Second,
				Management: &backends.Management{URL: "http://" + raw.Address},
			}
			m, err := openManagement(&target, backends.Clock{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = m.Close(context.Background()) })
			if got := fmt.Sprint(m.readyFor(t.Context(), &target, "m")); got != c.want && (c.want == "<nil>" || !strings.HasSuffix(got, c.want)) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
	for want, url := range map[string]string{
		"management: it is a path on the target's host, which is not reached over HTTP": "/",
		"management: scheme \"grpc\" of the URL is none of http, https":                 "grpc://h:1",
	} {
		target := backends.Target{URL: "grpc://h:1", Management: &backends.Management{URL: url}}
		if err := Kind().Check(target); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

// TestOneNameTwice: inputs over gRPC are a map, so two files of a batch cannot share a name.
func TestOneNameTwice(t *testing.T) {
	r := backends.Request{Parts: []backends.Part{{Name: "data", Data: []byte("x")}, {Name: "data", Data: []byte("y")}}}
	if list, err := parts(&r); err == nil || !strings.Contains(err.Error(), `"data" is in it twice`) {
		t.Errorf("%v, %v", list, err)
	}
}

// TestStreamJudged: each message of a stream is compared, and the first that fails decides.
func TestStreamJudged(t *testing.T) {
	c, err := Kind().Open(t.Context(), backends.Target{URL: "grpc://h:1", Model: "m", Streaming: true}, backends.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	r := ask
	r.Expect = &backends.Expect{Fields: []backends.Field{{Path: "y", Want: int64(2)}}}
	call, err := c.Prepare(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		messages []string
		want     string
	}{
		{[]string{`{"y":2}`, `{"y":2}`}, "ok"},
		{[]string{`{"y":2}`, `{"y":3}`}, "mismatch field y is 3, want 2"},
		{[]string{`{"y":1}`, `{"y":3}`, `{"y":2}`}, "mismatch field y is 1, want 2"},
		{[]string{`<p>`, `{"y":2}`}, "decode the reply is not JSON: <p>"},
		{nil, "mismatch the stream has no response"},
	} {
		j, s := &judge{}, &backends.Sample{}
		for _, m := range test.messages {
			s.Responses++
			j.Reply(call, [][]byte{protow.AppendString(nil, 1, m)}, s)
		}
		j.Reply(call, nil, s)
		if got := strings.TrimSpace(s.Class.String() + " " + string(s.Note)); got != test.want {
			t.Errorf("%q: %s, want %s", test.messages, got, test.want)
		}
	}
}
