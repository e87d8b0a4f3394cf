package prompt

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
)

const (
	colours = 16 // of an image
	tile    = 16 // pixels of an edge
)

// Image draws an image of tiles and encodes it, format png or jpeg. Tiles of few colours are cheap to draw and
// to encode, and a server decodes as many pixels as of any other image.
func Image(width, height int, format string, rng *rand.Rand) ([]byte, error) {
	var palette [colours][4]byte
	for i := range palette {
		binary.BigEndian.PutUint32(palette[i][:], rng.Uint32()|0xff)
	}
	var b bytes.Buffer
	if format == "jpeg" {
		m := image.NewRGBA(image.Rect(0, 0, width, height))
		tiles(m.Pix, m.Stride, 4, rng, func(pixel []byte, n int) { copy(pixel, palette[n][:]) })
		err := jpeg.Encode(&b, m, nil)
		return b.Bytes(), err
	}
	m := image.NewPaletted(image.Rect(0, 0, width, height), nil)
	for _, c := range palette {
		m.Palette = append(m.Palette, color.RGBA{R: c[0], G: c[1], B: c[2], A: c[3]})
	}
	tiles(m.Pix, m.Stride, 1, rng, func(pixel []byte, n int) { pixel[0] = byte(n) })
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m)
	return b.Bytes(), err
}

// tiles fills rows of stride bytes with tiles of drawn colours.
func tiles(pixels []byte, stride, size int, rng *rand.Rand, paint func(pixel []byte, colour int)) {
	for y := 0; y*stride < len(pixels); y++ {
		row := pixels[y*stride : (y+1)*stride]
		if y%tile != 0 {
			copy(row, pixels[(y-1)*stride:])
			continue
		}
		n := 0
		for at := 0; at < len(row); at += size {
			if at/size%tile == 0 {
				n = rng.IntN(colours)
			}
			paint(row[at:at+size], n)
		}
	}
}

const wavHead = 44 // bytes

// Sound draws a melody and encodes it as WAV: 16 bits, one channel.
func Sound(samples, rate int, rng *rand.Rand) []byte {
	b := make([]byte, 0, wavHead+2*samples)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(wavHead-8+2*samples))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	b = binary.LittleEndian.AppendUint16(b, 1) // PCM
	b = binary.LittleEndian.AppendUint16(b, 1) // channels
	b = binary.LittleEndian.AppendUint32(b, uint32(rate))
	b = binary.LittleEndian.AppendUint32(b, uint32(2*rate))
	b = binary.LittleEndian.AppendUint16(b, 2)  // bytes of a sample
	b = binary.LittleEndian.AppendUint16(b, 16) // bits
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(2*samples))
	var phase, step uint32
	for i := range samples {
		if i%max(rate/4, 1) == 0 { // four notes a second, 110 Hz to 880 Hz
			step = uint32((110 + 770*rng.Float64()) / float64(rate) * (1 << 32))
		}
		phase += step
		wave := int32(phase) >> 17 // a triangle, a quarter of the loudest
		if wave < 0 {
			wave = ^wave
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(wave-1<<13))
	}
	return b
}
