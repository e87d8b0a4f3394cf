package feed

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/tensor"
	"github.com/sluice-bench/sluice/executor/feed/format"
	"github.com/sluice-bench/sluice/scenario"
)

// printable are the characters of random strings.
const printable = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,?!"

// maxString caps the characters of one drawn string.
const maxString = 64 << 20

// generate draws the rows of a `generate` dataset. An optional input that neither the generators
// nor `shapes` name is left out: what a model does without it is for its author to say, what it
// does with any value at all is not. A row's input depends on the seed, the dataset's name, the
// input's name and the row's number alone.
func (b *builder) generate() []row {
	rows := make([]row, max(b.dataset.Count, 1))
	for i := range rows {
		rows[i].number = i
	}
	for _, p := range b.sig.Inputs {
		if !b.sends(p) {
			continue
		}
		g, _ := b.generator(p.Name)
		if p.ShapeTensor && g.Constant == nil && g.File == nil {
			b.fail(g.Pos, "generate",
				"input %q holds a shape, which cannot be drawn: say its values, such as {%s: [1, 2]}", p.Name, p.Name)
			continue
		}
		draw, err := b.drawer(g, p)
		if err != nil {
			b.fail(b.dataset.Pos, "generate", "input %q (%s): %s", p.Name, p.Type, err)
			continue
		}
		for i := range rows {
			t, err := b.tensor(p, g, draw, i)
			if err != nil {
				b.fail(b.dataset.Pos, "generate", "input %q (%s): %s", p.Name, p.Type, err)
				break
			}
			rows[i].inputs = append(rows[i].inputs, t)
		}
	}
	return rows
}

// sends reports whether an input is generated: one that a request needs or the plan names, or any
// where that would be none.
func (b *builder) sends(p backends.Port) bool {
	wanted := func(p backends.Port) bool {
		_, named := b.generator(p.Name)
		return !p.Optional || named ||
			slices.ContainsFunc(b.request.Shapes, func(s scenario.Shape) bool { return s.Input == p.Name })
	}
	return wanted(p) || !slices.ContainsFunc(b.sig.Inputs, wanted)
}

// generator is the plan's generator of an input, or one that says the default word.
func (b *builder) generator(input string) (g scenario.Generator, named bool) {
	for _, g := range b.dataset.Generate.Inputs {
		if g.Input == input {
			return g, true
		}
	}
	return scenario.Generator{Input: input, Pos: b.dataset.Pos, Word: b.dataset.Generate.Default}, false
}

func (b *builder) tensor(p backends.Port, g scenario.Generator, draw draw, i int) (backends.Tensor, error) {
	if g.File != nil {
		return b.fileTensor(&p, g.File.Name)
	}
	elements, listed := int64(-1), int64(len(g.Constant))
	if g.Constant != nil {
		elements = listed
	}
	shape, err := b.shape(&p, nil, elements)
	if err != nil {
		return backends.Tensor{}, err
	}
	n, err := tensor.Elements(shape)
	if err != nil {
		return backends.Tensor{}, err
	}
	if listed > 1 && (n < listed || n%listed != 0) {
		return backends.Tensor{}, fmt.Errorf(
			"a list of %d elements does not fill the shape %v, which takes %d, once or several times",
			listed, shape, n)
	}
	if err := b.room(p, shape, n, i); err != nil {
		return backends.Tensor{}, err
	}
	rng := rand.New(rand.NewPCG(b.seed^hash(b.dataset.Name+"\x00"+p.Name), uint64(i)))
	data := slices.Grow([]byte(nil), int(n)*max(p.Type.Size(), 0)) // there is room
	for k := range n {
		if data, err = draw(data, rng, k); err != nil {
			return backends.Tensor{}, fmt.Errorf("element %d: %w", k, err)
		}
		if b.bytes+int64(len(data)) > maxData {
			return backends.Tensor{}, errTooMuch
		}
	}
	b.bytes += int64(len(data))
	return backends.Tensor{Name: p.Name, Type: p.Type, Shape: shape, Data: data}, nil
}

// room refuses, before anything is drawn, a tensor of n elements that does not fit in memory: row i
// of it, or, asked for the first row, all rows together. A string takes at least the 4 bytes of its
// length.
func (b *builder) room(p backends.Port, shape []int64, n int64, i int) error {
	size, rows := int64(max(p.Type.Size(), 4)), int64(1)
	if p.Type.Size() > 0 {
		size = int64(p.Type.Size())
	}
	if i == 0 {
		rows = int64(max(b.dataset.Count, 1))
	}
	if left := maxData - b.bytes; n > left/size/rows {
		return fmt.Errorf("%d rows of shape %v: %w", max(b.dataset.Count, 1), shape, errTooMuch)
	}
	return nil
}

// fileTensor makes a tensor of a file, once for all rows: of a NumPy array, or of the content as in
// a folder of tensors.
func (b *builder) fileTensor(p *backends.Port, name string) (backends.Tensor, error) {
	if t, ok := b.files[p.Name]; ok {
		return t, nil
	}
	t, err := b.readTensor(p, name)
	if err != nil {
		return t, fmt.Errorf("%s: %s", filepath.Base(name), strings.TrimPrefix(err.Error(), ": "))
	}
	if b.files == nil {
		b.files = make(map[string]backends.Tensor)
	}
	b.files[p.Name] = t
	b.bytes += int64(len(t.Data))
	return t, nil
}

func (b *builder) readTensor(p *backends.Port, name string) (t backends.Tensor, err error) {
	v := format.Value{Form: format.Content, ArrayRow: -1}
	if v.Text, err = format.ReadFile(name, maxData-b.bytes); err != nil {
		return t, err
	}
	if bytes.HasPrefix(v.Text, []byte(format.NpyMagic)) {
		v.Form = format.ArrayRow
		if v.Array, err = format.ParseNpy(v.Text); err != nil {
			return t, err
		}
	}
	t, _, err = b.decode(p, &v, "input")
	return t, err
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// draw appends element k in the protocol's raw form.
type draw func(dst []byte, rng *rand.Rand, k int64) ([]byte, error)

// drawValues draws what tensor.AppendElement takes; floats and integers are those that large
// tensors are made of.
func drawValues(t tensor.DataType, of func(rng *rand.Rand, k int64) any) draw {
	return func(dst []byte, rng *rand.Rand, k int64) ([]byte, error) {
		return tensor.AppendElement(dst, t, of(rng, k))
	}
}

func drawFloats(t tensor.DataType, of func(rng *rand.Rand) float64) draw {
	return func(dst []byte, rng *rand.Rand, _ int64) ([]byte, error) {
		return tensor.AppendFloat(dst, t, of(rng))
	}
}

func drawIntegers(t tensor.DataType, of func(rng *rand.Rand) int64) draw {
	return func(dst []byte, rng *rand.Rand, _ int64) ([]byte, error) {
		return tensor.AppendInteger(dst, t, of(rng))
	}
}

func (b *builder) drawer(g scenario.Generator, p backends.Port) (draw, error) {
	switch {
	case g.Constant != nil:
		return drawValues(p.Type, func(_ *rand.Rand, k int64) any { return g.Constant[k%int64(len(g.Constant))] }),
			nil
	case g.OneOf != nil:
		return drawValues(p.Type, func(rng *rand.Rand, _ int64) any { return g.OneOf[rng.IntN(len(g.OneOf))] }), nil
	case g.Length != nil:
		return drawValues(p.Type, words(*g.Length, g.Alphabet)), nil
	case g.File != nil:
		return nil, nil
	case g.Dist != nil:
		if p.Type == tensor.Bytes {
			return nil, fmt.Errorf("a number cannot be drawn for strings; use {length: …} or {one_of: […]}")
		}
		return numbers(*g.Dist, p.Type)
	case g.Word == "zero":
		return drawValues(p.Type, func(*rand.Rand, int64) any { return zero(p.Type) }), nil
	}
	return b.random(p.Type), nil
}

func zero(t tensor.DataType) any {
	switch t {
	case tensor.Bool:
		return false
	case tensor.Bytes:
		return ""
	}
	return int64(0)
}

// random draws floats uniform in [0, 1), integers uniform in [0, 100], both booleans, printable strings.
func (b *builder) random(t tensor.DataType) draw {
	switch t {
	case tensor.Bool:
		return drawValues(t, func(rng *rand.Rand, _ int64) any { return rng.IntN(2) == 1 })
	case tensor.Bytes:
		return drawValues(t, words(b.dataset.StringLength, printable))
	case tensor.FP16, tensor.BF16, tensor.FP32, tensor.FP64:
		return drawFloats(t, (*rand.Rand).Float64)
	}
	return drawIntegers(t, func(rng *rand.Rand) int64 { return int64(rng.IntN(101)) })
}

func words(length scenario.Dist, alphabet string) func(rng *rand.Rand, _ int64) any {
	letters := []rune(alphabet)
	if len(letters) == 0 {
		letters = []rune(printable)
	}
	return func(rng *rand.Rand, _ int64) any {
		n := int(min(max(math.Round(drawFrom(length, rng)), 0), maxString))
		text := make([]rune, n)
		for i := range text {
			text[i] = letters[rng.IntN(len(letters))]
		}
		return string(text)
	}
}

// numbers draws from a dist; integers are rounded, except that {min, max} alone means every integer
// from min to max alike.
func numbers(d scenario.Dist, t tensor.DataType) (draw, error) {
	switch t {
	case tensor.FP16, tensor.BF16, tensor.FP32, tensor.FP64:
		return drawFloats(t, func(rng *rand.Rand) float64 { return drawFrom(d, rng) }), nil
	case tensor.Bool:
		return drawValues(t, func(rng *rand.Rand, _ int64) any { return drawFrom(d, rng) >= 0.5 }), nil
	}
	if d.Shape != "uniform" {
		return drawFloats(t, func(rng *rand.Rand) float64 { return math.Round(drawFrom(d, rng)) }), nil
	}
	lo, hi := math.Ceil(d.Min), math.Floor(d.Max)
	if lo > hi {
		return nil, fmt.Errorf("there is no whole number from %v to %v", d.Min, d.Max)
	}
	return drawFloats(t,
		func(rng *rand.Rand) float64 { return min(lo+math.Floor(rng.Float64()*(hi-lo+1)), hi) }), nil
}
