package tokenizer

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// precompiled is a table of replacements as SentencePiece writes it: a double-array trie of the texts
// that are replaced, each with the offset of its replacement.
type precompiled struct {
	units []uint32
	texts []byte
}

// maxCluster is the size from which on a cluster is only looked up by its characters, bytes.
const maxCluster = 6

func parsePrecompiled(text string) (normalizer, error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return func(s string) string { return s }, nil
	}
	if len(data) < 4 {
		return nil, errors.New("the table is cut")
	}
	size := binary.LittleEndian.Uint32(data)
	if uint64(size) > uint64(len(data)-4) || size%4 != 0 {
		return nil, errors.New("the table is cut")
	}
	p := &precompiled{texts: data[4+size:]}
	for i := uint32(0); i < size; i += 4 {
		p.units = append(p.units, binary.LittleEndian.Uint32(data[4+i:]))
	}
	return p.apply, nil
}

// find returns the replacement of the shortest prefix of a text that has one.
func (p *precompiled) find(text string) (string, bool) {
	if len(p.units) == 0 {
		return "", false
	}
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	at := offset(p.units[0])
	for i := range len(text) {
		c := uint32(text[i])
		if at ^= c; c == 0 || uint64(at) >= uint64(len(p.units)) {
			return "", false
		}
		unit := p.units[at]
		if unit&(1<<31|0xff) != c {
			return "", false
		}
		at ^= offset(unit)
		if unit>>8&1 == 0 {
			continue
		}
		if uint64(at) >= uint64(len(p.units)) {
			return "", false
		}
		value := uint64(p.units[at] & (1<<31 - 1))
		if value > uint64(len(p.texts)) {
			return "", false
		}
		own, _, _ := bytes.Cut(p.texts[value:], []byte{0})
		return string(own), true
	}
	return "", false
}

func (p *precompiled) apply(text string) string {
	var b strings.Builder
	for text != "" {
		n := cluster(text)
		if n < maxCluster {
			if own, ok := p.find(text[:n]); ok {
				b.WriteString(own)
				text = text[n:]
				continue
			}
		}
		for part := text[:n]; part != ""; {
			_, size := utf8.DecodeRuneInString(part)
			own, ok := p.find(part[:size])
			if !ok {
				own = part[:size]
			}
			b.WriteString(own)
			part = part[size:]
		}
		text = text[n:]
	}
	return b.String()
}

// cluster returns the size of what a reader sees as the first character: with the marks on it.
func cluster(text string) int {
	first, n := utf8.DecodeRuneInString(text)
	if strings.HasPrefix(text, "\r\n") {
		return 2
	}
	if unicode.IsControl(first) {
		return n
	}
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !unicode.Is(unicode.M, r) && r != 0x200d {
			break
		}
		n += size
	}
	return n
}
