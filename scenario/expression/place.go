package expression

import (
	"strconv"
	"strings"
)

// Part is a part of a reference before its metric: what a NameError may be about.
type Part string

// The parts of a place, in the order in which they are written.
const (
	InBaseline Part = "baseline"
	InStage    Part = "stage"
	InPhase    Part = "phase"
	InMix      Part = "mix"
	InModel    Part = "model"
)

// scrapeWord begins a metric that the server's own endpoint gives: scrape("name{label='v'}").max.
const scrapeWord = "scrape"

// places are the words that are called with one text, in the order in which they may follow one another.
func places() []string {
	return []string{string(InStage), string(InPhase), string(InMix), string(InModel)}
}

// rank is where a word of places stands; -1: it is none.
func rank(word string) int {
	for i, w := range places() {
		if w == word {
			return i
		}
	}
	return -1
}

// placeHint is how the text of a place is written.
func placeHint(word string) string {
	what := map[Part]string{
		InStage: "the id of one stage", InPhase: "the name of one hold of a ramp", InMix: "the name of one entry of the mix",
		InModel: "the name of one composing model",
	}[Part(word)]
	example := "name"
	switch word {
	case string(InStage):
		example = "id"
	case scrapeWord:
		what, example = "one series of the server", "name{label='v'}"
	}
	return word + " takes " + what + `, as a text: ` + word + `("` + example + `")`
}

// put sets the part of p that word names.
func (p *Place) put(word, text string) {
	switch Part(word) {
	case InStage:
		p.Node = text
	case InPhase:
		p.Phase = text
	case InMix:
		p.Mix = text
	case InModel:
		p.Model = text
	case InBaseline:
		p.Baseline = true
	}
}

// String is the place as it is written before a metric, with its last dot: `baseline.stage("s").phase("spike").`; "" is
// the node that is judged.
func (p Place) String() string {
	var b strings.Builder
	if p.Baseline {
		b.WriteString(string(InBaseline) + ".")
	}
	for _, part := range [...]struct {
		word Part
		text string
	}{{InStage, p.Node}, {InPhase, p.Phase}, {InMix, p.Mix}, {InModel, p.Model}} {
		if part.text != "" {
			b.WriteString(string(part.word) + "(" + strconv.Quote(part.text) + ").")
		}
	}
	return b.String()
}

// String is the reference as it is written: `stage("s").phase("spike").latency.p99`.
func (r Ref) String() string { return r.Place.String() + r.Leaf.String() }

// Scraped reports whether the reference is one of scrape("…").
func (r Ref) Scraped() bool { return strings.HasPrefix(r.Leaf.Row.Name, scrapeWord+"(") }
