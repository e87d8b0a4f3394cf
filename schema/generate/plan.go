package main

import "strings"

const id = "https://sluice-bench.github.io/schema/plan/v1.json"

const (
	varName   = `^[A-Za-z_][A-Za-z0-9_]*$`
	givenName = `^[A-Za-z0-9_][A-Za-z0-9._-]*$`
)

// definition is an entry of $defs. build makes its schema when all titles are known.
type definition struct {
	name, title string
	build       func() object
}

// definitions lists everything under $defs but the overlays.
func definitions() []definition {
	defs := []definition{{"variable", "variable", func() object {
		return object{
			{"title", "variable"},
			{"description", "One variable, or an expression over earlier results, in place of a value."},
			{"examples", []any{"${limit}"}},
			{"type", "string"},
			{"pattern", `^` + variable + `$`},
		}
	}}}
	for _, l := range leaves() {
		defs = append(defs, definition{l.name, l.title, l.schema})
	}
	for _, table := range [][]definition{planDefs(), targetDefs(), dataDefs(), loadDefs(), stageDefs(), outputDefs()} {
		defs = append(defs, table...)
	}
	return defs
}

// planSchema is the whole schema.
func planSchema() object {
	marks := later()
	defs := object{}
	for _, d := range definitions() {
		defs = append(defs, member{d.name, marks.on(d.name, d.build())})
	}
	defs = append(defs, overlays(marks, defs)...)
	root := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", id},
		{"$comment", "Generated from the tables in schema/generate; notBuilt marks what this version cannot run."},
	}
	root = append(root, marks.on("plan", closed("sluice plan", planKeys()...)).with(member{"description", "A benchmark plan for inference servers."})...)
	root = append(root, loadRequired()...)
	return append(root, member{"$defs", defs})
}

// loadRequired says that a stage needs a load unless `defaults` has one.
func loadRequired() object {
	given := object{{"required", []string{"defaults"}}, {"properties", object{
		{"defaults", object{{"type", "object"}, {"required", []string{"load"}}}},
	}}}
	stage := object{
		{"title", "stage"},
		{"if", object{{"type", "object"}, {"not", object{{"required", []string{"parallel"}}}}}},
		{"then", object{{"title", "stage"}, {"required", []string{"load"}}}},
	}
	return object{
		{"if", object{{"type", "object"}, {"not", given}}},
		{"then", object{{"properties", object{{"stages", object{{"items", stage}}}}}}},
	}
}

func planKeys() []key {
	return []key{
		{
			name: "version", schema: object{{"title", "int"}, {"enum", []any{1}}}, required: true, example: 1,
			description: "The version of the plan language.",
		},
		{
			name: "name", schema: textLike(`[a-z0-9][a-z0-9._-]*`), example: "resnet50-gate",
			description: "Names the result folder; without one, the file's name does.",
		},
		{name: "description", schema: ref("text"), example: "Hold 200 requests a second under 50 ms.", description: "What the plan is for."},
		{
			name: "labels", schema: mapOf(ref("text"), ""), dflt: object{}, example: object{{"team", "vision"}},
			description: "Copied into every artifact.",
		},
		{
			name: "seed", schema: ref("int").with(member{"minimum", 0}), dflt: 0, example: 42,
			description: "Every draw derives from it, the stage's id, the point and the repeat.",
		},
		{name: "extends", schema: ref("path"), example: "base.yaml", description: "One plan that this one is merged over."},
		{
			name: "vars", schema: mapOf(ref("variable_definition"), varName), dflt: object{},
			example:     object{{"url", object{{"default", "grpc://localhost:8001"}, {"env", "TRITON_URL"}}}, {"limit", "50ms"}},
			description: "Values that can be set from outside and are used as ${name}. A scalar is the default.",
		},
		{
			name: "profiles", schema: mapOf(ref("profile"), givenName), dflt: object{},
			example:     object{{"ci", object{{"vars", object{{"limit", "80ms"}}}}}},
			description: "Named changes to the plan, chosen with --profile.",
		},
		{
			name: "target", schema: ref("target"), description: "The one server to send to; its name is main. Exactly one of target, targets.",
			example: object{{"backend", "triton"}, {"url", "grpc://localhost:8001"}, {"model", "resnet50"}},
		},
		{
			name: "targets", schema: mapOf(ref("target"), givenName), description: "Servers to send to, by name.",
			example: object{{"canary", object{{"backend", "kserve"}, {"url", "http://canary:8000"}, {"model", "m"}}}},
		},
		{
			name: "data", schema: ref("dataset"), dflt: object{{"generate", "random"}}, example: object{{"file", "rows.json"}},
			description: "Where inputs come from; its name is main. At most one of data, datasets.",
		},
		{
			name: "datasets", schema: mapOf(ref("dataset"), givenName), example: object{{"small", object{{"generate", "zero"}}}},
			description: "Where inputs come from, by name.",
		},
		{
			name: "defaults", schema: ref("defaults"), dflt: object{}, example: object{{"warmup", "5s"}},
			description: "Keys of a stage that every stage has unless it says otherwise.",
		},
		{
			name: "slos", schema: mapOf(listOf(ref("assertion")), givenName), dflt: object{},
			example:     object{{"fast", []any{"latency.p99 < 50ms"}}},
			description: "Named assertions, used as {slo: NAME}.",
		},
		{
			name: "stages", schema: listOf(ref("stage")).with(member{"minItems", 1}), required: true,
			example:     []any{object{{"id", "steady"}, {"load", object{{"rate", "100/s"}}}, {"for", "60s"}}},
			description: "What is played, one after the other.",
		},
		{
			name: "assert", schema: listOf(ref("assertion")), dflt: []any{},
			example:     []any{`stage("b").latency.p50 <= 2 * stage("a").latency.p50`},
			description: "What must hold over all stages; metrics are named stage(\"id\").METRIC.",
		},
		{
			name: "baseline", schema: either("path or map", ref("path"), nil, ref("baseline")),
			example: object{{"file", "main.json"}, {"if_missing", "skip"}}, description: "A stored result that assertions compare with.",
		},
		{
			name: "max_duration", schema: ref("duration"), example: "30m",
			description: "After this time the run is interrupted and marked partial.",
		},
		{
			name: "output", schema: ref("output"), dflt: object{}, example: object{{"formats", []any{"json", "junit"}}},
			description: "What is written where.",
		},
	}
}

// textLike is text of a form, or text with variables in it.
func textLike(pattern string) object {
	return object{{"title", "text"}, {"type", "string"}, {"pattern", `^(.*` + variable + `.*|` + pattern + `)$`}}
}

func list(spaced string) []any {
	var l []any
	for w := range strings.FieldsSeq(spaced) {
		l = append(l, w)
	}
	return l
}

func planDefs() []definition {
	return []definition{
		{"variable_definition", "scalar or map", func() object {
			return either("scalar or map", ref("any"), nil, ref("variable_map"))
		}},
		{"variable_map", "map", func() object {
			return closed("map",
				key{name: "default", schema: ref("any"), example: "50ms", description: "The value when nothing sets it. Without one, it must be set."},
				key{
					name: "type", schema: words(list("text int number bool duration rate ratio size power")), example: "duration",
					description: "The type; without one, that of the default's form, else text.",
				},
				key{name: "env", schema: ref("text"), example: "TRITON_URL", description: "Environment variable that sets it; set but empty is empty text."},
				key{name: "secret", schema: ref("bool"), dflt: false, example: true, description: "Shown as *** everywhere."},
				key{
					name: "required", schema: ref("bool"), dflt: false, example: true,
					description: "The value must come from outside: a default does not count, and empty text is missing.",
				},
				key{name: "description", schema: ref("text"), example: "where the model is served", description: "What the variable is for."},
			)
		}},
		{"profile_variable", "map", func() object {
			return closed("map",
				key{name: "default", schema: ref("any"), example: "50ms", description: "The value when nothing sets it."},
				key{name: "env", schema: ref("text"), example: "PROD_TOKEN", description: "Environment variable that sets it."},
				key{name: "required", schema: ref("bool"), example: true, description: "The value must come from outside: a default does not count, and empty text is missing."},
			)
		}},
		{"baseline", "map", func() object {
			return closed("map",
				key{name: "file", schema: ref("path"), example: "baselines/main.json", required: true, description: "A result.json."},
				key{
					name: "if_missing", schema: words(list("inconclusive skip")), dflt: "inconclusive", example: "skip",
					description: "What assertions with baseline are when the file is missing.",
				},
			)
		}},
	}
}
