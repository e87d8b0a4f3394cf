package builtin

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // accepts compressed calls, whose replies are compressed too
)

// decoded returns a request's body without its content coding.
func decoded(w http.ResponseWriter, r *http.Request) (io.Reader, error) {
	raw := http.MaxBytesReader(w, r.Body, maxBody)
	var plain io.ReadCloser
	var err error
	switch enc := r.Header.Get("Content-Encoding"); enc {
	case "gzip":
		plain, err = gzip.NewReader(raw)
	case "deflate":
		plain, err = zlib.NewReader(raw)
	default:
		return nil,
			&failure{
				http.StatusUnsupportedMediaType, codes.InvalidArgument, "unsupported Content-Encoding '" + enc + "'",
			}
	}
	if err != nil {
		return nil, invalid("failed to decompress the request body: %v", err)
	}
	return http.MaxBytesReader(w, checkedReader{plain}, maxBody), nil
}

// checkedReader converts a decompressor's error about its input to a reply.
type checkedReader struct{ io.ReadCloser }

func (s checkedReader) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = invalid("failed to decompress the request body: %v", err)
	}
	return n, err
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

// deflated decodes gRPC's deflate, for which grpc-go has no registered coding.
type deflated struct{}

// Type returns the name of the coding.
func (deflated) Type() string { return "deflate" }

// Do decodes a message.
func (deflated) Do(r io.Reader) ([]byte, error) {
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxBody+1))
}

// deflateOption accepts deflated requests; their replies are not compressed.
func deflateOption() grpc.ServerOption {
	return grpc.RPCDecompressor(deflated{}) //nolint:staticcheck // its replacement is a registry of the process
}
