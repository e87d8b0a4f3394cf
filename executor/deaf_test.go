package executor

import (
	"io"
	"log"
	"net"
	"testing"
)

// listen is a server that takes connections and says nothing, not even the first word of TLS.
func listen(t *testing.T) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// quietLog is for servers whose clients break off on purpose.
func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }
