package netlane

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"

	"github.com/sluice-bench/sluice/backends"
)

// errWriteAborted is the failure of a write that we ended because the reply had come before the request was read.
var errWriteAborted = errors.New("the server answered and did not read the rest of the request")

// handshakeError says that TCP connected and TLS did not.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// isErrno says whether err is one of codes.
func isErrno(err error, codes ...syscall.Errno) bool {
	for _, code := range codes {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// localExhaustion says that this machine had no more of something: descriptors, ports, memory.
func localExhaustion(err error) bool {
	return isErrno(err, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL)
}

// peerClosed says that the peer, or the way to it, ended the connection: a read will end as well.
func peerClosed(err error) bool {
	return isErrno(err, syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.ETIMEDOUT)
}

// dialClass is the class of a request that got no connection.
func dialClass(err error) backends.ErrorClass {
	var shake *handshakeError
	var strange *wrongProtocolError
	switch {
	case localExhaustion(err):
		return backends.Client
	case errors.As(err, &shake), isTLSError(err): // a ConnWire's greeting may be the first to meet an alert
		return backends.TLS
	case errors.As(err, &strange):
		return backends.Protocol
	}
	return backends.Dial
}

// readClass is the class of a request whose connection met err where a reply was to come.
func readClass(err error) backends.ErrorClass {
	switch {
	case localExhaustion(err):
		return backends.Client
	case isTLSError(err):
		return backends.TLS
	}
	return backends.ResetByPeer
}

// writeClass is the class of a request whose write met err.
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

// isTLSError says that TLS ended the connection: an alert, ours or the peer's (in TLS 1.3 a refused client certificate
// comes only now), or bytes that are no TLS.
func isTLSError(err error) bool {
	var op *net.OpError
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}
