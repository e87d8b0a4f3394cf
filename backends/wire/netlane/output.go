package netlane

import (
	"bufio"
	"net"
)

const (
	// maxSingleWrite is the largest request in bytes that is sent with one write. For a larger one the
	// first page is written alone and then the rest: at 1 MiB that took half the time and two thirds
	// of the CPU of one large write.
	maxSingleWrite = 256 << 10
	firstPage      = 4096
	// tlsRecord is the payload of one TLS record in bytes: head and body share the first.
	tlsRecord = 16 << 10
	// tlsBatch bounds the bytes of many pieces that are copied for one write on TLS: four records.
	tlsBatch = 4 * tlsRecord
	// fewPieces is the largest number of pieces that are written one by one on TLS.
	fewPieces = 2
)

// output writes requests. Its buffers are reused.
type output struct {
	joined []byte
	store  [][]byte
	vector net.Buffers
	batch  *bufio.Writer // see writeRecords; made on first use
}

// vectorWriter is a connection of this package that writes several pieces with one call.
// Connections of package net do that for net.Buffers.
type vectorWriter interface {
	writeVector(pieces [][]byte) (int64, error)
}

// write sends head and body. Small requests are joined, which costs less than a vector; larger ones
// are sent without a copy.
func (o *output) write(k *link, head []byte, body [][]byte) (int64, error) {
	size := len(head)
	for _, b := range body {
		size += len(b)
	}
	first := size
	if size > inlineLimit {
		switch {
		case k.conn != k.raw:
			first = tlsRecord
		case size > maxSingleWrite:
			first = firstPage
		default:
			first = 0
		}
	}
	if first == 0 || size == len(head) {
		return o.writeRest(k, head, body)
	}
	start, skip := o.join(head, body, first)
	n, err := k.conn.Write(start)
	if err != nil || n == size {
		return int64(n), err
	}
	more, err := o.writeRest(k, nil, o.skipBytes(body, skip))
	return int64(n) + more, err
}

// join copies head and the beginning of body into one piece of want bytes, or fewer if there are
// not as many. It returns that piece and the number of bytes of body in it.
func (o *output) join(head []byte, body [][]byte, want int) ([]byte, int) {
	o.joined = append(o.joined[:0], head...)
	for _, b := range body {
		room := want - len(o.joined)
		if room <= 0 {
			break
		}
		o.joined = append(o.joined, b[:min(room, len(b))]...)
	}
	return o.joined, len(o.joined) - len(head)
}

// skipBytes returns body without its first skip bytes.
func (o *output) skipBytes(body [][]byte, skip int) [][]byte {
	o.store = o.store[:0]
	for _, b := range body {
		n := min(skip, len(b))
		if skip -= n; n < len(b) {
			o.store = append(o.store, b[n:])
		}
	}
	return o.store
}

// writeRest writes pieces without a copy: with one call on a socket; on TLS one by one if they are
// few, else copied together.
func (o *output) writeRest(k *link, head []byte, body [][]byte) (int64, error) {
	if len(body) == 0 {
		n, err := k.conn.Write(head)
		return int64(n), err
	}
	pieces := o.vector[:0]
	if len(head) > 0 {
		pieces = append(pieces, head)
	}
	pieces = append(pieces, body...)
	o.vector = pieces
	if g, ok := k.conn.(vectorWriter); ok {
		n, err := g.writeVector(pieces)
		clear(pieces)
		return n, err
	}
	if k.conn != k.raw && len(pieces) > fewPieces {
		n, err := o.writeRecords(k, pieces)
		clear(pieces)
		return n, err
	}
	n, err := o.vector.WriteTo(k.conn)
	o.vector = pieces[:0] // WriteTo advanced the slice and cleared the pieces
	return n, err
}

// writeRecords writes many pieces on TLS. Each would become a record and a system call of its own,
// so they are copied together.
func (o *output) writeRecords(k *link, pieces [][]byte) (done int64, err error) {
	if o.batch == nil {
		o.batch = bufio.NewWriterSize(nil, tlsBatch)
	}
	o.batch.Reset(k.conn)
	for _, p := range pieces {
		n, _ := o.batch.Write(p) // Flush returns its error
		done += int64(n)
	}
	err = o.batch.Flush()
	return done - int64(o.batch.Buffered()), err
}
