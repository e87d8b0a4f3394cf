package kserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/http1"
	"github.com/sluice-bench/sluice/backends/wire/netlane"
)

// maxControl bounds the reply of a control call, in bytes.
const maxControl = 16 << 20

// HTTP is a target over HTTP/1.1.
type HTTP struct {
	target  backends.Target
	end     endpoint
	clock   backends.Clock
	client  *http.Client // for control calls only
	base    string       // URL before /v2
	contact serverContact
	models  modelReplies
}

func openHTTP(t backends.Target, e endpoint, clock backends.Clock) *HTTP {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		d := net.Dialer{Timeout: t.ConnectTimeout}
		return d.DialContext(ctx, e.network, e.address)
	}
	transport := &http.Transport{
		DialContext: dial, DisableCompression: true, TLSHandshakeTimeout: t.ConnectTimeout,
	}
	scheme := "http://"
	if e.secure {
		transport.TLSClientConfig = e.tls.Clone()
		scheme = "https://"
	}
	return &HTTP{
		target: t, end: e, clock: clock, base: scheme + e.authority + e.prefix,
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
			fmt.Errorf("connections: %d is fewer than the %d slots, and a connection carries one request at a "+
				"time over HTTP/1.1", most, n)
	}
	lanes, limits, err := netlane.Dial(ctx, netlane.Options{
		Network:        c.end.network,
		Address:        c.end.address,
		TLS:            c.end.tls,
		Clock:          c.clock,
		ConnectTimeout: c.target.ConnectTimeout,
		MaxBlocked:     o.MaxBlocked,
		LargestCall:    o.LargestCall,
		PerRequest:     c.target.Connections == backends.PerRequest,
		New:            c.newWire,
	}, n)
	if c.end.secure { // otherwise the connection is plain TCP
		err = c.contact.explainScheme(&c.end, c.target.URL, "connect to "+c.end.address, err)
	}
	return lanes, limits, err
}

func (c *HTTP) newWire() backends.Wire {
	judge := httpJudge{keep: c.target.KeepReplies}
	if c.usesGenerate() {
		return http1.New(&objectJudge{httpJudge: judge})
	}
	return http1.New(&judge)
}

// Close implements backends.Conn.
func (c *HTTP) Close(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// Get makes a control call; path follows the URL's prefix. A status other than 200 is an error with
// the server's message, or with the target of a redirect.
func (c *HTTP) Get(ctx context.Context, path string) ([]byte, error) {
	return c.fetch(ctx, http.MethodGet, path, nil)
}

// Post makes a control call with a body of JSON (nil: none). A status other than 200 is an error,
// as for Get.
func (c *HTTP) Post(ctx context.Context, path string, body []byte) ([]byte, error) {
	return c.fetch(ctx, http.MethodPost, path, body)
}

func (c *HTTP) fetch(ctx context.Context, method, path string, send []byte) ([]byte, error) {
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

// Status returns the status of a control call without a body.
func (c *HTTP) Status(ctx context.Context, path string) (int, error) {
	reply, err := c.control(ctx, http.MethodGet, path, nil)
	if err != nil {
		return 0, err
	}
	return reply.Status, nil
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
func (c *HTTP) control(ctx context.Context, method, path string, send []byte) (*statusError, error) {
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
		return nil, withWaitTime(call, began, c.contact.explainScheme(&c.end, c.target.URL, call, err))
	}
	c.contact.setAnswered()
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxControl+1))
	if err != nil {
		return nil, withWaitTime(call, began, fmt.Errorf("%s: %w", call, err))
	}
	return &statusError{Status: resp.StatusCode, Location: resp.Header.Get("Location"), Body: body}, nil
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

// statusError is a reply to a control call; an error if its status is not the wanted one.
type statusError struct {
	Status   int
	Location string
	Body     []byte
}

func (e *statusError) Error() string {
	text := "status " + strconv.Itoa(e.Status)
	if e.Location != "" {
		text += ", which points to " + strconv.Quote(e.Location)
		if e.Status/100 == 3 {
			text += ": write the right address into `url`"
		}
	}
	if words := e.message(); words != "" {
		text += ": " + words
	}
	return text
}

// message returns the server's message: the text of {"error": text}, or the body, in quotes unless
// it is plain text; "": none.
func (e *statusError) message() string {
	var said struct{ Error string }
	text := string(bytes.TrimSpace(e.Body))
	if json.Unmarshal(e.Body, &said) == nil && said.Error != "" {
		text = said.Error
	}
	switch {
	case len(text) > backends.NoteSize:
		return fmt.Sprintf("%.*q", backends.NoteSize, text)
	case strings.ContainsFunc(text, func(r rune) bool {
		return !strconv.IsPrint(r) || r == utf8.RuneError
	}) ||
		strings.HasPrefix(text, "{"):
		return strconv.Quote(text)
	}
	return text
}
