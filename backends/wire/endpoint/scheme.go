package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// Explain explains a connection error where the server seems to speak another protocol than
// the scheme of the target's URL, and suggests a scheme. The first matching row applies:
//
//	scheme         result                                                  suggestion
//	https grpcs    silence, and the server has asked for a client          none: it speaks TLS, and is late
//	               certificate
//	https grpcs    any of these, and the server has asked for one          another client certificate
//	https grpcs    end of the connection                                   the same without TLS
//	https grpcs    no TLS handshake, or an accepted connection and         the same without TLS
//	               silence
//	https grpcs    TLS without the protocol                                the other protocol, with TLS
//	http           a TLS alert in place of a reply                         https
//	any            bytes of another protocol                               the other protocol; grpc: TLS too
//	http grpc      an accepted connection and silence                      the other protocol
//
// Any other error is returned unchanged, and so is every one after the server has answered once: a
// server that stalls later does not speak another protocol. call names the call and its server.
func (e *Endpoint) Explain(call string, err error) error {
	switch what := describeScheme(e.Scheme, err); {
	case what == "" || e.answered.Load():
		return err
	case e.certRequested != nil && e.certRequested.Load():
		if errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		advice := "give it one with `cert` and `key` under `tls`"
		if len(e.TLS.Certificates) > 0 {
			advice = "it takes another one than the `cert` under `tls`"
		}
		return &schemeError{
			text: call + ": the server asks for a client certificate and then ends the connection: " + advice,
			err:  err,
		}
	default:
		return &schemeError{text: call + ": " + what, err: err}
	}
}

// schemeError is an error with a text of this package.
type schemeError struct {
	text string
	err  error
}

func (e *schemeError) Error() string { return e.text }

func (e *schemeError) Unwrap() error { return e.err }

// describeScheme returns the explanation of an error, or "".
func describeScheme(scheme string, err error) string {
	if err == nil {
		return ""
	}
	protocol, other, otherName := "HTTP/1.1", "grpc", "gRPC"
	if strings.HasPrefix(scheme, "grpc") {
		protocol, other, otherName = "HTTP/2", "http", "HTTP"
	}
	plain, secure := strings.CutSuffix(scheme, "s")
	if secure {
		other += "s"
	}
	if _, unix := strings.CutSuffix(scheme, "+unix"); unix {
		other += "+unix"
	}
	foreign := "the server does not answer as " + protocol + " does; where it speaks " + otherName +
		", write " +
		other + ":// in `url`"
	text := err.Error()
	has := func(part string) bool { return strings.Contains(text, part) }
	var record tls.RecordHeaderError
	var dial *net.OpError
	silent := errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &dial)
	switch {
	case secure && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)):
		return "the server ends the connection; where it speaks without TLS, write " + plain + ":// in `url`"
	case secure &&
		(silent || errors.As(err, &record) || has("TLS handshake timeout") ||
			has("HTTP response to HTTPS client")):
		return "the server does not answer as TLS does; where it speaks without it, write " + plain +
			":// in `url`"
	case secure && (has("no application protocol") || has("ALPN")):
		return foreign
	case has(`malformed HTTP response "\x15\x03`):
		return "the server answers as TLS does: write https:// in `url`"
	case has("malformed HTTP"), has("readLoopPeekFail"):
		return foreign
	case has("does not answer as HTTP/2 does") && scheme == "grpc":
		return foreign + ", grpcs:// where it speaks gRPC with TLS"
	case has("does not answer as HTTP/2 does"), silent:
		return foreign
	}
	return ""
}
