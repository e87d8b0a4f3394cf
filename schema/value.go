package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// value says what is wrong with a value.
func (r *reporter) value(c complaint) source.Diagnostic {
	d := source.Diagnostic{Path: source.JoinPointer(c.at...)}
	d.Pos, d.Width = r.valuePlace(c)
	name := r.label(c.at)
	switch {
	case c.node.Kind == source.Null:
		d.Code, d.Summary = "null-value", name+" has no value"
		d.Detail = "Give it one, or leave the key out."
		if r.isItem(c.at) {
			d.Summary, d.Detail = "an item of "+name+" has no value", "Give it one, or leave it out."
		}
		return d
	case c.keyword == "enum":
		notAllowed(&d, c, name)
	case c.keyword == "type", c.keyword == "pattern":
		r.form(&d, c, name)
	case strings.HasSuffix(strings.ToLower(c.keyword), "minimum"),
		strings.HasSuffix(strings.ToLower(c.keyword), "maximum"):
		d.Code, d.Summary = "out-of-range", fmt.Sprintf("%s cannot be %s", name, c.node.Text)
		d.Detail = bounds(c.schema)
	case c.keyword == "minItems":
		d.Code, d.Summary = "empty-list", name+" is empty"
		d.Detail = "Give it at least one item."
	default:
		d.Code, d.Summary = "invalid-value", fmt.Sprintf("%s is not valid: %s", name, c.message)
	}
	return d
}

// label is the key that a value stands under, or that the list stands under whose item it is.
func (r *reporter) label(at []string) string {
	for i := len(at) - 1; i >= 0; i-- {
		if parent := r.at(at[:i]); parent != nil && parent.Kind == source.Map {
			return "`" + at[i] + "`"
		}
	}
	return "the plan"
}

func (r *reporter) isItem(at []string) bool {
	if len(at) == 0 {
		return false
	}
	parent := r.at(at[:len(at)-1])
	return parent != nil && parent.Kind == source.List
}

// allowed lists the words of the enum of a complaint that are built. The mark is on the schema itself
// or on one outside of its conditions.
func allowed(c complaint) []string {
	words := built(c.schema)
	for k := c.leafError.keyword[:len(c.leafError.keyword)-1]; last(k) == "else" || last(k) == "then"; {
		k = k[:len(k)-1]
		if later := tree().At(source.JoinPointer(k...)).Get(notBuilt); later != nil {
			words = slices.DeleteFunc(words, func(w string) bool {
				return slices.ContainsFunc(later.Items, func(n *source.Node) bool { return n.Text == w })
			})
		}
	}
	return words
}

// built lists the words of an enum that are built. Words stand beside notBuilt in the branch that is
// not a variable.
func built(schema *source.Node) []string {
	enum := schema.Get("enum")
	if enum == nil {
		enum = schema.Get("else").Get("enum")
	}
	var words []string
	if enum == nil {
		return nil
	}
	refused := schema.Get(notBuilt)
	for _, w := range enum.Items {
		if refused == nil ||
			!slices.ContainsFunc(refused.Items, func(n *source.Node) bool { return n.Text == w.Text }) {
			words = append(words, w.Text)
		}
	}
	return words
}

func notAllowed(d *source.Diagnostic, c complaint, name string) {
	d.Code = "not-allowed"
	d.Allowed = allowed(c)
	if c.node.Kind != source.Scalar {
		d.Code, d.Summary = "wrong-type", fmt.Sprintf("%s: wanted a word, found %s", name, kind(c.node))
		return
	}
	d.Summary = fmt.Sprintf("%s cannot be %s", name, language.Written(c.node))
	if slices.Contains(d.Allowed, c.node.Text) && !c.node.Quoted {
		d.Detail = fmt.Sprintf("Write it in quotes: %q.", c.node.Text)
		return
	}
	if slices.Contains(d.Allowed, c.node.Text) {
		d.Detail = fmt.Sprintf("Write it without quotes: %s.", c.node.Text)
		return
	}
	d.Nearest = source.Nearest(c.node.Text, d.Allowed)
	for _, w := range d.Allowed { // warning for warn
		if d.Nearest == "" && len(w) > 2 &&
			(strings.HasPrefix(strings.ToLower(c.node.Text),
				w) || len(c.node.Text) > 2 && strings.HasPrefix(w, strings.ToLower(c.node.Text))) {
			d.Nearest = w
		}
	}
}

func bounds(schema *source.Node) string {
	var parts []string
	for _, b := range []struct{ keyword, words string }{
		{"minimum", "at least %s"}, {"exclusiveMinimum", "more than %s"}, {"maximum", "at most %s"},
	} {
		if n := schema.Get(b.keyword); n != nil {
			parts = append(parts, fmt.Sprintf(b.words, n.Text))
		}
	}
	return "Allowed is " + strings.Join(parts, " and ") + "."
}

// form says that a value is not written as its type is.
func (r *reporter) form(d *source.Diagnostic, c complaint, name string) {
	var scalar *language.Form
	if c.schema == tree().Get("$defs").Get(c.def) {
		scalar = language.FormOf(c.def)
	}
	wanted := text(c.schema.Get("title"))
	if wanted == "" || wanted == "map" {
		wanted = r.types(c.schema)
	}
	if outer := around(c); strings.HasPrefix(outer, "list of ") && c.keyword == "type" {
		wanted = outer // a text is another way to write the list
	}
	d.Code = "wrong-type"
	d.Summary = fmt.Sprintf("%s: wanted %s, found %s", name, wanted, kind(c.node))
	switch {
	case c.keyword == "type" && c.node.Kind == source.Map && text(c.schema.Get("type")) == "array":
		d.Detail = "Begin each " + item(name) + " with `- `."
		if name == "`assert`" || name == "`while`" || name == "`where`" {
			d.Detail = "A list of conditions is wanted, such as `- " + condition(c.node) + "`."
		}
	case c.keyword == "type" && text(c.schema.Get("type")) == "object":
		d.Detail = r.asMap(c, last(c.at))
	case c.node.Kind != source.Scalar:
	case c.keyword == "type" && (text(c.schema.Get("type")) == "array" || strings.HasPrefix(wanted, "list of ")):
		d.Detail = fmt.Sprintf("Write it in brackets: [%s].", c.node.Text)
	case c.keyword == "type" && wanted == "text":
		d.Detail = fmt.Sprintf("Write it in quotes: %q.", c.node.Text)
	case c.keyword == "pattern" && (wanted == "text" || wanted == "path" || wanted == "expression"):
		d.Code, d.Summary = "bad-text", fmt.Sprintf("%s cannot be %s", name, language.Written(c.node))
		d.Detail = examples(c.schema, d.Path)
		if meant := slug(c.node.Text); (d.Path == "/name" || strings.HasSuffix(d.Path, "/id")) &&
			meant != c.node.Text {
			d.Nearest = meant
		}
	case scalar != nil:
		m := scalar.Mistake(c.node)
		d.Summary, d.Detail, d.Nearest, d.Allowed = name+": "+m.Summary, m.Detail, m.Nearest, m.Allowed
		if scalar.Units != nil {
			d.Code = "bad-" + c.def
		}
		ranged(d, c)
	}
}

// condition is what a map in the place of a list of conditions was meant as.
func condition(n *source.Node) string {
	if len(n.Entries) > 0 && n.Entries[0].Value.Kind == source.Scalar && len(n.Entries[0].Value.Text) < 40 {
		e := n.Entries[0]
		key := e.Key
		if !strings.Contains(key, ".") {
			key = "latency." + key
		}
		if stat := key[strings.IndexByte(key, '.')+1:]; strings.HasPrefix(stat, "p") || stat == "mean" ||
			stat == "max" {
			return key + " < " + strings.TrimLeft(e.Value.Text, "<>= ")
		}
	}
	return "latency.p99 < 50ms"
}

var span = regexp.MustCompile(`^([0-9.]*[0-9])(?:\.\.\.?|:| to ` +
	`|-|\x{2013})([0-9.]*[0-9])(?::([0-9.]*[0-9]))?(/s)?$`)

// ranged says how a range of a load is written: 1..8, 1:8:2.
func ranged(d *source.Diagnostic, c complaint) {
	m := span.FindStringSubmatch(c.node.Text)
	if at := last(c.at); m == nil || at != "concurrency" && at != "rate" {
		return
	}
	unit := ""
	if last(c.at) == "rate" {
		unit = "/s"
	}
	step := ""
	if m[3] != "" {
		step = ", step: " + m[3] + unit
	}
	d.Nearest = ""
	d.Detail = fmt.Sprintf(
		"A range is levels: {from: %s%s, to: %s%s%s}, or a list: [%[1]s%[2]s, %[3]s%[2]s].", m[1],
		unit, m[2], unit, step,
	)
}

// slug is a text as a name is written.
func slug(text string) string {
	text = strings.Trim(unnamed.ReplaceAllString(strings.ToLower(text), "-"), "-_.")
	if text == "" {
		return "stage"
	}
	return text
}

var unnamed = regexp.MustCompile(`[^a-z0-9_]+`)

// around is the name of the value of which the schema is one form.
func around(c complaint) string {
	k := c.leafError.keyword
	if len(k) < 4 || k[len(k)-4] != "allOf" {
		return ""
	}
	return text(tree().At(source.JoinPointer(k[:len(k)-4]...)).Get("title"))
}

// item is one of a list, by the list's name.
func item(list string) string {
	if list == "`stages`" {
		return "stage"
	}
	return "item"
}

func examples(schema *source.Node, path string) string {
	switch {
	case strings.HasSuffix(path, "/id"):
		return "It has lower-case letters, digits, - and _, and begins with a letter or digit."
	case path == "/name":
		return "It has lower-case letters, digits, . - and _, and begins with a letter or digit."
	}
	list := schema.Get("examples")
	if list == nil {
		return ""
	}
	var texts []string
	for _, e := range list.Items {
		texts = append(texts, e.Text)
	}
	return "For example: " + strings.Join(texts, ", ") + "."
}

// types is what a schema without a name of its own asks for.
func (r *reporter) types(schema *source.Node) string {
	names := map[string]string{
		"object": "map", "array": "list", "string": "text", "integer": "int", "boolean": "bool",
	}
	n := schema.Get("type")
	if n == nil {
		return "another value"
	}
	items := n.Items
	if n.Kind == source.Scalar {
		items = []*source.Node{n}
	}
	var words []string
	for _, t := range items {
		word := names[t.Text]
		if word == "" {
			word = t.Text
		}
		words = append(words, word)
	}
	return strings.Join(words, " or ")
}

// kind is what a node is, for people.
func kind(n *source.Node) string {
	switch n.Kind {
	case source.Map:
		return "a map"
	case source.List:
		return "a list"
	case source.Null:
		return "nothing"
	case source.Scalar:
		switch n.JSON().(type) {
		case string:
			return "text"
		case bool:
			return "true or false"
		default:
			return "a number"
		}
	}
	return "something else"
}
