package backendtest

import (
	"strconv"
	"strings"
	"testing"
)

// GRPCStream returns raw servers for a kind whose requests share one bidirectional gRPC stream, the
// first of its connection. marker is contained once in each request; message is a good reply that
// ends its request. There is none for cancelled requests and for failures of a single request: as
// with GRPC these need a real server.
func GRPCStream(o RawOptions, marker string, message []byte) Servers {
	ask := "await " + strconv.Quote(marker)
	whole := dataFrame(message)
	cut := whole[:len(whole)-1]
	head := headers(1)
	all := Servers{}
	for fault, script := range map[Fault]func(n int) []string{
		SlowHead: func(int) []string { return []string{ask, "split 1 200us", data(1, whole)} },
		SlowBody: func(int) []string {
			return []string{ask, data(1, cut), "delay " + Pause.String(), data(1, whole[len(cut):])}
		},
		ResetBefore: func(int) []string { return []string{ask, "reset"} },
		ResetBody:   func(int) []string { return []string{ask, data(1, cut), "delay 5ms", "reset"} },
		ShortBody:   func(int) []string { return []string{ask, data(1, cut), "close"} },
		CloseAfter:  func(int) []string { return []string{ask, data(1, whole), "close"} },
		CloseUnder: func(n int) []string {
			if n == 0 {
				return []string{ask, data(1, whole)}
			}
			return []string{ask, "close"}
		},
	} {
		all[fault] = func(t testing.TB) Server { return grpcServer(t, o, streamConnection(head, script)) }
	}
	all[CloseIdle] = func(t testing.TB) Server {
		first := streamConnection(head,
			func(int) []string { return []string{ask, data(1, whole), "delay 30ms", "close"} })
		return grpcServer(t, o,
			first+streamConnection(head, func(int) []string { return []string{ask, data(1, whole)} }))
	}
	all[BadTLS] = GRPC(o, marker, message)[BadTLS]
	return all
}

// streamConnection returns the script of one connection with one stream: settings, the head of the
// replies, then the answers to each request.
func streamConnection(head string, script func(n int) []string) string {
	lines := []string{opening}
	for n := range streamsPerConn {
		one := script(n)
		if n == 0 { // the stream is open once the request has arrived
			one = append([]string{one[0], head}, one[1:]...)
		}
		lines = append(lines, one...)
	}
	return strings.Join(lines, "\n") + "\n"
}
