package scenario

import "strings"

const embedded = "builtin"

// Scheme is the URL scheme that a target is reached by: builtin://http is http. "" without a URL.
func (t *Target) Scheme() string { return schemeOf(t.URL) }

// Embedded reports whether a target is the embedded server.
func (t *Target) Embedded() bool { return strings.HasPrefix(t.URL, embedded+"://") }

// GRPC reports whether a target is reached over gRPC.
func (t *Target) GRPC() bool { return overGRPC(t.URL) }

// Transport is the word for how a target is reached: "grpc" or "http"; "" without a URL: it runs
// inside the client.
func (t *Target) Transport() string {
	switch {
	case t.URL == "":
		return ""
	case t.GRPC():
		return "grpc"
	}
	return "http"
}

func schemeOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	if scheme == embedded {
		return rest
	}
	return scheme
}

func overGRPC(url string) bool { return strings.HasPrefix(schemeOf(url), "grpc") }
