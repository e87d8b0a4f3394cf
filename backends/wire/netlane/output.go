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
	// tlsRecord is the payload of one TLS record in bytes.
	tlsRecord = 16 << 10
)

// output writes requests. Its buffers are reused.
type output struct {
	joined  []byte
	pieces  [][]byte
	vector  net.Buffers   // what WriteTo has left of pieces
	records *bufio.Writer // see writeRecords; made on first use
}

// vectorWriter is a connection of this package that writes several pieces with one call.
// Connections of package net do that for net.Buffers.
type vectorWriter interface {
	writeVector(pieces [][]byte) (int64, error)
}

// write sends head and body. Small requests are joined, which costs less than a vector; larger ones
// are sent without a copy.
func (o *output) write(k *link, head []byte, body [][]byte) (int64, error) {
	if len(body) == 0 {
		n, err := k.conn.Write(head)
		return int64(n), err
	}
	size := len(head)
	for _, b := range body {
		size += len(b)
	}
	first := size
	switch {
	case size <= inlineLimit:
	case k.conn != k.raw:
		return o.writeRecords(k, head, body)
	case size > maxSingleWrite:
		first = firstPage
	default:
		return o.writeRest(k, append(append(o.pieces[:0], head), body...))
	}
	start, rest := o.join(head, body, first)
	n, err := k.conn.Write(start)
	if err != nil || len(rest) == 0 {
		return int64(n), err
	}
	more, err := o.writeRest(k, rest)
	return int64(n) + more, err
}

// join copies head and the beginning of body into one piece of want bytes, or fewer if there are
// not as many. It returns that piece, and what is left of body.
func (o *output) join(head []byte, body [][]byte, want int) (start []byte, rest [][]byte) {
	start, rest = append(o.joined[:0], head...), o.pieces[:0]
	for _, b := range body {
		n := min(max(want-len(start), 0), len(b))
		start = append(start, b[:n]...)
		if n < len(b) {
			rest = append(rest, b[n:])
		}
	}
	o.joined = start
	return start, rest
}

// writeRest writes pieces with one call, without a copy.
func (o *output) writeRest(k *link, pieces [][]byte) (n int64, err error) {
	o.pieces = pieces
	if g, ok := k.conn.(vectorWriter); ok {
		n, err = g.writeVector(pieces)
	} else {
		o.vector = pieces
		n, err = o.vector.WriteTo(k.conn)
	}
	clear(pieces) // do not keep the callers' bodies alive
	return n, err
}

// writeRecords writes a request on TLS in whole records. Each piece by itself would become a record and
// a system call of its own, so small ones are copied together.
func (o *output) writeRecords(k *link, head []byte, body [][]byte) (int64, error) {
	if o.records == nil {
		o.records = bufio.NewWriterSize(nil, tlsRecord)
	}
	o.records.Reset(k.conn)
	done, _ := o.records.Write(head) // Flush returns its error
	for _, p := range body {
		n, _ := o.records.Write(p)
		done += n
	}
	err := o.records.Flush()
	return int64(done - o.records.Buffered()), err
}
