package openai

import (
	"fmt"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func member(name, value string) backends.Member {
	return backends.Member{Name: name, Value: []byte(value)}
}

var ask = backends.Request{Rows: [][]backends.Member{{member("prompt", `"Say hi"`)}}}

// reply is a whole reply of chat, or a stream of one event whose content goes on behind it.
func reply(stream bool) string {
	kind := "application/json"
	text := `{"object":"chat.completion","choices":[{"index":0,"message":{"content":"Hi"},` +
		`"finish_reason":"stop"}]}`
	if stream {
		kind = "text/event-stream"
		text = `data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\n: so much\n"
	}
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		kind, len(text), text)
}

func TestLaw(t *testing.T) {
	for name, o := range map[string]backendtest.RawOptions{"tcp": {}, "tls": {TLS: true}, "unix": {Unix: true}} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", name, stream), func(t *testing.T) {
				backendtest.Run(t, backendtest.Suite{
					Kind: Kind(), Target: backends.Target{Model: "m", Endpoint: chat, Streaming: stream},
					Request: ask, Servers: backendtest.HTTP(o, reply(stream)),
				})
			})
		}
	}
}
