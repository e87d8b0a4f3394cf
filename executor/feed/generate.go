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

// maxString limits the characters of one drawn string.
const maxString = 64 << 20

// generate draws the rows of a `generate` dataset. An optional input that neither the generators
// nor `shapes` name is left out: what a model does without it is for its author to say, what it
// does with any value at all is not. A row's input depends on the seed, the dataset's name, the
// input's name and the row's number alone.
func generate(b *build) []row {
	rows := make([]row, max(b.dataset.Count, 1))
	for i := range rows {
		rows[i].rec = &format.Record{
			From:   &format.Origin{Name: fmt.Sprintf("generated row %d", i)},
			Stream: -1,
		}
	}
	for i := range b.sig.Inputs {
		p := &b.sig.Inputs[i]
		if !sends(b, p) {
			continue
		}
		g, _ := generatorOf(b, p.Name)
		if p.ShapeTensor && g.Constant == nil && g.File == nil {
			b.fail(g.Pos, "generate",
				"input %q holds a shape, which cannot be drawn: say its values, such as {%s: [1, 2]}",
				p.Name, p.Name)
			continue
		}
		if err := drawInput(b, p, g, rows); err != nil {
			b.fail(b.dataset.Pos, "generate", "input %q (%s): %s", p.Name, p.Type, err)
		}
	}
	return rows
}

// drawInput adds an input to all rows.
func drawInput(b *build, p *backends.Port, g scenario.Generator, rows []row) error {
	draw, err := drawerOf(b, g, p.Type)
	if err != nil {
		return err
	}
	var t backends.Tensor
	if g.File != nil { // the same in all rows
		if t, err = fileTensor(b, p, g.File.Name); err != nil {
			return err
		}
	}
	for i := range rows {
		if g.File == nil {
			if t, err = drawTensor(b, p, g, draw, i); err != nil {
				return err
			}
		}
		rows[i].inputs = append(rows[i].inputs, t)
	}
	return nil
}

// sends reports whether an input is generated: one that a request needs or the plan names, or any
// where that would be none.
func sends(b *build, p *backends.Port) bool {
	wanted := func(p backends.Port) bool {
		_, named := generatorOf(b, p.Name)
		return !p.Optional || named || plannedShape(b, &p) != nil
	}
	return wanted(*p) || !slices.ContainsFunc(b.sig.Inputs, wanted)
}

// generatorOf returns the plan's generator of an input, or one of the default word.
func generatorOf(b *build, input string) (g scenario.Generator, named bool) {
	for _, g := range b.dataset.Generate.Inputs {
		if g.Input == input {
			return g, true
		}
	}
	return scenario.Generator{Input: input, Pos: b.dataset.Pos, Word: b.dataset.Generate.Default}, false
}

// drawTensor draws the input of row i.
func drawTensor(
	b *build, p *backends.Port, g scenario.Generator, draw draw, i int,
) (t backends.Tensor, err error) {
	elements, listed := int64(-1), int64(len(g.Constant))
	if g.Constant != nil {
		elements = listed
	}
	shape, err := shapeOf(b, p, nil, elements)
	if err != nil {
		return t, err
	}
	n, err := tensor.Elements(shape)
	if err != nil {
		return t, err
	}
	if listed > 1 && (n < listed || n%listed != 0) {
		return t, fmt.Errorf("a list of %d elements does not fill the shape %v, which takes %d, once or "+
			"several times",
			listed, shape, n)
	}
	if err := checkRoom(b, p.Type, shape, n, i); err != nil {
		return t, err
	}
	rng := rand.New(rand.NewPCG(b.seed^Hash(b.dataset.Name+"\x00"+p.Name), uint64(i)))
	data := slices.Grow([]byte(nil), int(n)*max(p.Type.Size(), 0)) // there is room
	for k := range n {
		if data, err = draw(data, rng, k); err != nil {
			return t, fmt.Errorf("element %d: %w", k, err)
		}
		if b.bytes+int64(len(data)) > maxData {
			return t, errTooMuch
		}
	}
	b.bytes += int64(len(data))
	return backends.Tensor{Name: p.Name, Type: p.Type, Shape: shape, Data: data}, nil
}

// checkRoom refuses, before anything is drawn, a tensor of n elements that does not fit in memory: row i
// of it, or, asked for the first row, all rows together. A string takes at least the 4 bytes of its
// length.
func checkRoom(b *build, t tensor.DataType, shape []int64, n int64, i int) error {
	size, rows := int64(t.Size()), int64(1)
	if size <= 0 {
		size = 4
	}
	if i == 0 {
		rows = int64(max(b.dataset.Count, 1))
	}
	if left := maxData - b.bytes; n > left/size/rows {
		return fmt.Errorf("%d rows of shape %v: %w", max(b.dataset.Count, 1), shape, errTooMuch)
	}
	return nil
}

// fileTensor makes a tensor of a file: of a NumPy array, or of the content as in a folder of tensors.
func fileTensor(b *build, p *backends.Port, name string) (backends.Tensor, error) {
	t, err := readTensor(b, p, name)
	if err != nil {
		return t, fmt.Errorf("%s: %s", filepath.Base(name), strings.TrimPrefix(err.Error(), ": "))
	}
	b.bytes += int64(len(t.Data))
	return t, nil
}

func readTensor(b *build, p *backends.Port, name string) (t backends.Tensor, err error) {
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
	t, _, err = decode(b, p, &v, "input")
	return t, err
}

// Hash returns a number for a name, for seeds.
func Hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// draw appends element k in the protocol's raw form.
type draw func(dst []byte, rng *rand.Rand, k int64) ([]byte, error)

// drawing returns the draw of values that appendTo, a function of package tensor, takes.
func drawing[T any](
	t tensor.DataType, appendTo func([]byte, tensor.DataType, T) ([]byte, error),
	of func(rng *rand.Rand, k int64) T,
) draw {
	return func(dst []byte, rng *rand.Rand, k int64) ([]byte, error) { return appendTo(dst, t, of(rng, k)) }
}

// drawerOf returns the draw of a generator for elements of type t, nil for one of a file.
func drawerOf(b *build, g scenario.Generator, t tensor.DataType) (draw, error) {
	var of func(rng *rand.Rand, k int64) any
	switch {
	case g.Constant != nil:
		of = func(_ *rand.Rand, k int64) any { return g.Constant[k%int64(len(g.Constant))] }
	case g.OneOf != nil:
		of = func(rng *rand.Rand, _ int64) any { return g.OneOf[rng.IntN(len(g.OneOf))] }
	case g.Length != nil:
		of = words(*g.Length, g.Alphabet)
	case g.File != nil:
		return nil, nil
	case g.Dist != nil:
		return numbers(*g.Dist, t)
	case g.Word == "zero":
		zero := map[tensor.DataType]any{tensor.Bool: false, tensor.Bytes: ""}[t]
		if zero == nil {
			zero = int64(0)
		}
		of = func(*rand.Rand, int64) any { return zero }
	default:
		return random(t, b.dataset.StringLength), nil
	}
	return drawing(t, tensor.AppendElement, of), nil
}

// random draws floats uniform in [0, 1), integers uniform in [0, 100], both booleans, printable strings.
func random(t tensor.DataType, length scenario.Dist) draw {
	switch t {
	case tensor.Bool:
		return drawing(t, tensor.AppendElement, func(rng *rand.Rand, _ int64) any { return rng.IntN(2) == 1 })
	case tensor.Bytes:
		return drawing(t, tensor.AppendElement, words(length, printable))
	case tensor.FP16, tensor.BF16, tensor.FP32, tensor.FP64:
		return drawing(t, tensor.AppendFloat, func(rng *rand.Rand, _ int64) float64 { return rng.Float64() })
	}
	return drawing(t, tensor.AppendInteger,
		func(rng *rand.Rand, _ int64) int64 { return int64(rng.IntN(101)) })
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
	of := func(rng *rand.Rand, _ int64) float64 { return math.Round(drawFrom(d, rng)) }
	switch t {
	case tensor.Bytes:
		return nil, fmt.Errorf("a number cannot be drawn for strings; use {length: …} or {one_of: […]}")
	case tensor.Bool:
		truth := func(rng *rand.Rand, _ int64) any { return drawFrom(d, rng) >= 0.5 }
		return drawing(t, tensor.AppendElement, truth), nil
	case tensor.FP16, tensor.BF16, tensor.FP32, tensor.FP64:
		of = func(rng *rand.Rand, _ int64) float64 { return drawFrom(d, rng) }
	default:
		if d.Shape != "uniform" {
			break
		}
		lo, hi := math.Ceil(d.Min), math.Floor(d.Max)
		if lo > hi {
			return nil, fmt.Errorf("there is no whole number from %v to %v", d.Min, d.Max)
		}
		of = func(rng *rand.Rand, _ int64) float64 { return min(lo+math.Floor(rng.Float64()*(hi-lo+1)), hi) }
	}
	return drawing(t, tensor.AppendFloat, of), nil
}
