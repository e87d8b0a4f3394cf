package backendtest_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sluice-bench/sluice/backends/backendtest"
)

// said is all that a server sends on its own.
func said(t *testing.T, script string) string {
	t.Helper()
	r := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, "accept\n"+script)
	text, err := talk(t, r, "x")
	if err != nil && !strings.Contains(err.Error(), "reset") { // it does not read what the client says
		t.Error(err)
	}
	return text
}

func TestPayloads(t *testing.T) {
	for script, want := range map[string]string{
		`send "a" "b"*3 hex(00 ff)`:                   "abbb\x00\xff",
		"send `\"raw\"`":                              `"raw"`,
		`send "; no end"; send "!"`:                   "; no end!",
		`define x "twice "*2` + "\nsend $x \"y\"":     "twice twice y",
		`times 3 send "z"`:                            "zzz",
		`send prefix(1 4294967295)`:                   "\x01\xff\xff\xff\xff",
		`send message("ab" "c"*2)`:                    "\x00\x00\x00\x00\x04abcc",
		`send proto(1:"m" 2:150 3:(1:"x") 4:hex(ff))`: "\x0a\x01m\x10\x96\x01\x1a\x03\x0a\x01x\x22\x01\xff",
		`chunk "abc"*10; chunk`:                       "1e\r\n" + strings.Repeat("abc", 10) + "\r\n0\r\n\r\n",
		`head 404 "A: b"`:                             "HTTP/1.1 404 Not Found\r\nA: b\r\n\r\n",
		`reply 200 "ok"`: "HTTP/1.1 200 OK\r\nContent-Type: " +
			"application/json\r\nContent-Length: 2\r\n\r\nok",
		`settings MAX_CONCURRENT_STREAMS=1`: "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x01",
		`goaway 7 ENHANCE_YOUR_CALM "no"`: "\x00\x00\x0a\x07\x00\x00\x00\x00\x00" +
			"\x00\x00\x00\x07\x00\x00\x00\x0bno",
		`window 3 5`:                             "\x00\x00\x04\x08\x00\x00\x00\x00\x03\x00\x00\x00\x05",
		`frame data end stream=9 length=100 "x"`: "\x00\x00\x64\x00\x01\x00\x00\x00\x09x",
		`frame 0x2a flags=0x80 stream=0 ""`:      "\x00\x00\x00\x2a\x80\x00\x00\x00\x00",
		`frame headers stream=1 flags=4 hex(88)`: "\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88",
		`headers end stream=1 "a: b"`:            "\x00\x00\x05\x01\x05\x00\x00\x00\x01\x00\x01a\x01b",
		`ping`:                                   "\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678",
		`split 1 1ms; send "slow"`:               "slow",
	} {
		if got := said(t, script); got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", script, got, want)
		}
	}
}

// TestServeHTTP: handlers answer by path, by count, and with what went before them.
func TestServeHTTP(t *testing.T) {
	r := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, `
accept
serve http
on a/x; reply 200 "ax " $id
on x; reply 200 "x"
on x 3; times 2 send "HTTP/1.1 100 Continue\r\n\r\n"; good
on bomb; head 200 "Content-Encoding: gzip" "Connection: close"; send gzip("0123456789"*100); close`)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for i, c := range []struct{ path, want string }{
		{"/b/x", "200 x"},
		{"/a/x", "200 x"},
		{"/b/x", "200 x"},
		{"/b/x", "200 x"},
		{"/y", "404 "},
		{"/bomb", "200 " + strings.Repeat("0123456789", 100)},
	} {
		reply, err := client.Post("http://"+r.Address+c.path,
			"", strings.NewReader(`{"id":"00000000000000000042"}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		if got := reply.Status[:4] + string(body); got != c.want || err != nil {
			t.Errorf("request %d: %q, %v, want %q", i, got, err, c.want)
		}
	}
}

// TestServeGRPC: another implementation's client takes what the scripts send for gRPC.
func TestServeGRPC(t *testing.T) {
	r := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, `
accept
serve grpc
on connection; settings
on One; reply 0 proto(1:"one")
on Large; reply 0 proto(1:"0123456789"*300KiB)
on No; reply 5 "not here"
on Stream/open; headers
on Stream/message; data message(proto(1:"again")); data message(proto(1:"and"))
on Stream; trailers 0`)
	c, err := grpc.NewClient(r.Address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(8<<20)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for method, want := range map[string]string{"One": "one", "Large": strings.Repeat("0123456789", 300<<10)} {
		reply := &wrapperspb.StringValue{}
		if err := c.Invoke(t.Context(), "/s/"+method, wrapperspb.String("hello"), reply); err != nil ||
			reply.Value != want {
			t.Errorf("%s: %d bytes, %v", method, len(reply.Value), err)
		}
	}
	for method, code := range map[string]codes.Code{"No": codes.NotFound, "Unknown": codes.Unimplemented} {
		if err := c.Invoke(t.Context(), "/s/"+method, wrapperspb.String(""),
			&wrapperspb.StringValue{}); status.Code(err) != code {
			t.Errorf("%s: %v", method, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := c.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/s/Stream")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.SendMsg(wrapperspb.String("x")); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"again", "and"} {
			reply := &wrapperspb.StringValue{}
			if err := s.RecvMsg(reply); err != nil || reply.Value != want {
				t.Fatalf("%q, %v, want %q", reply.Value, err, want)
			}
		}
	}
	_ = s.CloseSend()
	if err := s.RecvMsg(&wrapperspb.StringValue{}); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestCertificates: what is wrong with a certificate is what the script names.
func TestCertificates(t *testing.T) {
	for name, want := range map[string]string{
		"good": "", "expired": "expired", "future": "not yet valid", "other-host": "any IP SANs",
		"untrusted": "unknown authority", "mutual": "certificate required",
	} {
		r := backendtest.StartRaw(t, backendtest.RawOptions{}, nil, "accept; tls "+name+"; read 1; send \"hi\"")
		text, err := os.ReadFile(r.CA)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(text)
		got, err := dialTLS(t, r.Address, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13})
		if want == "" && (got != "hi" || err != nil) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func dialTLS(t *testing.T, address string, config *tls.Config) (string, error) {
	t.Helper()
	raw, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	config.ServerName = "127.0.0.1"
	c := tls.Client(raw, config)
	if err := c.HandshakeContext(t.Context()); err != nil {
		return "", err
	}
	if _, err := c.Write([]byte("x")); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(bytes.TrimSpace(b)), err
}
