package llm

import (
	"bytes"
	"fmt"
	"html"
	"strconv"

	"github.com/sluice-bench/sluice/executor/artifact/clean"
)

// SVG draws a figure of some runs as SVG. The same runs give the same bytes.
func (p Plot) SVG(runs []*Run) []byte {
	s := &svg{}
	fmt.Fprintf(&s.Buffer, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" `+
		`font-family="sans-serif">`+"\n", p.Width, p.Height, p.Width, p.Height)
	p.draw(s, runs)
	s.WriteString("</svg>\n")
	return s.Bytes()
}

type svg struct{ bytes.Buffer }

// px returns a position with a tenth of a pixel.
func px(v float64) string { return strconv.FormatFloat(float64(int(v*10+0.5))/10, 'f', -1, 64) }

// paint returns the attributes of a colour for fill or stroke.
func (i ink) paint(what string) string {
	if i.percent == 0 {
		return ` ` + what + `="none"`
	}
	color := fmt.Sprintf(` %s="#%02x%02x%02x"`, what, i.r, i.g, i.b)
	if i.percent < 100 {
		color += fmt.Sprintf(` %s-opacity="%s"`, what, strconv.FormatFloat(float64(i.percent)/100, 'f', -1, 64))
	}
	return color
}

func (s *svg) rect(x, y, w, h float64, fill, edge ink) {
	stroke := ""
	if edge.percent > 0 {
		stroke = edge.paint("stroke")
	}
	fmt.Fprintf(&s.Buffer, `<rect x="%s" y="%s" width="%s" height="%s"%s%s/>`+"\n",
		px(x), px(y), px(w), px(h), fill.paint("fill"), stroke)
}

func (s *svg) line(x1, y1, x2, y2, width float64, color ink) {
	fmt.Fprintf(&s.Buffer, `<line x1="%s" y1="%s" x2="%s" y2="%s"%s stroke-width="%s"/>`+"\n",
		px(x1), px(y1), px(x2), px(y2), color.paint("stroke"), px(width))
}

func (s *svg) dot(x, y, radius float64, fill ink) {
	fmt.Fprintf(&s.Buffer, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", px(x), px(y), px(radius), fill.paint("fill"))
}

func (s *svg) text(x, y, size float64, at anchor, upright bool, color ink, text string) {
	if text == "" {
		return
	}
	where := [...]string{begins: "start", centred: "middle", ends: "end"}[at]
	turn := ""
	if upright {
		turn = fmt.Sprintf(` transform="rotate(-90 %s %s)"`, px(x), px(y))
	}
	fmt.Fprintf(&s.Buffer, `<text x="%s" y="%s" font-size="%s" text-anchor="%s"%s%s>%s</text>`+"\n",
		px(x), px(y), px(size), where, color.paint("fill"), turn, html.EscapeString(clean.Line(text)))
}
