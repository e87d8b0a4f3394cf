package grpcraw

import (
	"io"
	"math"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // tells servers that replies may be compressed, as other clients of gRPC do

	"github.com/sluice-bench/sluice/backends/wire/coding"
)

// Messages are compressed when they are encoded, see Call, so that a sending costs no compression. grpc-go's registry of
// compressors is that of the process and wants plain bytes; these two are a connection's own.

// compression are the options of a connection whose messages are compressed; none for "".
func compression(name string) []grpc.DialOption {
	if name == "" {
		return nil
	}
	return []grpc.DialOption{
		grpc.WithCompressor(compressed(name)),                 //nolint:staticcheck // the registry is that of the process, see above
		grpc.WithDecompressor(decompressor{compressed(name)}), //nolint:staticcheck // as above; the registry has no deflate
	}
}

// compressed is the coding of a connection.
type compressed string

// Type names the coding to the server.
func (c compressed) Type() string { return string(c) }

// decompressor undoes it.
type decompressor struct{ compressed }

// Do passes on a message that is compressed already.
func (compressed) Do(w io.Writer, p []byte) error {
	_, err := w.Write(p)
	return err
}

// Do gives what a reply holds. Its size is grpc-go's to bound.
func (d decompressor) Do(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var undo coding.Reader
	b, err = undo.Read(string(d.compressed), b, math.MaxInt32)
	return b, err // undo is not used again
}
