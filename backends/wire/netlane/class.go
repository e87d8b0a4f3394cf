package netlane

import (
	"crypto/tls"
	"errors"
	"net"
	"slices"
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
	return slices.ContainsFunc(codes, func(code syscall.Errno) bool { return errors.Is(err, code) })
}

// peerClosed reports whether the peer or the network ended the connection: a read will fail as
// well.
func peerClosed(err error) bool {
	return isErrno(err, syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.ETIMEDOUT)
}

// ClassOf returns the class of a request whose connection failed with err: Client if this machine
// ran out of descriptors, ports or memory, TLS or Protocol if the error says so, else otherwise.
func ClassOf(err error, otherwise backends.ErrorClass) backends.ErrorClass {
	known, hasClass := errors.AsType[*classError](err)
	// TLS ended the connection by an alert of either side (in TLS 1.3 a refused client certificate is
	// reported only now), or met bytes that are not TLS
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	op, ok := errors.AsType[*net.OpError](err)
	switch {
	case isErrno(err, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL):
		return backends.Client
	case hasClass:
		return known.class
	case plain || ok && (op.Op == "remote error" || op.Op == "local error"):
		return backends.TLS
	}
	return otherwise
}
