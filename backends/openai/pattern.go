package openai

import (
	"bytes"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// pattern holds an event with one string of content. The events of a stream mostly differ in that string
// alone; one that does has the same facts, and is not read again. Its content may be any string that is
// not empty, since the parser asks no more of it.
type pattern struct {
	text       []byte // of the event; empty: there is none
	start, end int    // of its content
	event      event
	// tag and number of the frame that its content is in an answer that is kept, where that is all of it; tag 0:
	// it is not, or this is unknown
	tag, number byte
}

// maxPattern bounds the length of an event that is kept; longer ones are whole replies.
const maxPattern = 4096

func (p *pattern) set(text []byte, start, end int, e event) {
	p.text, p.tag = p.text[:0], 0
	if start < end && len(text) <= maxPattern {
		p.text, p.start, p.end, p.event = append(p.text, text...), start, end, e
	}
}

// fits reports whether text is the event with another content, and where that ends.
func (p *pattern) fits(text []byte) (end int, ok bool) {
	end = len(text) - len(p.text) + p.end
	if len(p.text) == 0 || end <= p.start || !bytes.Equal(text[:p.start], p.text[:p.start]) ||
		!bytes.Equal(text[end:], p.text[p.end:]) {
		return 0, false
	}
	content := jsonscan.Lenient(text[p.start-1 : end+1]) // with its quotes
	content.Raw()
	return end, content.AtEnd()
}

// appendAnswer is appendAnswer for an event that has just been read.
func (p *parser) appendAnswer(dst, text []byte) []byte {
	if p.fitted && p.last.tag != 0 {
		return appendFrame(dst, p.last.tag, p.last.number, text[p.start:p.end])
	}
	from := len(dst)
	dst = appendAnswer(dst, text)
	if p.fitted && len(dst) > from {
		tag, number, value, rest := frame(dst[from:])
		if len(rest) == 0 && bytes.Equal(value, text[p.start:p.end]) {
			p.last.tag, p.last.number = tag, number
		}
	}
	return dst
}
