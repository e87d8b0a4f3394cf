package backendtest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// streams is how many calls a scripted gRPC connection answers.
const streams = 40

// GRPC gives raw servers for a kind that makes unary gRPC calls, as frames of HTTP/2 (RFC 9113) in the order of the
// calls. marker are the last bytes of a request; message is a right reply. There is none for None and Refused: frames
// from a script go wrong once a call has been cancelled, so these need a real server.
func GRPC(o RawOptions, marker string, message []byte) Servers {
	ask := "await " + strconv.Quote(marker)
	whole := dataFrame(message)
	cut := whole[:len(whole)-1]
	all := Servers{}
	for fault, script := range map[Fault]func(stream int) []string{
		Delay:    func(n int) []string { return []string{ask, "delay " + Pause.String(), answer(n, whole)} },
		SlowHead: func(n int) []string { return []string{ask, "split 1 200us", answer(n, whole)} },
		SlowBody: func(n int) []string {
			return []string{ask, headers(n, 0, replyHead), "delay " + Pause.String(), data(n, whole), headers(n, endStream, okTrailers)}
		},
		ResetBefore: func(int) []string { return []string{ask, "reset"} },
		ResetBody: func(n int) []string {
			return []string{ask, headers(n, 0, replyHead), data(n, cut), "delay 5ms", "reset"}
		},
		ShortBody:   func(n int) []string { return []string{ask, headers(n, 0, replyHead), data(n, cut), "close"} },
		WrongLength: func(n int) []string { return []string{ask, answer(n, append(whole[:len(whole):len(whole)], whole...))} },
		Failure: func(n int) []string {
			return []string{ask, headers(n, endStream, append(replyHead, literal("grpc-status", "3")+literal("grpc-message", Words)...))}
		},
		Malformed:  func(int) []string { return []string{ask, send("220 mail ready, no frames here\r\n"), "hang"} },
		Never:      func(int) []string { return []string{"hang"} },
		CloseAfter: func(n int) []string { return []string{ask, answer(n, whole), "close"} },
		CloseUnder: func(n int) []string {
			if n == 1 {
				return []string{ask, answer(n, whole)}
			}
			return []string{ask, "close"}
		},
	} {
		all[fault] = func(t testing.TB) Server { return grpcServer(t, o, connection(script)) }
	}
	all[CloseIdle] = func(t testing.TB) Server {
		first := connection(func(n int) []string { return []string{ask, answer(n, whole), "delay 30ms", "close"} })
		return grpcServer(t, o, first+connection(func(n int) []string { return []string{ask, answer(n, whole)} }))
	}
	all[BadTLS] = func(t testing.TB) Server {
		r := StartRaw(t, RawOptions{}, nil, "accept\nread 1\n"+send("no TLS here\n"))
		return Server{URL: "grpcs://" + r.Address, Size: r.Size, Accepted: r.Accepted, Down: r.Down}
	}
	return all
}

// connection is the script of one connection: settings, then what each stream gets.
func connection(script func(stream int) []string) string {
	lines := []string{
		"accept", `await "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"`,
		frame(4, 0, 0, ""), frame(4, 1, 0, ""), // our settings; theirs are acknowledged
	}
	for i := range streams {
		lines = append(lines, script(2*i+1)...)
	}
	return strings.Join(lines, "\n") + "\n"
}

const (
	endStream  = 1
	endHeaders = 4
	statusOK   = "\x88" // :status 200, by its place in the static table (RFC 7541 appendix A)
)

var (
	replyHead  = []byte(statusOK + literal("content-type", "application/grpc+proto"))
	okTrailers = []byte(literal("grpc-status", "0"))
)

// literal is a field that enters no table, not compressed (RFC 7541 section 6.2.2). Both parts are shorter than 127.
func literal(name, value string) string {
	return "\x00" + string(rune(len(name))) + name + string(rune(len(value))) + value
}

// frame is the line that sends one frame.
func frame(kind, flags byte, stream int, payload string) string {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))[1:]
	head = binary.BigEndian.AppendUint32(append(head, kind, flags), uint32(stream))
	return "sendhex " + hex.EncodeToString(append(head, payload...))
}

func headers(stream int, flags byte, fields []byte) string {
	return frame(1, flags|endHeaders, stream, string(fields))
}

func data(stream int, payload []byte) string { return frame(0, 0, stream, string(payload)) }

// dataFrame is a message with its prefix: not compressed, and its length.
func dataFrame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// answer is a whole reply.
func answer(stream int, messages []byte) string {
	return strings.Join([]string{headers(stream, 0, replyHead), data(stream, messages), headers(stream, endStream, okTrailers)}, "\n")
}

func grpcServer(t testing.TB, o RawOptions, script string) Server {
	s := httpServer(t, o, script)
	s.URL = fmt.Sprintf("grpc%s", strings.TrimPrefix(s.URL, "http")) // grpc, grpcs, grpc+unix
	return s
}
