package main

// variable is what may stand for any scalar: one ${…}.
const variable = `\$\{.+\}`

// leaf is a type of scalar. A text one has a pattern; others have types besides the string that a
// variable is.
type leaf struct {
	name, title, description string
	types                    []string
	pattern                  string // of text, without anchors; variables are added
	examples                 []any
}

// leaves is the table of scalars: the only place that knows how each is written.
func leaves() []leaf {
	const decimal = `[0-9]+(\.[0-9]+)?`
	const part = decimal + ` *(ns|us|µs|μs|ms|s|min|m|h)`
	const duration = part + `( *` + part + `)*`
	return []leaf{
		{
			name: "text", title: "text", description: "Text. Numbers and true or false are taken as they are written.",
			types: []string{"string", "number", "boolean"}, examples: []any{"resnet50", "Bearer ${token}"},
		},
		{
			name: "any", title: "scalar", description: "A scalar: its YAML type counts.",
			types: []string{"string", "number", "boolean"}, examples: []any{"text", 3, true},
		},
		{
			name: "path", title: "path", description: "A path, relative to the file that holds it.",
			types: []string{"string"}, pattern: `.+`, examples: []any{"data/rows.json"},
		},
		{
			name: "int", title: "int", description: "A whole number, in decimal digits, without quotes.",
			types: []string{"integer", "string"}, examples: []any{16, "${n}"},
		},
		{
			name: "number", title: "number", description: "A number without a unit, without quotes.",
			types: []string{"number", "string"}, examples: []any{0.5, "${weight}"},
		},
		{
			name: "bool", title: "bool", description: "true or false.",
			types: []string{"boolean", "string"}, examples: []any{true, "${flag}"},
		},
		{
			name: "duration", title: "duration", description: "A time with its unit: ns, us, ms, s, m or min, h.",
			types: []string{"string"}, pattern: duration, examples: []any{"50ms", "1.5s", "1h30m", "${limit}"},
		},
		{
			name: "rate", title: "rate", description: "A number for each second, minute or hour.",
			types: []string{"string"}, pattern: decimal + ` */(s|min|h)`, examples: []any{"200/s", "90/min", "0.5/s"},
		},
		{
			name: "ratio", title: "ratio", description: "A share in percent.",
			types: []string{"string"}, pattern: decimal + ` *%`, examples: []any{"0.1%", "95%"},
		},
		{
			name: "precision_int", title: "int or ratio", description: "A share in percent, or an amount.",
			types: []string{"integer", "string"}, pattern: decimal + ` *%`, examples: []any{"2%", 4},
		},
		{
			name: "precision_rate", title: "rate or ratio", description: "A share in percent, or an amount.",
			types: []string{"string"}, pattern: decimal + ` *(%|/(s|min|h))`, examples: []any{"2%", "10/s"},
		},
		{
			name: "size", title: "size", description: "Bytes with a unit: B, kB, MB, GB, KiB, MiB, GiB.",
			types: []string{"string"}, pattern: decimal + ` *(B|kB|KB|MB|GB|KiB|MiB|GiB)`,
			examples: []any{"64MiB", "1MB"},
		},
		{
			name:        "span",
			title:       "span",
			description: "A duration, or a number of requests, of sequences or of passes over the data.",
			types:       []string{"string"},
			pattern:     duration + `|[0-9]+ +(requests?|sequences?|sessions?|pass(es)?)`,
			examples:    []any{"60s", "1000 requests"},
		},
		{
			name:        "expression",
			title:       "expression",
			description: "A comparison of metrics with limits, or several, joined by and, or, not.",
			types:       []string{"string"},
			pattern:     `[\s\S]*\S[\s\S]*`,
			examples:    []any{"latency.p99 < 50ms", "errors.ratio < ${allowed}"},
		},
		{
			name:        "connections",
			title:       "int or word",
			description: "per_slot, per_request, or a number shared by all slots.",
			types:       []string{"integer", "string"},
			pattern:     `per_slot|per_request`,
			examples:    []any{"per_slot", 4},
		},
	}
}

// schema is the definition of the leaf.
func (l leaf) schema() object {
	o := object{{"title", l.title}, {"description", l.description}, {"examples", l.examples}}
	if len(l.types) == 1 {
		o = append(o, member{"type", l.types[0]})
	} else {
		o = append(o, member{"type", l.types})
	}
	hasString := l.types[0] == "string" || l.types[len(l.types)-1] == "string"
	switch {
	case l.pattern != "":
		o = append(o, member{"pattern", `^(` + variable + `|` + l.pattern + `)$`})
	case hasString && l.types[0] != "string":
		o = append(o, member{"pattern", `^` + variable + `$`})
	}
	return o
}
