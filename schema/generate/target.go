package main

func targetDefs() []definition {
	return []definition{
		{"target", "target", target},
		{"tls", "map", tls},
		{"tensors", "map", func() object {
			form := words(list("binary json"))
			return closed("map",
				key{name: "input", schema: form, dflt: "binary", example: "json", description: "How input tensors are sent."},
				key{name: "output", schema: form, dflt: "binary", example: "json", description: "How output tensors are asked for."},
			)
		}},
		{"builtin", "map", builtin},
		{"stall", "map", func() object {
			return closed("map",
				key{name: "at", schema: ref("duration"), dflt: "0s", example: "10s", description: "When it begins, from the server's start of answering."},
				key{name: "for", schema: ref("duration"), dflt: "0s", example: "2s", description: "How long nothing is answered."},
				key{name: "every", schema: ref("duration"), dflt: "0s", example: "30s", description: "After this time again; 0s for once."},
			)
		}},
		{"protos", "map", func() object {
			return closed("map",
				key{name: "files", schema: listOf(ref("path")), example: []any{"api.proto"}, description: "Files that define the service."},
				key{name: "include", schema: listOf(ref("path")), example: []any{"protos"}, description: "Folders that imports are looked up in."},
				key{name: "descriptor_set", schema: ref("path"), example: "api.pb", description: "A compiled descriptor set instead."},
			)
		}},
		{"inprocess", "map", func() object {
			return closed("map",
				key{name: "server_dir", schema: ref("path"), dflt: "/opt/tritonserver", example: "/opt/tritonserver", description: "Where the server is installed."},
				key{name: "repository", schema: ref("path"), example: "models", description: "The model repository; required for triton_inprocess."},
				key{name: "options", schema: mapOf(ref("any"), ""), dflt: object{}, example: object{{"log_verbose", 1}}, description: "Options of the server, as tritonserver has them, with _ for -: backend_directory, load_model, cache_config …; several values with commas."},
			)
		}},
		{"metrics", "map", func() object {
			return closed("map",
				key{name: "url", schema: ref("text"), example: "http://localhost:8002/metrics", required: true, description: "Where the server shows Prometheus metrics."},
				key{name: "every", schema: ref("duration"), dflt: "1s", example: "1s", description: "How often they are read."},
				key{name: "match", schema: listOf(ref("text")), dflt: []any{"*"}, example: []any{"nv_gpu_*"}, description: "Names to keep, with * for anything."},
			)
		}},
		{"trace", "map", func() object {
			return closed("map",
				key{name: "level", schema: listOf(words(list("TIMESTAMPS TENSORS"))), example: []any{"TIMESTAMPS"}, description: "What the server traces."},
				key{name: "rate", schema: ref("int").with(member{"minimum", 1}), dflt: 1000, example: 1000, description: "One request in this number is traced."},
				key{name: "count", schema: ref("int").with(member{"minimum", -1}), dflt: -1, example: 100, description: "How many traces at most; -1 for all."},
				key{name: "log_frequency", schema: ref("int").with(member{"minimum", 0}), dflt: 0, example: 10, description: "How many traces go to one file; 0 for all."},
			)
		}},
		{"log", "map", func() object {
			return closed("map",
				key{name: "info", schema: ref("bool"), example: false, description: "Whether information is logged."},
				key{name: "warning", schema: ref("bool"), example: true, description: "Whether warnings are logged."},
				key{name: "error", schema: ref("bool"), example: true, description: "Whether errors are logged."},
				key{name: "verbose", schema: ref("int").with(member{"minimum", 0}, member{"maximum", 10}), example: 1, description: "How much is logged besides; 0 for nothing."},
				key{name: "format", schema: words(list("default ISO8601")), example: "ISO8601", description: "How times are written."},
			)
		}},
	}
}

// target needs a url unless its server is loaded into the client.
func target() object {
	inside := object{{"required", []string{"backend"}}, {"properties", object{{"backend", object{{"enum", []any{"triton_inprocess"}}}}}}}
	return append(closed("target", append(targetKeys(), moreTargetKeys()...)...),
		member{"if", inside}, member{"else", object{{"title", "target"}, {"required", []string{"url"}}}})
}

func targetKeys() []key {
	return []key{
		{
			name: "backend", required: true, example: "triton", description: "The kind of server.",
			schema: words(list("kserve triton triton_inprocess tfserving torchserve openai grpc http")),
		},
		{
			name: "url", schema: ref("text"), example: "grpc://localhost:8001",
			description: "Where it is: http:// https:// grpc:// grpcs:// http+unix:// grpc+unix:// or builtin://http, builtin://grpc for the embedded server.",
		},
		{name: "model", schema: ref("text"), example: "resnet50", description: "The model that requests name unless they name their own."},
		{
			name: "model_version", schema: object{{"title", "int or text"}, {"type", []string{"integer", "string"}}}, example: 3,
			description: "The model's version; the server's choice without one. In quotes if it is not an integer.",
		},
		{
			name: "headers", schema: mapOf(ref("text"), ""), dflt: object{}, example: object{{"Authorization", "Bearer ${token}"}},
			description: "Sent with every request, over gRPC as metadata. Host is whom requests are for, over gRPC the `:authority`: a model behind Istio, Knative or Envoy is reached by it at any address. What TLS checks is tls.server_name.",
		},
		{
			name: "parameters", schema: mapOf(ref("any"), ""), dflt: object{}, example: object{{"priority", 1}},
			description: "Request parameters, typed as YAML types them.",
		},
		{name: "tls", schema: ref("tls"), example: object{{"ca", "ca.pem"}}, description: "How secure connections are made; the system's roots without it."},
		{name: "timeout", schema: ref("duration"), dflt: "30s", example: "2s", description: "For one request, from due to last byte."},
		{name: "connect_timeout", schema: ref("duration"), dflt: "5s", example: "1s", description: "For making a connection."},
		{
			name: "connections", schema: ref("connections"), dflt: "per_slot", example: 4,
			description: "per_slot: one for each slot; with streaming over gRPC one for up to 64 streams. per_request: a new one for each. A number: that many connections, shared by all slots, over gRPC with many requests at once on each; with streaming one stream on each, which carries the requests of several slots at once (as each thread of perf_analyzer has with --streaming: `--max-threads N`), else each slot has a stream of its own.",
		},
		{
			name: "max_message", schema: ref("size"), example: "256MiB",
			description: "The largest reply, also once it is decompressed, and over gRPC the largest request. Without it a reply may have 64MiB, or four times what the model's metadata imply if that is more, and a gRPC request 2GiB. A reply over the limit ends there, as class decode; over gRPC as RESOURCE_EXHAUSTED.",
		},
		{
			name: "tensors", schema: ref("tensors"), dflt: object{{"input", "binary"}, {"output", "binary"}}, example: object{{"output", "json"}},
			description: "How tensors travel over HTTP; json where the server lacks the binary extension.",
		},
		{name: "ready", schema: ref("duration"), dflt: "10s", example: "60s", description: "How long to wait until the server and its models are ready. 0s asks nothing: no health endpoints, no request of `probe`, and a server that is not there fails requests."},
		{
			name: "probe", schema: ref("bool"), dflt: true, example: false,
			description: "Send the first request of the data once to each model before the clock starts, and wait for its answer: health endpoints can say ready too early. It is in no number but `probes` of result.json, and the server counts it. false asks the health endpoints only, so that the first request of a cold model, or of a response cache, is measured.",
		},
		{
			name: "statistics", schema: words(list("auto require none")), dflt: "auto", example: "require",
			description: "Whether the server's own statistics are read.",
		},
		{
			name: "builtin", schema: ref("builtin"), dflt: object{}, example: object{{"service_time", "5ms"}},
			description: "How the embedded server behaves; only with builtin://.",
		},
	}
}

func moreTargetKeys() []key {
	return []key{
		{name: "signature", schema: ref("text"), dflt: "serving_default", example: "serving_default", description: "The signature of a TF Serving model."},
		{
			name: "endpoint", example: "generate", description: "The shape of requests and replies.",
			schema: words(list("chat completions responses messages embeddings rankings images infer generate tensorrtllm vllm predict classify regress")),
		},
		{name: "path", schema: ref("text"), example: "/v1/chat/completions", description: "The URL path, for servers that put it elsewhere."},
		{name: "method", schema: ref("text"), example: "acme.Search/Query", description: "gRPC: package.Service/Method. HTTP: the verb."},
		{name: "protos", schema: ref("protos"), example: object{{"files", []any{"api.proto"}}}, description: "Definitions of a gRPC service; reflection without them."},
		{name: "inprocess", schema: ref("inprocess"), example: object{{"repository", "models"}}, description: "The server that is loaded into the client."},
		{
			name: "composing_models", schema: listOf(ref("text")), dflt: []any{}, example: []any{"preprocess", "detect:2"},
			description: "Models called by this one whose statistics are read too: name or name:version.",
		},
		{name: "compression", schema: words(list("none gzip deflate")), dflt: "none", example: "gzip", description: "Compression of requests, and what replies may have. Without it a compressed reply over HTTP is an error, unless a header Accept-Encoding asks for it."},
		{name: "inactivity_timeout", schema: ref("duration"), dflt: "30s", example: "10s", description: "The longest silence in a stream."},
		{name: "streaming", schema: ref("bool"), dflt: false, example: true, description: "A bidirectional gRPC stream, or server-sent events."},
		{name: "tokenizer", schema: ref("path"), example: "tokenizer.json", description: "Counts tokens on the client; without one the server's usage counts."},
		{name: "metrics", schema: ref("metrics"), example: object{{"url", "http://localhost:8002/metrics"}}, description: "The server's Prometheus metrics."},
		{name: "trace", schema: ref("trace"), example: object{{"level", []any{"TIMESTAMPS"}}}, description: "Trace settings of the server while the plan runs; restored afterwards."},
		{name: "log", schema: ref("log"), example: object{{"verbose", 1}}, description: "Log settings of the server while the plan runs; those not named stay as they are; restored afterwards."},
	}
}

func tls() object {
	return closed("map",
		key{name: "ca", schema: ref("path"), example: "ca.pem", description: "Certificates to trust instead of the system's."},
		key{name: "cert", schema: ref("path"), example: "client.pem", description: "The client's certificate."},
		key{name: "key", schema: ref("path"), example: "client.key", description: "The client's key."},
		key{name: "server_name", schema: ref("text"), example: "model.internal", description: "The name to check the server's certificate against."},
		key{
			name: "verify", schema: words(list("full ca none")), dflt: "full", example: "ca",
			description: "full checks chain and name, ca the chain only, none nothing.",
		},
		key{name: "min_version", schema: words(list("1.2 1.3")), dflt: "1.2", example: "1.3", description: "The oldest TLS version to accept, in quotes."},
	)
}

func builtin() object {
	return closed("map",
		key{name: "service_time", schema: ref("dist_duration"), example: "5ms", description: "How long one execution takes; the model's own without it."},
		key{name: "ttft", schema: ref("dist_duration"), example: "50ms", description: "Time to the first token."},
		key{name: "itl", schema: ref("dist_duration"), example: "10ms", description: "Time between tokens."},
		key{name: "instances", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 1024}), example: 2, description: "Executions at the same time; the model's own without it."},
		key{name: "max_batch", schema: ref("int").with(member{"minimum", 1}, member{"maximum", 65536}), dflt: 1, example: 8, description: "Requests that one execution takes."},
		key{name: "queue_delay", schema: ref("duration"), dflt: "0s", example: "1ms", description: "How long a request waits for others to share its execution."},
		key{name: "errors", schema: ref("ratio"), dflt: "0%", example: "1%", description: "Share of requests answered with an error."},
		key{name: "reset", schema: ref("ratio"), dflt: "0%", example: "1%", description: "Share of requests whose connection is reset."},
		key{name: "stall", schema: ref("stall"), example: object{{"at", "10s"}, {"for", "2s"}}, description: "A time in which nothing is answered."},
		key{name: "slow_body", schema: ref("duration"), dflt: "0s", example: "100ms", description: "Time over which a reply's body is spread."},
	)
}
