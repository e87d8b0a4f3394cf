// Package backendtest checks what every backend must fulfil: the law of Lane, right stamps and the
// right error class under every fault, cancellation and closing at any moment, no goroutine left
// behind.
//
// It is not: a test of model outputs (each backend's own test does that), a client, a server that
// parses requests. Its raw server plays a script: text in, bytes out.
//
//	func TestLaw(t *testing.T) {
//		backendtest.Run(t, backendtest.Suite{
//			Kind: kind, Request: request,
//			Servers: backendtest.HTTP(backendtest.RawOptions{}, reply),
//		})
//	}
package backendtest
