package metric

// Abilities, as in backends.AbilityNames.
const (
	streaming       = "streaming"
	tokenEvents     = "token events"
	tokenCounts     = "token counts"
	sequences       = "sequences"
	metricsEndpoint = "metrics endpoint"
	inProcess       = "server in this process"
)

// sequenceRows lists the metrics of sequences of requests, without their rate.
func sequenceRows() []Row {
	return []Row{
		{
			Name: "sequences.latency", Dim: Duration, From: Sample,
			Better: Lower, Needs: sequences,
			Help: "Time from when the first request of a sequence was due to the last reply byte " +
				"of its last one. Of sequences whose last request was due in hold.",
		},
		{
			Name: "sequences.count", Dim: Count, From: Counts,
			Needs:   sequences,
			Aliases: []string{"Sequence count"},
			Help:    "Sequences whose last request was due in hold and was answered well.",
		},
		{
			Name: "dropped.sequence.count", Dim: Count, From: Counts, Better: Lower,
			Needs: sequences,
			Help: "Requests of sequences that were never sent, because one before them in their " +
				"sequence failed.",
		},
	}
}

// streams lists the times inside requests of several responses that ended well. A token event is a
// response with generated text: one that only names a role, counts usage or ends the stream is
// none.
func streams() []Row {
	return []Row{
		{
			Name: "ttft", Dim: Duration, From: Sample, Better: Lower,
			Needs: tokenEvents, Later: true,
			Aliases: []string{"time_to_first_token", "Time To First Token"},
			Help:    "Time from when a request was due to its first token event, be it reasoning or answer.",
		},
		{
			Name: "ttft_answer", Dim: Duration, From: Sample, Better: Lower,
			Needs: tokenEvents, Later: true,
			Aliases: []string{"time_to_first_output_token", "ttfo"},
			Help: "Time from when a request was due to the first token event of its answer, " +
				"with the reasoning before it left out.",
		},
		{
			Name: "ttst", Dim: Duration, From: Sample, Better: Lower,
			Needs: tokenEvents, Later: true,
			Aliases: []string{"time_to_second_token", "Time To Second Token"},
			Help:    "Time from the first token event of a request to its second.",
		},
		{
			Name: "itl", Dim: Duration, From: Sample, Better: Lower,
			Needs: tokenCounts, Later: true,
			Aliases: []string{"inter_token_latency", "Inter Token Latency"},
			Help: "Time between the tokens of a request, one value each: from its first token " +
				"event to its last, over its output tokens less one.",
		},
		{
			Name: "chunk_gap", Dim: Duration, From: Sample, Better: Lower,
			Needs: tokenEvents, Later: true,
			Aliases: []string{"inter_chunk_latency", "icl"},
			Help: "Time between one token event and the next, all gaps of all requests, " +
				"whatever number of tokens each brings.",
		},
		{
			Name: "tpot", Dim: Duration, From: Sample, Better: Lower,
			Needs: tokenCounts, Later: true,
			Aliases: []string{"time_per_output_token"},
			Help: "Time for each output token with the first one in it: latency over output " +
				"tokens. Other tools call itl so.",
		},
		{
			Name: "response_gap", Dim: Duration, From: Sample, Better: Lower,
			Needs: streaming,
			Help:  "Time between one response of a request and the next, all gaps of all requests.",
		},
		{
			Name: "responses", Dim: Count, From: Sample, Needs: streaming,
			Help: "Responses of a request, without the empty one that only says that nothing more comes.",
		},
	}
}

// tokenFlows lists the rates of tokens and sequences: those completed in the hold window over its
// length.
func tokenFlows() []Row {
	return []Row{
		{
			Name: "sequences.rate", Dim: Rate, From: Flow, Better: Higher,
			Needs:   sequences,
			Aliases: []string{"Sequence/sec", "sequence throughput"},
			Help:    "Sequences whose last request was answered well in the hold window, per second.",
		},
		{
			Name: "tokens.input.rate", Dim: Rate, From: Flow, Better: Higher,
			Needs: tokenCounts, Later: true,
			Aliases: []string{"input_throughput", "input_tokens_per_sec"},
			Help:    "Tokens of the prompts answered well in the hold window, per second.",
		},
		{
			Name: "tokens.output.rate", Dim: Rate, From: Flow, Better: Higher,
			Needs: tokenCounts, Later: true,
			Aliases: []string{"output_token_throughput", "Output Token Throughput", "output_throughput"},
			Help:    "Tokens generated in the hold window, per second.",
		},
		{
			Name: "tokens.total.rate", Dim: Rate, From: Flow, Better: Higher,
			Needs: tokenCounts, Later: true,
			Aliases: []string{"total_token_throughput", "total_tokens_per_sec"},
			Help:    "Tokens of prompts and answers in the hold window, per second.",
		},
	}
}

// tokens lists the distributions of tokens over the requests that ended well.
func tokens() []Row {
	return []Row{
		{
			Name: "tokens.input", Dim: Count, From: Sample, Needs: tokenCounts, Later: true,
			Aliases: []string{"input_sequence_length", "Input Sequence Length", "isl"},
			Help:    "Tokens of a request's prompt.",
		},
		{
			Name: "tokens.output", Dim: Count, From: Sample,
			Needs: tokenCounts, Later: true,
			Aliases: []string{"output_sequence_length", "Output Sequence Length", "osl"},
			Help:    "Tokens of a request's answer.",
		},
		{
			Name: "tokens.per_user", Dim: Rate, From: Sample, Better: Higher,
			Needs: tokenCounts, Later: true,
			Aliases: []string{"output_token_throughput_per_user", "Output Token Throughput Per User"},
			Help:    "Tokens a second that the reader of one answer sees: one over its itl.",
		},
	}
}

// gpus lists the metrics of the Prometheus endpoint of a target about its GPUs: all readings of all
// GPUs in hold.
func gpus() []Row {
	return []Row{
		{
			Name: GPUUtilization, Dim: Ratio, From: Scrape,
			Needs:   metricsEndpoint,
			Aliases: []string{"Avg GPU Utilization", "nv_gpu_utilization", "gpu_utilization"},
			Help:    "Share of the time in which a GPU of the server was busy.",
		},
		{
			Name: GPUPower, Dim: Power, From: Scrape, Better: Lower,
			Needs:   metricsEndpoint,
			Aliases: []string{"Avg GPU Power Usage", "nv_gpu_power_usage", "gpu_power_usage"},
			Help:    "Power that a GPU of the server takes.",
		},
		{
			Name: GPUMemory, Dim: Bytes, From: Scrape, Better: Lower,
			Needs:   metricsEndpoint,
			Aliases: []string{"Max GPU Memory Usage", "nv_gpu_memory_used_bytes", "gpu_memory_used"},
			Help:    "Memory in use on a GPU of the server.",
		},
	}
}
