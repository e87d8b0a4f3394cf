package builtin

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
)

// maxBody is the largest request body in bytes.
const maxBody = 256 << 20

// readBody reads the request's body, whose bytes are reserved in use.
func readBody(w http.ResponseWriter, r *http.Request, use *resources) ([]byte, error) {
	raw := http.MaxBytesReader(w, r.Body, maxBody)
	switch enc := r.Header.Get("Content-Encoding"); {
	case enc != "" && enc != "identity":
		plain, err := decoded(enc, raw)
		if err != nil {
			return nil, err
		}
		body, err := readChunked(http.MaxBytesReader(w, plain, maxBody), use)
		var f *failure
		if err != nil && !errors.As(err, &f) {
			err = invalid("failed to decompress the request body: %v", err)
		}
		return body, err
	case r.ContentLength > maxBody:
		return nil, errTooLarge
	case r.ContentLength < 0:
		return readChunked(raw, use)
	case !use.reserve(r.ContentLength):
		return nil, errBusy
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

// readChunked reads a body of unknown length, reserving bytes as they come.
func readChunked(from io.Reader, use *resources) ([]byte, error) {
	body, err := io.ReadAll(reservingReader{from, use})
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, errTooLarge
	}
	return body, err
}

type reservingReader struct {
	io.Reader
	use *resources
}

func (r reservingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if !r.use.reserve(int64(n)) {
		return 0, errBusy
	}
	return n, err
}

var (
	errTooLarge = &failure{
		http.StatusRequestEntityTooLarge, codes.InvalidArgument, "request body is too large",
	}
	errBusy = &failure{
		http.StatusServiceUnavailable, codes.Unavailable, "too many bytes of requests are waiting",
	}
)

// decoded returns a request's body without its content coding.
func decoded(coding string, raw io.Reader) (plain io.ReadCloser, err error) {
	switch coding {
	case "gzip":
		plain, err = gzip.NewReader(raw)
	case "deflate":
		plain, err = zlib.NewReader(raw)
	default:
		return nil, &failure{
			http.StatusUnsupportedMediaType, codes.InvalidArgument,
			"unsupported Content-Encoding '" + coding + "'",
		}
	}
	if err != nil {
		return nil, invalid("failed to decompress the request body: %v", err)
	}
	return plain, nil
}

// encoded compresses a reply as its request allows: with the first supported coding.
func encoded(w http.ResponseWriter, r *http.Request, body [][]byte) ([][]byte, error) {
	for _, name := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		var out bytes.Buffer
		var to io.WriteCloser
		switch name = strings.TrimSpace(name); name {
		case "gzip":
			to = gzip.NewWriter(&out)
		case "deflate":
			to = zlib.NewWriter(&out)
		default:
			continue
		}
		for _, b := range body {
			if _, err := to.Write(b); err != nil {
				return nil, err
			}
		}
		w.Header()["Content-Encoding"] = []string{name}
		err := to.Close()
		return [][]byte{out.Bytes()}, err
	}
	return body, nil
}

// writeBody sends head and tail, with the configured pause after the HTTP head.
func (s *Server) writeBody(w http.ResponseWriter, r *http.Request, head []byte, tail [][]byte) error {
	h := w.Header()
	if tail == nil {
		h["Content-Type"] = []string{"application/json"}
	} else {
		h["Content-Type"] = []string{"application/octet-stream"}
		h[headerLength] = []string{strconv.Itoa(len(head))}
	}
	body, err := encoded(w, r, append([][]byte{head}, tail...))
	if err != nil {
		return err
	}
	size := 0
	for _, b := range body {
		size += len(b)
	}
	h["Content-Length"] = []string{strconv.Itoa(size)}
	w.WriteHeader(http.StatusOK)
	if s.config.SlowBody > 0 {
		_ = http.NewResponseController(w).Flush()
		if sleep(r.Context(), s.config.SlowBody) != nil {
			return nil
		}
	}
	// A failed write means that the client is gone.
	for _, b := range body {
		_, _ = w.Write(b)
	}
	return nil
}

// writeFailure answers with an error in the protocol's JSON form. Its < and > are not escaped,
// since clients show the body's first bytes.
func writeFailure(w http.ResponseWriter, err error) {
	f := asFailure(err)
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	// A struct of one string can always be encoded.
	_ = enc.Encode(struct {
		Error string `json:"error"`
	}{f.text})
	writeJSON(w, f.http, bytes.TrimSuffix(body.Bytes(), []byte("\n")))
}

// resetPeer ends the connection with a reset if the transport has one.
func resetPeer(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	resetConn(c)
}

// resetConn closes c so that unsent bytes are dropped and the peer gets a reset.
func resetConn(c net.Conn) {
	for {
		u, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			break
		}
		c = u.NetConn()
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}
