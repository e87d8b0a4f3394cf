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
			Name: "sequences.latency", Dim: Duration, From: Sample, Bound: Blurred,
			Better: Lower, Needs: sequences,
			Help: "Time from when the first request of a sequence was due to the last reply byte " +
				"of its last one. Of sequences whose last request was due in hold.",
		},
		{
			Name: "sequences.count", Dim: Count, From: Counts, Bound: Flowing,
			Needs:   sequences,
			Aliases: []string{"Sequence count"},
			Help:    "Sequences whose last request was due in hold and was answered well.",
		},
		{
			Name: "dropped.sequence.count", Dim: Count, From: Counts, Bound: Counted, Better: Lower,
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
			Name: LatencyContent, Dim: Duration, From: Sample, Bound: Due, Better: Lower,
			Needs: tokenEvents,
			Help: "Time from when a request was due to the last token event of its answer; what comes " +
				"after it, as usage and the end of the stream, is in latency only.",
		},
		{
			Name: TTFT, Dim: Duration, From: Sample, Bound: Due, Better: Lower,
			Needs:   tokenEvents,
			Aliases: []string{"time_to_first_token", "Time To First Token", "mean_ttft_ms", "ttft_ms"},
			Help:    "Time from when a request was due to its first token event, be it reasoning or answer.",
		},
		{
			Name: TTFTAnswer, Dim: Duration, From: Sample, Bound: Due, Better: Lower,
			Needs:   tokenEvents,
			Aliases: []string{"time_to_first_output_token", "ttfo"},
			Help: "Time from when a request was due to the first token event of its answer, " +
				"with the reasoning before it left out.",
		},
		{
			Name: "ttft_cached", Dim: Duration, From: Sample, Bound: Due, Better: Lower,
			Some:  true,
			Needs: tokenEvents,
			Help: "As ttft, of the requests of whose prompt the server had a part cached, where its usage " +
				"says so.",
		},
		{
			Name: "ttft_uncached", Dim: Duration, From: Sample, Bound: Due, Better: Lower,
			Some:  true,
			Needs: tokenEvents,
			Help:  "As ttft, of the requests of whose prompt the server had nothing cached, where its usage says so.",
		},
		{
			Name: TTST, Dim: Duration, From: Sample, Bound: Due, Better: Lower,
			Needs:   tokenEvents,
			Aliases: []string{"time_to_second_token", "Time To Second Token"},
			Help: "Time from when a request was due to its second token event. GenAI-Perf and AIPerf " +
				"count from the first.",
		},
		{
			Name: ITL, Dim: Duration, From: Sample, Bound: Gap, Better: Lower,
			Needs:   tokenEvents,
			Aliases: []string{"inter_token_latency", "Inter Token Latency", "mean_tpot_ms", "tpot_ms"},
			Help: "Time between the tokens of a request, one value each: from its first token event " +
				"to its last, over its output tokens less one. ttft + (N - 1) * itl is latency_content. " +
				"GenAI-Perf and AIPerf call it ITL, vLLM's bench and MLPerf TPOT.",
		},
		{
			Name: "itl_stream", Dim: Duration, From: Sample, Bound: Gap, Better: Lower,
			Needs:   tokenEvents,
			Aliases: []string{"full_response_inter_token_latency"},
			Help: "As itl, to the end of the stream: where tokens are generated that no event shows, " +
				"it is the time between tokens, and itl is too short.",
		},
		{
			Name: "itl_chunked", Dim: Duration, From: Sample, Bound: Gap, Better: Lower,
			Needs: tokenEvents,
			Help: "As itl, over the output tokens after the first token event, where its usage says how " +
				"many it has: the time between tokens where the first event brings several.",
		},
		{
			Name: "chunk_gap", Dim: Duration, From: Sample, Bound: Gap, Better: Lower,
			Needs:   tokenEvents,
			Aliases: []string{"inter_chunk_latency", "icl", "mean_itl_ms"},
			Help: "Time between one token event and the next, all gaps of all requests, " +
				"whatever number of tokens each brings. vLLM's bench calls it ITL.",
		},
		{
			Name: "tpot", Dim: Duration, From: Sample, Bound: Due, Better: Lower,
			Needs:   tokenEvents,
			Aliases: []string{"time_per_output_token"},
			Help: "Time for each output token with the first one in it: latency_content over output " +
				"tokens, as guidellm has it. Other tools call itl so.",
		},
		{
			Name: NTPOT, Dim: Duration, From: Sample, Bound: Due, Better: Lower,
			Needs:   tokenCounts,
			Aliases: []string{"normalized_time_per_output_token"},
			Help:    "Latency over output tokens, known without a stream too.",
		},
		{
			Name: "progress", Dim: Count, From: Sample, Needs: tokenEvents,
			Help: "Events of a request without text whose usage has grown: tokens were generated that " +
				"the server holds back or hides.",
		},
		{
			Name: "response_gap", Dim: Duration, From: Sample, Bound: Gap, Better: Lower,
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
			Name: "sequences.rate", Dim: Rate, From: Flow, Bound: Flowing, Better: Higher,
			Needs:   sequences,
			Aliases: []string{"Sequence/sec", "sequence throughput"},
			Help:    "Sequences whose last request was answered well in the hold window, per second.",
		},
		{
			Name: "tokens.input.rate", Dim: Rate, From: Flow, Bound: Flowing, Better: Higher,
			Needs:   tokenCounts,
			Aliases: []string{"input_throughput", "input_tokens_per_sec"},
			Help:    "Tokens of the prompts answered well in the hold window, per second.",
		},
		{
			Name: TokensOutputRate, Dim: Rate, From: Flow, Bound: Flowing, Better: Higher,
			Needs:   tokenCounts,
			Aliases: []string{"output_token_throughput", "Output Token Throughput", "output_throughput"},
			Help:    "Tokens of the answers that ended in the hold window, per second.",
		},
		{
			Name: "tokens.total.rate", Dim: Rate, From: Flow, Bound: Flowing, Better: Higher,
			Needs:   tokenCounts,
			Aliases: []string{"total_token_throughput", "total_tokens_per_sec"},
			Help:    "Tokens of prompts and answers in the hold window, per second.",
		},
		{
			Name: TokensCachedShare, Dim: Number, From: Counts, Bound: Blurred, Better: Higher,
			Needs:   tokenCounts,
			Aliases: []string{"prefix_cache_hit_rate"},
			Help: "Tokens of prompts that the server had cached over those of the prompts, of requests whose " +
				"usage has both.",
		},
		{
			Name: TokensPerUser, Dim: Rate, From: Counts, Bound: Gap, Better: Higher,
			Needs:   tokenEvents,
			Aliases: []string{"output_token_throughput_per_user", "Output Token Throughput Per User"},
			Help: "Tokens a second that the reader of an answer sees: the tokens after the first of all " +
				"requests, over the time from the first token event of each to its last. A mean of " +
				"1/itl would be higher.",
		},
		{
			Name: Interactivity, Dim: Rate, From: Counts, Bound: Gap, Better: Higher,
			Needs: tokenCounts,
			Help: "Tokens a second that nine of ten readers see at least, the wait for the first included: " +
				"1/ntpot.p90.",
		},
	}
}

// tokens lists the distributions of tokens over the requests that ended well.
func tokens() []Row {
	return []Row{
		{
			Name: "tokens.input", Dim: Count, From: Sample, Needs: tokenCounts,
			Aliases: []string{"input_sequence_length", "Input Sequence Length", "isl"},
			Help: "Tokens of a request's prompt, as the server counts them; where it does not, those of a prompt that the " +
				"plan's `prompts` wrote by the target's `tokenizer`.",
		},
		{
			Name: TokensOutput, Dim: Count, From: Sample,
			Needs:   tokenCounts,
			Aliases: []string{"output_sequence_length", "Output Sequence Length", "osl"},
			Help: "Tokens of a request's answer, reasoning included: as the server counts them, else the target's " +
				"`tokenizer`, else the token events. The result names the source.",
		},
		{
			Name: "tokens.cached", Dim: Count, From: Sample, Needs: tokenCounts,
			Aliases: []string{"cached_tokens", "usage_prompt_cache_read_tokens"},
			Help:    "Tokens of a request's prompt that the server had cached, where it says so.",
		},
		{
			Name: "tokens.reasoning", Dim: Count, From: Sample, Needs: tokenCounts,
			Aliases: []string{"reasoning_tokens", "usage_reasoning_tokens"},
			Help:    "Tokens of a request's answer that are reasoning, where the server says so.",
		},
	}
}
