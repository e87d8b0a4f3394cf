package result

// FindingCodes lists every code of a finding; a test finds each in the code.
func FindingCodes() []FindingCode {
	return []FindingCode{
		{
			ClientLate, Bounding,
			"This client sent requests late by itself although a slot was free, by more than " +
				"`validity.send_delay` (1 ms) and 1 % of the median service time. In a closed loop only requests " +
				"of users, and those after think times and delays of rows, can be late. Numbers have bounds, low " +
				"and high, between which a client on time would have measured them; a verdict holds for all that " +
				"lies between.",
			"Lower the load, or use a machine that is faster, has more cores or less else to do, if the " +
				"bounds leave assertions open.",
		},
		{
			ClientPaused, Bounding,
			"This client stood still for over `validity.pause` (20 ms) while it measured: another program " +
				"had its CPU, or it was stopped. Numbers have bounds, low and high, between which they " +
				"would be otherwise.",
			"Nothing, if assertions are decided. Else measure on a machine that does nothing else.",
		},
		{
			SlotsEmpty, Invalidating,
			"The client of a closed loop whose server runs in its process kept slots empty: the p99 of " +
				"client.turnaround (below 299 requests the third-largest) is over `validity.send_delay` " +
				"(1 ms) and 1 % of the median service time.",
			"Lower the concurrency, or allow the process more cores.",
		},
		{
			PausedShare, Invalidating,
			"This client stood still for over `validity.paused` (10 %) of hold.",
			"Measure again on a machine that does nothing else.",
		},
		{
			WhileOpen, Invalidating,
			"A `while` is neither true nor false for all that this client, which was late or stood still, " +
				"may have measured on time, in three tries. What it steers, a search or levels, ends there.",
			"Measure on a machine that does nothing else, or choose a limit further from what the server " +
				"does.",
		},
		{
			LostDelays, Invalidating,
			"This client sent more requests late than its record has room for: what their delay did to " +
				"others is unknown.",
			"Lower the rate, or allow the process more cores.",
		},
		{
			ClientCPU, Invalidating,
			"This client used more than 85 % of the CPU time that it may use during hold, so that " +
				"latencies may hold its own work.",
			"Lower the load, allow the process more cores, or measure over several connections fewer " +
				"requests at a time.",
		},
		{
			ClientNear, Note,
			"This client was near one of its limits: over 60 % of its CPU time, or a send delay over " +
				"half of what is allowed.",
			"Do not raise the load on this machine; for a comparison of small differences use more cores.",
		},
		{
			Sockets, Invalidating,
			"Requests failed because this machine ran out of descriptors, ports or memory.",
			"Raise `ulimit -n`, lower the concurrency or max_in_flight, or keep connections open.",
		},
		{
			Paused, Invalidating,
			"Sending paused because the client could not process its own samples fast enough.",
			"Lower the load, or allow the process more cores.",
		},
		{
			"server-counts", Note,
			"The server had counted fewer requests, a second after the last was answered, than this " +
				"client got answers for.",
			"Do not compare server.requests.count with what the client counts: a proxy may send some to " +
				"another server, or the server counts others late.",
		},
		{
			StoodStill, Invalidating,
			"The whole process did nothing for over a second: it was stopped or swapped out, or its " +
				"machine was suspended.",
			"Measure again on a machine that does nothing else.",
		},
		{
			StrayReplies, Note,
			"Replies came on a stream that belong to no request that is in flight: the server answered " +
				"under another id, or once more after the final response.",
			"Look for a model that answers after its final response, or for a proxy that mixes streams " +
				"up. The replies are in no number.",
		},
		{
			ServerEnded, Note,
			"The embedded server, a process of its own, ended while the node ran, or before. What was " +
				"sent from then on was refused.",
			"See how it ended: it may have been killed for its memory.",
		},
		{
			UnknownBatch, Note,
			"The batch of whole bodies cannot be read from them, or the model's metadata do not say " +
				"whether it takes batches. So inferences are not counted, and throughput has no data.",
			"Use requests.rate, or send the rows of a file instead of `bodies`.",
		},
		{
			ClosedByUs, Note,
			"This client closed requests before their replies had ended, as `cancel` of the plan says. They are in no " +
				"latency and in no number of errors, and cancelled.by_us counts them.",
			"Nothing: see what the others took meanwhile.",
		},
		{
			ClosesConnections, Note,
			"The server closes the connection after each reply, or after most. The next one is made " +
				"between requests, so that latency is without the time that `connect` shows.",
			"If clients of the server connect for each request, measure that with `connections: " +
				"per_request`; else let the server keep connections.",
		},
		{
			OtherIDs, Note,
			"Replies have another id than their requests. They were looked at by samples, so others may " +
				"have one too.",
			"See whether a proxy or the server makes ids of its own, or answers one request with the " +
				"reply to another.",
		},
		{
			HiddenTokens, Note,
			"The server's usage counts over 5 % more tokens than could be seen: those by the usage in the last " +
				"event with text, else the number of these events. itl then divides the time to the last " +
				"text by tokens that came after it, or held several in one event.",
			"Read itl_stream if tokens come after the text, and itl_chunked if the first event has several.",
		},
		{
			TokenCountsDiffer, Note,
			"The server's usage counts over 5 % more or fewer tokens than the target's tokenizer does in the texts of the " +
				"same answers, and by more than one an answer: token_counts of result.json has both. Numbers are by usage.",
			"See whether the tokenizer is that of the model. Usage also counts what is in no text: hidden reasoning, and " +
				"the words of a template around tool calls.",
		},
		{
			TokensFromEvents, Note,
			"Streams had no usage, and no tokenizer counted their texts: the number of events with text is taken for " +
				"that of tokens.",
			"Name the model's `tokenizer` in the target. It does not count replies that are over 1 MiB where they are kept " +
				"whole, as Triton's are. Or let the server count: ask for usage in the stream, or see whether a proxy removes it.",
		},
		{
			CachedTokens, Note,
			"The counters of the server's metrics endpoint have another share of the tokens of prompts as cached " +
				"than the usage of its answers, by more than a tenth; or its usage has none, and the counters have some.",
			"If the usage has none, let the server report them (vLLM: --enable-prompt-tokens-details, SGLang: " +
				"--enable-cache-report), or see whether a gateway removes them; else see whether others use the server.",
		},
		{
			OutputLength, Note,
			"Requests ask for answers of an exact number of tokens, and the first reply showed that the server does " +
				"not keep to that, or that the model is left to end by itself.",
			"Compare tokens.output of the runs; or use a server that takes min_tokens and ignore_eos (vLLM, SGLang, " +
				"TensorRT-LLM).",
		},
		{
			WarmCache, Note,
			"The server had more of the prompts' tokens in its cache than the plan's prompts share, or than when the " +
				"plan sent the same rows first: it had seen them before, so that the time to the first token is shorter " +
				"than that of new prompts.",
			"Restart the server, or give the plan another `seed`; say `reuse` if prompts are meant to be sent again. " +
				"Between levels, repeats and stages that send the same rows empty the cache, or give each rows of its own.",
		},
		{
			InOneEvent, Note,
			"All text of some answers came at one time, in one event or one read, although they have several " +
				"tokens. itl and the metrics like it leave these answers out: their times between tokens are " +
				"unknown, not 0.",
			"See whether a proxy buffers the stream, and whether the server streams as it generates.",
		},
		{
			UnnamedModel, Note,
			"Replies do not say which model they are from, as the protocol wants. They were looked at by " +
				"samples.",
			"See whether what answers is the model that the plan names.",
		},
		{
			"metrics", Note,
			"Some readings of a target's Prometheus endpoint failed. What was read is in the numbers.",
			"Look at the endpoint: it may be slower than `metrics.every` allows for.",
		},
		{
			LeftOpen, Note,
			"What ends a sequence that could not go on was sent, and the server did not answer it: it " +
				"keeps the sequence open until it forgets it by itself.",
			"Leave more time between runs than the model's max_sequence_idle_microseconds, or use other " +
				"ids.",
		},
		{
			StepsDropped, Note,
			"A request of a sequence failed, so the ones after it were not sent; the sequence was ended " +
				"and another one begun.",
			"Look at the errors: the requests of a sequence that failed are not what the plan wanted to " +
				"measure.",
		},
		{
			PoolFull, Note,
			"All slots were busy when requests were due. They waited, which is in their latency, or were " +
				"dropped and counted.",
			"Nothing, if the server is to be judged at this many in flight; else raise max_in_flight, or " +
				"lower the rate.",
		},
		{
			BusyMachine, Note,
			"Programs on this machine waited for a CPU during much of hold: other load may be in the " +
				"numbers.",
			"Measure on a machine that does nothing else; the embedded server counts as other load too.",
		},
		{
			StolenTime, Note,
			"This machine is a virtual one, and over 2 % of the time of its CPUs during hold went to " +
				"others while it had work (steal in /proc/stat). Requests were sent late, or replies read " +
				"late.",
			"Measure on a machine whose cores are its own, or compare runs of the same share.",
		},
		{
			UsersBehind, Note,
			"The users of a load with `of: users` sent over 5 % fewer requests than their rates make together: a user " +
				"waits for the reply to its request before.",
			"Lower the rate of each user and raise `live`, if the whole load is to be kept; else read it as a closed loop's.",
		},
		{
			"dropped-at-stop", Note,
			"Requests were due and not sent when the node ended.",
			"Nothing after an interrupt; else see whether the pool was full.",
		},
		{
			"never-reached-concurrency", Note,
			"Fewer requests were in flight at the same time than the load asks for.",
			"Send more requests, or for longer.",
		},
		{
			"incomplete", Note,
			"Requests were still open when the drain was over and were cancelled: they are in no latency " +
				"and no error count. For assertions they are slower than all others, and requests that " +
				"may have failed.",
			"Raise `drain`, or ask why the server takes so long.",
		},
		{
			"statistics", Note,
			"The server's statistics do not cover exactly the hold, or went back.",
			"Hold for longer; see whether the server was restarted.",
		},
		{
			"no-statistics", Note,
			"The server gave no statistics, so the rows server.… have no data.",
			"Say `statistics: none` if that is right, or `statistics: require` if it is not.",
		},
		{
			"windows", Note,
			"An assertion's windows are more than are kept, so it cannot pass.",
			"Use a longer `every`, or a shorter stage.",
		},
		{
			"samples", Note,
			"The file of samples is incomplete: it could not be written as fast as samples came, or at all.",
			"See the space and the speed of the disk.",
		},
		{
			"shared-memory", Note,
			"Outputs did not fit the shared memory that the plan gives them, or the server could not be " +
				"told to forget it, or the GPU did not take it back.",
			"Raise `output_size` of `shared_memory`. A server that is gone has forgotten its regions; " +
				"one that is still there can be restarted.",
		},
		{
			SharedProcess, Note,
			"The server runs in this process, so that the share of CPU time that the client used is " +
				"unknown and not judged. In a closed loop client.turnaround, the time from a reply to " +
				"the next send, is judged in its place: by the limit of the send delay, where it " +
				"takes over 15 % of the time of the slots.",
			"Nothing. To have the client's own CPU time, measure the same server over HTTP or gRPC.",
		},
		{
			LostSamples, Invalidating,
			"Fewer samples came back than requests were sent: what is missing is in no number.",
			"Report it: this is a mistake of the program.",
		},
		{
			NoData, Note,
			"The node's load is made of an earlier result that has no value, so it did not run, and the " +
				"run proves nothing.",
			"See why the stage that it names has no such number.",
		},
		{
			"aborted", Note,
			"An assertion with `abort` was certainly false, so that this level or trial ended early and " +
				"does not hold.",
			"Nothing: the levels after it did not run, or the search went lower.",
		},
		{
			MeasuredAgain, Note,
			"An attempt at the node was invalid, or left open by this client, so it was measured again, as " +
				"--retry-invalid says. The numbers are those of the last attempt; `attempts` lists all.",
			"Nothing where the last attempt is valid; else measure on a machine that does nothing else.",
		},
		{
			"search", Note,
			"Why the search stopped, and what it found.",
			"Nothing where a capacity was confirmed; else widen `from` and `to`, or see why its " +
				"conditions hold nowhere.",
		},
		{
			HoldTrend, Note,
			"A metric rises or falls over hold, so that no bounds with a confidence hold for it, and an " +
				"assertion that needs them is open.",
			"Warm up for longer if it ends early in hold; else see whether the server leaks, is throttled, " +
				"or cannot keep up.",
		},
		{
			IsPrecise, Note,
			"How long hold took until its bounds were as narrow as `until: precise` asks.",
			"Nothing.",
		},
		{
			NotPrecise, Note,
			"Hold ended at its last look before its bounds were as narrow as `until: precise` asks. " +
				"Assertions are judged by the bounds that it has.",
			"Raise `max_duration`, or ask for less precision.",
		},
		{
			LadderEnd, Note,
			"A condition of `while` is not true at this level, or not proven, so those after it did not " +
				"run. It is no line of perf_analyzer's tables.",
			"Nothing, where a level before it holds: that is what `while` is for. Where it is the first " +
				"level, the run proves nothing.",
		},
		{
			NotNeeded, Note,
			"The node has `when: failure`, and nothing that it needs has failed.",
			"Nothing.",
		},
		{
			CleanUp, Note,
			"Something that the run had changed or started could not be undone.",
			"See what the text names, and undo it by hand.",
		},
	}
}
