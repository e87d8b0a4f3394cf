package http

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
)

// TestAllocations: a good reply, also one that is compared or streamed, allocates nothing.
func TestAllocations(t *testing.T) {
	stream := "HTTP/1.1 200 \r\ntransfer-encoding: chunked\r\n\r\n7\r\n{\"y\":2}\r\n7\r\n{\"y\":2}\r\n0\r\n\r\n"
	for name, c := range map[string]struct {
		streams bool
		reply   string
	}{
		"compared": {false, reply("", `{"x":[1,2],"y":2}`)},
		"chunks":   {true, stream},
	} {
		call, err := open(t, backends.Target{Streaming: c.streams}).Prepare(checked)
		if err != nil {
			t.Fatal(err)
		}
		wire := http1.New(new(judge))
		if c.streams {
			wire = http1.New(new(streamJudge))
		}
		s, data := &backends.Sample{Events: make([]backends.Event, 0, 16)}, []byte(c.reply)
		if n := testing.AllocsPerRun(100, func() {
			s.Reset()
			wire.Begin(0, call, backends.Fields{}, s)
			wire.Feed(data, 1)
		}); n != 0 || s.Class != backends.OK || s.Responses == 0 {
			t.Errorf("%s: %v allocations, class %v, note %q", name, n, s.Class, s.Note)
		}
	}
}
