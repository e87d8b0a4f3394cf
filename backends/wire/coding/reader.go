package coding

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"

	"github.com/sluice-bench/sluice/backends/wire/buffer"
)

// Reader decodes contents, one after the other. Its buffers grow once and are kept. The zero Reader
// is ready.
type Reader struct {
	from bytes.Reader
	gzip gzip.Reader
	zlib io.ReadCloser
	out  []byte
}

// Read returns the decoded content of b, at most limit bytes of it, valid until the next call.
// Truncated content is an error, unless limit is reached before.
func (r *Reader) Read(name string, b []byte, limit int64) ([]byte, error) {
	r.from.Reset(b)
	from, err := r.open(name)
	if err != nil {
		return nil, err
	}
	r.out = buffer.Reuse(r.out)
	for int64(len(r.out)) < limit {
		if len(r.out) == cap(r.out) {
			r.out = buffer.Grow(r.out, 512, limit)
		}
		n, err := from.Read(r.out[len(r.out):min(int64(cap(r.out)), limit)])
		r.out = r.out[:len(r.out)+n]
		if err == io.EOF {
			return r.out, nil
		}
		if err != nil {
			return r.out, err
		}
	}
	return r.out, nil
}

// Cap returns the capacity of the output buffer in bytes.
func (r *Reader) Cap() int { return cap(r.out) }

func (r *Reader) open(name string) (io.Reader, error) {
	switch name {
	case Gzip:
		return &r.gzip, r.gzip.Reset(&r.from)
	case Deflate:
		var err error
		if r.zlib == nil {
			r.zlib, err = zlib.NewReader(&r.from)
		} else {
			err = r.zlib.(zlib.Resetter).Reset(&r.from, nil)
		}
		return r.zlib, err
	}
	return nil, errCoding
}
