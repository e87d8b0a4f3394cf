package main

func loadDefs() []definition {
	return []definition{
		{"load", "load", func() object { return closed("load", loadKeys()...) }},
		{"quantity_int", "int, list of int, or map", func() object {
			return either("int, list of int, or map", level("int"), listOf(level("int")).with(member{"minItems", 1}), ref("quantity_int_map"))
		}},
		{"quantity_rate", "rate, list of rate, or map", func() object {
			return either("rate, list of rate, or map", ref("rate"), listOf(ref("rate")).with(member{"minItems", 1}), ref("quantity_rate_map"))
		}},
		{"quantity_int_map", "map", func() object { return closed("map", quantityKeys("int", 1, 64)...) }},
		{"quantity_rate_map", "map", func() object { return closed("map", quantityKeys("rate", "100/s", "1000/s")...) }},
		{"levels_int", "map", func() object { return closed("map", levelsKeys("int", 1, 8)...) }},
		{"levels_rate", "map", func() object { return closed("map", levelsKeys("rate", "100/s", "1000/s")...) }},
		{"ramp_step_int", "map", func() object { return closed("map", rampKeys("int", 64)...) }},
		{"ramp_step_rate", "map", func() object { return closed("map", rampKeys("rate", "500/s")...) }},
		{"search_int", "map", func() object { return closed("map", searchKeys("int", 1, 256)...) }},
		{"search_rate", "map", func() object { return closed("map", searchKeys("rate", "10/s", "2000/s")...) }},
		{"periodic", "map", func() object {
			return closed("map",
				key{name: "from", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 65536}), required: true, example: 1, description: "Requests in flight at the start."},
				key{name: "to", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 65536}), required: true, example: 64, description: "Requests in flight at the end."},
				key{name: "step", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 65536}), dflt: 1, example: 4, description: "How many more each time."},
				key{name: "responses", schema: ref("int").with(member{"minimum", 1}), dflt: 10, example: 10, description: "Responses that the newest must have before the next step."},
			)
		}},
		{"conditions", "expression or list of conditions", func() object {
			return either("expression or list of conditions", ref("expression"), listOf(ref("condition")), nil)
		}},
		{"condition", "expression or map", func() object {
			return either("expression or map", ref("expression"), nil, closed("map",
				key{name: "slo", schema: ref("text"), required: true, example: "fast", description: "A name under `slos`."}))
		}},
		{"intervals", "map", func() object {
			return closed("map",
				key{name: "file", schema: ref("path"), required: true, example: "gaps.txt", description: "One gap a line."},
				key{name: "unit", schema: words(list("ns us ms s")), required: true, example: "us", description: "Unit of the gaps."},
				key{name: "first", schema: words(list("gap zero")), dflt: "gap", example: "zero", description: "Whether the first request comes after the first gap or at once."},
				key{name: "at_end", schema: words(list("repeat stop")), dflt: "repeat", example: "stop", description: "What happens after the last gap."},
			)
		}},
		{"schedule", "map", func() object {
			return closed("map",
				key{name: "file", schema: ref("path"), example: "times.txt", description: "One time a line; the data's timestamps without it."},
				key{name: "unit", schema: words(list("ns us ms s")), example: "ms", description: "Unit of the times."},
				key{name: "speed", schema: ref("number"), dflt: 1, example: 2, description: "How many times faster than recorded."},
				key{name: "from", schema: ref("duration"), dflt: "0s", example: "10s", description: "Times before are left out."},
				key{name: "to", schema: ref("duration"), example: "60s", description: "Times after are left out."},
			)
		}},
		{"arrivals_map", "map", func() object {
			return closed("map",
				key{name: "cv", schema: ref("number"), required: true, example: 0.5, description: "Coefficient of variation of the gaps."},
				key{name: "exact", schema: ref("bool"), dflt: false, example: true, description: "Scales the gaps so that the count is exact."},
			)
		}},
	}
}

func level(leaf string) object { return ref(leaf).with(member{"minimum", 1}) }

func loadKeys() []key {
	arrivals := either("word or map", words(list("constant poisson")), nil, ref("arrivals_map"))
	return []key{
		{
			name: "concurrency", schema: ref("quantity_int"), example: []any{1, 2, 4, 8},
			description: "Closed loop: requests in flight. Exactly one of concurrency, rate, intervals, schedule.",
		},
		{name: "rate", schema: ref("quantity_rate"), example: "200/s", description: "Open loop: requests due for each second, not items of a batch."},
		{name: "intervals", schema: ref("intervals"), example: object{{"file", "gaps.txt"}, {"unit", "us"}}, description: "Open loop: gaps from a file."},
		{name: "schedule", schema: ref("schedule"), example: object{{"speed", 2}}, description: "Open loop: times from a file, or from the data's rows."},
		{name: "arrivals", schema: arrivals, dflt: "constant", example: "poisson", description: "How the gaps of a rate vary."},
		{
			name: "max_in_flight", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 65536}), dflt: 1024, example: 256,
			description: "Open loop: most requests in flight. Reaching it is noted in the result.",
		},
		{
			name: "overflow", schema: words(list("wait drop")), dflt: "wait", example: "drop",
			description: "What a request does that is due when max_in_flight is reached: wait, which is in its latency, or be dropped, which is counted.",
		},
		{name: "think", schema: ref("dist_duration"), dflt: "0s", example: "1s", description: "Closed loop: pause after each reply."},
		{name: "of", schema: words(list("requests sequences sessions")), dflt: "requests", example: "sequences", description: "What a rate counts."},
	}
}

// quantityKeys are the forms of a quantity; scenario sees to it that there is exactly one.
func quantityKeys(leaf string, from, to any) []key {
	keys := []key{
		{name: "levels", schema: ref("levels_" + leaf), example: object{{"from", from}, {"to", to}}, description: "Several values, each measured by itself."},
		{name: "ramp", schema: listOf(ref("ramp_step_" + leaf)), example: []any{object{{"to", to}, {"over", "30s"}}}, description: "Steps that the value rises or falls to, from 0."},
		{
			name: "search", schema: ref("search_" + leaf), example: object{{"from", from}, {"to", to}, {"while", "latency.p99 < 50ms"}},
			description: "Finds the largest value for which the conditions hold.",
		},
	}
	if leaf == "int" {
		keys = append(keys, key{
			name: "periodic", schema: ref("periodic"), example: object{{"from", 1}, {"to", 16}},
			description: "Streaming: more requests in flight each time the newest ones have `responses` responses.",
		})
	}
	return keys
}

func levelsKeys(leaf string, from, to any) []key {
	return []key{
		{name: "from", schema: ref(leaf), required: true, example: from, description: "The first level."},
		{name: "to", schema: ref(leaf), example: to, description: "The last level; without it, `while` ends the levels."},
		{name: "step", schema: ref(leaf), example: from, description: "Added for the next level: 1, or `from` for a rate, unless `factor` is given."},
		{name: "factor", schema: ref("number"), example: 2, description: "Multiplied for the next level, instead of `step`."},
		{name: "while", schema: ref("conditions"), example: "latency.p99 < 50ms", description: "The first level for which this is false is the last."},
	}
}

func rampKeys(leaf string, to any) []key {
	return []key{
		{name: "to", schema: ref(leaf), required: true, example: to, description: "The value at the end of the step."},
		{name: "over", schema: ref("duration"), dflt: "0s", example: "30s", description: "Time to get there."},
		{name: "hold", schema: ref("duration"), dflt: "0s", example: "60s", description: "Time to stay there."},
		{name: "name", schema: ref("text"), example: "spike", description: "Name of the hold, for phase(\"name\")."},
	}
}

func searchKeys(leaf string, from, to any) []key {
	return []key{
		{name: "from", schema: ref(leaf), required: true, example: from, description: "The smallest value tried."},
		{name: "to", schema: ref(leaf), required: true, example: to, description: "The largest value tried."},
		{name: "precision", schema: ref("precision_" + leaf), dflt: "2%", example: "2%", description: "How close to the limit is close enough."},
		{name: "confirm", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 20}), dflt: 2, example: 2, description: "Times that the best value must hold."},
		{name: "while", schema: ref("conditions"), required: true, example: "latency.p99 < 50ms", description: "What must hold."},
	}
}
