package backendtest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
)

// Fault is a behaviour of a server.
type Fault string

// The faults. A Suite has a server for each, or a reason why not.
const (
	None        Fault = "none"         // good answers on a kept connection
	Delay       Fault = "delay"        // answers after Pause
	SlowHead    Fault = "slow head"    // the reply arrives byte by byte
	SlowBody    Fault = "slow body"    // Pause between the first and the last byte of the reply
	Refused     Fault = "refused"      // as None; the suite takes the server down
	ResetBefore Fault = "reset before" // RST after the request
	ResetBody   Fault = "reset body"   // RST within the reply
	ShortBody   Fault = "short body"   // closes before the announced length of the reply
	WrongLength Fault = "wrong length" // the reply is longer than announced
	// answers with a failure of the protocol (HTTP 500, a gRPC status) and FailureText
	Failure    Fault = "status"
	Malformed  Fault = "malformed"   // answers with bytes that are not a reply
	Never      Fault = "never"       // takes the request and does not answer
	CloseAfter Fault = "close after" // closes after every reply without announcing it
	CloseUnder Fault = "close under" // answers one request, takes another, and closes without a reply
	CloseIdle  Fault = "close idle"  // closes the first connection some time after its first reply
	BadTLS     Fault = "tls"         // cannot agree on TLS with the client
)

// FailureText is the error text of a server with the fault Failure.
const FailureText = "no such luck"

// Server is a server with a fault.
type Server struct {
	URL      string
	TLS      *backends.TLSOptions
	Size     func(n int) // called with the bytes of a request before the first is sent; nil: not needed
	Accepted func() int  // connections so far; nil: unknown
	Down     func()      // stops it: later connections are refused; nil only if not Refused
}

// Servers starts servers by fault.
type Servers map[Fault]func(t testing.TB) Server

// HTTP returns raw servers for a kind that speaks HTTP/1.1. reply is a whole, good reply that keeps
// the connection, with a Content-Length and content of at least two bytes.
func HTTP(o RawOptions, reply string) Servers {
	last := len(reply) - 1
	said := `{"error":"` + FailureText + `"}`
	failure := fmt.Sprintf("HTTP/1.1 500 Internal Server Error\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s", len(said), said)
	all := Servers{}
	for fault, script := range map[Fault][]string{
		None:     {"read size", send(reply), "repeat"},
		Delay:    {"read size", "delay " + Pause.String(), send(reply), "repeat"},
		SlowHead: {"split 1 200us", "read size", send(reply), "repeat"},
		SlowBody: {
			"read size", send(reply[:last]), "delay " + Pause.String(), send(reply[last:]),
			"repeat",
		},
		Refused:     {"read size", send(reply), "repeat"},
		ResetBefore: {"read size", "reset"},
		ResetBody:   {"read size", send(reply[:last-1]), "delay 5ms", "reset"},
		ShortBody:   {"read size", send(reply[:last-1]), "close"},
		WrongLength: {"read size", send(reply + "surplus"), "repeat"},
		Failure:     {"read size", send(failure), "repeat"},
		Malformed:   {"read size", send("220 mail ready\r\n\r\n"), "hang"},
		Never:       {"read size", "hang"},
		CloseAfter:  {"read size", send(reply), "close"},
		CloseUnder:  {"read size", send(reply), "read size", "close"},
		CloseIdle: {
			"read size", send(reply), "delay 30ms", "close", "accept", "read size", send(reply), "repeat",
		},
	} {
		all[fault] = func(t testing.TB) Server {
			return httpServer(t, o, "accept\n"+strings.Join(script, "\n"))
		}
	}
	all[BadTLS] = func(t testing.TB) Server {
		// It answers a handshake with text: a failed verification could not be told from a silent server.
		r := StartRaw(t, RawOptions{}, nil,
			"accept\nread 1\n"+send("HTTP/1.0 400 Bad Request\r\n\r\nnot TLS\n"))
		return r.server("https://", nil)
	}
	return all
}

func send(text string) string { return "send " + strconv.Quote(text) }

func httpServer(t testing.TB, o RawOptions, script string) Server {
	switch {
	case o.TLS:
		config, cert, _ := Certificate(t)
		return StartRaw(t, o, config, script).server("https://", &backends.TLSOptions{CA: cert})
	case o.Unix:
		return StartRaw(t, o, nil, script).server("http+unix://", nil)
	}
	return StartRaw(t, o, nil, script).server("http://", nil)
}

// server returns the Server that r is under a scheme.
func (r *Raw) server(scheme string, o *backends.TLSOptions) Server {
	return Server{URL: scheme + r.Address, TLS: o, Size: r.Size, Accepted: r.Accepted, Down: r.Down}
}
