package coding

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"math/rand/v2"
	"testing"
)

// read undoes a coding with the standard library, which checks its sums.
func read(t *testing.T, name string, b []byte) []byte {
	t.Helper()
	var r io.Reader
	var err error
	if name == Gzip {
		r, err = gzip.NewReader(bytes.NewReader(b))
	} else {
		r, err = zlib.NewReader(bytes.NewReader(b))
	}
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStreams(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	rests := map[string][][]byte{
		"nothing": nil, "empty": {{}}, "short": {[]byte("abc")}, "pieces": {[]byte("abc"), nil, []byte("defghi")},
		"long": {bytes.Repeat([]byte("tensor "), 60_000)}, "noise": {noise}, "zeros": {make([]byte, 1<<20)},
	}
	for _, name := range []string{Gzip, Deflate} {
		for what, rest := range rests {
			all := bytes.Join(rest, nil)
			for _, part := range [][]byte{nil, []byte(`{"id":"00000000000000000000"`), noise[:maxPartSize]} {
				for _, front := range []bool{true, false} {
					s, err := newStream(name, len(part), rest, front)
					if err != nil {
						t.Fatal(err)
					}
					for range 3 { // the part changes
						stream := append(append(bytes.Clone(s.Before), part...), s.After...)
						size := len(stream)
						stream = s.AppendTrailer(stream, part)
						if len(stream)-size != s.TrailerSize() {
							t.Errorf("trailer of %d bytes", len(stream)-size)
						}
						want := append(bytes.Clone(part), all...)
						if !front {
							want = append(bytes.Clone(all), part...)
						}
						if !bytes.Equal(read(t, name, stream), want) {
							t.Errorf("%s, %s, part of %d, front %t: other bytes", name, what, len(part), front)
						}
						part = bytes.Clone(part)
						for i := range part {
							part[i] ^= byte(rng.Uint32())
						}
					}
				}
			}
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	if _, err := WithPrefix("br", 1, nil); err == nil {
		t.Error("br: taken")
	}
	if _, err := WithSuffix(Gzip, maxPartSize+1, nil); err == nil {
		t.Error("a part that is too long: taken")
	}
}

func TestTrailerAllocatesNothing(t *testing.T) {
	for _, name := range []string{Gzip, Deflate} {
		part, dst := []byte(`{"id":"00000000000000000042"`), make([]byte, 0, 16)
		f, _ := WithPrefix(name, len(part), [][]byte{make([]byte, 4<<20)})
		b, _ := WithSuffix(name, len(part), [][]byte{make([]byte, 4<<20)})
		if n := testing.AllocsPerRun(100,
			func() { _, _ = f.AppendTrailer(dst, part), b.AppendTrailer(dst, part) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestReader(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 1000)
	var r Reader
	for range 2 {
		for _, name := range []string{Gzip, Deflate} {
			s, _ := WithSuffix(name, 3, [][]byte{text})
			stream := s.AppendTrailer(append(append(bytes.Clone(s.Before), "abc"...), s.After...), []byte("abc"))
			if got, err := r.Read(name, stream, 1<<20); err != nil || string(got) != string(text)+"abc" {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			if got, err := r.Read(name, stream[:len(stream)-9], 5); err != nil || string(got) != "01234" {
				t.Errorf("%s, the start of a cut one: %q, %v", name, got, err)
			}
			if _, err := r.Read(name, stream[:len(stream)-1], 1<<20); err == nil {
				t.Errorf("%s: a cut one was read", name)
			}
			stream[len(stream)-1] ^= 1
			if _, err := r.Read(name, stream, 1<<20); err == nil {
				t.Errorf("%s: a wrong sum was taken", name)
			}
		}
	}
	if _, err := r.Read("br", text, 1); err == nil {
		t.Error("br: read")
	}
}

// FuzzReader must not panic, nor give more than was asked for.
func FuzzReader(f *testing.F) {
	s, _ := WithPrefix(Gzip, 1, [][]byte{[]byte("abc")})
	f.Add(s.AppendTrailer(append(append(bytes.Clone(s.Before), 'x'), s.After...), []byte("x")), true)
	f.Add([]byte{0x78, 0x9c, 1}, false)
	var r Reader
	f.Fuzz(func(t *testing.T, b []byte, asGzip bool) {
		name := Deflate
		if asGzip {
			name = Gzip
		}
		if got, _ := r.Read(name, b, 100); len(got) > 100 {
			t.Errorf("%d bytes", len(got))
		}
	})
}
