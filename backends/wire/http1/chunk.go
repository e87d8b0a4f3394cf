package http1

import "github.com/sluice-bench/sluice/backends"

// chunkLine is the state of one line of chunk framing (RFC 9112 section 7.1). Unlike fields, chunk
// framing needs its CR: leniency here would let two readers see two ends.
//
//	size-line = 1*HEXDIG *( SP / HTAB ) [ ";" extension ] CR LF
type chunkLine struct {
	size        int64
	digits      int
	length      int  // bytes of the line
	afterDigits bool // the digits have ended
	inExtension bool // within an extension
	gotCR       bool // the CR was read
}

// maxChunkLine bounds a size line in bytes; its extensions are ignored.
const maxChunkLine = 4096

// stepSize reads a size line.
func (w *Wire) stepSize(b []byte, at int64) (int, backends.Next) {
	c := &w.chunk
	for i, ch := range b {
		c.length++
		switch {
		case c.gotCR && ch == '\n' && c.digits > 0:
			return i + 1, w.chunkStart(at)
		case c.gotCR || ch == '\n' || c.length > maxChunkLine || !c.accept(ch):
			return i + 1, w.fail(at, "the size of a chunk is malformed", b[:i+1])
		}
	}
	return len(b), backends.NextMore
}

// accept reads one character of the size line before its LF; false: it is malformed.
func (c *chunkLine) accept(ch byte) bool {
	v := hexDigit(ch)
	switch {
	case ch == '\r':
		c.gotCR = true
	case c.inExtension:
	case ch == ';':
		c.inExtension, c.afterDigits = true, true
	case ch == ' ' || ch == '\t':
		c.afterDigits = true
	case v < 0 || c.afterDigits || c.size >= 1<<58:
		return false
	default:
		c.size = c.size<<4 | int64(v)
		c.digits++
	}
	return true
}

// hexDigit returns the value of a digit, -1 for any other character.
func hexDigit(ch byte) int {
	switch {
	case '0' <= ch && ch <= '9':
		return int(ch - '0')
	case 'a' <= ch && ch <= 'f':
		return int(ch-'a') + 10
	case 'A' <= ch && ch <= 'F':
		return int(ch-'A') + 10
	}
	return -1
}

// chunkStart goes from a size line to its chunk, or from the last size line to the trailers.
func (w *Wire) chunkStart(at int64) backends.Next {
	size := w.chunk.size
	w.chunk = chunkLine{}
	if size > w.maxContent-w.size && w.status < 300 && !w.streaming {
		return w.tooLong(-1, at)
	}
	w.bytesLeft, w.phase = size, inData
	if size == 0 {
		w.phase = inTrailer
	} else if w.streaming && w.chunks != nil {
		w.chunks.Chunk(size)
	}
	return backends.NextMore
}

// stepDataEnd reads the CR LF after a chunk.
func (w *Wire) stepDataEnd(b []byte, at int64) (int, backends.Next) {
	switch {
	case !w.chunk.gotCR && len(b) > 1 && b[0] == '\r' && b[1] == '\n':
		w.phase = inSize
		return 2, backends.NextMore
	case !w.chunk.gotCR && b[0] == '\r':
		w.chunk.gotCR = true
	case w.chunk.gotCR && b[0] == '\n':
		w.chunk = chunkLine{}
		w.phase = inSize
	default:
		return 1, w.fail(at, "a chunk is longer than its size line says", b[:1])
	}
	return 1, backends.NextMore
}

// stepTrailer skips trailer fields (RFC 9112 section 7.1.2) up to the empty line.
func (w *Wire) stepTrailer(b []byte, at int64) (int, backends.Next) {
	for i, ch := range b {
		w.trailerSize++
		switch {
		case w.trailerSize > maxHead:
			return i + 1, w.fail(at, "the trailers are longer than the limit", nil)
		case ch == '\n' && w.trailerLine == 0:
			return i + 1, w.finish(w.body, at)
		case ch == '\n':
			w.trailerLine = 0
		case ch != '\r':
			w.trailerLine++
		}
	}
	return len(b), backends.NextMore
}
