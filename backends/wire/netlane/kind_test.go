package netlane_test

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
	"github.com/sluice-bench/sluice/backends/wire/tlsconf"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is what the servers of these tests answer.
const reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"

// judge takes "hello" for right.
type judge struct{}

func (judge) Keep(*backends.Call, int, *backends.Sample) int { return 16 }

func (judge) Reply(_ *backends.Call, status int, _ *http1.Header, body []byte, s *backends.Sample) {
	switch {
	case status != 200:
		s.Class = backends.Status
	case !bytes.Equal(body, hello):
		s.Class = backends.Decode
	}
}

var hello = []byte("hello")

// kind is the least that a kind can be: lanes, and one POST.
var kind = backends.Kind{Name: "test", Open: open}

func open(_ context.Context, t backends.Target, c backends.Clock) (backends.Conn, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, err
	}
	o := netlane.Options{
		Network: "tcp", Address: u.Host, Clock: c, ConnectTimeout: t.ConnectTimeout,
		PerRequest: t.Connections == backends.PerRequest,
		New:        func() backends.Wire { return http1.New(judge{}) },
	}
	if strings.HasSuffix(u.Scheme, "+unix") {
		o.Network, o.Address = "unix", u.Path
	}
	if u.Scheme == "https" {
		host, _, err := net.SplitHostPort(u.Host)
		if err != nil {
			return nil, err
		}
		if o.TLS, err = tlsconf.New(t.TLS, host); err != nil {
			return nil, err
		}
	}
	return conn{o}, nil
}

type conn struct{ o netlane.Options }

func (c conn) Prepare(r backends.Request) (*backends.Call, error) {
	body := [][]byte{r.Inputs[0].Data}
	head, holes, err := http1.Encode(http1.Request{Method: "POST", Host: "h", Path: "/", Body: body})
	return &backends.Call{Head: head, Holes: holes, Body: body, Size: len(head) + len(body[0])}, err
}

func (c conn) Lanes(
	ctx context.Context, n int, _ backends.LaneOptions,
) ([]backends.Lane, backends.Limits, error) {
	return netlane.Dial(ctx, c.o, n)
}

func (conn) Close(context.Context) error { return nil }

// request is one of size bytes of content.
func request(size int) backends.Request {
	return backends.Request{Inputs: []backends.Tensor{{Data: bytes.Repeat([]byte("x"), size)}}}
}
