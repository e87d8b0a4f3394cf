package endpoint

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
)

// over returns an endpoint that has not answered yet.
func over(scheme string) *Endpoint { return &Endpoint{Scheme: scheme, answered: new(atomic.Bool)} }

// TestOtherErrorsUnchanged: errors that are not about the scheme keep their text and their cause.
func TestOtherErrorsUnchanged(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	late := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	for _, err := range []error{nil, refused, late, io.EOF, errors.New("status 503")} {
		got := over("http").Explain("GET /", err)
		if got != err { //nolint:errorlint // it must be unchanged, not wrapped
			t.Errorf("%v became %v", err, got)
		}
	}
	asking := over("https")
	asking.certRequested = new(atomic.Bool)
	// And so it speaks TLS
	asking.certRequested.Store(true)
	got := asking.Explain("GET /", context.DeadlineExceeded)
	if got != context.DeadlineExceeded { //nolint:errorlint // it must be unchanged, not wrapped
		t.Errorf("a server that asks for a certificate and is late: %v", got)
	}
	if err := over("grpc").Explain("ServerLive",
		context.DeadlineExceeded); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v has lost its cause", err)
	}
	if got := over("http+unix").Explain("GET /",
		errors.New("malformed HTTP")); !strings.HasSuffix(got.Error(), "write grpc+unix:// in `url`") {
		t.Errorf("a socket: %v", got)
	}
}
