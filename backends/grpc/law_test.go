package grpc

import (
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/backendtest"
)

// suite is the conformance suite of a method; number makes List answer with one reply.
func suite(method string, streaming bool) backendtest.Suite {
	reply := []byte("\x0a\x04MARK\x10\x01")
	servers := backendtest.GRPC(backendtest.RawOptions{}, "MARK", reply)
	real := func(t testing.TB) backendtest.Server {
		address, stop := serve(t)
		return backendtest.Server{URL: "grpc://" + address, Down: stop}
	}
	servers[backendtest.None], servers[backendtest.Refused] = real, real
	return backendtest.Suite{
		Kind: Kind(), Servers: servers,
		Target:  backends.Target{Method: "test.echo.Echo/" + method, Protos: protos, Streaming: streaming},
		Request: backends.Request{Body: []byte(`{"text": "MARK", "number": 1}`), BodyType: mediaJSON},
	}
}

func TestLaw(t *testing.T) { backendtest.Run(t, suite("Say", false)) }

func TestLawShared(t *testing.T) {
	s := suite("Say", false)
	s.Target.Connections, s.Shared = 2, true
	s.Without = map[backendtest.Fault]string{
		backendtest.CloseUnder: "the check counts the requests of one lane on its connection",
		backendtest.SlowBody:   "grpc-go does not tell when the first byte of a message came",
	}
	for fault := range s.Without {
		delete(s.Servers, fault)
	}
	backendtest.Run(t, s)
}

func TestLawStream(t *testing.T) {
	s := suite("List", true)
	delete(s.Servers, backendtest.WrongLength)
	s.Without = map[backendtest.Fault]string{
		backendtest.WrongLength: "a second message is a second response",
	}
	backendtest.Run(t, s)
}
