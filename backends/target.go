package backends

import (
	"fmt"
	"strings"
	"time"
)

// Target is where and how to send, in plain values: no plan types.
type Target struct {
	URL            string // scheme://host[:port][/prefix], or http+unix:///path
	Model          string
	ModelVersion   string
	Headers        []Header
	Parameters     []Parameter
	TLS            *TLSOptions // nil: system roots when the scheme is secure
	ConnectTimeout time.Duration
	Compression    string // of requests, and asked for in replies: "gzip", "deflate", "" none
	Connections    int    // transport connections shared by all lanes; 0: one each; PerRequest: a new one for every request
	MaxMessage     int64  // of a reply, and of a request over gRPC; 0: see plans/README.md
	InputJSON      bool   // tensors as JSON instead of raw bytes
	OutputJSON     bool
	Endpoint       string // one of Kind.Endpoints; "" where the kind has none
	Method         string // an HTTP verb, or package.Service/Method
	Streaming      bool
	KeepReplies    bool   // in Sample.Text, in the form that Replier reads
	Tokenizer      string // file that tokens are counted with; "": the server's own counts
	InProcess      *InProcess
}

// InProcess is a server that is loaded into this process.
type InProcess struct {
	ServerDir  string // where it is installed
	Repository string // of models
	Options    []Parameter
}

// Format implements fmt.Formatter for every verb: what is sent may hold secrets as plain text, so it is never shown.
func (t Target) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "target of model %q", t.Model) }

// GRPC reports whether the target is reached over gRPC.
func (t Target) GRPC() bool { return strings.HasPrefix(t.URL, "grpc") || t.URL == "builtin://grpc" }

// PerRequest as Target.Connections asks for a fresh connection for every request.
const PerRequest = -1

// Header is one HTTP header or gRPC metadata pair. Host is whom a request is for, over gRPC its authority.
type Header struct{ Name, Value string }

// CheckHost says why a text cannot be whom a request is for: host or host:port.
func CheckHost(host string) error {
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("host %q is empty or holds other than visible characters", host)
	}
	return nil
}

// Parameter is one request parameter, or a setting of a server; Value is bool, int64, float64 or string, of a setting also
// a list of strings.
type Parameter struct {
	Name  string
	Value any
}

// KeyError is what is wrong with what a target says at one of its keys, or below `inprocess`: its server_dir, or an option by
// its name.
type KeyError struct {
	Key     string
	Err     error
	Allowed []string // options that there are, where Key is none
}

func (e *KeyError) Error() string { return e.Err.Error() }

// Unwrap gives the error without its place.
func (e *KeyError) Unwrap() error { return e.Err }

// TLSOptions says how to secure a connection. Files hold PEM.
type TLSOptions struct {
	CA, Cert, Key string
	ServerName    string
	Verify        string // "full" (default), "ca": chain without host name, "none"
	MinVersion    string // "1.2" (default) or "1.3"
}
