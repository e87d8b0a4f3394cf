package main

func outputDefs() []definition {
	formats := listOf(words(list("json csv junit markdown html perf_analyzer_csv profile_export genai_perf")))
	return []definition{
		{"output", "map", func() object {
			return closed("map",
				key{name: "dir", schema: ref("path"), example: "results/nightly", description: "The folder; sluice-results/NAME-TIME without it."},
				key{name: "formats", schema: formats, dflt: list("json csv"), example: list("json junit"), description: "Files to write; json always."},
				key{
					name: "percentiles", schema: listOf(ref("number").with(member{"exclusiveMinimum", 0}, member{"maximum", 100})),
					dflt: []any{50, 90, 95, 99, 99.9}, example: []any{50, 99}, description: "Percentiles in every table and file.",
				},
				key{name: "samples", schema: words(list("none csv jsonl")), dflt: "none", example: "csv", description: "A file with every request."},
			)
		}},
	}
}
