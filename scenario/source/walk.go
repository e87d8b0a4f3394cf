package source

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

const (
	maxDepth  = 100    // maps and lists inside each other
	maxVisits = 50_000 // nodes that aliases bring, together
)

// walker turns the library's nodes into ours. Aliases are expanded: what they bring carries the
// position of the use in Pos and its own in Anchor, and is not reported again.
type walker struct {
	*parser
	active map[*yaml.Node]bool // anchored nodes that are being walked
	use    Pos                 // of the outermost alias that is being expanded; else zero
	visits int
	tooBig bool
}

// reportHere reports a mistake unless an alias repeats it.
func (w *walker) reportHere(d Diagnostic) {
	if w.use == (Pos{}) {
		w.report(d)
	}
}

func (w *walker) node(y *yaml.Node, depth int) *Node {
	n := w.place(y)
	if w.use != (Pos{}) {
		w.visits++
	}
	switch {
	case w.visits > maxVisits:
		if !w.tooBig {
			w.tooBig = true
			w.report(Errorf("too-many-aliases", "aliases expand to more than %d values", maxVisits).
				At("", n.Pos, 0))
		}
		return n
	case depth > maxDepth:
		w.reportHere(Errorf("too-deep", "maps and lists are nested more than %d deep", maxDepth).
			At("", n.Pos, 0))
		return n
	}
	if y.Kind == yaml.AliasNode {
		return w.alias(y, n, depth)
	}
	if y.Anchor != "" {
		w.active[y] = true
		defer delete(w.active, y)
	}
	w.checkTag(y, n)
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind, n.Tag = Map, "!!map"
		w.entries(y, n, depth)
	case yaml.SequenceNode:
		n.Kind, n.Tag = List, "!!seq"
		for _, item := range y.Content {
			n.Items = append(n.Items, w.node(item, depth+1))
		}
	default:
		w.scalar(y, n)
	}
	return n
}

// place makes a node at the place of y. Until more is known it is a null.
func (w *walker) place(y *yaml.Node) *Node {
	at := w.valuePos(y)
	if w.use != (Pos{}) {
		return &Node{Kind: Null, Tag: tagNull, Pos: w.use, Anchor: at}
	}
	return &Node{Kind: Null, Tag: tagNull, Pos: at}
}

func (w *walker) alias(y *yaml.Node, n *Node, depth int) *Node {
	if w.active[y.Alias] {
		w.reportHere(Errorf("alias-loop", "anchor &%s contains itself", y.Value).
			AtKey("", n.Pos, "*"+y.Value))
		return n
	}
	if w.use == (Pos{}) {
		w.use = n.Pos
		defer func() { w.use = Pos{} }()
	}
	w.active[y.Alias] = true
	defer delete(w.active, y.Alias)
	return w.node(y.Alias, depth)
}

func (w *walker) entries(y *yaml.Node, n *Node, depth int) {
	first := make(map[string]Pos, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, pos := y.Content[i], w.place(y.Content[i]).Pos
		value := w.node(y.Content[i+1], depth+1)
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if !w.checkKey(key, pos) {
			continue
		}
		if before, ok := first[key.Value]; ok {
			w.reportHere(Errorf("duplicate-key", "duplicate key %q", key.Value).
				Help(fmt.Sprintf("It was first written at line %d, column %d.", before.Line, before.Column)).
				AtKey("", pos, key.Value))
			continue
		}
		first[key.Value] = pos
		n.Entries = append(n.Entries, Entry{Key: key.Value, KeyPos: pos, Value: value})
	}
}

// checkKey reports whether a key is text.
func (w *walker) checkKey(key *yaml.Node, pos Pos) bool {
	quoted := key.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	const code = "key-not-text"
	var d *Diagnostic
	switch {
	case key.Tag == "!!merge":
		d = Errorf("merge-key", "merge keys (<<) are not part of plans").
			Help("Put what stages share under `defaults`.")
	case key.Kind != yaml.ScalarNode:
		d = Errorf(code, "a key must be text, not a map or a list")
		if key.Kind == yaml.MappingNode && key.Style&yaml.FlowStyle != 0 {
			d.Detail = "{{ }} is read as a map in a map. A variable is written \"${name}\", with the quotes."
		}
	case !quoted && key.Style&yaml.TaggedStyle != 0:
		d = Errorf(code, "key %q has a tag", key.Value).Help("Write the key alone.")
	case !quoted && key.Tag != tagString && key.Tag != "!!timestamp" && !plainNumber(key.Value):
		d = Errorf(code, "key %s is no text", cmp.Or(key.Value, "(empty)")).
			Help(fmt.Sprintf("Write it in quotes: %q.", key.Value))
	default:
		return true
	}
	w.reportHere(d.AtKey("", pos, key.Value))
	return false
}

// plainNumber reports whether a key is a number in the one form that no version of YAML reads
// differently, such as the values of a dist: {8: 1, 0.5: 3}. It is then the text that is written.
func plainNumber(key string) bool {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(key, "-"), ".")
	digits := func(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
	return digits(whole) && (whole == "0" || whole[0] != '0') && (!point || digits(fraction))
}

// checkTag refuses tags, except those that say what the value is anyway.
func (w *walker) checkTag(y *yaml.Node, n *Node) {
	if y.Style&yaml.TaggedStyle == 0 || y.Tag == tagString || y.Tag == "!!map" || y.Tag == "!!seq" {
		return
	}
	d := Errorf("unknown-tag", "tag %s is not part of plans", y.Tag).
		Help("Write the value without it; text that begins with ! needs quotes.")
	if word := strings.TrimPrefix(y.Tag, "!"); !strings.HasPrefix(word, "!") && word != "" {
		d.Detail = fmt.Sprintf("In an expression write `not %s`; text that begins with ! needs quotes.", word)
	}
	w.reportHere(d.AtKey("", Pos{Line: y.Line, Column: y.Column}, y.Tag))
}

func (w *walker) scalar(y *yaml.Node, n *Node) {
	n.Kind, n.Tag, n.Text = Scalar, tagString, y.Value
	n.Quoted = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
	n.Block = y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if n.Anchor == (Pos{}) {
		n.Runs = w.runs(n)
	}
	if n.Quoted || n.Block || y.Style&yaml.TaggedStyle != 0 {
		return
	}
	n.Comment = y.LineComment
	n.Tag = plainTag(y.Value)
	switch n.Tag {
	case tagNull:
		n.Kind = Null
	case tagInt, tagFloat:
		w.checkNumber(n)
	case tagString:
		w.checkAmbiguous(y, n)
	}
}

// checkNumber keeps infinities and numbers too long to compute with away from everything that reads
// the tree.
func (w *walker) checkNumber(n *Node) {
	const maxDigits = 100
	f, err := strconv.ParseFloat(n.Text, 64)
	if err == nil && !math.IsInf(f, 0) && len(n.Text) <= maxDigits {
		return
	}
	w.reportHere(Errorf("bad-number", "the number is too large or too long").
		Help("Write it in quotes if it is meant as text.").AtKey("", n.Pos, n.Text))
	n.Tag = tagString
}

// checkAmbiguous refuses what YAML reads as something else than its text and plans do not: 010, 0x10,
// 1_000, True, .inf.
func (w *walker) checkAmbiguous(y *yaml.Node, n *Node) {
	d := Errorf("ambiguous", "%s is not read the same everywhere", n.Text)
	switch y.Tag {
	case tagInt:
		d.Detail = fmt.Sprintf("Write a plain decimal number, or %q for text.", n.Text)
		digits := strings.ReplaceAll(n.Text, "_", "")
		if trimmed := strings.TrimLeft(digits, "0+"); number.MatchString(trimmed) {
			d.Nearest = trimmed
		}
	case tagFloat:
		d.Detail = fmt.Sprintf("Write a number with digits on both sides of the point, or %q for text.",
			n.Text)
		if filled := "0" + strings.TrimSuffix(n.Text, "."); number.MatchString(filled) {
			d.Nearest = filled
		}
		if f, err := strconv.ParseFloat(n.Text, 64); err != nil || math.IsInf(f, 0) {
			d.Code, d.Summary = "bad-number", n.Text+" is not a finite number"
			d.Detail = fmt.Sprintf("Write a finite number, or %q for text.", n.Text)
		}
	case tagBool:
		d.Nearest = strings.ToLower(n.Text)
		d.Detail = fmt.Sprintf("Write %s, or %q for text.", d.Nearest, n.Text)
	case tagNull:
		d.Detail = fmt.Sprintf("Leave the key out, or write %q for text.", n.Text)
	default:
		return
	}
	w.reportHere(d.AtKey("", n.Pos, n.Text))
}
