package llm

import (
	"fmt"
	"math"
	"strconv"
)

// Limits of what a figure shows of one run.
const (
	maxPoints  = 4000
	maxOutside = 500
	maxBins    = 24
)

// canvas is what a figure is drawn on. Sizes are pixels, y goes down. A text begins, is centred or ends at x; its
// baseline is y. An upright text is turned to be read from below.
type canvas interface {
	rect(x, y, w, h float64, fill ink, edge ink)
	line(x1, y1, x2, y2, width float64, color ink)
	dot(x, y, radius float64, fill ink)
	text(x, y, size float64, at anchor, upright bool, color ink, s string)
}

type anchor int

const (
	begins anchor = iota
	centred
	ends
)

// ink is a colour with an opacity in percent; 0 is none.
type ink struct {
	r, g, b, percent uint8
}

func gray(v uint8) ink { return ink{v, v, v, 100} }

// inkOf returns the colour of the i-th run, of a palette that colour-blind readers tell apart.
func inkOf(i int, percent uint8) ink {
	palette := [...][3]uint8{
		{0, 114, 178}, {230, 159, 0}, {0, 158, 115}, {213, 94, 0}, {204, 121, 167}, {86, 180, 233}, {240, 228, 66},
	}
	c := palette[i%len(palette)]
	return ink{c[0], c[1], c[2], percent}
}

// axis maps values to pixels, with marks at round numbers.
type axis struct {
	from, to float64 // values
	a, b     float64 // pixels
	step     float64
}

// axisOf returns an axis of values from low to high with some n marks. It begins at 0 unless the values are far from it.
func axisOf(low, high, a, b float64, n int) axis {
	if low > high {
		low, high = 0, 1
	}
	if low > 0 && low < (high-low) {
		low = 0
	}
	if high-low <= math.Abs(high)*1e-9 {
		low, high = low-math.Max(math.Abs(low)*0.1, 0.5), high+math.Max(math.Abs(high)*0.1, 0.5)
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	for _, f := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*f) <= float64(n) {
			step *= f
			break
		}
	}
	return axis{math.Floor(low/step+1e-9) * step, math.Ceil(high/step-1e-9) * step, a, b, step}
}

func (x axis) at(v float64) float64 { return x.a + (v-x.from)/(x.to-x.from)*(x.b-x.a) }

// marks returns the values with a mark.
func (x axis) marks() (list []float64) {
	for i := 0; i <= int(math.Round((x.to-x.from)/x.step)); i++ {
		list = append(list, x.from+float64(i)*x.step)
	}
	return list
}

// label formats the value of a mark.
func (x axis) label(v float64) string {
	digits := max(0, int(-math.Floor(math.Log10(x.step)+1e-9)))
	return strconv.FormatFloat(v, 'f', min(digits, 9), 64)
}

// frame is the area of one diagram.
type frame struct {
	x, y axis
	c    canvas
}

// space keeps the edges of a figure free: title and legend, labels of the axes.
const (
	left, right, top, bottom = 80.0, 24.0, 64.0, 58.0
	fontSize                 = 12.0
	charWidth                = 6.6 // on average
)

// draw draws a figure of some runs.
func (p Plot) draw(c canvas, runs []*Run) {
	w, h := float64(p.Width), float64(p.Height)
	c.rect(0, 0, w, h, gray(255), ink{})
	c.text(w/2, 26, 17, centred, false, gray(20), p.Title)
	switch p.Type {
	case box:
		p.drawBoxes(c, runs)
	case heatmap:
		p.drawHeatmaps(c, runs)
	default:
		p.drawPoints(c, runs)
	}
}

// grid draws the axes with their labels.
func (f frame) grid(xLabel, yLabel string, upright bool) {
	for _, v := range f.x.marks() {
		at := f.x.at(v)
		f.c.line(at, f.y.a, at, f.y.b, 1, gray(228))
		f.c.text(at, f.y.a+17, fontSize-1, centred, false, gray(70), f.x.label(v))
	}
	if upright {
		for _, v := range f.y.marks() {
			at := f.y.at(v)
			f.c.line(f.x.a, at, f.x.b, at, 1, gray(228))
			f.c.text(f.x.a-7, at+4, fontSize-1, ends, false, gray(70), f.y.label(v))
		}
	}
	f.c.line(f.x.a, f.y.a, f.x.b, f.y.a, 1, gray(90))
	f.c.line(f.x.a, f.y.a, f.x.a, f.y.b, 1, gray(90))
	f.c.text((f.x.a+f.x.b)/2, f.y.a+40, fontSize, centred, false, gray(40), xLabel)
	f.c.text(f.x.a-56, (f.y.a+f.y.b)/2, fontSize, centred, true, gray(40), yLabel)
}

// drawBoxes draws a box for each run, one under the other.
func (p Plot) drawBoxes(c canvas, runs []*Run) {
	boxes := make([]boxStats, len(runs))
	known := make([]bool, len(runs))
	low, high := math.Inf(1), math.Inf(-1)
	longest := 0
	for i, r := range runs {
		longest = max(longest, min(len([]rune(r.Name)), 40))
		if boxes[i], known[i] = p.boxOf(r); known[i] {
			low, high = min(low, boxes[i].low), max(high, boxes[i].high)
			for _, v := range boxes[i].outside {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	w, h := float64(p.Width), float64(p.Height)
	names := math.Min(float64(longest)*charWidth+30, w/3)
	x := axisOf(low, high, names, w-right, int((w-names)/90))
	f := frame{x, axis{a: h - bottom, b: top - 16}, c}
	f.grid(p.XLabel, p.YLabel, false)
	row := (f.y.a - f.y.b) / float64(len(runs))
	for i, r := range runs {
		at := f.y.b + (float64(i)+0.5)*row
		c.text(names-12, at+4, fontSize, ends, false, gray(20), short(r.Name, 40))
		if !known[i] {
			c.text(names+12, at+4, fontSize, begins, false, gray(120), "no data")
			continue
		}
		f.box(boxes[i], at, math.Min(row*0.6, 90), i)
	}
}

// box draws the box of the i-th run.
func (f frame) box(b boxStats, at, size float64, i int) {
	c, x := f.c, f.x
	dark := inkOf(i, 100)
	for _, w := range [][2]float64{{b.low, b.q1}, {b.q3, b.high}} {
		c.line(x.at(w[0]), at, x.at(w[1]), at, 1.5, dark)
	}
	for _, v := range []float64{b.low, b.high} {
		c.line(x.at(v), at-size/4, x.at(v), at+size/4, 1.5, dark)
	}
	c.rect(x.at(b.q1), at-size/2, x.at(b.q3)-x.at(b.q1), size, inkOf(i, 35), dark)
	c.line(x.at(b.median), at-size/2, x.at(b.median), at+size/2, 2.5, dark)
	c.dot(x.at(b.mean), at, 3.5, gray(30))
	step := len(b.outside)/maxOutside + 1
	for k := 0; k < len(b.outside); k += step {
		c.dot(x.at(b.outside[k]), at, 2.5, inkOf(i, 60))
	}
}

// drawPoints draws the points of all runs into one diagram.
func (p Plot) drawPoints(c canvas, runs []*Run) {
	lists := make([][][2]float64, len(runs))
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i, r := range runs {
		lists[i] = p.points(r, maxPoints)
		for _, v := range lists[i] {
			lowX, highX, lowY, highY = min(lowX, v[0]), max(highX, v[0]), min(lowY, v[1]), max(highY, v[1])
		}
	}
	w, h := float64(p.Width), float64(p.Height)
	f := frame{
		axisOf(lowX, highX, left, w-right, int(w/90)), axisOf(lowY, highY, h-bottom, top, int(h/50)), c,
	}
	f.grid(p.XLabel, p.YLabel, true)
	for i := range runs {
		for _, v := range lists[i] {
			c.dot(f.x.at(v[0]), f.y.at(v[1]), 3, inkOf(i, 45))
		}
	}
	at := left
	for i, r := range runs { // legend
		name := short(r.Name, 40)
		if len(lists[i]) == 0 {
			name += " (no data)"
		}
		if wide := float64(len([]rune(name)))*charWidth + 34; at+wide > w && i > 0 {
			break
		}
		c.dot(at+6, 44, 4.5, inkOf(i, 100))
		c.text(at+15, 48, fontSize, begins, false, gray(20), name)
		at += float64(len([]rune(name)))*charWidth + 34
	}
}

// drawHeatmaps draws the density of each run's pairs, side by side with the same axes.
func (p Plot) drawHeatmaps(c canvas, runs []*Run) {
	lists := make([][][2]float64, len(runs))
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i, r := range runs {
		lists[i] = p.points(r, math.MaxInt32)
		for _, v := range lists[i] {
			lowX, highX, lowY, highY = min(lowX, v[0]), max(highX, v[0]), min(lowY, v[1]), max(highY, v[1])
		}
	}
	w, h := float64(p.Width), float64(p.Height)
	each := w / float64(len(runs))
	for i, r := range runs {
		from := float64(i) * each
		f := frame{
			axisOf(lowX, highX, from+left, from+each-right, max(int(each/90), 2)),
			axisOf(lowY, highY, h-bottom, top, int(h/50)), c,
		}
		f.grid(p.XLabel, p.YLabel, true)
		name := short(r.Name, 40)
		if len(lists[i]) == 0 {
			name += ": no data"
		}
		most := f.density(lists[i], i)
		if most > 0 {
			name += fmt.Sprintf(", up to %d requests a cell", most)
		}
		c.text((f.x.a+f.x.b)/2, top-8, fontSize, centred, false, gray(20), name)
	}
}

// density draws a cell for each pair of ranges that has requests, the darker the more, and returns the most of one cell.
func (f frame) density(list [][2]float64, i int) (most int) {
	bins := func(x axis) int { return int(math.Min(maxBins, math.Max(4, math.Abs(x.b-x.a)/24))) }
	nx, ny := bins(f.x), bins(f.y)
	index := func(x axis, v float64, n int) int { return min(int((v-x.from)/(x.to-x.from)*float64(n)), n-1) }
	cells := make(map[[2]int]int)
	for _, v := range list {
		at := [2]int{index(f.x, v[0], nx), index(f.y, v[1], ny)}
		cells[at]++
		most = max(most, cells[at])
	}
	wide, high := (f.x.b-f.x.a)/float64(nx), (f.y.a-f.y.b)/float64(ny)
	for x := range nx {
		for y := range ny {
			if n := cells[[2]int{x, y}]; n > 0 {
				share := 15 + 85*float64(n)/float64(most)
				c := inkOf(i, uint8(share))
				f.c.rect(f.x.a+float64(x)*wide, f.y.a-float64(y+1)*high, wide, high, c, ink{})
			}
		}
	}
	return most
}

// short returns a name of at most n characters.
func short(name string, n int) string {
	if all := []rune(name); len(all) > n {
		return string(all[:n-1]) + "…"
	}
	return name
}
