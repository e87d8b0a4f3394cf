// Package coding compresses content once although a part of it changes with each request: gzip (RFC
// 1952) and zlib, which HTTP and gRPC call deflate (RFC 1950).
//
// It is not: a compressor for the time between due and last byte (a request only costs a checksum
// of the changing part), a server's side.
//
// The changing part is a stored block of the deflate format, next to the compressed rest:
//
//	WithPrefix   header, stored(part), deflate(rest) final, trailer of part and rest
//	WithSuffix   header, deflate(rest), stored(part) final, trailer of rest and part
package coding

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"hash/crc32"
)

// Names of the codings in both protocols.
const (
	Gzip    = "gzip"
	Deflate = "deflate"
)

// maxPartSize is the largest changing part in bytes.
const maxPartSize = 1<<16 - 1

// Stream is compressed content with a part that changes. Immutable.
type Stream struct {
	// Before precedes the changing part, After follows it; the trailer comes last.
	Before, After   []byte
	gzip, partFirst bool
	partSize        int
	restSum         uint32 // checksum of the rest
	restSize        int64  // bytes of the rest, uncompressed
	totalSize       int64  // all bytes, uncompressed
	shift           [32]uint32
}

// WithPrefix returns a stream whose first part bytes change. It returns an error for an unknown
// name, or a part that is too large.
func WithPrefix(name string, part int, rest [][]byte) (*Stream, error) {
	return newStream(name, part, rest, true)
}

// WithSuffix returns a stream whose last part bytes change; errors as WithPrefix.
func WithSuffix(name string, part int, rest [][]byte) (*Stream, error) {
	return newStream(name, part, rest, false)
}

func newStream(name string, part int, rest [][]byte, front bool) (*Stream, error) {
	if name != Gzip && name != Deflate {
		return nil, fmt.Errorf("unknown compression %q: want gzip or deflate", name)
	}
	if part > maxPartSize {
		return nil,
			fmt.Errorf("%d bytes that change with each request are too many to compress: at most %d",
				part, maxPartSize)
	}
	s := &Stream{gzip: name == Gzip, partFirst: front, partSize: part}
	if !s.gzip {
		s.restSum = 1 // of nothing, as Adler-32 defines it
	}
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.DefaultCompression) // the level exists, and memory takes all
	for _, b := range rest {
		s.restSum = s.updateSum(s.restSum, b)
		s.restSize += int64(len(b))
		_, _ = w.Write(b)
	}
	s.totalSize = s.restSize + int64(part)
	head := []byte{0x78, 0x9c} // zlib: deflate, 32 KiB window, default level
	if s.gzip {
		head = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff} // no name, no time, system unknown
		s.shift = shiftBy(s.restSize)
	}
	if front {
		_ = w.Close()
		s.Before, s.After = appendStoredHead(head, part, false), packed.Bytes()
	} else {
		_ = w.Flush() // to a byte boundary
		s.Before = appendStoredHead(append(head, packed.Bytes()...), part, true)
	}
	return s, nil
}

// appendStoredHead appends the header of a stored block of n bytes.
func appendStoredHead(dst []byte, n int, final bool) []byte {
	kind := byte(0)
	if final {
		kind = 1
	}
	return append(dst, kind, byte(n), byte(n>>8), ^byte(n), ^byte(n>>8))
}

// TrailerSize returns the number of bytes that AppendTrailer appends.
func (s *Stream) TrailerSize() int {
	if s.gzip {
		return 8
	}
	return 4
}

// AppendTrailer appends the end of the stream. head ends with the changing part. It allocates
// nothing.
func (s *Stream) AppendTrailer(dst, head []byte) []byte {
	part := head[len(head)-s.partSize:]
	sum := s.restSum
	switch {
	case !s.partFirst:
		sum = s.updateSum(sum, part)
	case s.gzip:
		sum = multiply(&s.shift, crc32.ChecksumIEEE(part)) ^ sum
	default:
		sum = adlerJoin(adler32.Checksum(part), sum, s.restSize)
	}
	if s.gzip {
		dst = binary.LittleEndian.AppendUint32(dst, sum)
		return binary.LittleEndian.AppendUint32(dst, uint32(s.totalSize))
	}
	return binary.BigEndian.AppendUint32(dst, sum)
}

func (s *Stream) updateSum(sum uint32, b []byte) uint32 {
	if s.gzip {
		return crc32.Update(sum, crc32.IEEETable, b)
	}
	return adlerJoin(sum, adler32.Checksum(b), int64(len(b)))
}

// adlerPrime is the modulus of Adler-32.
const adlerPrime = 65521

// adlerJoin returns the sum of two consecutive texts; the second has n bytes.
func adlerJoin(first, second uint32, n int64) uint32 {
	a1, b1 := uint64(first&0xffff), uint64(first>>16)
	a2, b2 := uint64(second&0xffff), uint64(second>>16)
	a := (a1 + a2 + adlerPrime - 1) % adlerPrime
	b := (b1 + b2 + uint64(n%adlerPrime)*(a1+adlerPrime-1)) % adlerPrime
	return uint32(b<<16 | a)
}

// shiftBy returns the matrix over GF(2), by columns, that maps a CRC-32 to that of the same text
// followed by n zero bytes, except for the contribution of the zeros themselves, which is in the
// sum of the real following text.
func shiftBy(n int64) (m [32]uint32) {
	var power [32]uint32 // one zero bit
	power[0] = crc32.IEEE
	for i := 1; i < 32; i++ {
		power[i] = 1 << (i - 1)
	}
	for range 3 { // one zero byte
		power = square(&power)
	}
	for i := range m {
		m[i] = 1 << i
	}
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			for i, column := range m {
				m[i] = multiply(&power, column)
			}
		}
		power = square(&power)
	}
	return m
}

func square(m *[32]uint32) (out [32]uint32) {
	for i, column := range m {
		out[i] = multiply(m, column)
	}
	return out
}

func multiply(m *[32]uint32, v uint32) (sum uint32) {
	for i := 0; v != 0; i, v = i+1, v>>1 {
		if v&1 == 1 {
			sum ^= m[i]
		}
	}
	return sum
}

var errCoding = errors.New("the content is not compressed as its name says")
