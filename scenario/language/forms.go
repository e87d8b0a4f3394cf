package language

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-bench/sluice/scenario/source"
)

// Form is a type of scalars: how a plan writes its values. The schema and the messages about values
// that are written in another way follow from it.
type Form struct {
	Name        string // of its definition in the schema, and as the type of a variable
	Title       string // for people; "": its name
	Description string
	Kinds       []string // types of JSON; a variable is a string. None: only variables have the type
	Pattern     string   // of a whole text, without variables
	Units       []string // that a number without one may have been meant in
	Examples    []any
	units       map[string]scale
	read        reader
}

const (
	decimal  = `[0-9]+(\.[0-9]+)?`
	counting = `requests?|sequences?|sessions?|pass(es)?`
)

// Forms lists the types of scalars.
func Forms() []*Form { return forms() }

var forms = sync.OnceValue(func() []*Form {
	all := []*Form{
		{
			Name:        "text",
			Description: "Text. Numbers and true or false are taken as they are written.",
			Kinds:       []string{"string", "number", "boolean"},
			Examples:    []any{"resnet50", "Bearer ${token}"},
			read:        readText,
		},
		{
			Name: "any", Title: "scalar", Description: "A scalar: its YAML type counts.",
			Kinds: []string{"string", "number", "boolean"}, Examples: []any{"text", 3, true},
			read: readAny,
		},
		{
			Name: "path", Description: "A path, relative to the file that holds it.",
			Kinds: []string{"string"}, Pattern: `.+`, Examples: []any{"data/rows.json"},
			read: readPath,
		},
		{
			Name: "int", Description: "A whole number, in decimal digits, without quotes.",
			Kinds: []string{"integer", "string"}, Examples: []any{16, "${n}"},
			read: readInt,
		},
		{
			Name: "number", Description: "A number without a unit, without quotes.",
			Kinds: []string{"number", "string"}, Examples: []any{0.5, "${weight}"},
			read: readNumber,
		},
		{
			Name: "bool", Description: "true or false.",
			Kinds: []string{"boolean", "string"}, Examples: []any{true, "${flag}"},
			read: readBool,
		},
		{
			Name:        "duration",
			Description: "A time with its unit: ns, us, ms, s, m or min, h.",
			Kinds:       []string{"string"}, Pattern: source.DurationPattern, Units: []string{"s"},
			Examples: []any{"50ms", "1.5s", "1h30m", "${limit}"},
			read:     readDuration,
		},
		{
			Name: "rate", Description: "A number for each second, minute or hour.",
			Kinds: []string{"string"}, Pattern: decimal + ` */(s|min|h)`, Units: []string{"/s"},
			Examples: []any{"200/s", "90/min", "0.5/s"},
			units:    map[string]scale{"/s": {1, 1}, "/min": {1, 60}, "/h": {1, 3600}},
			read:     readQuantity[Rate],
		},
		{
			Name: "ratio", Description: "A share in percent.",
			Kinds: []string{"string"}, Pattern: decimal + ` *%`, Units: []string{"%"},
			Examples: []any{"0.1%", "95%"},
			units:    map[string]scale{"%": {1, 100}},
			read:     readQuantity[Ratio],
		},
		{
			Name: "precision_int", Title: "int or ratio", Description: "A share in percent, or an amount.",
			Kinds: []string{"integer", "string"}, Pattern: decimal + ` *%`, Examples: []any{"2%", 4},
		},
		{
			Name: "precision_rate", Title: "rate or ratio", Description: "A share in percent, or an amount.",
			Kinds: []string{"string"}, Pattern: decimal + ` *(%|/(s|min|h))`, Examples: []any{"2%", "10/s"},
		},
		{
			Name: "size", Description: "Bytes with a unit: B, kB, MB, GB, KiB, MiB, GiB.",
			Kinds: []string{"string"}, Pattern: decimal + ` *(B|kB|KB|MB|GB|KiB|MiB|GiB)`,
			Units: []string{"B"}, Examples: []any{"64MiB", "1MB"},
			units: map[string]scale{
				"B": {1, 1}, "kB": {1e3, 1}, "KB": {1e3, 1}, "MB": {1e6, 1}, "GB": {1e9, 1},
				"KiB": {1 << 10, 1}, "MiB": {1 << 20, 1}, "GiB": {1 << 30, 1},
			},
			read: readQuantity[Size],
		},
		{
			Name:        "span",
			Description: "A duration, or a number of requests, of sequences or of passes over the data.",
			Kinds:       []string{"string"}, Pattern: source.DurationPattern + `|[0-9]+ +(` + counting + `)`,
			Units: []string{"s", " requests"}, Examples: []any{"60s", "1000 requests"},
			read: readSpan,
		},
		{
			Name:        "expression",
			Description: "A comparison of metrics with limits, or several, joined by and, or, not.",
			Kinds:       []string{"string"}, Pattern: `[\s\S]*\S[\s\S]*`,
			Examples: []any{"latency.p99 < 50ms", "errors.ratio < ${allowed}"},
			read:     readExpression,
		},
		{
			Name: "connections", Title: "int or word",
			Description: "per_slot, per_request, or a number shared by all slots.",
			Kinds:       []string{"integer", "string"}, Pattern: `per_slot|per_request`,
			Examples: []any{"per_slot", 4},
			read:     readConnections,
		},
		{
			Name: "exact_output", Title: "bool or word",
			Description: "true, false, or auto.",
			Kinds:       []string{"boolean", "string"}, Pattern: `auto`,
			Examples: []any{true, "auto"},
			read:     readExactOutput,
		},
		{
			Name: "power", Description: "Watts with a unit: mW, W, kW.",
			Pattern: decimal + ` *(mW|W|kW)`, Units: []string{"W"}, Examples: []any{"300mW", "500W", "0.5kW"},
			units: map[string]scale{"mW": {1e-3, 1}, "W": {1, 1}, "kW": {1e3, 1}},
			read:  readQuantity[power],
		},
		{
			Name: "energy", Description: "Joules with a unit: mJ, J, kJ.",
			Pattern: decimal + ` *(mJ|J|kJ)`, Units: []string{"J"}, Examples: []any{"300mJ", "2J", "1.5kJ"},
			units: map[string]scale{"mJ": {1e-3, 1}, "J": {1, 1}, "kJ": {1e3, 1}},
			read:  readQuantity[energy],
		},
	}
	for _, f := range all {
		f.Title = cmp.Or(f.Title, f.Name)
	}
	return all
})

// FormOf returns the type of scalars with a name; nil: there is none.
func FormOf(name string) *Form {
	for _, f := range Forms() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Mistake reports a scalar that is not written as values of the type are, and what it was likely meant
// to be.
func (f *Form) Mistake(n *source.Node) *source.Diagnostic {
	m := source.Errorf(source.CodeValue, "wanted %s, found %s", f.Title, Written(n)).Help(f.Description)
	if f.Units == nil {
		return m.Among(f.meant(n), nil)
	}
	m.Summary = fmt.Sprintf("%q is not a %s", n.Text, f.Name)
	var examples []string
	for _, e := range f.Examples {
		examples = append(examples, fmt.Sprint(e))
	}
	m.Detail += " For example: " + strings.Join(examples, ", ") + "."
	switch {
	case !IsDecimal(n.Text):
		if meant := source.NearestQuantity(n.Text); f.pattern().MatchString(meant) {
			m.Nearest = meant
		}
		return m
	case len(f.Units) > 1:
		for _, unit := range f.Units {
			m.Allowed = append(m.Allowed, n.Text+unit)
		}
	default:
		m.Nearest = n.Text + f.Units[0]
	}
	m.Summary = fmt.Sprintf("%s %s has no unit", f.Name, n.Text)
	if v, _ := strconv.ParseFloat(n.Text, 64); f.Name == "ratio" && v < 1 {
		m.Nearest = strconv.FormatFloat(math.Round(v*1e10)/1e8, 'f', -1, 64) + "%"
	}
	return m
}

// meant returns what a value of a type without units was likely meant to be; "": unknown.
func (f *Form) meant(n *source.Node) string {
	text := strings.ToLower(n.Text)
	switch f.Name {
	case "bool":
		return map[string]string{
			"true": "true", "yes": "true", "on": "true", "y": "true", "1": "true",
			"false": "false", "no": "false", "off": "false", "n": "false", "0": "false",
		}[text]
	case "int", "number":
		if p, ok := strings.CutPrefix(text, "p"); ok && IsDecimal(p) {
			return p
		}
		if n.Quoted && IsDecimal(n.Text) {
			return n.Text
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatFloat(v, 'f', 0, 64)
		}
		if meant := source.NearestQuantity(n.Text); f.Name == "int" && IsDecimal(meant) {
			return meant
		}
	case "connections":
		return source.Nearest(n.Text, []string{"per_slot", "per_request"})
	}
	return ""
}

func (f *Form) pattern() *regexp.Regexp { return regexp.MustCompile(`^(?:` + f.Pattern + `)$`) }

// Written is a scalar as a plan has it, text in quotes.
func Written(n *source.Node) string {
	if _, isText := n.JSON().(string); isText || n.Text == "" {
		return fmt.Sprintf("%q", n.Text)
	}
	return n.Text
}
