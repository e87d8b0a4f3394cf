package http1

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/coding"
	"golang.org/x/net/http/httpguts"
)

// Request is an HTTP request before encoding.
type Request struct {
	Method  string // a token: POST, GET …
	Host    string // host or host:port as in the URL; a Host in Headers replaces it
	Path    string // origin-form, escaped: /v2/models/m/infer?x=y
	Headers []backends.Header
	// Prefix is the first part of the content. It is copied into the head, so that it can contain
	// holes.
	Prefix []byte
	// Holes are places in Prefix; At is an offset in it.
	Holes []backends.Hole
	// Body is the rest of the content. Only its length is used here: it goes into backends.Call.Body
	// unchanged.
	Body [][]byte
	// Coding makes Prefix the changing part of a compressed stream whose rest is Body; nil: no
	// compression. It also has to be backends.Call.Seal.
	Coding *coding.Stream
}

// closeField is the field with which a request ends its connection. It follows Host, where saysClose looks
// for it before each request.
const closeField = "connection: close\r\n"

// Encode returns the head (request line, fields, Prefix) and the holes with At as an offset in it,
// ready for backends.Call. Encode writes Content-Length and refuses it in Headers, as it refuses
// Transfer-Encoding, Upgrade, TE and Trailer, which would change what the wire has to do;
// Connection may only be close or keep-alive. An Expect is sent unchanged, and the content follows
// at once, without waiting for the 100 (RFC 9110 section 10.1.1). Names must be tokens and values
// must not contain control characters (RFC 9110 section 5), so that no header can split the
// request. The error joins all mistakes.
func Encode(r Request) (head []byte, holes []backends.Hole, err error) {
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, "host") {
			r.Host = h.Value
		}
	}
	if err := r.check(); err != nil {
		return nil, nil, fmt.Errorf("encode request: %w", err)
	}
	head = fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Path, r.Host)
	if slices.ContainsFunc(r.Headers, func(h backends.Header) bool {
		return strings.EqualFold(h.Name, "connection") && strings.EqualFold(h.Value, "close")
	}) {
		head = append(head, closeField...)
	}
	for _, h := range r.Headers {
		if !strings.EqualFold(h.Name, "host") && !strings.EqualFold(h.Name, "connection") {
			head = fmt.Appendf(head, "%s: %s\r\n", h.Name, h.Value)
		}
	}
	size := len(r.Prefix)
	if r.Coding != nil {
		size += len(r.Coding.Before) + r.Coding.TrailerSize()
	}
	for _, b := range r.Body {
		size += len(b)
	}
	if size > 0 || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
		head = append(strconv.AppendInt(append(head, "Content-Length: "...), int64(size), 10), "\r\n"...)
	}
	head = append(head, "\r\n"...)
	if r.Coding != nil {
		head = append(head, r.Coding.Before...)
	}
	for _, h := range r.Holes {
		h.At += uint32(len(head))
		holes = append(holes, h)
	}
	return append(head, r.Prefix...), holes, nil
}

// saysClose reports whether the request of a head that Encode made ends its connection.
func saysClose(head []byte) bool {
	_, fields, _ := bytes.Cut(head, []byte{'\n'})
	_, fields, _ = bytes.Cut(fields, []byte{'\n'}) // Host
	return bytes.HasPrefix(fields, []byte(closeField))
}

// check returns all mistakes of r.
func (r *Request) check() error {
	var errs []error
	if !httpguts.ValidHeaderFieldName(r.Method) {
		errs = append(errs, fmt.Errorf("method %q is not a token", r.Method))
	}
	if r.Method == "CONNECT" {
		errs = append(errs, errors.New("method CONNECT is not supported: it opens a tunnel"))
	}
	if err := backends.CheckHost(r.Host); err != nil {
		errs = append(errs, err)
	}
	hidden := func(c rune) bool { return c <= ' ' || c >= 0x7f }
	if r.Path == "" || r.Path[0] != '/' && r.Path != "*" || strings.ContainsFunc(r.Path, hidden) {
		errs = append(errs,
			fmt.Errorf("path %q must start with / and contain visible ASCII characters only", r.Path))
	}
	for _, h := range r.Headers {
		errs = append(errs, CheckField(h))
	}
	for _, h := range r.Holes {
		errs = append(errs, checkHole(h, len(r.Prefix)))
	}
	return errors.Join(errs...)
}

// ownFields are the fields that Encode or the wire sets.
var ownFields = []string{"content-length", "transfer-encoding", "upgrade", "te", "trailer"}

// CheckField returns an error that says why a header cannot be sent. The error does not show the
// value, which may be secret.
func CheckField(h backends.Header) error {
	control := func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }
	name, value := strings.ToLower(h.Name), strings.ToLower(h.Value)
	switch {
	case !httpguts.ValidHeaderFieldName(h.Name):
		return fmt.Errorf("header name %q is not a token", h.Name)
	case slices.Contains(ownFields, name):
		return fmt.Errorf("header %s cannot be set: the client sets it itself", h.Name)
	case name == "connection" && value != "close" && value != "keep-alive":
		return fmt.Errorf("header %s can only be close or keep-alive", h.Name)
	case strings.ContainsFunc(h.Value, control):
		return fmt.Errorf("the value of header %s holds a control character at byte %d", h.Name,
			strings.IndexFunc(h.Value, control))
	case strings.Trim(h.Value, " \t") != h.Value:
		return fmt.Errorf("the value of header %s starts or ends with white space", h.Name)
	}
	return nil
}
