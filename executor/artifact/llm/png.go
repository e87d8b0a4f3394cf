package llm

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
)

// PNG draws a figure of some runs as PNG.
func (p Plot) PNG(runs []*Run) ([]byte, error) {
	r := &raster{image.NewRGBA(image.Rect(0, 0, p.Width, p.Height))}
	p.draw(r, runs)
	var b bytes.Buffer
	if err := png.Encode(&b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Title, err)
	}
	return b.Bytes(), nil
}

// raster draws on pixels, each as far as a shape covers it.
type raster struct{ *image.RGBA }

// shade puts ink over the pixels of a box by the share of each that cover returns for its middle.
func (r *raster) shade(x1, y1, x2, y2 float64, c ink, cover func(x, y float64) float64) {
	box := image.Rect(int(math.Floor(x1)), int(math.Floor(y1)), int(math.Ceil(x2)), int(math.Ceil(y2))).Intersect(r.Rect)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			share := cover(float64(x)+0.5, float64(y)+0.5) * float64(c.percent) / 100
			if share <= 0 {
				continue
			}
			old := r.RGBAAt(x, y)
			mix := func(a, b uint8) uint8 { return uint8(float64(a) + (float64(b)-float64(a))*share + 0.5) }
			r.SetRGBA(x, y, color.RGBA{mix(old.R, c.r), mix(old.G, c.g), mix(old.B, c.b), 255})
		}
	}
}

func part(v float64) float64 { return math.Max(0, math.Min(1, v)) }

func (r *raster) rect(x, y, w, h float64, fill, edge ink) {
	r.shade(x, y, x+w, y+h, fill, func(px, py float64) float64 {
		return part(math.Min(px+0.5, x+w)-math.Max(px-0.5, x)) * part(math.Min(py+0.5, y+h)-math.Max(py-0.5, y))
	})
	if edge.percent > 0 {
		r.line(x, y, x+w, y, 1, edge)
		r.line(x, y+h, x+w, y+h, 1, edge)
		r.line(x, y, x, y+h, 1, edge)
		r.line(x+w, y, x+w, y+h, 1, edge)
	}
}

func (r *raster) line(x1, y1, x2, y2, width float64, c ink) {
	dx, dy := x2-x1, y2-y1
	length := dx*dx + dy*dy
	reach := width/2 + 1
	r.shade(
		math.Min(x1, x2)-reach, math.Min(y1, y2)-reach, math.Max(x1, x2)+reach, math.Max(y1, y2)+reach, c,
		func(x, y float64) float64 {
			along := 0.0
			if length > 0 {
				along = part(((x-x1)*dx + (y-y1)*dy) / length)
			}
			return part(width/2 + 0.5 - math.Hypot(x-x1-along*dx, y-y1-along*dy))
		})
}

func (r *raster) dot(x, y, radius float64, fill ink) {
	r.shade(x-radius-1, y-radius-1, x+radius+1, y+radius+1, fill, func(px, py float64) float64 {
		return part(radius + 0.5 - math.Hypot(px-x, py-y))
	})
}

// Letters are strokes on a grid that is 4 wide, with capitals 6 high; the next letter begins at 5.5.
const (
	wide, high = 0.1, 0.12 // of the grid's units, in font sizes
	advance    = 5.5 * wide
)

func (r *raster) text(x, y, size float64, at anchor, upright bool, c ink, s string) {
	letters := []rune(clean.Line(s))
	start := 0.0
	switch total := (float64(len(letters))*advance - 1.5*wide) * size; at {
	case centred:
		start = -total / 2
	case ends:
		start = -total
	case begins:
	}
	glyphs := strokes()
	for i, letter := range letters {
		form, ok := glyphs[letter]
		if !ok && letter != ' ' {
			form = "0006464000" // a box: a letter that is not there
		}
		for stroke := range strings.FieldsSeq(form) {
			for k := 0; k+4 <= len(stroke); k += 2 {
				px := func(k int) float64 { return start + (float64(i)*advance+float64(stroke[k]-'0')*wide)*size }
				py := func(k int) float64 { return (float64(stroke[k]-'0') - 6) * high * size }
				x1, y1, x2, y2 := px(k), py(k+1), px(k+2), py(k+3)
				if upright {
					x1, y1, x2, y2 = y1, -x1, y2, -x2
				}
				r.line(x+x1, y+y1, x+x2, y+y2, size*0.095, c)
			}
		}
	}
}

// strokes returns the letters: for each its strokes, lines through points of two digits, across and down.
func strokes() map[rune]string {
	return map[rune]string{
		'A': "062046 1434", 'B': "06003041423303 3344453606", 'C': "4130100105163645", 'D': "06003041453606",
		'E': "40000646 0333", 'F': "400006 0333", 'G': "41301001051636454323", 'H': "0006 4046 0343",
		'I': "1030 2026 1636", 'J': "4045361605", 'K': "0006 400346", 'L': "000646", 'M': "0600234046",
		'N': "06004640", 'O': "100105163645413010", 'P': "06003041423303", 'Q': "100105163645413010 3446",
		'R': "06003041423303 2346", 'S': "413010010213334445361605", 'T': "0040 2026", 'U': "000516364540",
		'V': "002640", 'W': "0016233640", 'X': "0046 4006", 'Y': "0023 4023 2326", 'Z': "00400646",
		'0': "100105163645413010", '1': "112026 1636", '2': "01103041420646", '3': "011030414233 13334445361605",
		'4': "36300444", '5': "400002324345361605", '6': "413010010516364544331304", '7': "004016",
		'8': "103041423313020110 1304051636454433", '9': "051636454130100102133342",
		'a': "12324346 441405163645", 'b': "0006 0312324345361605", 'c': "4332120305163645",
		'd': "4046 4332120305163645", 'e': "04444332120305163645", 'f': "40302126 1242",
		'g': "4247381807 4332120305163645", 'h': "0006 0312324346", 'i': "2226 2020", 'j': "222718 2020",
		'k': "0006 420446", 'l': "10202536", 'm': "0206 03122326 23324346", 'n': "0206 0312324346",
		'o': "120305163645433212", 'p': "0208 0312324345361605", 'q': "4248 4332120305163645", 'r': "0206 04132232",
		's': "43321203143445361605", 't': "20253646 0242", 'u': "0205163645 4246", 'v': "022642", 'w': "0216243642",
		'x': "0246 4206", 'y': "0226 4208", 'z': "02420646",
		'.': "2626", ',': "2617", ':': "2323 2626", ';': "2323 2617", '-': "1434", '_': "0747", '+': "0444 2226",
		'=': "0343 0545", '/': "4006", '\\': "0046", '(': "30212536", ')': "10212516", '[': "30202636", ']': "10202616",
		'{': "30212213242536", '}': "10212233242516", '<': "420446", '>': "024406", '!': "2024 2626",
		'?': "01103041422324 2626", '\'': "2021", '"': "1011 3031", '#': "1016 3036 0242 0444",
		'$': "413010010213334445361605 2026", '%': "4006 0111 3545", '&': "46111020210405162643", '*': "2125 0343 1335",
		'@': "36160501103041443424223234", '|': "2027", '~': "0413243342", '^': "022042", '`': "1021",
		'…': "0606 2626 4646", '·': "2424",
	}
}
