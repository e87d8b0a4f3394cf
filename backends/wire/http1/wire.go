package http1

import "github.com/sluice-bench/sluice/backends"

// Judge says what a complete reply means; a kind implements it. It is called between the stamp of the last byte and
// the report that the request has finished, and must not allocate or block.
type Judge interface {
	// Keep says how many body bytes of a reply with this status are wanted by Reply (0: they are only counted).
	Keep(c *backends.Call, status int) int
	// Reply sets s.Class (and the note) from a complete reply. body holds the first Keep bytes of the content; body
	// and h are valid during the call only. For status 400 and above the note already holds the start of the body.
	Reply(c *backends.Call, status int, h *Header, body []byte, s *backends.Sample)
}

// Options bound what a reply may be. The zero value has the defaults.
type Options struct {
	MaxHead int   // bytes of status line and header fields, interim replies and trailers each; 0: 64 KiB
	MaxBody int64 // bytes of content; 0: 16 GiB. Keep bounds what is held in memory.
}

// Wire is HTTP/1.1 on one connection: a backends.Wire of depth 1.
type Wire struct {
	judge Judge
	o     Options
}

// New makes the wire of one connection.
func New(j Judge, o Options) *Wire { return &Wire{judge: j, o: o} }

// Begin implements backends.Wire.
func (w *Wire) Begin(slot int, c *backends.Call, f backends.Fields, s *backends.Sample) ([]byte, [][]byte) {
	return c.Head, c.Body
}

// Feed implements backends.Wire.
func (w *Wire) Feed(b []byte, at int64) (slot, n int, next backends.Next) {
	return backends.None, len(b), backends.NextMore
}

// EOF implements backends.Wire.
func (w *Wire) EOF(at int64) backends.Next { return backends.NextStale }
