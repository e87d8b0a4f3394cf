package main

const stageID = `[a-z0-9][a-z0-9_-]*`

func stageDefs() []definition {
	return []definition{
		{"stage", "stage", func() object {
			return object{
				{"title", "stage"},
				{"if", object{{"not", object{{"type", "object"}, {"required", []string{"parallel"}}}}}},
				{"then", ref("stage_map")},
				{"else", ref("group")},
			}
		}},
		{"stage_map", "stage", func() object { return closed("stage", stageKeys()...) }},
		{"group", "group of stages", func() object {
			return closed("group of stages", groupKeys()...)
		}},
		{"defaults", "map", func() object { return closed("map", defaultsKeys()...) }},
		{"mix_entry", "map", func() object {
			return closed("map", append(requestKeys(), key{
				name: "weight", schema: ref("number").with(member{"exclusiveMinimum", 0}), example: 3, description: "Share of the requests; in turn without weights.",
			})...)
		}},
		{"expect", "map", func() object { return closed("map", expectKeys()...) }},
		{"output_form", "text or map", func() object { return either("text or map", ref("text"), nil, ref("requested_output")) }},
		{"requested_output", "map", func() object {
			return closed("map",
				key{name: "name", schema: ref("text"), required: true, example: "logits", description: "The output."},
				key{
					name: "classification", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 4294967295}), example: 3,
					description: "Number of classes to ask for in place of the output: its largest values, the largest first, as texts VALUE:INDEX or VALUE:INDEX:LABEL.",
				},
				key{name: "parameters", schema: mapOf(ref("any"), ""), dflt: object{}, example: object{{"content_type", "np"}}, description: "Parameters of the output, for servers that read them; those that the client sets itself are refused."},
			)
		}},
		{"stable", "map", func() object { return closed("map", stableKeys()...) }},
		{"until_map", "map", func() object {
			return closed("map", key{
				name: "stable", schema: ref("stable"), required: true, example: object{{"windows", 3}, {"window", "5s"}},
				description: "Until the last windows agree.",
			})
		}},
		{"assertion", "expression or map", func() object { return either("expression or map", ref("expression"), nil, ref("assertion_map")) }},
		{"assertion_map", "assertion", func() object { return closed("assertion", assertionKeys()...) }},
		{"sequences", "map", func() object {
			return closed("map",
				key{name: "live", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 65536}), dflt: 4, example: 64, description: "Sequences at the same time; open loops only, whose arrivals are steps of them."},
				key{name: "length", schema: ref("dist_int"), dflt: 20, example: 20, description: "Requests of a sequence; without it as many as the data's own, where it has sequences."},
				key{name: "ids", schema: ref("ids"), example: object{{"from", 1}, {"to", 1000}}, description: "Range of the sequence ids."},
				key{name: "serial", schema: ref("bool"), dflt: false, example: true, description: "At most one request of a sequence in flight. Without it an open loop whose targets stream over gRPC, where requests keep their order, sends the next step be the one before answered or not: up to max_in_flight / live requests of a sequence. One all the same over other transports, in a closed loop, with `of: sequences` and with `connections: per_request`."},
			)
		}},
		{"ids", "map", func() object {
			return closed("map",
				key{name: "from", schema: ref("int").with(member{"minimum", 1}), dflt: 1, example: 1, description: "The first id."},
				key{name: "to", schema: ref("int").with(member{"minimum", 1}), dflt: 4294967295, example: 1000, description: "The last id."},
				key{name: "text", schema: ref("bool"), dflt: false, example: true, description: "Ids are texts of 20 digits, for models that want text; triton finds out by itself."},
			)
		}},
		{"shared_memory", "map", func() object {
			return closed("map",
				key{name: "kind", schema: words(list("system cuda")), required: true, example: "system", description: "Where the regions are: system is memory of the machine that both run on, cuda is memory of one of its GPUs, which a binary has that was built with -tags cuda."},
				key{name: "output_size", schema: ref("size"), dflt: "100KiB", example: "1MiB", description: "Room for an output whose size the model does not tell, for each inference of a request."},
				key{name: "device", schema: ref("int"), dflt: 0, example: 0, description: "The GPU of kind cuda, by the number that the driver gives it, to client and server alike: CUDA_VISIBLE_DEVICES changes the numbers."},
			)
		}},
		{"action", "action", func() object {
			return closed("action",
				key{name: "load_model", schema: ref("text"), example: "resnet50", description: "Loads a model."},
				key{name: "unload_model", schema: ref("text"), example: "resnet50", description: "Unloads a model."},
				key{name: "call", schema: ref("text"), example: "POST /reset", description: "Sends METHOD PATH to the target; 2xx is expected."},
			)
		}},
	}
}

// requestKeys say what one request looks like.
func requestKeys() []key {
	shape := either("list of int", textLike(`[0-9]+(, *[0-9]+)*`), listOf(ref("int")), nil)
	return []key{
		{name: "target", schema: ref("text"), example: "canary", description: "A name under `targets`; the only one without it."},
		{name: "data", schema: ref("text"), example: "small", description: "A name under `datasets`; the only one, else main, without it."},
		{name: "model", schema: ref("text"), example: "resnet50", description: "The model; the target's without it."},
		{name: "batch", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 65536}), dflt: 1, example: 8, description: "Rows in each request."},
		{name: "shapes", schema: mapOf(shape, ""), example: object{{"input_ids", []any{128}}}, description: "Sizes of variable dimensions by input, without the batch."},
		{name: "outputs", schema: listOf(ref("output_form")), example: []any{"logits"}, description: "Outputs to ask for, by name, or as a map with more; all without it."},
		{name: "parameters", schema: mapOf(ref("any"), ""), dflt: object{}, example: object{{"priority", 1}}, description: "Request parameters, over the target's, under the row's."},
		{name: "headers", schema: mapOf(ref("text"), ""), dflt: object{}, example: object{{"X-Run", "nightly"}}, description: "Headers, over the target's."},
		{name: "expect", schema: ref("expect"), example: object{{"relative", 1e-5}}, description: "What a reply must be; a miss is an error of class mismatch."},
	}
}

func expectKeys() []key {
	status := ref("int").with(member{"minimum", 0}, member{"maximum", 599})
	return []key{
		{name: "outputs", schema: ref("bool"), dflt: true, example: false, description: "Compare with the outputs that the data expects."},
		{name: "relative", schema: ref("number").with(member{"minimum", 0}), dflt: 0, example: 1e-5, description: "Relative difference that is allowed."},
		{name: "absolute", schema: ref("number").with(member{"minimum", 0}), dflt: 0, example: 0.001, description: "Absolute difference that is allowed."},
		{name: "status", schema: listOf(status), example: []any{200, 404}, description: "Status codes that count as answers, of the target's protocol: over HTTP 100 to 599, else 200 alone; over gRPC and for triton_inprocess 0 to 16, else 0 alone."},
		{name: "sample", schema: ref("ratio"), dflt: "100%", example: "10%", description: "Share of the replies whose outputs and fields are compared, spread evenly; the first is always among them."},
		{name: "fields", schema: mapOf(ref("any"), ""), example: object{{"choices.0.finish_reason", "stop"}}, description: "Values that fields of the reply must have, by path: names and indexes. Over gRPC as over HTTP: model_version, parameters.NAME, outputs.0.datatype."},
	}
}

// playKeys are what a stage and `defaults` share.
func playKeys() []key {
	until := either("word or map", words(list("stable others")), nil, ref("until_map"))
	keys := []key{
		{name: "description", schema: ref("text"), example: "What customers see at noon.", description: "What the stage is for."},
		{name: "labels", schema: mapOf(ref("text"), ""), dflt: object{}, example: object{{"kind", "soak"}}, description: "Copied into the artifacts."},
		{
			name: "on_fail", schema: words(list("stop continue")), dflt: "stop", example: "continue",
			description: "stop: stages that need this one are skipped when it fails. continue: they are not.",
		},
	}
	keys = append(keys, requestKeys()...)
	return append(keys,
		key{name: "load", schema: ref("load"), example: object{{"rate", "200/s"}, {"arrivals", "poisson"}}, description: "How hard requests are sent. Every stage needs one, here or in `defaults`."},
		key{name: "for", schema: ref("span"), example: "60s", description: "How long is measured. Exactly one of for, until."},
		key{name: "until", schema: until, example: "stable", description: "Measured until this holds: stable, until the last windows agree; others, as long as the rest of its group lasts."},
		key{name: "warmup", schema: ref("span"), dflt: "0s", example: "5s", description: "The same load before, not measured."},
		key{name: "drain", schema: ref("duration"), dflt: "30s", example: "10s", description: "How long open requests are waited for at the end; then they are cancelled."},
		key{
			name: "assert", schema: listOf(ref("assertion")), dflt: []any{}, example: []any{"latency.p99 < 50ms", "errors.ratio < 0.1%"},
			description: "What must hold for the stage to pass; judged on every level.",
		},
	)
}

// morePlayKeys are the rest of playKeys.
func morePlayKeys() []key {
	memory := either("word or map", words(list("system cuda")), nil, ref("shared_memory"))
	return []key{
		{name: "delay", schema: ref("duration"), dflt: "0s", example: "10s", description: "Pause before it starts."},
		{name: "max_duration", schema: ref("duration"), example: "5m", description: "Then it is interrupted."},
		{name: "sequences", schema: ref("sequences"), example: object{{"live", 64}}, description: "How requests form sequences."},
		{name: "shared_memory", schema: memory, example: "system", description: "Tensors lie in memory that the server shares, of the system or of a GPU (cuda): requests carry only their places."},
		{name: "before", schema: listOf(ref("action")), dflt: []any{}, example: []any{object{{"load_model", "m"}}}, description: "Actions before it."},
		{name: "after", schema: listOf(ref("action")), dflt: []any{}, example: []any{object{{"unload_model", "m"}}}, description: "Actions after it, on every way out."},
		{
			name: "matrix", schema: matrix(),
			example: object{{"batch", []any{1, 8}}}, description: "The stage for each combination; include adds points, exclude removes some.",
		},
		{name: "repeat", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 1000}), dflt: 1, example: 6, description: "How often it is played over all points, every second time in reverse."},
		{name: "goodput", schema: mapOf(ref("any"), ""), example: object{{"ttft", "300ms"}}, description: "Bounds that a request must keep to count as good."},
	}
}

func stageKeys() []key {
	keys := []key{
		{name: "id", schema: textLike(stageID), required: true, example: "steady", description: "Its name, unique in the plan."},
		{name: "needs", schema: listOf(ref("text")), example: []any{"sweep"}, description: "Stages that come before; the one above without it."},
		{name: "when", schema: words(list("success failure always never")), dflt: "success", example: "always", description: "Whether it runs, by how those that it needs ended."},
	}
	keys = append(append(keys, playKeys()...), morePlayKeys()...)
	return append(keys, key{
		name: "mix", schema: mapOf(ref("mix_entry"), givenName),
		example: object{{"a", object{{"model", "a"}, {"weight", 3}}}, {"b", object{{"model", "b"}, {"weight", 1}}}}, description: "Kinds of request that share the load.",
	})
}

func defaultsKeys() []key { return append(playKeys(), morePlayKeys()...) }

func groupKeys() []key {
	stage := object{{"id", "a"}, {"load", object{{"concurrency", 4}}}, {"for", "10s"}}
	return []key{
		{name: "parallel", schema: listOf(ref("stage_map")), required: true, example: []any{stage}, description: "Stages that start together."},
		{name: "needs", schema: listOf(ref("text")), example: []any{"sweep"}, description: "Stages that come before the group."},
		{name: "when", schema: words(list("success failure always never")), dflt: "success", example: "always", description: "Whether the group runs."},
		{name: "delay", schema: ref("duration"), dflt: "0s", example: "10s", description: "Pause before it starts."},
	}
}

func stableKeys() []key {
	return []key{
		{name: "windows", schema: ref("int").with(member{"minimum", 2}, member{"maximum", 1000}), dflt: 3, example: 3, description: "How many windows must agree."},
		{name: "window", schema: ref("span"), dflt: "5s", example: "50 requests", description: "How long one is."},
		{name: "within", schema: ref("ratio"), dflt: "10%", example: "10%", description: "How far they may be apart."},
		{name: "max_windows", schema: ref("int").with(member{"minimum", 2}, member{"maximum", 100_000}), dflt: 10, example: 20, description: "After this number of windows the stage ends as unstable."},
		{name: "metrics", schema: listOf(ref("expression")), dflt: []any{"throughput", "latency.p95"}, example: []any{"throughput"}, description: "The metrics that must agree."},
	}
}

func assertionKeys() []key {
	return []key{
		{name: "that", schema: ref("expression"), example: "latency.p99 < 50ms", description: "What must be true. Exactly one of that, slo."},
		{name: "slo", schema: ref("text"), example: "fast", description: "A name under `slos`, whose assertions apply here."},
		{name: "id", schema: ref("text"), example: "p99", description: "A stable name in results and JUnit; stage/N without it."},
		{name: "description", schema: ref("text"), example: "What the contract says.", description: "Why it must hold."},
		{name: "severity", schema: words(list("gate warn")), dflt: "gate", example: "warn", description: "warn is shown and fails nothing."},
		{name: "min_samples", schema: ref("int").with(member{"minimum", 1}), example: 1000, description: "Samples needed; by percentile without it."},
		{name: "on_no_data", schema: words(list("inconclusive fail pass")), dflt: "inconclusive", example: "fail", description: "The verdict without data."},
		{name: "confidence", schema: ref("ratio"), example: "95%", description: "The bounds of this confidence decide, not the point."},
		{name: "every", schema: ref("duration"), example: "1m", description: "Judged on each window of this length."},
		{name: "allow", schema: ref("ratio"), dflt: "0%", example: "1%", description: "Share of the windows that may be false."},
		{name: "within", schema: ref("duration"), example: "10s", description: "Must be true from then on."},
		{name: "abort", schema: ref("bool"), dflt: false, example: true, description: "Stops the run once it is certainly false; where `while` steers, only the level or the trial, which then does not hold."},
	}
}

// matrix is any axes with their values; what is added to their points, and what is taken out of them.
func matrix() object {
	points := listOf(object{{"title", "map"}, {"type", "object"}})
	m := closed("map of list",
		key{name: "include", schema: points, example: []any{object{{"batch", 8}, {"limit", "80ms"}}}, description: "Values for the points that have the others here, or points of their own."},
		key{name: "exclude", schema: points, example: []any{object{{"batch", 8}}}, description: "Points that are left out: those that have all of these values."},
	)
	return m.with(member{"additionalProperties", object{{"type", "array"}}})
}
