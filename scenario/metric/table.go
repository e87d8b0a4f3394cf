package metric

// ErrorClasses lists the classes in errors.{class}.count and errors.{class}.ratio: those of
// backends.ClassNames, in its order, without "ok" and "stopped", which are no failures.
func ErrorClasses() []string {
	return []string{
		"dial", "tls", "write", "timeout", "reset", "status", "protocol", "decode", "mismatch",
		"cancelled", "server", "client",
	}
}

// CSV forms, one for each dimension: the unit is part of the column's name, so a number needs no
// legend.

func ms() CSV     { return CSV{Unit: "ms", Scale: 1e3} }
func us() CSV     { return CSV{Unit: "us", Scale: 1e6} }
func perSec() CSV { return CSV{Unit: "per_s", Scale: 1} }
func plain() CSV  { return CSV{Scale: 1} }
func octets() CSV { return CSV{Unit: "bytes", Scale: 1} }
func watts() CSV  { return CSV{Unit: "W", Scale: 1} }

func table() []Row {
	rows := append(times(), streams()...)
	rows = append(rows, flows()...)
	rows = append(rows, tokenFlows()...)
	rows = append(rows, counts()...)
	rows = append(rows, sequenceRows()...)
	rows = append(rows, tokens()...)
	rows = append(rows, gpus()...)
	rows = append(rows, clients()...)
	for i := range rows {
		rows[i].column()
	}
	return rows
}

// times lists the distributions over the requests that were due in hold and ended well, without
// failures.
func times() []Row {
	return []Row{
		{
			Name: Latency, Dim: Duration, Shape: Distribution, From: Sample, Better: Lower, CSV: ms(),
			Aliases: []string{
				"request_latency", "request latency", "Avg latency", "p50 latency", "p90 latency",
				"p95 latency", "p99 latency", "http_req_duration",
			},
			Help: "Time from when a request was due to its last reply byte that counts, so " +
				"that waiting for a busy client or server is in it.",
		},
		{
			Name: "service_time", Dim: Duration, Shape: Distribution, From: Sample, Better: Lower, CSV: ms(),
			Aliases: []string{"request/response"},
			Help: "Time from when a request was sent to its last reply byte: latency without " +
				"the send delay.",
		},
		{
			Name: "send_delay", Dim: Duration, Shape: Distribution, From: Sample, Better: Lower,
			Loads: OpenLoop, CSV: ms(),
			Aliases: []string{"schedule_delay"},
			Help:    "Time from when a request was due to when it was sent.",
		},
		{
			Name: "send_delay.client", Dim: Duration, Shape: Distribution, From: Sample,
			Better: Lower, Loads: OpenLoop, CSV: ms(),
			Help: "The client's own part of the send delay: a slot was free and the request was " +
				"still not sent.",
		},
		{
			Name: "send_delay.pool", Dim: Duration, Shape: Distribution, From: Sample,
			Better: Lower, Loads: OpenLoop, CSV: ms(),
			Help: "The part of the send delay spent waiting for a free slot, because " +
				"max_in_flight requests were already open.",
		},
		{
			Name: "connect", Dim: Duration, Shape: Distribution, From: Sample, Better: Lower, CSV: ms(),
			Aliases: []string{"http_req_connecting"},
			Help: "Time spent dialling and shaking hands for a request, or between requests " +
				"where the server had closed the connection, which is in no latency. Only " +
				"requests on a new connection are in it.",
		},
		{
			Name: "send_time", Dim: Duration, Shape: Distribution, From: Sample, Better: Lower, CSV: ms(),
			Aliases: []string{"Client Send", "http_req_sending"},
			Help: "Time from when the client began with a request to when the transport was " +
				"given its last byte; never beyond the first byte of the reply.",
		},
		{
			Name: "first_response", Dim: Duration, Shape: Distribution, From: Sample, Better: Lower,
			CSV:     ms(),
			Aliases: []string{"response wait", "http_req_waiting"},
			Help:    "Time from when a request was sent to the first byte of its reply.",
		},
	}
}

// flows lists the rates: completions inside the hold window over its length.
func flows() []Row {
	return []Row{
		{
			Name: "throughput", Dim: Rate, Shape: Value, From: Flow, Better: Higher, CSV: perSec(),
			Aliases: []string{"Inferences/Second", "infer/sec", "inference_throughput"},
			Help:    "Inferences (items of a batch) answered well in the hold window, per second.",
		},
		{
			Name: "requests.rate", Dim: Rate, Shape: Value, From: Flow, Better: Higher, CSV: perSec(),
			Aliases: []string{"request_throughput", "http_reqs"},
			Help:    "Requests answered well in the hold window, per second.",
		},
		{
			Name: "responses.rate", Dim: Rate, Shape: Value, From: Flow, Better: Higher, CSV: perSec(),
			Aliases: []string{"Response Throughput"},
			Help: "Response messages received in the hold window, per second. More than one a " +
				"request where the model is decoupled.",
		},
		{
			Name: "bytes.sent.rate", Dim: Rate, Shape: Value, From: Flow,
			CSV:     CSV{Unit: "bytes_per_s", Scale: 1},
			Aliases: []string{"data_sent"},
			Help:    "Bytes of requests written in the hold window, heads included, per second.",
		},
		{
			Name: "bytes.received.rate", Dim: Rate, Shape: Value, From: Flow,
			CSV:     CSV{Unit: "bytes_per_s", Scale: 1},
			Aliases: []string{"data_received"},
			Help:    "Bytes of replies read in the hold window, heads included, per second.",
		},
		{
			Name: "offered.rate", Dim: Rate, Shape: Value, From: Driver, Loads: OpenLoop, CSV: perSec(),
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
			Name: "requests.count", Dim: Count, Shape: Value, From: Counts, Better: Neither, CSV: plain(),
			Aliases: []string{"request_count", "Request count"},
			Help:    "Requests that were due in hold and were sent, whatever became of them.",
		},
		{
			Name: "errors.count", Dim: Count, Shape: Value, From: Counts, Better: Lower, CSV: plain(),
			Aliases: []string{"http_req_failed"},
			Help: "Requests that failed, of any class. Those that were cancelled by this " +
				"client (stop, end of drain) are not in it; an assertion on errors takes them " +
				"for requests that may have failed.",
		},
		{
			Name: "errors.ratio", Dim: Ratio, Shape: Value, From: Counts, Better: Lower, CSV: plain(),
			Aliases: []string{"error_rate"},
			Help:    "Failed requests over requests sent.",
		},
		{
			Name: "dropped.count", Dim: Count, Shape: Value, From: Driver, Better: Lower,
			Loads: OpenLoop, CSV: plain(),
			Aliases: []string{"dropped_iterations"},
			Help: "Requests that were due and never sent, because max_in_flight requests were " +
				"open and overflow is drop, or the run was stopped.",
		},
		{
			Name: "dropped.ratio", Dim: Ratio, Shape: Value, From: Driver, Better: Lower,
			Loads: OpenLoop, CSV: plain(),
			Help: "Requests dropped over requests planned.",
		},
		{
			Name: "late.count", Dim: Count, Shape: Value, From: Counts, Better: Lower,
			Loads: OpenLoop, CSV: plain(),
			Aliases: []string{"Delayed Request Count"},
			Help: "Requests that this client sent more than max(1 ms, 1 % of the median " +
				"service time) after they were due.",
		},
		{
			Name: "late.ratio", Dim: Ratio, Shape: Value, From: Counts, Better: Lower,
			Loads: OpenLoop, CSV: plain(),
			Help: "Late requests over requests sent.",
		},
		{
			Name: CoalescedRatio, Dim: Ratio, Shape: Value, From: Counts, Better: Lower,
			Needs: streaming, CSV: plain(),
			Help: "Requests answered well with a response that had come by the time the one " +
				"before it was read, over requests answered well: that gap is the network's or " +
				"this client's, not the server's.",
		},
		{
			Name: "reconnects.count", Dim: Count, Shape: Value, From: Counts, Better: Lower, CSV: plain(),
			Help: "Requests sent once more on a fresh connection, because the server had closed " +
				"the old one without saying so.",
		},
		{
			Name: "incomplete.count", Dim: Count, Shape: Value, From: Driver, Better: Lower, CSV: plain(),
			Help: "Requests that were due in hold and have no outcome: still open, or still " +
				"waiting for a slot, when the drain was over or the run was stopped.",
		},
		{
			Name: "in_flight.max", Dim: Count, Shape: Value, From: Driver, Better: Neither, CSV: plain(),
			Aliases: []string{"vus_max"},
			Help:    "The most requests that were open at the same time.",
		},
	}
	for _, class := range ErrorClasses() {
		rows = append(rows, classRows(class)...)
	}
	return rows
}

func classRows(class string) []Row {
	name := "errors." + class
	return []Row{
		{
			Name: name + ".count", Dim: Count, Shape: Value, From: Counts, Better: Lower,
			Help: "Requests that failed with class " + class + ": " + classHelp(class) + ".",
		},
		{
			Name: name + ".ratio", Dim: Ratio, Shape: Value, From: Counts, Better: Lower,
			Help: "Requests that failed with class " + class + " over requests sent: " +
				classHelp(class) + ".",
		},
	}
}

func classHelp(class string) string {
	switch class {
	case "dial":
		return "no connection could be made"
	case "tls":
		return "the TLS handshake failed"
	case "write":
		return "the request could not be written"
	case "timeout":
		return "no whole reply within the target's timeout"
	case "reset":
		return "the connection ended before the reply did"
	case "status":
		return "the server answered with an HTTP status or gRPC code that is not expected"
	case "protocol":
		return "the reply breaks the rules of its protocol"
	case "decode":
		return "the reply came whole, but it is none: its content cannot be read, or lacks what was asked for"
	case "mismatch":
		return "the outputs are not those expected"
	case "cancelled":
		return "the server cancelled the request"
	case "server":
		return "the server said in its reply that the inference failed"
	case "client":
		return "this machine ran out of descriptors, ports or memory"
	}
	return ""
}

func clients() []Row {
	return []Row{
		{
			Name: ClientTurnaround, Dim: Duration, Shape: Distribution, From: Sample, Better: Lower,
			Loads: ClosedLoop, Needs: inProcess,
			Help: "Time from when a thread of the server completed a reply to when the next " +
				"request of its slot was sent: the client's own part of a closed loop.",
		},
		{
			Name: "client.cpu", Dim: Ratio, Shape: Value, From: Client, Better: Lower, CSV: plain(),
			Help: "CPU time of this process during hold over what it may use. Above 85 % the " +
				"measurement is invalid. Unknown where the server runs in this process.",
		},
		{
			Name: "client.cpu_per_request", Dim: Duration, Shape: Value, From: Client,
			Better: Lower, CSV: us(),
			Help: "CPU time of this process during hold for each request sent.",
		},
		{
			Name: "client.memory", Dim: Bytes, Shape: Value, From: Client, Better: Lower, CSV: octets(),
			Help: "The most memory that this process had resident.",
		},
	}
}
