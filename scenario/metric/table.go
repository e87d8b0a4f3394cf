package metric

import "slices"

// classes lists the classes in errors.{class}.count and errors.{class}.ratio with their meaning: those
// of backends.ClassNames, in its order, without "ok" and "stopped", which are no failures.
func classes() [][2]string {
	return [][2]string{
		{"dial", "no connection could be made"},
		{"tls", "the TLS handshake failed"},
		{"write", "the request could not be written"},
		{"timeout", "no whole reply within the target's timeout"},
		{"reset", "the connection ended before the reply did"},
		{"status", "the server answered with an HTTP status or gRPC code that is not expected"},
		{"protocol", "the reply breaks the rules of its protocol"},
		{
			"decode",
			"the reply came whole, but it is none: its content cannot be read, or lacks what was asked for",
		},
		{"mismatch", "the outputs are not those expected"},
		{"cancelled", "the server cancelled the request"},
		{"server", "the server said in its reply that the inference failed"},
		{"client", "this machine ran out of descriptors, ports or memory"},
	}
}

// ErrorClasses lists the classes of failures, in the order of backends.ClassNames.
func ErrorClasses() []string {
	var names []string
	for _, c := range classes() {
		names = append(names, c[0])
	}
	return names
}

func table() []Row {
	return slices.Concat(times(), streams(), flows(), tokenFlows(), counts(), sequenceRows(), tokens(),
		gpus(), engines(), clients())
}

// times lists the distributions over the requests that were due in hold and ended well, without
// failures.
func times() []Row {
	return []Row{
		{
			Name: Latency, Dim: Duration, From: Sample, Bound: Due, Better: Lower,
			Aliases: []string{
				"request_latency", "request latency", "Avg latency", "p50 latency", "p90 latency",
				"p95 latency", "p99 latency", "http_req_duration", "e2el", "mean_e2el_ms",
				"effective_latency", "request_scheduled_latency",
			},
			Help: "Time from when a request was due to its last reply byte that counts, so " +
				"that waiting for a busy client or server is in it.",
		},
		{
			Name: "service_time", Dim: Duration, From: Sample, Bound: Sent, Better: Lower,
			Aliases: []string{"request/response"},
			Help: "Time from when a request was sent to its last reply byte: latency without " +
				"the send delay.",
		},
		{
			Name: "send_delay", Dim: Duration, From: Sample, Better: Lower,
			Loads:   OpenLoop,
			Aliases: []string{"schedule_delay", "request_dispatch_delay", "client_queue_time"},
			Help:    "Time from when a request was due to when it was sent.",
		},
		{
			Name: "send_delay.client", Dim: Duration, From: Sample,
			Better: Lower, Loads: DueTimes,
			Help: "The client's own part of the send delay: a slot was free and the request was " +
				"still not sent.",
		},
		{
			Name: "send_delay.pool", Dim: Duration, From: Sample,
			Better: Lower, Loads: OpenLoop,
			Help: "The part of the send delay spent waiting for a free slot, because " +
				"max_in_flight requests were already open.",
		},
		{
			Name: "connect", Dim: Duration, From: Sample, Better: Lower,
			Aliases: []string{"http_req_connecting"},
			Help: "Time spent dialling and shaking hands for a request, or between requests " +
				"where the server had closed the connection, which is in no latency. Only " +
				"requests on a new connection are in it.",
		},
		{
			Name: "send_time", Dim: Duration, From: Sample, Bound: Blurred, Better: Lower,
			Aliases: []string{"Client Send", "http_req_sending"},
			Help: "Time from when the client began with a request to when the transport was " +
				"given its last byte; never beyond the first byte of the reply.",
		},
		{
			Name: "first_response", Dim: Duration, From: Sample, Bound: Sent, Better: Lower,
			Aliases: []string{"response wait", "http_req_waiting"},
			Help:    "Time from when a request was sent to the first byte of its reply.",
		},
	}
}

// flows lists the rates: completions inside the hold window over its length.
func flows() []Row {
	return []Row{
		{
			Name: "throughput", Dim: Rate, From: Flow, Bound: Flowing, Better: Higher,
			Aliases: []string{"Inferences/Second", "infer/sec", "inference_throughput"},
			Help:    "Inferences (items of a batch) answered well in the hold window, per second.",
		},
		{
			Name: "requests.rate", Dim: Rate, From: Flow, Bound: Flowing, Better: Higher,
			Aliases: []string{"request_throughput", "http_reqs"},
			Help:    "Requests answered well in the hold window, per second.",
		},
		{
			Name: "responses.rate", Dim: Rate, From: Flow, Bound: Flowing, Better: Higher,
			Aliases: []string{"Response Throughput"},
			Help: "Response messages received in the hold window, per second. More than one a " +
				"request where the model is decoupled.",
		},
		{
			Name: "bytes.sent.rate", Dim: Rate, From: Flow, Bound: Flowing,
			Unit:    "bytes_per_s",
			Aliases: []string{"data_sent"},
			Help:    "Bytes of requests written in the hold window, heads included, per second.",
		},
		{
			Name: "bytes.received.rate", Dim: Rate, From: Flow, Bound: Flowing,
			Unit:    "bytes_per_s",
			Aliases: []string{"data_received"},
			Help:    "Bytes of replies read in the hold window, heads included, per second.",
		},
		{
			Name: "offered.rate", Dim: Rate, From: Driver, Loads: OpenLoop,
			Aliases: []string{"Request Rate"},
			Help: "Requests that the schedule wanted in the hold window, per second: what " +
				"requests.rate is to be compared with. With `of: sequences` the sequences that " +
				"it wanted to begin, and sequences.rate.",
		},
	}
}

// counts lists the sums over the requests that were due in hold.
func counts() []Row {
	rows := []Row{
		{
			Name: "requests.count", Dim: Count, From: Counts, Bound: Flowing,
			Aliases: []string{"request_count", "Request count"},
			Help:    "Requests that were due in hold and were sent, whatever became of them.",
		},
		{
			Name: "errors.count", Dim: Count, From: Counts, Bound: Counted, Better: Lower,
			Aliases: []string{"http_req_failed"},
			Help: "Requests that failed, of any class. Those that were cancelled by this " +
				"client (stop, end of drain) are not in it; an assertion on errors takes them " +
				"for requests that may have failed.",
		},
		{
			Name: "errors.ratio", Dim: Ratio, From: Counts, Bound: Counted, Better: Lower,
			Aliases: []string{"error_rate"},
			Help:    "Failed requests over requests sent.",
		},
		{
			Name: CancelledByUs, Dim: Count, From: Counts,
			Aliases: []string{"cancelled_request_count"},
			Help: "Requests that this client closed before their replies had ended, as `cancel` of the plan " +
				"says: they are in no latency, and neither good nor failed.",
		},
		{
			Name: "dropped.count", Dim: Count, From: Driver, Bound: Counted, Better: Lower,
			Loads:   OpenLoop,
			Aliases: []string{"dropped_iterations"},
			Help: "Requests that were due and never sent, because max_in_flight requests were " +
				"open and overflow is drop, or the run was stopped.",
		},
		{
			Name: "dropped.ratio", Dim: Ratio, From: Driver, Bound: Counted, Better: Lower,
			Loads: OpenLoop,
			Help:  "Requests dropped over requests planned.",
		},
		{
			Name: "late.count", Dim: Count, From: Counts, Better: Lower,
			Loads:   OpenLoop,
			Aliases: []string{"Delayed Request Count"},
			Help: "Requests that this client sent more than max(1 ms, 1 % of the median " +
				"service time) after they were due.",
		},
		{
			Name: "late.ratio", Dim: Ratio, From: Counts, Better: Lower,
			Loads: OpenLoop,
			Help:  "Late requests over requests sent.",
		},
		{
			Name: CoalescedRatio, Dim: Ratio, From: Counts, Bound: Blurred, Better: Lower,
			Needs: streaming,
			Help: "Requests answered well with a response that had come by the time the one " +
				"before it was read, over requests answered well: that gap is the network's or " +
				"this client's, not the server's.",
		},
		{
			Name: "reconnects.count", Dim: Count, From: Counts, Better: Lower,
			Help: "Requests sent once more on a fresh connection, because the server had closed " +
				"the old one without saying so.",
		},
		{
			Name: "incomplete.count", Dim: Count, From: Driver, Bound: Counted, Better: Lower,
			Help: "Requests that were due in hold and have no outcome: still open, or still " +
				"waiting for a slot, when the drain was over or the run was stopped.",
		},
		{
			Name: "in_flight.max", Dim: Count, From: Driver, Bound: Blurred,
			Aliases: []string{"vus_max", "max_concurrent_requests"},
			Help:    "The most requests that were open at the same time.",
		},
	}
	for _, c := range classes() {
		name, of, meaning := "errors."+c[0], "Requests that failed with class "+c[0], ": "+c[1]+"."
		rows = append(rows,
			Row{
				Name: name + ".count", Dim: Count, From: Counts, Bound: Counted, Better: Lower,
				NoColumn: true,
				Help:     of + meaning,
			},
			Row{
				Name: name + ".ratio", Dim: Ratio, From: Counts, Bound: Counted, Better: Lower,
				NoColumn: true,
				Help:     of + " over requests sent" + meaning,
			})
	}
	return rows
}

func clients() []Row {
	return []Row{
		{
			Name: ClientTurnaround, Dim: Duration, From: Sample, Better: Lower,
			Loads: ClosedLoop, Needs: inProcess, NoColumn: true,
			Help: "Time from when a thread of the server completed a reply to when the next " +
				"request of its slot was sent: the client's own part of a closed loop.",
		},
		{
			Name: "client.cpu", Dim: Ratio, From: Client, Better: Lower,
			Help: "CPU time of this process during hold over what it may use. Above 85 % the " +
				"measurement is invalid. Unknown where the server runs in this process.",
		},
		{
			Name: "client.cpu_per_request", Dim: Duration, From: Client,
			Better: Lower, Unit: "us",
			Help: "CPU time of this process during hold for each request sent.",
		},
		{
			Name: "client.memory", Dim: Bytes, From: Client, Better: Lower,
			Help: "The most memory that this process had resident.",
		},
	}
}
