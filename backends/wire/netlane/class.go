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

// handshakeError reports a failed TLS handshake on an established TCP connection.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// isErrno reports whether err is one of codes.
func isErrno(err error, codes ...syscall.Errno) bool {
	for _, code := range codes {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// localExhaustion reports whether this machine ran out of descriptors, ports or memory.
func localExhaustion(err error) bool {
	return isErrno(err, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL)
}

// peerClosed reports whether the peer or the network ended the connection: a read will fail as
// well.
func peerClosed(err error) bool {
	return isErrno(err, syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.ETIMEDOUT)
}

// dialClass returns the class of a request that got no connection.
func dialClass(err error) backends.ErrorClass {
	var shake *handshakeError
	var strange *wrongProtocolError
	switch {
	case localExhaustion(err):
		return backends.Client
	// the preface of a ConnWire may be the first to meet an alert
	case errors.As(err, &shake), isTLSError(err):
		return backends.TLS
	case errors.As(err, &strange):
		return backends.Protocol
	}
	return backends.Dial
}

// readClass returns the class of a request whose connection failed with err before its reply was
// complete.
func readClass(err error) backends.ErrorClass {
	switch {
	case localExhaustion(err):
		return backends.Client
	case isTLSError(err):
		return backends.TLS
	}
	return backends.ResetByPeer
}

// writeClass returns the class of a request whose write failed with err.
func writeClass(err error) backends.ErrorClass {
	switch {
	case localExhaustion(err):
		return backends.Client
	case isTLSError(err):
		return backends.TLS
	case isErrno(err, syscall.ECONNRESET):
		return backends.ResetByPeer
	}
	return backends.Write
}

// isTLSError reports whether TLS ended the connection: an alert of either side (in TLS 1.3 a
// refused client certificate is reported only now), or bytes that are not TLS.
func isTLSError(err error) bool {
	var op *net.OpError
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}
