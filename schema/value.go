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
func (r *reporter) value(v violation) *source.Diagnostic {
	name := r.label(v.at)
	switch {
	case v.node.Kind == source.Null && r.isItem(v.at):
		return source.Errorf(source.CodeNull, "an item of %s has no value", name).
			Help("Give it one, or leave it out.")
	case v.node.Kind == source.Null:
		return source.Errorf(source.CodeNull, "%s has no value", name).
			Help("Give it one, or leave the key out.")
	}
	switch v.keyword() {
	case "enum":
		return notAllowed(v, name)
	case "type", "pattern":
		return r.form(v, name)
	case "minimum", "exclusiveMinimum", "maximum":
		bound := func(keyword string) string { return text(v.schema.Get(keyword)) }
		return language.OutOfRange(name, v.node.Text,
			bound("minimum"), bound("exclusiveMinimum"), bound("maximum"))
	case "minItems", "minProperties":
		return source.Errorf("empty-list", "%s is empty", name).Help("Give it at least one item.")
	}
	return source.Errorf(source.CodeValue, "%s is not valid: %s", name, v.message)
}

func (r *reporter) isItem(at []string) bool {
	if len(at) == 0 {
		return false
	}
	parent := r.at(at[:len(at)-1])
	return parent != nil && parent.Kind == source.List
}

// allowed lists the words of an enum. Beside a variable they are in the branch that is none.
func allowed(schema *source.Node) (words []string) {
	enum := schema.Get("enum")
	if enum == nil {
		enum = schema.Get("else").Get("enum")
	}
	if enum == nil {
		return nil
	}
	for _, w := range enum.Items {
		words = append(words, w.Text)
	}
	return words
}

func notAllowed(v violation, name string) *source.Diagnostic {
	words, text := allowed(v.schema), v.node.Text
	if v.node.Kind != source.Scalar {
		return source.Errorf(source.CodeType, "%s: wanted a word, found %s", name, kind(v.node)).
			Among("", words)
	}
	d := source.Errorf("not-allowed", "%s cannot be %s", name, language.Written(v.node)).Among("", words)
	switch {
	case !slices.Contains(words, text):
		d.Nearest = language.NearestWord(text, words)
	case v.node.Quoted:
		d.Detail = fmt.Sprintf("Write it without quotes: %s.", text)
	default:
		d.Detail = fmt.Sprintf("Write it in quotes: %q.", text)
	}
	return d
}

// form says that a value is not written as its type is.
func (r *reporter) form(v violation, name string) *source.Diagnostic {
	var scalar *language.Form
	if v.schema == tree().Get("$defs").Get(v.def) {
		scalar = language.FormOf(v.def)
	}
	wanted, isType := text(v.schema.Get("title")), v.keyword() == "type"
	if wanted == "" || wanted == "map" {
		wanted = kindOf(v.schema)
	}
	if outer := around(v); strings.HasPrefix(outer, "list of ") && isType {
		wanted = outer // a text is another way to write the list
	}
	d := source.Errorf(source.CodeType, "%s: wanted %s, found %s", name, wanted, kind(v.node))
	switch typ := text(v.schema.Get("type")); {
	case isType && v.node.Kind == source.Map && typ == "array":
		switch name {
		case "`assert`", "`while`", "`where`":
			return d.Help("A list of conditions is wanted, such as `- " + condition(v.node) + "`.")
		case "`stages`":
			return d.Help("Begin each stage with `- `.")
		}
		return d.Help("Begin each item with `- `.")
	case isType && typ == "object":
		return d.Help(r.asMap(v, last(v.at)))
	case v.node.Kind != source.Scalar:
		return d
	case isType && (typ == "array" || strings.HasPrefix(wanted, "list of ")):
		return d.Help(fmt.Sprintf("Write it in brackets: [%s].", v.node.Text))
	case isType && wanted == "text":
		return d.Help(fmt.Sprintf("Write it in quotes: %q.", v.node.Text))
	case !isType && (wanted == "text" || wanted == "path" || wanted == "expression"):
		return badText(v, name)
	case scalar == nil:
		return d
	}
	d = scalar.Mistake(v.node)
	d.Code, d.Summary = source.CodeType, name+": "+d.Summary
	if scalar.Units != nil {
		d.Code = "bad-" + v.def
	}
	ranged(d, v)
	return d
}

// badText reports a text that is not in the form that the key wants.
func badText(v violation, name string) *source.Diagnostic {
	d := source.Errorf("bad-text", "%s cannot be %s", name, language.Written(v.node))
	signs := ""
	switch {
	case last(v.at) == "id":
		signs = "-"
	case v.path() == "/name":
		signs = ". -"
	default:
		if list := v.schema.Get("examples"); list != nil {
			var texts []string
			for _, e := range list.Items {
				texts = append(texts, e.Text)
			}
			d.Detail = "For example: " + strings.Join(texts, ", ") + "."
		}
		return d
	}
	if meant := slug(v.node.Text); meant != v.node.Text {
		d.Nearest = meant
	}
	return d.Help("It has lower-case letters, digits, " + signs +
		" and _, and begins with a letter or digit.")
}

// condition returns the condition that a map in the place of a list of them was meant as.
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
func ranged(d *source.Diagnostic, v violation) {
	m := span.FindStringSubmatch(v.node.Text)
	if at := last(v.at); m == nil || at != "concurrency" && at != "rate" {
		return
	}
	unit := ""
	if last(v.at) == "rate" {
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
func around(v violation) string {
	k := v.rule
	if len(k) < 4 || k[len(k)-4] != "allOf" {
		return ""
	}
	return text(tree().At(source.JoinPointer(k[:len(k)-4]...)).Get("title"))
}

// kindOf names a value whose schema has no title.
func kindOf(schema *source.Node) string {
	switch text(schema.Get("type")) {
	case "object":
		return "map"
	case "array":
		return "list"
	}
	return "another value"
}

// kind names the kind of a node, for people.
func kind(n *source.Node) string {
	switch n.JSON().(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool:
		return "true or false"
	}
	return "a number"
}
