package grpcraw

import (
	"bytes"
	"io"
	"sync"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // tells servers that replies may be compressed, as other clients of gRPC do

	"github.com/sluice-bench/sluice/backends/wire/coding"
)

// Messages are compressed when they are encoded, see Call, so that a sending costs no compression. grpc-go's registry of
// compressors is that of the process and wants plain bytes; these two are a connection's own.

// compression are the options of a connection whose messages are compressed; none for "".
func compression(o *Options) []grpc.DialOption {
	if o.Compression == "" {
		return nil
	}
	name := passCompressor(o.Compression)
	return []grpc.DialOption{
		grpc.WithCompressor(name), //nolint:staticcheck // the registry is that of the process, see above
		grpc.WithDecompressor(decompressor{name, o.maxReply, o.decoders}), //nolint:staticcheck // as above; the registry has no deflate
	}
}

// passCompressor is the coding of a connection.
type passCompressor string

// Type names the coding to the server.
func (c passCompressor) Type() string { return string(c) }

// decompressor undoes it. It works for all lanes of a connection at once.
type decompressor struct {
	passCompressor
	limit    int64        // bytes that a reply may have
	decoders *decoderPool // shared by the connections of a target
}

// decoder is what it takes to undo a coding: some 40 KiB, which are not made anew for every reply.
type decoder struct {
	in bytes.Buffer
	coding.Reader
}

// decoderPool are those that are not in use. The one that was used last is used next, so that there are no more, and no more large
// buffers, than are used at one time; a sync.Pool makes new ones after each collection.
type decoderPool struct {
	mu   sync.Mutex
	free []*decoder
}

func (l *decoderPool) get() *decoder {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.free) - 1
	if n < 0 {
		return new(decoder)
	}
	u := l.free[n]
	l.free = l.free[:n]
	return u
}

func (l *decoderPool) put(u *decoder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, u)
}

// Do passes on a message that is compressed already.
func (passCompressor) Do(w io.Writer, p []byte) error {
	_, err := w.Write(p)
	return err
}

// Do gives what a reply holds, in memory of its own: grpc-go does not say when it is done with it. Of one that holds more
// than it may there is a byte more than that, which grpc-go then refuses.
func (d decompressor) Do(r io.Reader) ([]byte, error) {
	u := d.decoders.get()
	defer d.decoders.put(u)
	u.in.Reset()
	if _, err := u.in.ReadFrom(r); err != nil {
		return nil, err
	}
	plain, err := u.Read(string(d.passCompressor), u.in.Bytes(), d.limit+1)
	if int64(len(plain)) > d.limit {
		return plain, err // its length is all that is looked at
	}
	return bytes.Clone(plain), err
}
