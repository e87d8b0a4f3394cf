package triton_test

import (
	"fmt"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
	"github.com/sluice-bench/sluice/backends/triton"
)

// generateReply is a whole reply of the generate endpoint, or of its stream: there the content goes
// on behind the event.
func generateReply(stream bool) string {
	kind, text := "application/json", `{"model_name":"m","OUTPUT0":7}`
	if stream {
		kind, text = "text/event-stream; charset=utf-8", "data: "+text+"\n\n: that was all\n"
	}
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		kind, len(text), text)
}

func TestLawGenerate(t *testing.T) {
	for name, o := range map[string]backendtest.RawOptions{"tcp": {}, "tls": {TLS: true}} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stream %v", name, stream), func(t *testing.T) {
				s := backendtest.Suite{
					Kind: triton.Kind(), Target: backends.Target{Model: "m", Endpoint: "generate", Streaming: stream},
					Request: ask,
					Servers: backendtest.HTTP(o, generateReply(stream)),
				}
				if stream {
					delete(s.Servers, backendtest.SlowBody)
					s.Without = map[backendtest.Fault]string{
						backendtest.SlowBody: "the first and the last byte that count are those of one event",
					}
				}
				backendtest.Run(t, s)
			})
		}
	}
}
