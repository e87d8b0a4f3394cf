package backends

import (
	"fmt"
	"strings"
	"time"
)

// Target describes where and how to send, in plain values: no plan types.
type Target struct {
	URL            string // scheme://host[:port][/prefix], or http+unix:///path
	Model          string
	ModelVersion   string
	Headers        []Header
	Parameters     []Parameter
	TLS            *TLSOptions // nil: system roots when the scheme is secure
	ConnectTimeout time.Duration
	Compression    string // of requests, and accepted in replies: "gzip", "deflate", "": none
	// transport connections shared by all lanes; 0: one each; PerRequest: a new one for every request
	Connections int
	MaxMessage  int64 // bytes of a reply, and of a request over gRPC; 0: see plans/README.md
	InputJSON   bool  // tensors as JSON instead of raw bytes
	OutputJSON  bool
	Layout      string // of JSON: "rows" or "columns"; "": what fits the model
	Endpoint    string // one of Kind.Endpoints; "" if the kind has none
	Path        string // URL path of requests; "": the endpoint's own
	Method      string // an HTTP verb, or package.Service/Method
	Protos      *Protos
	Signature   string      // of a model with several; "": the server's default
	Management  *Management // nil: none is known
	Streaming   bool
	KeepReplies bool   // in Sample.Text, in the form that Replier reads
	Tokenizer   string // file for counting tokens; "": the server's own counts
	InProcess   *InProcess
}

// InProcess is a server that is loaded into this process.
type InProcess struct {
	ServerDir  string // its installation directory
	Repository string // directory of the models
	Options    []Parameter
}

// Management is where a server is managed; a URL that is a path is one on the target's host.
type Management struct {
	URL     string
	Headers []Header
}

// Protos are the files that define a gRPC service.
type Protos struct {
	Files, Include []string // .proto files, and the folders that their imports are looked up in
	DescriptorSet  string   // a file, in place of both
}

// Format implements fmt.Formatter for every verb: a target may contain secrets as plain text, so it
// is never printed.
func (t Target) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "target of model %q", t.Model) }

// GRPC reports whether the target is reached over gRPC.
func (t Target) GRPC() bool { return strings.HasPrefix(t.URL, "grpc") || t.URL == "builtin://grpc" }

// PerRequest in Target.Connections asks for a new connection for every request.
const PerRequest = -1

// Header is one HTTP header or gRPC metadata pair. Host is the host of a request, over gRPC its
// authority.
type Header struct{ Name, Value string }

// CheckHost returns an error unless host has the form host or host:port.
func CheckHost(host string) error {
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("host %q must not be empty and must contain visible ASCII characters only", host)
	}
	return nil
}

// Parameter is one request parameter, or a setting of a server; Value is bool, int64, float64 or
// string, for a setting also a list of strings.
type Parameter struct {
	Name  string
	Value any
}

// KeyError is a mistake of a target at one of its keys, or below `inprocess`: at server_dir, or at
// an option by its name.
type KeyError struct {
	Key     string
	Err     error
	Allowed []string // known options, if Key is none of them
}

func (e *KeyError) Error() string { return e.Err.Error() }

// Unwrap returns the error without its key.
func (e *KeyError) Unwrap() error { return e.Err }

// TLSOptions configures a secure connection. Files are PEM.
type TLSOptions struct {
	CA, Cert, Key string
	ServerName    string
	Verify        string // "full" (default), "ca": chain without host name, "none"
	MinVersion    string // "1.2" (default) or "1.3"
}

// UnknownModelError is the error of a server that is live and does not know a model, or a version
// of it: waiting does not help.
type UnknownModelError struct {
	Model, Version string   // Version "": the model as a whole
	ServerText     string   // the server's message; "": none
	Known          []string // the models, or the versions of the model, that the server has; nil: unknown
}

func (e *UnknownModelError) Error() string {
	text := fmt.Sprintf("the server does not know model %q", e.Model)
	if e.Version != "" {
		text = fmt.Sprintf("the server does not know version %s of model %q", e.Version, e.Model)
	}
	if e.ServerText != "" {
		text += ": " + e.ServerText
	}
	return text
}

// RefusalError is the error of a server that answers and refuses every request, such as one that
// wants a token: waiting does not help.
type RefusalError struct{ Text string }

func (e *RefusalError) Error() string { return e.Text }
