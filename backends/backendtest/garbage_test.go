package backendtest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/kserve"
)

// What is no HTTP/2, or HTTP/2 against its rules, is the class protocol over gRPC, on a connection
// that is new and on one that has answered before, which must not pass for a stale one.
func TestGarbageOverGRPC(t *testing.T) {
	whole := dataFrame([]byte(marked))
	for name, lines := range map[string][]string{
		"words":                   {send("220 mail ready, no frames here\r\n"), "hang"},
		"words, close":            {send("220 mail ready, no frames here\r\n"), "close"},
		"HTTP/1.1":                {send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), "close"},
		"frame too large":         {"send hex(004001000000000001" + strings.Repeat("00", 64) + ")", "hang"},
		"frame too large, close":  {"send hex(ffffff000000000001)", "close"},
		"data on no stream":       {`frame data stream=0 "x"`, "hang"},
		"ping of seven bytes":     {`frame ping stream=0 "1234567"`, "hang"},
		"settings of seven bytes": {`frame settings stream=0 "1234567"`, "hang"},
		"lone continuation":       {"frame continuation flags=4 stream=1", "hang"},
	} {
		for _, before := range []int{0, 1} {
			script := connection("", func(n int) []string {
				ask := "await " + strconv.Quote("MARK")
				if n/2 < before {
					return []string{ask, answer(n, whole)}
				}
				return append([]string{ask}, lines...)
			})
			t.Run(name+" after "+strconv.Itoa(before), func(t *testing.T) {
				s := Suite{
					Kind: kserve.Kind(), Target: backends.Target{Model: "m"}, Request: staleRequest(),
					Patience: 20 * time.Second,
					Servers:  Servers{Malformed: func(t testing.TB) Server { return grpcServer(RawOptions{}, script)(t) }},
				}
				b := newBench(t, &s, Malformed)
				p := b.player(serial)
				for range before {
					b.class(None, p.do(b.call))
				}
				sample := p.do(b.call)
				b.class(Malformed, sample)
				if sample.Flags&backends.Redialled != 0 {
					t.Errorf("garbage passed for a stale connection")
				}
			})
		}
	}
}
