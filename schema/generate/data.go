package main

func dataDefs() []definition {
	return []definition{
		{"dataset", "dataset", func() object { return closed("dataset", append(dataKeys(), moreDataKeys()...)...) }},
		{"generator", "scalar, list or map", func() object {
			return either("scalar, list or map", ref("any"), object{{"type", "array"}, {"items", ref("element")}}, ref("generator_map"))
		}},
		{"element", "scalar or list", func() object {
			return either("scalar or list", ref("any"), object{{"type", "array"}, {"items", ref("element")}}, nil)
		}},
		{"generator_map", "map", func() object {
			return closed("map", append([]key{
				{name: "length", schema: ref("dist_int"), example: object{{"min", 5}, {"max", 80}}, description: "Length of strings, in characters."},
				{name: "alphabet", schema: ref("text"), example: "abc", description: "Characters that strings are made of; with length."},
				{name: "one_of", schema: listOf(ref("any")), example: []any{"cat", "dog"}, description: "Values that are equally likely."},
				{name: "file", schema: ref("path"), example: "image.bin", description: "A file that holds the whole tensor."},
			}, distKeys("number", 0, 30521)...)...)
		}},
		{"dist_number", "number or dist", func() object { return either("number or dist", ref("number"), nil, ref("dist_number_map")) }},
		{"dist_number_map", "map", func() object { return closed("map", distKeys("number", 0, 10)...) }},
		{"dist_int", "int or dist", func() object { return either("int or dist", ref("int"), nil, ref("dist_int_map")) }},
		{"dist_int_map", "map", func() object { return closed("map", distKeys("number", 1, 100)...) }},
		{"dist_duration", "duration or dist", func() object { return either("duration or dist", ref("duration"), nil, ref("dist_duration_map")) }},
		{"dist_duration_map", "map", func() object { return closed("map", distKeys("duration", "5ms", "20ms")...) }},
		{"prompts", "map", prompts},
		{"prefixes", "map", func() object {
			return closed("map",
				key{name: "count", schema: ref("int").with(member{"minimum", 1}), example: 10, required: true, description: "How many prefixes there are."},
				key{name: "tokens", schema: ref("int").with(member{"minimum", 1}), dflt: 100, example: 100, description: "How long each is."},
			)
		}},
		{"images", "map", func() object {
			return closed("map",
				key{name: "count", schema: ref("int").with(member{"minimum", 1}), dflt: 1, example: 1, description: "Images in a prompt."},
				key{name: "width", schema: ref("dist_int"), example: 640, description: "Width in pixels."},
				key{name: "height", schema: ref("dist_int"), example: 480, description: "Height in pixels."},
				key{name: "format", schema: words(list("png jpeg")), example: "png", description: "Encoding."},
			)
		}},
		{"audio", "map", func() object {
			return closed("map",
				key{name: "seconds", schema: ref("dist_number"), example: 2.5, description: "Length in seconds."},
				key{name: "sample_rate", schema: ref("int").with(member{"minimum", 1}), dflt: 16000, example: 16000, description: "Samples for each second."},
				key{name: "format", schema: words(list("wav")), dflt: "wav", example: "wav", description: "Encoding."},
			)
		}},
	}
}

// distKeys are the keys of a drawn number; lo and hi are two values for the examples.
func distKeys(leaf string, lo, hi any) []key {
	values := either("list, or map of value to weight", ref(leaf), listOf(ref(leaf)), mapOf(ref("number"), ""))
	// A scalar is no form here: it must be complained about as what it is not.
	values = object{{"title", "list, or map of value to weight"}, {"type", []string{"array", "object"}}, {"allOf", values.get("allOf").([]object)[:2]}}
	return []key{
		{name: "mean", schema: ref(leaf), example: lo, description: "Mean; with std a normal shape."},
		{name: "std", schema: ref(leaf), example: lo, description: "Standard deviation."},
		{name: "min", schema: ref(leaf), example: lo, description: "Smallest value; with max alone a uniform shape."},
		{name: "max", schema: ref(leaf), example: hi, description: "Largest value."},
		{name: "shape", schema: words(list("normal uniform exponential lognormal")), example: "lognormal", description: "Shape of the distribution."},
		{name: "values", schema: values, example: []any{lo, hi}, description: "Values that are equally likely, or a map from value to weight."},
	}
}

func dataKeys() []key {
	generate := either("random, zero, or map of generator", words(list("random zero")), nil, mapOf(ref("generator"), ""))
	return []key{
		{
			name: "generate", schema: generate, example: object{{"ids", object{{"min", 0}, {"max", 30521}}}, {"mask", 1}},
			description: "Inputs are drawn: all of them random or zero, or each by its name; those not listed are random, optional ones left out.",
		},
		{
			name: "file", schema: either("path or list of path", ref("path"), listOf(ref("path")), nil), example: "rows.json",
			description: "Inputs are the rows of these files; see format. Rows may also hold timestamp, session_id, delay, id, expected outputs and parameters.",
		},
		{
			name: "format", example: "perf_analyzer", description: "Form of the files; by extension and content without it. npy and raw: a file is one tensor, named after its input.",
			schema: words(list("perf_analyzer v2 jsonl json csv sharegpt openai_batch mooncake frames textproto npy raw multipart")),
		},
		{name: "order", schema: words(list("sequential shuffle random")), dflt: "sequential", example: "shuffle", description: "Order of the rows."},
		{name: "at_end", schema: words(list("repeat stop")), dflt: "repeat", example: "stop", description: "What happens after the last row."},
		{
			name: "count", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 1_000_000}), dflt: 16, example: 100,
			description: "Rows that generate draws; then they repeat in order.",
		},
		{name: "string_length", schema: ref("dist_int"), dflt: 128, example: object{{"min", 1}, {"max", 64}}, description: "Length of random BYTES elements."},
	}
}

func moreDataKeys() []key {
	return []key{
		{name: "dir", schema: ref("path"), example: "tensors", description: "A folder with one file for each tensor, named after it: raw bytes, .npy, or text for BYTES."},
		{name: "bodies", schema: ref("text"), example: "bodies/*.json", description: "A pattern of files, each sent as the whole body of one request."},
		{name: "rows", schema: listOf(object{{"title", "map"}, {"type", "object"}}), example: []any{object{{"prompt", "hello"}}}, description: "Rows written here, as in a file."},
		{name: "prompts", schema: ref("prompts"), example: object{{"count", 100}, {"input_tokens", 200}}, description: "Synthetic prompts."},
		{name: "command", schema: listOf(ref("text")), example: []any{"./rows.py"}, description: "A program whose output holds the rows; needs --allow-exec."},
		{name: "columns", schema: mapOf(ref("text"), ""), example: object{{"prompt", "question"}}, description: "Which column holds which field of a row: inputs.NAME, outputs.NAME, parameters.NAME, timestamp, session_id, delay, id. Only these columns are read."},
		{name: "time_unit", schema: words(list("ms s us")), example: "ms", description: "Unit of the rows' timestamps and delays. perf_analyzer and mooncake have ms; timestamps of other forms need it."},
		{
			name: "history", schema: words(list("append verbatim")), dflt: "append", example: "verbatim",
			description: "Sessions: append the answers that came, or send the turns as they stand.",
		},
	}
}

func prompts() object {
	return closed("map",
		key{name: "count", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 10000000}), dflt: 100, example: 100, description: "How many prompts."},
		key{name: "input_tokens", schema: ref("dist_int"), dflt: 550, example: object{{"mean", 550}, {"std", 150}}, description: "Tokens of a prompt."},
		key{name: "output_tokens", schema: ref("dist_int"), example: 128, description: "Tokens asked for; the server decides without it."},
		key{name: "exact_output", schema: ref("bool"), dflt: false, example: true, description: "Asks for exactly as many tokens."},
		key{name: "prefixes", schema: ref("prefixes"), example: object{{"count", 10}}, description: "Prefixes that prompts share."},
		key{name: "corpus", schema: ref("path"), example: "corpus.txt", description: "Text that prompts are cut from."},
		key{name: "turns", schema: ref("dist_int"), dflt: 1, example: object{{"mean", 4}, {"std", 1}}, description: "Turns of a session."},
		key{name: "delay", schema: ref("dist_duration"), dflt: "0s", example: object{{"mean", "2s"}, {"std", "500ms"}}, description: "Time between turns."},
		key{name: "images", schema: ref("images"), example: object{{"count", 1}, {"width", 640}, {"height", 480}}, description: "Images in each prompt."},
		key{name: "audio", schema: ref("audio"), example: object{{"seconds", 2.5}}, description: "Audio in each prompt."},
	)
}
