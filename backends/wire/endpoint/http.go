package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
)

// maxControl bounds the reply of a control call, in bytes.
const maxControl = 16 << 20

// HTTP is a target over HTTP/1.1: its lanes, and its control calls.
type HTTP struct {
	*Endpoint
	target  backends.Target
	clock   backends.Clock
	client  *http.Client         // for control calls only
	base    string               // URL without a path
	NewWire func() backends.Wire // of a lane
}

// OpenHTTP returns a target over HTTP/1.1. It sends nothing; newWire returns the wire of a lane.
func OpenHTTP(
	t backends.Target, e *Endpoint, clock backends.Clock, newWire func() backends.Wire,
) *HTTP {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := net.Dialer{Timeout: t.ConnectTimeout}
		return d.DialContext(ctx, e.Network, e.Address)
	}
	transport := &http.Transport{
		DialContext: dial, DisableCompression: true, TLSHandshakeTimeout: t.ConnectTimeout,
	}
	scheme := "http://"
	if e.Secure {
		transport.TLSClientConfig = e.TLS.Clone()
		scheme = "https://"
	}
	return &HTTP{
		Endpoint: e, target: t, clock: clock, base: scheme + e.Authority + e.Prefix, NewWire: newWire,
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Lanes implements backends.Conn: every lane is a connection.
func (c *HTTP) Lanes(
	ctx context.Context, n int, o backends.LaneOptions,
) ([]backends.Lane, backends.Limits, error) {
	if most := c.target.Connections; most > 0 && n > most {
		return nil, backends.Limits{},
			fmt.Errorf("connections: %d is fewer than the %d slots, and a connection carries one request "+
				"at a time over HTTP/1.1", most, n)
	}
	lanes, limits, err := netlane.Dial(ctx, netlane.Options{
		Network:        c.Network,
		Address:        c.Address,
		TLS:            c.TLS,
		Clock:          c.clock,
		ConnectTimeout: c.target.ConnectTimeout,
		MaxBlocked:     o.MaxBlocked,
		LargestCall:    o.LargestCall,
		PerRequest:     c.target.Connections == backends.PerRequest,
		New:            c.NewWire,
	}, n)
	if c.Secure { // otherwise the connection is plain TCP
		err = c.Explain("connect to "+c.Address, err)
	}
	return lanes, limits, err
}

// Close implements backends.Conn.
func (c *HTTP) Close(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// URL returns the URL of a path.
func (c *HTTP) URL(path string) string { return c.base + path }

// Fetch makes a control call, with a body of JSON (nil: none); path follows the URL's prefix. A status
// other than 200 is a StatusError with the server's message, or with the target of a redirect.
func (c *HTTP) Fetch(ctx context.Context, method, path string, send []byte) ([]byte, error) {
	reply, err := c.control(ctx, method, path, send)
	switch {
	case err != nil:
		return nil, err
	case reply.Status != http.StatusOK:
		return nil, fmt.Errorf("%s %s: %w", method, c.base+path, reply)
	case len(reply.Body) > maxControl:
		return nil, fmt.Errorf("%s %s: the reply is over %d bytes", method, c.base+path, maxControl)
	}
	return reply.Body, nil
}

// Call implements backends.Caller.
func (c *HTTP) Call(ctx context.Context, method, path string) error {
	reply, err := c.control(ctx, method, path, nil)
	if err == nil && reply.Status/100 != 2 {
		return fmt.Errorf("%s %s: %w", method, c.base+path, reply)
	}
	return err
}

// control sends a request with the target's headers, and reads at most maxControl+1 bytes of the
// reply.
func (c *HTTP) control(ctx context.Context, method, path string, send []byte) (*StatusError, error) {
	call := method + " " + c.base + path
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(send))
	if err != nil {
		return nil, err
	}
	if send != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range c.target.Headers {
		if strings.EqualFold(h.Name, "Host") { // net/http reads it from there only
			req.Host = h.Value
			continue
		}
		req.Header.Add(h.Name, h.Value)
	}
	began := time.Now()
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, withWaitTime(call, began, c.Explain(call, err))
	}
	c.Answered()
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxControl+1))
	if err != nil {
		return nil, withWaitTime(call, began, fmt.Errorf("%s: %w", call, err))
	}
	return &StatusError{Status: resp.StatusCode, Location: resp.Header.Get("Location"), Body: body}, nil
}

// withWaitTime returns, for a call that its deadline ended, an error with the time that it waited.
// Other errors, and a schemeError, are returned unchanged.
func withWaitTime(call string, began time.Time, err error) error {
	var dial *net.OpError
	var stray *schemeError
	if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &dial) && dial.Op == "dial" ||
		errors.As(err, &stray) {
		return err
	}
	return fmt.Errorf("%s: no answer within %v", call, time.Since(began).Round(10*time.Millisecond))
}

// CheckHeader refuses a header that HTTP cannot carry, or that is one of taken, which a kind sets
// itself.
func CheckHeader(h backends.Header, taken ...string) error {
	for _, name := range taken {
		if strings.EqualFold(h.Name, name) {
			return fmt.Errorf("header %s cannot be set: the client sets it itself", h.Name)
		}
	}
	if strings.EqualFold(h.Name, "Host") {
		return backends.CheckHost(h.Value)
	}
	if h.Name == ":authority" {
		return fmt.Errorf("header %q cannot be set: write Host", h.Name)
	}
	return http1.CheckField(h)
}

// MergeHeaders returns base without the headers named in over, then those.
func MergeHeaders(base, over []backends.Header) []backends.Header {
	out := slices.DeleteFunc(slices.Clone(base), func(h backends.Header) bool {
		return slices.ContainsFunc(over, func(o backends.Header) bool {
			return strings.EqualFold(h.Name, o.Name)
		})
	})
	return append(out, over...)
}

// AcceptCoding is the header that asks for a compressed reply.
const AcceptCoding = "Accept-Encoding"

// AsksForCoding reports whether a header asks for a compressed reply.
func AsksForCoding(h backends.Header) bool {
	return strings.EqualFold(h.Name, AcceptCoding) && !strings.EqualFold(h.Value, "identity")
}

// CheckStreamHeaders refuses headers that ask for a compressed stream of responses.
func CheckStreamHeaders(headers []backends.Header) error {
	for _, h := range headers {
		if AsksForCoding(h) {
			return fmt.Errorf("header %s cannot be set: the responses of a stream are read one by one, "+
				"which compression prevents", h.Name)
		}
	}
	return nil
}
