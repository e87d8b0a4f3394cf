package netlane

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"

	"github.com/sluice-bench/sluice/backends"
)

// errWriteAborted is the error of a write that was ended because the reply arrived before the
// request was written.
var errWriteAborted = errors.New("the server answered and did not read the rest of the request")

// classError is an error with a class that the error itself does not show.
type classError struct {
	class backends.ErrorClass
	error
}

func (e *classError) Unwrap() error { return e.error }

// isErrno reports whether err is one of codes.
func isErrno(err error, codes ...syscall.Errno) bool {
	for _, code := range codes {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// peerClosed reports whether the peer or the network ended the connection: a read will fail as
// well.
func peerClosed(err error) bool {
	return isErrno(err, syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.ETIMEDOUT)
}

// ClassOf returns the class of a request whose connection failed with err: Client if this machine
// ran out of descriptors, ports or memory, TLS or Protocol if the error says so, else otherwise.
func ClassOf(err error, otherwise backends.ErrorClass) backends.ErrorClass {
	var known *classError
	switch {
	case isErrno(err, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL):
		return backends.Client
	case errors.As(err, &known):
		return known.class
	case isTLSError(err):
		return backends.TLS
	}
	return otherwise
}

// isTLSError reports whether TLS ended the connection: an alert of either side (in TLS 1.3 a
// refused client certificate is reported only now), or bytes that are not TLS.
func isTLSError(err error) bool {
	var op *net.OpError
	var record tls.RecordHeaderError
	return errors.As(err, &record) ||
		errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}
