package prompt

import (
	"bytes"
	"encoding/binary"
	"image"
	"math/rand/v2"
	"testing"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// TestImage: images decode in the size that was asked for, and depend on the seed alone.
func TestImage(t *testing.T) {
	for _, format := range []string{"png", "jpeg"} {
		for _, size := range [][2]int{{1, 1}, {1, 40}, {17, 5}, {640, 480}} {
			draw := func(seed uint64) []byte {
				data, err := Image(size[0], size[1], format, random(seed))
				if err != nil {
					t.Fatal(err)
				}
				return data
			}
			data := draw(1)
			m, kind, err := image.Decode(bytes.NewReader(data))
			if err != nil || kind != format || m.Bounds().Size() != image.Pt(size[0], size[1]) {
				t.Fatalf("%s of %v is %s of %v, %v", format, size, kind, m.Bounds(), err)
			}
			if !bytes.Equal(data, draw(1)) || bytes.Equal(data, draw(2)) {
				t.Errorf("%s of %v: the same seed gives other bytes, or another seed the same", format, size)
			}
			if len(data) > 1024+size[0]*size[1]/4 {
				t.Errorf("%s of %v has %d bytes", format, size, len(data))
			}
		}
	}
}

// TestSound: the head of a sound has its length and rate, and it is loud.
func TestSound(t *testing.T) {
	data := Sound(4000, 16000, random(1))
	size, rate := binary.LittleEndian.Uint32(data[40:]), binary.LittleEndian.Uint32(data[24:])
	if string(data[:4])+string(data[8:16]) != "RIFFWAVEfmt " || len(data) != 8044 || size != 8000 || rate != 16000 ||
		int(binary.LittleEndian.Uint32(data[4:])) != len(data)-8 {
		t.Errorf("%d bytes: %x", len(data), data[:44])
	}
	low, high, turns := int16(0), int16(0), 0
	for i, last := 44, int16(0); i < len(data); i += 2 {
		v := int16(binary.LittleEndian.Uint16(data[i:]))
		if low, high = min(low, v), max(high, v); (v < 0) != (last < 0) {
			turns++
		}
		last = v
	}
	if low < -8192 || low > -7000 || high > 8191 || high < 7000 || turns < 54 || turns > 442 { // 110 to 880 Hz
		t.Errorf("from %d to %d, %d changes of sign in 0.25 s", low, high, turns)
	}
	if !bytes.Equal(data, Sound(4000, 16000, random(1))) || bytes.Equal(data, Sound(4000, 16000, random(2))) {
		t.Error("the same seed gives other bytes, or another seed the same")
	}
	if len(Sound(3, 1, random(1))) != 50 {
		t.Error("a sound of a low rate has another length")
	}
}
