package backendtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// streamsPerConn is the number of calls that a scripted gRPC connection answers.
const streamsPerConn = 40

// GRPC returns raw servers for a kind that makes unary gRPC calls, as frames of HTTP/2 (RFC 9113)
// in the order of the calls. marker is the end of a request; message is a good reply. There is none
// for None and Refused: scripted frames get out of step after a cancelled call, so these need a
// real server.
func GRPC(o RawOptions, marker string, message []byte) Servers {
	ask := "await " + strconv.Quote(marker)
	whole := dataFrame(message)
	cut := whole[:len(whole)-1]
	all := Servers{}
	for fault, script := range map[Fault]func(stream int) []string{
		Delay:    func(n int) []string { return []string{ask, "delay " + Pause.String(), answer(n, whole)} },
		SlowHead: func(n int) []string { return []string{ask, "split 1 200us", answer(n, whole)} },
		SlowBody: func(n int) []string {
			return []string{ask, headers(n), "delay " + Pause.String(), data(n, whole), trailers(n)}
		},
		ResetBefore: func(int) []string { return []string{ask, "reset"} },
		ResetBody: func(n int) []string {
			return []string{ask, headers(n), data(n, cut), "delay 5ms", "reset"}
		},
		ShortBody: func(n int) []string { return []string{ask, headers(n), data(n, cut), "close"} },
		WrongLength: func(n int) []string {
			return []string{ask, answer(n, slices.Concat(whole, whole))}
		},
		Failure: func(n int) []string {
			return []string{
				ask,
				fmt.Sprintf(`headers end stream=%d ":status: 200" "content-type: application/grpc" `+
					`"grpc-status: 3" "grpc-message: %s"`, n, FailureText),
			}
		},
		Malformed: func(int) []string {
			return []string{ask, send("220 mail ready, no frames here\r\n"), "hang"}
		},
		Never:      func(int) []string { return []string{"hang"} },
		CloseAfter: func(n int) []string { return []string{ask, answer(n, whole), "close"} },
		CloseUnder: func(n int) []string {
			if n == 1 {
				return []string{ask, answer(n, whole)}
			}
			return []string{ask, "close"}
		},
	} {
		all[fault] = grpcServer(o, connection("", script))
	}
	all[CloseIdle] = grpcServer(o, connection("", func(n int) []string {
		return []string{ask, answer(n, whole), "delay 30ms", "close"}
	})+connection("", func(n int) []string { return []string{ask, answer(n, whole)} }))
	all[BadTLS] = func(t testing.TB) Server {
		script := "accept\nread 1\n" + send("no TLS here\n")
		return StartRaw(t, RawOptions{}, nil, script).server("grpcs://", nil)
	}
	return all
}

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
			if n == 1 {
				return []string{ask, data(1, whole)}
			}
			return []string{ask, "close"}
		},
	} {
		all[fault] = grpcServer(o, connection(head, script))
	}
	all[CloseIdle] = grpcServer(o, connection(head, func(int) []string {
		return []string{ask, data(1, whole), "delay 30ms", "close"}
	})+connection(head, func(int) []string { return []string{ask, data(1, whole)} }))
	all[BadTLS] = GRPC(o, marker, message)[BadTLS]
	return all
}

// opening accepts a connection of HTTP/2: its settings, and the acknowledgement of the client's.
const opening = "accept\nawait \"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n\"\nsettings\nframe settings " +
	"end stream=0"

// connection returns the script of one connection: settings, then the answers to each stream. With a
// head there is one stream, whose replies it begins; the answers are those to each request of it.
func connection(head string, script func(stream int) []string) string {
	lines := []string{opening}
	for i := range streamsPerConn {
		one := script(2*i + 1)
		if i == 0 && head != "" { // the stream is open once the request has arrived
			one = slices.Insert(one, 1, head)
		}
		lines = append(lines, one...)
	}
	return strings.Join(lines, "\n") + "\n"
}

// headers, trailers and data return the lines that send the head of a reply, its good end, and
// content.
func headers(stream int) string { return fmt.Sprintf("headers stream=%d", stream) }

func trailers(stream int) string {
	return fmt.Sprintf(`headers end stream=%d "grpc-status: 0"`, stream)
}

func data(stream int, payload []byte) string {
	return fmt.Sprintf("frame data stream=%d hex(%x)", stream, payload)
}

// dataFrame returns a message with its prefix: not compressed, and its length.
func dataFrame(message []byte) []byte {
	return append(prefix(0, int64(len(message))), message...)
}

// answer returns a whole reply.
func answer(stream int, messages []byte) string {
	return strings.Join([]string{headers(stream), data(stream, messages), trailers(stream)}, "\n")
}

func grpcServer(o RawOptions, script string) func(testing.TB) Server {
	return func(t testing.TB) Server {
		s := httpServer(t, o, script)
		s.URL = "grpc" + strings.TrimPrefix(s.URL, "http") // grpc, grpcs, grpc+unix
		return s
	}
}
