package grpcraw

import (
	"bytes"
	"io"
	"sync"

	"google.golang.org/grpc"
	// tells servers that replies may be compressed, as other clients of gRPC do
	_ "google.golang.org/grpc/encoding/gzip"

	"github.com/sluice-bench/sluice/backends/wire/coding"
)

// Messages are compressed when they are encoded (see Call), so that sending costs no compression.
// grpc-go's registry of compressors belongs to the process and expects plain bytes; these two
// belong to a connection.

// compression returns the dial options of a connection with compressed messages; nil for "".
func (p *Pool) compression(coding string, maxReply int64) []grpc.DialOption {
	if coding == "" {
		return nil
	}
	name := passCompressor(coding)
	undo := decompressor{name, maxReply, &p.decoders}
	return []grpc.DialOption{
		grpc.WithCompressor(name),   //nolint:staticcheck // the registry belongs to the process, see above
		grpc.WithDecompressor(undo), //nolint:staticcheck // as above; the registry has no deflate
	}
}

// passCompressor is the name of a connection's coding. Its messages are already compressed.
type passCompressor string

// Type returns the name of the coding, for the server.
func (c passCompressor) Type() string { return string(c) }

// decompressor decodes replies. It serves all lanes of a connection at once.
type decompressor struct {
	passCompressor
	limit    int64        // bytes of a reply
	decoders *decoderPool // shared by the connections of a target
}

// decoder holds the buffers to decode one reply: about 40 KiB, which are not allocated for every
// reply.
type decoder struct {
	in bytes.Buffer
	coding.Reader
}

// decoderPool holds the decoders that are not in use. The one used last is reused first, so that
// there are no more of them, and no more large buffers, than are in use at one time; a sync.Pool
// would allocate new ones after each collection.
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

// Do writes a message that is already compressed.
func (passCompressor) Do(w io.Writer, p []byte) error {
	_, err := w.Write(p)
	return err
}

// Do returns the decoded reply in memory of its own: grpc-go does not say when it has finished with
// it. A reply over the limit is returned with one byte more than the limit, which grpc-go then
// refuses.
func (d decompressor) Do(r io.Reader) ([]byte, error) {
	u := d.decoders.get()
	defer d.decoders.put(u)
	u.in.Reset()
	if _, err := u.in.ReadFrom(r); err != nil {
		return nil, err
	}
	plain, err := u.Read(string(d.passCompressor), u.in.Bytes(), d.limit+1)
	if int64(len(plain)) > d.limit {
		return plain, err // grpc-go only checks its length
	}
	return bytes.Clone(plain), err
}
