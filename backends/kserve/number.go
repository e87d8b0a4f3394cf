package kserve

import "encoding/binary"

// number reads a decimal, modulo 2⁶⁴; ok is false if it is none. An id has 20 digits, so it takes eight of them
// at a time: a multiplication for each would wait for the one before (Lemire, "Quickly parsing eight
// digits", 2018).
func number(text []byte) (v uint64, ok bool) {
	rest := text
	for ; len(rest) >= 8; rest = rest[8:] {
		n, ok := eightDigits(binary.LittleEndian.Uint64(rest))
		if !ok {
			return 0, false
		}
		v = v*1e8 + n
	}
	for _, c := range rest {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v, len(text) > 0
}

// eightDigits returns the number of eight ASCII digits, the first in the lowest byte.
func eightDigits(w uint64) (n uint64, ok bool) {
	const (
		zeros = 0x3030303030303030
		six   = 0x0606060606060606 // carries into the upper half of a byte above 9
		upper = 0xf0f0f0f0f0f0f0f0
		every = 0x000000ff000000ff // the first and the fifth byte
	)
	w ^= zeros
	ok = (w|(w+six))&upper == 0
	w = w*10 + w>>8 // the number of each two digits, in the first of their bytes
	w = (w&every*(100+1000000<<32) + w>>16&every*(1+10000<<32)) >> 32
	return w, ok
}
